#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Controlled slowdown: work with a known cause, inserted into blocks of real programs.

    slowdown.py [--quick] [--programs A,B] [--blocks N] [--seed N] [--runs N] [--work DIR]
                [--details FILE] [--seeds N]

Each program of programs.txt is compiled to assembly. Its blocks' executions are counted. N blocks of
each program that run often enough are then slowed down one at a time: a chain of divisions, loads
that miss the caches, or branches in random directions. The profile must report the inserted time at the
inserted instructions, with its cause. The truth is the part of the slowed program's user CPU time that
the original does not take, in alternating runs. The reported part is that of the samples in user space.
One JSON line is printed:

    blocks         measured; the others are not_measured: the truth has a standard error of more than 5%
    within10       percent of blocks whose reported part is within 10% of the truth
    time_correct   percent that is within 10%, or within both stated errors (95%)
    cause_correct  percent for which the largest share of stall cycles there has the inserted cause

FILE gets one line for each block. Sources of programs come from the archive that apt uses.
"""

import argparse
import glob
import hashlib
import json
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..", "..")
BIN = os.environ.get("BIN", os.path.join(TOP, "build", "bin"))
TEXT = os.path.join(TOP, "build", "truth", "input.txt")
TEXT_COPIES = 20
CC = ["gcc", "-O2", "-g", "-fno-asynchronous-unwind-tables", "-w"]
# Causes that are correct for each kind of inserted work, and its rough cycles.
KINDS = {"divide": (("latency", "imul"), 12), "miss": (("dcache", "dtb"), 200),
         "branch": (("branch",), 10)}
# Inserted time as a part of the time of the program.
PART_MIN, PART_MAX = 0.1, 1.0
REPEAT_MAX = 24
TRUTH_ERROR_MAX = 0.05
# Rough frequency of processors, to choose how often work is repeated.
HZ = 3e9
MARK = "slowdown_begin", "slowdown_end"
# First instructions of a block that set the flags, so that those before are dead; and that use them.
SETS = re.compile(r"\t(add|sub|cmp|test|and|or|xor|neg|imul|mul|call|ret|shl|bt|comis|ucomis)")
USES = re.compile(r"\t(j(?!mp)|set|cmov|adc|sbb|rcl|rcr|pushf|lahf|rep|inc|dec)")
PLAIN = re.compile(r"\t(mov|lea|push|pop|cvt|pxor|movs|movz|cltq|cltd|cqto|nop)")


def output(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **options).stdout


# --- programs ---------------------------------------------------------------------------------


def programs_read():
    result = {}
    with open(os.path.join(HERE, "programs.txt"), encoding="ascii") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, path, digest, sources, flags, command = line.rstrip("\n").split("|")
                result[name] = {"path": path, "digest": digest, "sources": sources.split(),
                                "flags": flags.split(), "command": command}
    return result


def archives():
    text = output(["apt-get", "indextargets", "--format", "$(REPO_URI)"], text=True)
    return list(dict.fromkeys(text.split()))


def source_fetch(program, folder):
    """Return the folder of a program's source, downloaded and checked."""
    target = os.path.join(folder, os.path.basename(program["path"]))
    if not os.path.exists(target):
        for base in archives():
            try:
                with urllib.request.urlopen(f"{base}pool/main/{program['path']}", timeout=60) as f:
                    data = f.read()
            except OSError:
                continue
            if hashlib.sha256(data).hexdigest() == program["digest"]:
                with open(target, "wb") as f:
                    f.write(data)
                break
        else:
            raise OSError(f"no archive has {program['path']}")
    with tarfile.open(target) as tar:
        top = tar.getnames()[0].split("/")[0]
        if not os.path.isdir(os.path.join(folder, top)):
            tar.extractall(folder, filter="data")
    return os.path.join(folder, top)


def assembly_make(program, source, folder):
    """Compile to assembly. Return the paths."""
    wanted = [p for p in program["sources"] if not p.startswith("!")]
    banned = {os.path.join(source, p[1:]) for p in program["sources"] if p.startswith("!")}
    paths = sorted({p for w in wanted for p in glob.glob(os.path.join(source, w))} - banned)
    result = []
    os.makedirs(folder, exist_ok=True)
    for path in paths:
        result.append(os.path.join(folder, os.path.basename(path)[:-1] + "s"))
        if not os.path.exists(result[-1]):
            output([*CC, "-S", *[f for f in program["flags"] if not f.startswith("-l")], "-o",
                    result[-1], path], cwd=source)
    return result


