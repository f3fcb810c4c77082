#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the output of perf report and dcpiprof for the same recording, to the sample.

  perf_report_check.py PERF_REPORT PERF_MAPS EVENT=DCPIPROF_CSV...

PERF_REPORT: perf report -n --stdio --no-demangle -F sample,dso,sym -t '|'
    --percent-limit 0; PERF_MAPS: perf script -F comm --show-mmap-events;
CSVs: dcpiprof -e EVENT --no-demangle --csv, with perf's name of EVENT.

For each event, the samples of each image must be equal, and of each symbol that perf has a name
for. (Without a name in perf, dcpiprof uses the range in .eh_frame.) If a symbol has several names,
the names of one address are treated as one. Prints the numbers of compared items; differences go to
standard error, and the exit status is 1.

perf report looks for the names of images at their paths. Images are not compared if the file at the
path is missing or is another one (in another root directory, rebuilt or deleted since). Copies of a
program with different names are not compared: they are one image in dcpiprof. Images with
the same name as such an image are not compared either. The sum of all samples must always be equal.
Exit status 3: more than half of the samples are in these images, so that nothing was measured.
"""
import collections
import csv
import os
import re
import subprocess
import sys

UNKNOWN = "unknown"


def perf_image(dso):
    dso = dso.strip()
    if dso.startswith("[kernel.kallsyms]"):
        return "[kernel]"
    if dso.startswith("bpf_"):
        return "[bpf]"
    if dso in ("[vdso]", "[vsyscall]"):
        return dso
    module = re.fullmatch(r"\[(\w+)\]", dso)
    if module and module.group(1) not in ("unknown", "heap", "stack"):
        return module.group(1) + ".ko"
    # Memory that belongs to no readable file: there is no image here.
    if dso.startswith(("[", "//anon", "anon", "perf-", "memfd:", "SYSV")):
        return UNKNOWN
    return dso


def path_of(image):
    """Return the path of an image; dcpiprof adds the build-id if two images have one path."""
    return re.sub(r" \([0-9a-f]{8}\)$", "", image)


def our_image(image):
    name = os.path.basename(path_of(image))
    return "[kernel]" if name.startswith("vmlinux-") else name


def read_perf(path):
    """Return {event: {(image, symbol or None): samples}}."""
    events, table = {}, None
    for line in open(path, encoding="utf-8", errors="replace"):
        heading = re.match(r"# Samples: .* of event '(.*)'", line)
        if heading:
            table = events.setdefault(heading.group(1), collections.Counter())
        if table is None or line.startswith("#") or "|" not in line:
            continue
        samples, dso, symbol = (part.strip() for part in line.split("|", 2))
        name = re.sub(r"^\[.\] ", "", symbol)
        # perf counts relocations to name entries of the PLT, and may be off by some. It counts the
        # PLT's head, which follows .init, as _init. Addresses outside of symbols are distances from
        # a symbol there.
        if re.fullmatch(r"0x[0-9a-f]+|[0-9a-f]{16}|.*@plt|_init|.*\+0x[0-9a-f]+", name):
            name = None
        table[perf_image(dso), name] += int(samples)
    return events


def read_ours(path):
    """Return rows: (image, procedure, samples, (path, identity), address)."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for row in csv.DictReader(file):
            yield (our_image(row["image"]), row["procedure"],
                   int(row[next(iter(row))]), (row["image"], row["identity"]),
                   row["address"])


def addresses(path, identity):
    """Return {name: address} of all symbols of a file, and of its debug file."""
    found = {}
    debug = f"/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug"
    for arguments in (["-D", path], [path], [debug]):
        run = subprocess.run(["nm", *arguments], capture_output=True, text=True)
        for line in run.stdout.splitlines():
            parts = line.split()
            if len(parts) == 3:
                found.setdefault(parts[2], int(parts[0], 16))
                found.setdefault(parts[2].split("@")[0], int(parts[0], 16))
    return found


