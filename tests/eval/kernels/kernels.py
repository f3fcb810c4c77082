#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Execution counts as dcpicalc prints them, for loops whose executions are known by construction.

    kernels.py [--quick] [--seconds N] [--kernels A,B] [--builds A,B] [--places A,B]
               [--details FILE] [--seeds N]

Each kernel of kernels.c and algorithms.c is built and placed in several ways, and profiled once by dcpirun with its
defaults. Nothing is scaled. One JSON line goes to stdout for each way, and one for all of them;
FILE gets one for each kernel:

    within10, within45     percent of kernels whose printed executions are that close to the truth
    interval_holds         percent of intervals that contain the truth
    interval_median        median of upper / lower bound; interval_narrow: percent below 1.5
    low                    percent with low confidence
    split                  "held-back", "algorithms": kernels that were written after the
                           estimators; the other rows do not contain these
    not_printed            kernels' loops in procedures without samples, which dcpicalc omits
"""

import argparse
import functools
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BIN = os.environ.get("BIN", f"{ROOT}/build/bin")
PROGRAMS = os.environ.get("TEST_BIN", f"{ROOT}/build/tests")
BUILDS = {
    "O2": ["-O2"],
    "O3": ["-O3", "-march=x86-64-v3"],
    "unrolled": ["-O2", "-funroll-loops"],
    "O0": ["-O0"],
}
COUNTED = "counted"
PLACES = ("alone", "callee", "program")
# All kernels at -O2 in all places; the other builds alone.
WAYS = [("O2", place) for place in PLACES] + [(b, "alone") for b in BUILDS if b != "O2"]
QUICK = ["chase_l1", "chase_dram", "divide", "branch_random", "update_dram", "nest_1000", "calls",
         "atomic_alone"]
HELD_BACK = ["hash_join", "tokenizer", "tree_insert", "string_search", "sparse_rows", "lru_cache",
             "parser", "priority_queue"]
SOURCES = ("kernels", "algorithms")
LOOPS = ("main", "outer")
PERIOD = 64
ROW = struct.Struct("<iiii")


def output_of(arguments, **options):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, **options).stdout


def program(build, name="kernels"):
    """Build the kernels of a file. Return the path."""
    path = f"{PROGRAMS}/{name}-{build}"
    sources = [f"{HERE}/{name}.c", f"{HERE}/marks.h", f"{HERE}/run.h"]
    if not os.path.exists(path) or any(os.path.getmtime(s) > os.path.getmtime(path)
                                       for s in sources):
        os.makedirs(PROGRAMS, exist_ok=True)
        flags = ["-O2", "-DCOUNT_MARKS"] if build == COUNTED else BUILDS[build]
        output_of(["gcc", "-std=gnu17", "-g", "-Wno-psabi", *flags, "-o", path + ".new",
                   sources[0], "-lm", "-pthread"])
        os.rename(path + ".new", path)
    return path


def kernels_of(source):
    """Return the names of a file's kernels."""
    return output_of([program("O2", source), "--list"]).split()


@functools.cache
def source_of(kernel):
    """Return the name of the file with the kernel."""
    return next(s for s in SOURCES if kernel in kernels_of(s))


def split_of(kernel):
    if kernel in HELD_BACK:
        return "held-back"
    return "algorithms" if source_of(kernel) == "algorithms" else "tuned"


def marks_of(path):
    """Return {(kernel number, loop number): addresses}."""
    marks = {}
    for line in output_of(["readelf", "-SW", path]).splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 5 and fields[1] == "kernel_marks":
            start, offset, size = (int(f, 16) for f in fields[3:6])
            with open(path, "rb") as file:
                file.seek(offset)
                data = file.read(size)
            for number, row in enumerate(ROW.iter_unpack(data)):
                address = start + number * ROW.size + row[0]
                marks.setdefault((row[1], row[2]), set()).add(address)
    return marks


def printed(database, path):
    """Return {address: instruction} as dcpicalc prints them."""
    lines = output_of([f"{BIN}/dcpicalc", "--db", database, "-i", os.path.basename(path), "--all",
                       "--json"])
    return {insn["address"]: insn for line in lines.splitlines()
            for insn in json.loads(line)["instructions"]}


def result_of(insns, addresses, truth):
    """Compare the sum over a kernel's marks with the truth."""
    found = [insns[a] for a in addresses if a in insns and insns[a]["frequency"] is not None]
    found = [i for i in found if i["frequency"] > 0 or i["frequency_high"]]
    value = sum(i["frequency"] for i in found)
    return {"truth": truth, "ratio": round(value / truth, 4),
            "low": sum(i["frequency_low"] or 0 for i in found) / truth,
            "high": sum(i["frequency_high"] or 0 for i in found) / truth,
            "confidence": max(found, key=lambda i: i["frequency"])["confidence"]
            if found else "none",
            "samples": sum(i["own_samples"] for i in insns.values())}