def link(program, assembly, folder, path):
    """Link assembly; objects of unchanged files are kept."""
    objects = []
    for source in [*assembly, os.path.join(HERE, "runtime.c")]:
        objects.append(os.path.join(folder, os.path.basename(source)[:-2] + ".o"))
        if not os.path.exists(objects[-1]) or \
                os.path.getmtime(objects[-1]) < os.path.getmtime(source):
            output([*CC, "-c", "-o", objects[-1], source])
    output(["gcc", "-o", path, *objects, *[f for f in program["flags"] if f.startswith("-l")]])


# --- blocks -----------------------------------------------------------------------------------


def flags_are_dead(lines, at):
    """Return true if the block that begins at a line sets the flags before it uses them."""
    for line in lines[at:at + 20]:
        if SETS.match(line):
            return True
        if USES.match(line):
            return False
        if not PLAIN.match(line) and not line.startswith("\t."):
            return False
    return False


def blocks_find(path):
    """Return (file, line) of the blocks of a file that code can be inserted into."""
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = f.read().split("\n")
    found, is_code = [], False
    for i, line in enumerate(lines):
        if line.startswith(("\t.section", "\t.text", "\t.data", "\t.bss")):
            is_code = line.startswith("\t.text") or ".text" in line
        if is_code and re.match(r"\.L\d+:", line) and flags_are_dead(lines, i + 1):
            found.append((path, i))
    return found


def counter_text(number):
    return f"\tincq\tslowdown_counts+{8 * number}(%rip)"


def inserted_text(kind, repeat):
    """Return the code of a kind of work. It changes no register but the flags."""
    text = [f"{MARK[0]}:", "\tleaq\t-128(%rsp), %rsp", "\tpushq\t%rax", "\tpushq\t%rcx",
            "\tpushq\t%rdx", "\tmovq\tslowdown_state(%rip), %rax"]
    if kind == "divide":
        text += ["\tmovl\t$3, %ecx"]
        text += ["\txorl\t%edx, %edx", "\tbtsq\t$62, %rax", "\tdivq\t%rcx"] * repeat
        text += ["\taddq\t$1, %rax"]
    if kind == "miss":
        text += ["\tmovabsq\t$6364136223846793005, %rcx"]
        text += ["\timulq\t%rcx, %rax", "\taddq\t$12345, %rax", "\tmovq\t%rax, %rdx",
                 "\tshrq\t$43, %rdx", "\tshlq\t$6, %rdx",
                 "\taddq\tslowdown_memory(%rip), %rdx", "\taddq\t(%rdx), %rax"] * repeat
    if kind == "branch":
        text += ["\tmovabsq\t$6364136223846793005, %rcx", "\timulq\t%rcx, %rax",
                 "\taddq\t$12345, %rax", "\tmovq\t%rax, %rdx"]
        for i in range(repeat):
            text += [f"\tbtq\t${63 - i}, %rdx", "\tjc\t9f", "\tincl\t%ecx", "9:"]
    return text + ["\tmovq\t%rax, slowdown_state(%rip)", "\tpopq\t%rdx", "\tpopq\t%rcx",
                   "\tpopq\t%rax", "\tleaq\t128(%rsp), %rsp", f"{MARK[1]}:"]


def assembly_change(path, target, changes, end=""):
    """Write a file with lines inserted after others, {line: [text, ...]}, and text at the end."""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        lines = f.read().split("\n")
    result = []
    for i, line in enumerate(lines):
        result.append(line)
        result.extend(changes.get(i, ()))
    text = "\n".join(result) + end
    if os.path.exists(target):
        with open(target, encoding="utf-8", errors="surrogateescape") as f:
            if f.read() == text:
                return  # its object is kept
    with open(target, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)


