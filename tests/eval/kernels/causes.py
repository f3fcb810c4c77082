#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Causes of stalls as dcpicalc prints them, for kernels whose cause is known by construction.

    causes.py [--quick] [--seconds N] [--kernels A,B] [--event E] [--profiles DIR] [--details FILE]
              [--seeds N]

The kernels of kernels.c, held_back.c, outside.c and workloads.c are profiled by dcpirun, alone in a procedure.
Each stall of an instruction is divided among its causes: each cause gets its lower bound, and the
rest in proportion to what is between the bounds. One JSON line goes to stdout for each group of kernels;
FILE gets one for each kernel:

    split          tuned: kernels.c; the others: written after the rules
    correct        percent of the attributed stall cycles with a correct cause, mean over kernels
                   with stalls
    correct_70     percent of kernels with at least 70% correct
    first_correct  percent of kernels whose first-named cause is correct; a tie is correct if all
                   of its causes are
    not_measured   kernels with too few samples, or whose threads did not run at the same time
    attributed     percent of the stall cycles with any cause, mean over kernels

Profiles are kept in DIR. Those that are there already are analysed again, not measured.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import kernels

# The causes of a kernel's stalls: any of these is correct. The first result of a kernel without a
# stall is correct if none is reported. "latency": of the instructions themselves, without a miss.
LATENCY = ("latency",)
MISS = ("dcache",)
FAR_MISS = ("dcache", "dtb")
TRUTH = {
    "chase_l1": LATENCY, "chase_l2": MISS, "chase_l3": FAR_MISS, "chase_dram": FAR_MISS,
    "chase_end": LATENCY + ("branch",), "gather_l1": LATENCY + ("imul",), "gather_dram": FAR_MISS,
    "gather_dependent": FAR_MISS, "stream": MISS, "stride": FAR_MISS, "update_l1": LATENCY,
    "update_dram": FAR_MISS, "branch_random": ("branch",), "branch_steady": LATENCY,
    "branch_indirect": ("branch",), "branch_return": ("branch",), "divide": LATENCY + ("imul",),
    "square_root": LATENCY + ("fdiv",), "multiply": LATENCY + ("imul",), "add_chain": LATENCY,
    "float_chain": LATENCY, "add_parallel": LATENCY,
    "store_stream": ("write_buffer",), "store_forward": ("store_forward",),
    "alias_4k": ("store_forward",), "atomic_alone": ("synchronization",),
    "atomic_contended": ("synchronization", "sharing"), "sharing_true": ("sharing",),
    "sharing_false": ("sharing",), "big_code": LATENCY + ("imul", "icache"),
    "page_fault": ("page_fault",),
}
# Two threads share a line only while they run at the same time. If the hottest block takes less
# than SLOWED times its best case, or if a run takes more than APART times as long as each thread,
# they did not, and the kernel is not measured.
PARALLEL = ("sharing_true", "sharing_false", "own_counters", "one_counter")
SLOWED = 4
APART = 1.5
# Kernels that were not used while the rules were written, see docs/accuracy.md.
HELD_BACK = {
    "hash_probe": FAR_MISS, "hash_chain": FAR_MISS, "column": FAR_MISS, "search": ("branch",),
    "dispatch": ("branch",), "float_divide": LATENCY + ("fdiv",), "float_multiply": LATENCY,
    "fence": ("synchronization",), "compare_exchange": ("synchronization",),
    "join": ("store_forward",), "scatter": FAR_MISS + ("write_buffer",),
}
# Small programs, written without knowledge of the rules.
OUTSIDE = {
    "total_area": ("branch",), "sort": ("branch",), "recurse": ("branch",),
    "list_weight": FAR_MISS, "fresh_blocks": ("page_fault",), "file_pages_sum": ("page_fault",),
    "packets": ("store_forward",), "filter": LATENCY + ("alias_4k",),
    "hash_modulo": LATENCY + ("imul",), "own_counters": ("sharing",), "one_counter": ("sharing",),
}
# More small programs, written after the first measurement of OUTSIDE
SECOND = {
    "interpret": ("branch",), "matrix_product": FAR_MISS,
    "continued_fraction": LATENCY + ("fdiv",), "word_lengths": ("branch",),
    "references": ("synchronization",), "histogram": FAR_MISS, "log_records": ("page_fault",),
}
# Programs written later still. Loads in the order of memory are prefetched, or wait for memory.
THIRD = {
    "orders_join": FAR_MISS, "particles_mass": FAR_MISS, "gravity": LATENCY + ("fdiv",),
    "nodes_sum": LATENCY + MISS, "frame_copy": MISS + ("write_buffer",),
    "headers_parse": ("store_forward",), "pages_gather": FAR_MISS,
    "counter_locked": ("synchronization",),
}
# The rows of results: their split, the file of the source, and the causes
GROUPS = (("tuned", "kernels", TRUTH), ("held-back", "held_back", HELD_BACK),
          ("outside", "outside", OUTSIDE), ("second", "outside", SECOND),
          ("third", "workloads", THIRD))