@functools.cache
def executions_of(kernel):
    """Return the executions of a kernel's marks in PERIOD counts."""
    return tuple(map(int, output_of([program(COUNTED, source_of(kernel)), kernel, "alone", "0"]).split()))


def measure(kernel, build, place, options, scratch):
    """Yield a result for each of the kernel's loops with a known count."""
    path = program(build, source_of(kernel))
    database = os.path.join(tempfile.mkdtemp(dir=scratch), "db")
    events = ["-e", options.event] if options.event else []
    number, count = map(int, output_of([f"{BIN}/dcpirun", "-q", "--db", database, *events, "--",
                                        path, kernel, place, str(options.seconds)]).split())
    insns, marks = printed(database, path), marks_of(path)
    for loop, executions in enumerate(executions_of(kernel)):
        truth = executions * count // PERIOD
        addresses = inside(marks.get((number, loop), set()), path, f"{place}_{kernel}")
        if truth > 0 and addresses:
            yield {"kernel": kernel, "loop": LOOPS[loop], "build": build, "place": place,
                   "printed": not addresses.isdisjoint(insns),
                   **result_of(insns, addresses, truth)}


def inside(addresses, path, name):
    """Return those in the procedure, or in one that all places share."""
    spans = {}
    for line in output_of(["nm", "-S", path]).splitlines():
        fields = line.split()
        if len(fields) == 4:
            spans[fields[3]] = (int(fields[0], 16), int(fields[0], 16) + int(fields[1], 16))
    own = {a for a in addresses if spans[name][0] <= a < spans[name][1]}
    shared = {a for a in addresses
              if any(s <= a < e for n, (s, e) in spans.items()
                     if not n.startswith(("alone_", "callee_", "program_", "calls_")))}
    return own | shared


def width_of(result):
    return result["high"] / result["low"] if result["low"] > 0 else float("inf")


def percent(results, holds):
    return round(100 * sum(map(holds, results)) / len(results), 1)


def summary(everything):
    results = [r for r in everything if r["printed"]]
    widths = sorted(map(width_of, results))
    median = widths[len(widths) // 2]
    return {
        "intervals": len(results),
        "not_printed": len(everything) - len(results),
        "within10": percent(results, lambda r: 1 / 1.1 <= r["ratio"] <= 1.1),
        "within45": percent(results, lambda r: 1 / 1.45 <= r["ratio"] <= 1.45),
        "interval_holds": percent(results, lambda r: r["low"] <= 1 <= r["high"]),
        "interval_median": round(median, 2) if median < float("inf") else None,
        "interval_narrow": percent(results, lambda r: width_of(r) < 1.5),
        "low": percent(results, lambda r: r["confidence"] not in ("medium", "high")),
    }


def row_print(split, build, place, results):
    """Print the row of these results, if any loop was printed."""
    if any(r["printed"] for r in results):
        print(json.dumps({"name": "kernels", "arm": "kernels", "split": split, "estimator": "dcpi",
                          "build": build, "place": place, **summary(results)}), flush=True)


def words(text):
    return text.split(",")


def options_read():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="few kernels, one second each")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--kernels", type=words)
    parser.add_argument("--builds", type=words)
    parser.add_argument("--places", type=words)
    parser.add_argument("--event", help="instead of dcpirun's default")
    parser.add_argument("--details", default=os.devnull)
    parser.add_argument("--seeds", type=int, help="as the other arms; not used")
    return parser.parse_args()


def ways_of(options):
    if options.builds or options.places:
        return [(b, p) for b in options.builds or ["O2"] for p in options.places or ["alone"]]
    return WAYS[:1] if options.quick else WAYS


def main():
    options = options_read()
    options.seconds = options.seconds or (1 if options.quick else 5)
    kernels = options.kernels or (QUICK if options.quick
                                  else [k for s in SOURCES for k in kernels_of(s)])
    everything = []
    with tempfile.TemporaryDirectory() as scratch, \
            open(options.details, "w", encoding="ascii") as details:
        for build, place in ways_of(options):
            results = []
            for kernel in kernels:
                for result in measure(kernel, build, place, options, scratch):
                    print(json.dumps(result), file=details, flush=True)
                    results.append(result)
            everything += results
            row_print("tuned", build, place, [r for r in results if split_of(r["kernel"]) == "tuned"])
    if not everything:
        sys.exit("kernels: no results")
    for split in ("tuned", "held-back", "algorithms"):
        row_print(split, "all", "all",
                  [r for r in everything if split_of(r["kernel"]) == split])
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (subprocess.CalledProcessError, OSError) as failed:
        sys.exit(f"kernels: {failed}")