def counts_of(program, assembly, blocks, folder, command):
    """Return how often each block is executed."""
    os.makedirs(folder, exist_ok=True)
    changed = []
    table = ("\n\t.bss\n\t.globl\tslowdown_counts, slowdown_count_end\n\t.balign\t8\n"
             f"slowdown_counts:\n\t.zero\t{8 * len(blocks)}\nslowdown_count_end:\n")
    for path in assembly:
        changed.append(os.path.join(folder, os.path.basename(path)))
        assembly_change(path, changed[-1], {line: [counter_text(i)] for i, (p, line)
                                            in enumerate(blocks) if p == path},
                        table if path == assembly[0] else "")
    link(program, changed, folder, os.path.join(folder, "counted"))
    counts = os.path.join(folder, "counts")
    if os.path.exists(counts):
        os.unlink(counts)
    run(os.path.join(folder, "counted"), command, {"SLOWDOWN_COUNTS": counts})
    with open(counts, encoding="ascii") as f:
        return [int(line) for line in f]


# --- measurement ------------------------------------------------------------------------------


def input_path():
    return os.path.join(TOP, "build", "cache", "slowdown-input.txt")


def input_make():
    """Make a text that programs need about a second for."""
    os.makedirs(os.path.dirname(input_path()), exist_ok=True)
    with open(TEXT, "rb") as source, open(input_path(), "wb") as target:
        target.write(source.read() * TEXT_COPIES)


def arguments(path, command):
    return shlex.split(command.replace("%p", path).replace("%i", input_path())
                       .replace("%d", HERE))


def run(path, command, environment=None):
    """Run a program. Return its user CPU time in seconds."""
    with subprocess.Popen(arguments(path, command), stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          env={**os.environ, **(environment or {})}) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise OSError(f"{path} failed: {process.returncode}")
    return usage.ru_utime


def addresses(path):
    """Return the addresses of the inserted code, [begin, end)."""
    table = dict(reversed(line.split()[::2]) for line in
                 output(["nm", path], text=True).splitlines() if len(line.split()) == 3)
    return int(table[MARK[0]], 16), int(table[MARK[1]], 16)


def causes_of(insns):
    """Return the cycles of each cause: lower bounds, and the rest by what is between the bounds."""
    result = {}
    for insn in insns:
        stall = max(insn["dynamic_cycles"] or 0, 0)
        culprits = insn["culprits"] if stall > 0 else []
        room = sum(c["cycles_high"] - c["cycles_low"] for c in culprits)
        rest = min(stall - sum(c["cycles_low"] for c in culprits), room)
        parts = [(c["cause"], c["cycles_low"] + (rest * (c["cycles_high"] - c["cycles_low"]) / room
                                                 if room > 0 else 0)) for c in culprits]
        parts += [(s["cause"], min(s["cycles"], insn["cpi"] or 0)) for s in insn["static_stalls"]
                  if s["kind"] == "latency"]
        for cause, cycles in parts:
            result[cause] = result.get(cause, 0) + cycles * (insn["frequency"] or 0)
    return result


def profile(path, command, folder):
    """Return samples in the inserted code, samples in user space, and the causes in that code."""
    database = os.path.join(folder, "profile.db")
    output([f"{BIN}/dcpirun", "-q", "--db", database, "--", *arguments(path, command)])
    images = json.loads(output([f"{BIN}/dcpiprof", "--db", database, "--by", "image", "--json"]))
    event = next(iter(images["totals"]))
    text = output([f"{BIN}/dcpicalc", "--db", database, "-i", os.path.basename(path), "--all",
                   "--json"], text=True)
    begin, end = addresses(path)
    insns = [i for line in text.splitlines() for i in json.loads(line)["instructions"]
             if begin <= i["address"] < end]
    return (sum(i["own_samples"] for i in insns),
            sum(r[event] for r in images["rows"] if r["image"].startswith("/")), causes_of(insns))


def share_added(original, changed, command, runs):
    """Return the added part of the slowed program's CPU time, and its standard error."""
    shares = []
    for _ in range(runs):
        before, after = run(original, command), run(changed, command)
        shares.append((after - before) / after)
    return statistics.mean(shares), statistics.stdev(shares) / len(shares) ** 0.5