QUICK = ("chase_dram", "divide", "branch_random", "atomic_alone")
SAMPLES_MIN = 200
# If a smaller part of a kernel's time is attributed to stalls, their share is not of interest.
MINOR = 0.05
TRIES = 3


def source_of(kernel):
    """Return the name of the file with the kernel."""
    return next(name for _, name, truth in GROUPS if kernel in truth)


def truth_of(kernel):
    """Return the correct causes of a kernel."""
    return next(truth[kernel] for _, _, truth in GROUPS if kernel in truth)


def command(kernel):
    path = kernels.program("O2", source_of(kernel))
    return [path, kernel, "alone"] if kernel in TRUTH else [path, kernel]


def profile(kernel, options, path):
    """Run a kernel under dcpirun until there are enough samples."""
    events = ["-e", options.event] if options.event else []
    seconds = options.seconds
    for _ in range(TRIES):
        if os.path.exists(path):
            os.unlink(path)
        kernels.output_of([f"{kernels.BIN}/dcpirun", "-q", "--db", path, *events, "--",
                           *command(kernel), str(seconds)])
        procedures = printed(path, kernel)
        if sum(i["own_samples"] for p in procedures for i in p["instructions"]) >= SAMPLES_MIN:
            return
        seconds *= 2


def printed(path, kernel):
    """Return the procedures of the program as dcpicalc prints them; none: it had no samples."""
    result = subprocess.run([f"{kernels.BIN}/dcpicalc", "--db", path, "-i",
                             f"{source_of(kernel)}-O2", "--all", "--json"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            check=False)
    return [json.loads(line) for line in result.stdout.splitlines()]


def shares(insn):
    """Yield the causes of an instruction's stalls, and their cycles for each execution."""
    stall = max(insn["dynamic_cycles"] or 0, 0)
    culprits = insn["culprits"] if stall > 0 else []
    room = sum(c["cycles_high"] - c["cycles_low"] for c in culprits)
    rest = stall - sum(c["cycles_low"] for c in culprits)
    for culprit in culprits:
        part = (culprit["cycles_high"] - culprit["cycles_low"]) / room if room > 0 else 0
        yield culprit["cause"], culprit["cycles_low"] + min(rest, room) * part
    if not culprits or room < rest:
        yield "unexplained", stall if not culprits else rest - room
    for static in insn["static_stalls"]:
        if static["kind"] == "latency":
            yield static["cause"], min(static["cycles"], insn["cpi"] or 0)


def is_slowed(procedure):
    """Return true if the hottest block takes much longer than its best case."""
    def samples(block):
        return sum(i["own_samples"] for i in procedure["instructions"]
                   if block["start"] <= i["address"] < block["end"])
    block = max(procedure["blocks"], key=samples)
    return (block["actual_cpi"] or 0) > SLOWED * block["best_cpi"]


def runs_parallel(kernel):
    """Return true if the machine runs both threads of a kernel at the same time now."""
    begin = time.monotonic()
    kernels.output_of([*command(kernel), "1"])
    return time.monotonic() - begin < APART


def score(kernel, procedures):
    cycles = {}
    if not procedures:
        return {"kernel": kernel, "measured": False, "samples": 0}
    for procedure in procedures:
        for insn in procedure["instructions"]:
            for cause, value in shares(insn):
                cycles[cause] = cycles.get(cause, 0) + value * (insn["frequency"] or 0)
    truth = truth_of(kernel)
    attributed = sum(v for c, v in cycles.items() if c != "unexplained")
    total = sum(cycles.values())
    samples = sum(i["own_samples"] for p in procedures for i in p["instructions"])
    time_of_all = sum((i["cpi"] or 0) * (i["frequency"] or 0)
                      for p in procedures for i in p["instructions"])
    stalls = attributed >= MINOR * time_of_all
    right = sum(v for c, v in cycles.items() if c in truth)
    hottest = max(procedures, key=lambda p: sum(i["own_samples"] for i in p["instructions"]))
    finding = hottest["finding"]
    named = finding["causes"] if finding else ["latency"]
    return {"kernel": kernel, "truth": truth,
            "correct": round(100 * right / attributed, 1) if stalls else None,
            "first": named, "first_correct": bool(named) and set(named) <= set(truth),
            "attributed": round(100 * attributed / total, 1) if total > 0 else 100.0,
            "causes": {c: round(100 * v / total, 1) for c, v in cycles.items() if total > 0},
            "measured": samples >= SAMPLES_MIN / 2 and (
                kernel not in PARALLEL or (is_slowed(hottest) and runs_parallel(kernel))),
            "samples": round(samples)}


def mean(values):
    return round(sum(values) / len(values), 1) if values else None


def summary(split, event, everything):
    results = [r for r in everything if r["measured"]]
    if not results:
        return {"name": "causes", "arm": "causes", "split": split, "event": event, "kernels": 0,
                "not_measured": len(everything)}
    correct = [r["correct"] for r in results if r["correct"] is not None]
    return {"name": "causes", "arm": "causes", "split": split, "event": event,
            "kernels": len(results), "not_measured": len(everything) - len(results),
            "correct": mean(correct),
            "correct_70": kernels.percent(correct, lambda c: c >= 70) if correct else None,
            "first_correct": kernels.percent(results, lambda r: r["first_correct"]),
            "attributed": mean([r["attributed"] for r in results])}


def options_read():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="few kernels, one second each")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--kernels", type=kernels.words)
    parser.add_argument("--event", help="instead of dcpirun's default")
    parser.add_argument("--profiles", help="directory of profiles")
    parser.add_argument("--details", default=os.devnull)
    parser.add_argument("--seeds", type=int, help="as the other arms; not used")
    return parser.parse_args()


def main():
    options = options_read()
    options.seconds = options.seconds or (1 if options.quick else 3)
    chosen = options.kernels or (QUICK if options.quick else [*TRUTH, *HELD_BACK, *OUTSIDE,
                                                                *SECOND, *THIRD])
    results = []
    if options.profiles:
        os.makedirs(options.profiles, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, \
            open(options.details, "w", encoding="ascii") as details:
        for kernel in chosen:
            path = os.path.join(options.profiles or scratch, f"{kernel}.db")
            if not os.path.exists(path):
                profile(kernel, options, path)
            results.append(score(kernel, printed(path, kernel)))
            print(json.dumps(results[-1]), file=details, flush=True)
    for split, _, truth in GROUPS:
        group = [r for r in results if r["kernel"] in truth]
        if group:
            print(json.dumps(summary(split, options.event or "default", group)))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (subprocess.CalledProcessError, OSError) as failed:
        sys.exit(f"causes: {failed}")