def build_id_of(path):
    """Return the build-id of a file, or None."""
    run = subprocess.run(["readelf", "-n", path], capture_output=True, text=True)
    found = re.search(r"Build ID: ([0-9a-f]+)", run.stdout)
    return found and found.group(1)


def copies(path):
    """Return names of recorded mappings: of files that are missing now, or that have several names."""
    with open(path, encoding="utf-8", errors="replace") as file:
        mapped = set(re.findall(r"PERF_RECORD_MMAP2?.* r-xp (/.*)", file.read()))
    names, found = collections.defaultdict(set), set()
    for each in mapped:
        build_id = build_id_of(each) if os.path.exists(each) else each
        names[build_id].add(os.path.basename(each))
        if build_id == each:
            found.add(os.path.basename(each))
    return found.union(*(group for build_id, group in names.items() if build_id and len(group) > 1))


def is_foreign(image, identity):
    """Return true if the file at the image's path is missing, or another one."""
    path = path_of(image)
    if not path.startswith("/"):
        return False
    if not os.path.exists(path):
        return True
    return build_id_of(path) not in (None, identity)


def kernel_addresses():
    """Return {name: address} of this kernel, relative to _text as in dcpiprof."""
    lines = [line.split() for line in open("/proc/kallsyms", encoding="utf-8")]
    text = next(int(line[0], 16) for line in lines if line[2] == "_text")
    return {line[2]: int(line[0], 16) - text for line in lines if len(line) == 3}


def compare(event, perf, rows, not_compared, problems):
    images, symbols, by_address, paths, files = (collections.Counter(), collections.Counter(),
                                                 collections.Counter(), {}, set())
    for image, procedure, samples, path, address in rows:
        images[image] += samples
        symbols[image, procedure] += samples
        if address:
            by_address[image, int(address, 16)] += samples
            paths[image] = path
        files.add(path)
    foreign = not_compared | {our_image(path) for path, identity in files if is_foreign(path, identity)}
    theirs = collections.Counter()
    for (image, name), samples in perf.items():
        theirs[image] += samples
    if sum(theirs.values()) != sum(images.values()):
        problems.append(f"{event}: perf {sum(theirs.values())}, "
                        f"dcpiprof {sum(images.values())} samples")
    for image in sorted((set(theirs) | set(images)) - foreign):
        if theirs[image] != images[image]:
            problems.append(f"{event}: {image}: perf {theirs[image]}, dcpiprof {images[image]}")
    named, known = 0, {}
    for (image, name), samples in sorted(perf.items(), key=str):
        if name is None or image in foreign or image in (UNKNOWN, "[bpf]"):
            continue
        named += 1
        ours = symbols[image, name]
        if ours != samples and image in paths:
            if image not in known:
                known[image] = (kernel_addresses() if image == "[kernel]"
                                else addresses(*paths[image]))
            address = known[image].get(name, known[image].get(name.split("@")[0]))
            ours = by_address[image, address] if address is not None else ours
        if ours != samples:
            problems.append(f"{event}: {image} {name}: perf {samples}, dcpiprof {ours}")
    return (sum(theirs.values()), len(theirs), named,
            sum(theirs[image] for image in foreign), len(foreign))


def main():
    perf, problems, measured = read_perf(sys.argv[1]), [], True
    not_compared = copies(sys.argv[2])
    for argument in sys.argv[3:]:
        event, path = argument.split("=", 1)
        if event not in perf:
            problems.append(f"perf report has no event {event}")
            continue
        samples, images, named, foreign, files = compare(event, perf[event],
                                                         list(read_ours(path)), not_compared,
                                                         problems)
        print(f"{event}: {samples} samples, {images} images, {named} symbols; "
              f"{foreign} samples in {files} images not compared")
        measured = measured and foreign * 2 <= samples
    for problem in problems[:40]:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    return 0 if measured else 3


sys.exit(main())