def score(samples, total, causes, truth, kind):
    """Compare a profile with the truth: (part of the time, standard error)."""
    reported = samples / total if total > 0 else 0
    stated = 1.96 * (reported * (1 - reported) / total) ** 0.5 if total > 0 else 1
    error = abs(reported - truth[0])
    first = max(causes, key=causes.get) if causes else None
    return {"truth": round(truth[0], 3), "truth_error": round(truth[1], 3),
            "reported": round(reported, 3), "stated_error": round(stated, 3),
            "samples": samples, "within10": error <= 0.1 * truth[0],
            "time_correct": error <= max(0.1 * truth[0], stated + 1.96 * truth[1]),
            "cause": first, "cause_correct": first in KINDS[kind][0],
            "measured": 0 < truth[1] <= TRUTH_ERROR_MAX * truth[0]}


def choices(blocks, counts, seconds, number, seed):
    """Choose blocks, a kind of work for each, and how often it is repeated."""
    draw = random.Random(seed)
    order = list(range(len(blocks)))
    draw.shuffle(order)
    result = []
    for i in order:
        kind = list(KINDS)[len(result) % len(KINDS)]
        one = counts[i] * KINDS[kind][1] / HZ / seconds
        repeat = max(1, min(REPEAT_MAX, int(0.4 / one))) if one > 0 else 0
        if PART_MIN <= one * repeat <= PART_MAX and len(result) < number:
            result.append((i, kind, repeat))
    return result


def program_measure(name, program, options, details):
    source = source_fetch(program, options.work)
    folder = os.path.join(options.work, f"{name}-build")
    assembly = assembly_make(program, source, folder)
    blocks = [b for path in assembly for b in blocks_find(path)]
    original = os.path.join(folder, name)
    link(program, assembly, folder, original)
    counts = counts_of(program, assembly, blocks, folder + "-counted", program["command"])
    seconds = min(run(original, program["command"]) for _ in range(2))
    for i, kind, repeat in choices(blocks, counts, seconds, options.blocks, options.seed):
        path, line = blocks[i]
        with tempfile.TemporaryDirectory() as scratch:
            changed = os.path.join(scratch, os.path.basename(path))
            assembly_change(path, changed, {line: inserted_text(kind, repeat)})
            slowed = os.path.join(scratch, f"{name}-slowed")
            compiled = changed[:-2] + ".o"
            output([*CC, "-c", "-o", compiled, changed])
            output(["gcc", "-o", slowed, compiled,
                    *[os.path.join(folder, os.path.basename(a)[:-2] + ".o") for a in assembly
                      if a != path], os.path.join(folder, "runtime.o"),
                    *[f for f in program["flags"] if f.startswith("-l")]])
            result = score(*profile(slowed, program["command"], scratch),
                           share_added(original, slowed, program["command"], options.runs), kind)
        result.update(program=name, file=os.path.basename(path)[:-2], block=i, count=counts[i],
                      kind=kind, repeat=repeat)
        print(json.dumps(result), file=details, flush=True)
        yield result


def percent(results, key):
    return round(100 * sum(r[key] for r in results) / len(results), 1) if results else None


def options_read(known):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="one program, three blocks")
    parser.add_argument("--programs", type=lambda text: text.split(","))
    parser.add_argument("--blocks", type=int, help="of each program")
    parser.add_argument("--runs", type=int, default=3, help="pairs of runs for the truth")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", default=os.path.join(TOP, "build", "cache", "slowdown"))
    parser.add_argument("--details", default=os.devnull)
    parser.add_argument("--seeds", type=int, help="as the other arms; not used")
    options = parser.parse_args()
    options.programs = options.programs or (["bzip2"] if options.quick else list(known))
    options.blocks = options.blocks or (3 if options.quick else 15)
    return options


def main():
    known = programs_read()
    options = options_read(known)
    os.makedirs(options.work, exist_ok=True)
    input_make()
    with open(options.details, "w", encoding="ascii") as details:
        everything = [r for name in options.programs
                      for r in program_measure(name, known[name], options, details)]
    results = [r for r in everything if r["measured"]]
    print(json.dumps({"name": "slowdown", "arm": "slowdown", "programs": len(options.programs),
                      "blocks": len(results), "not_measured": len(everything) - len(results),
                      "within10": percent(results, "within10"),
                      "time_correct": percent(results, "time_correct"),
                      "cause_correct": percent(results, "cause_correct")}))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (subprocess.CalledProcessError, OSError) as failed:
        sys.exit(f"slowdown: {failed}")
