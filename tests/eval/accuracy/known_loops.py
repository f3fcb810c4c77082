#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Intervals of dcpicalc on loops that run as often as is known by construction (known_loops.c).

Prints one line for each number of pooled runs: the share of stated intervals that contain the true
execution count, their width, and how often a CPI is below the best case.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ.get("BIN", "build/bin")
PROGRAM = "build/tests/known_loops"
CASES = ("trips3 trips10 trips100 trips10000 trips1000000 once search8 search1000 phases column "
         "branch").split()
POOLED = (1, 3, 8)
RUNS = 24


def output_of(arguments):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout


def record(database, case):
    """Profile one run. Return the execution count of the loop's body."""
    return int(output_of([f"{BIN}/dcpirun", "--db", database, "--user", "-e", "cpu-clock", "--",
                          PROGRAM, case]).split()[0])


def hottest_block(database):
    """Return the block of "kernel..." with the most samples, and its first instruction."""
    lines = output_of([f"{BIN}/dcpicalc", "--db", database, "-i", "known_loops", "--all", "--json"])
    found = None
    for procedure in map(json.loads, lines.splitlines()):
        if not procedure["procedure"].startswith("kernel"):
            continue
        for block in procedure["blocks"]:
            inside = [i for i in procedure["instructions"]
                      if block["start"] <= i["address"] < block["end"]]
            heat = sum(i["own_samples"] for i in inside)
            if found is None or heat > found[0]:
                found = (heat, block, inside[0])
    return found[1:]


class Score:
    """Results of the cases with one number of pooled runs."""

    def __init__(self):
        self.count = self.held = self.below = 0
        self.errors, self.widths = [], []

    def add(self, database, truth):
        block, insn = hottest_block(database)
        low, high = insn["frequency_low"], insn["frequency_high"]
        self.count += 1
        self.held += low <= truth <= high
        self.below += (block["actual_cpi"] is not None and
                       block["actual_cpi"] < block["best_cpi"] * 0.9999)
        self.errors.append(math.log(insn["frequency"] / truth))
        self.widths.append(math.log(high / max(low, 1)) / 2)

    def add_all(self, other):
        self.count += other.count
        self.held += other.held
        self.below += other.below
        self.errors += other.errors
        self.widths += other.widths

    def line(self, about):
        squares = sum(e * e for e in self.errors)
        return json.dumps({**about, "intervals": self.count,
                           "interval_holds": round(100 * self.held / self.count, 2),
                           "interval_factor": round(math.exp(sum(self.widths) / self.count), 2),
                           "error_factor": round(math.exp(math.sqrt(squares / self.count)), 2),
                           "below_best_case": self.below})


def pool(databases, place):
    shutil.copy(databases[0], place)
    for database in databases[1:]:
        output_of([f"{BIN}/dcpictl", "merge", "--db", place, database])
    return place


def score_case(case, runs, scratch):
    databases = [os.path.join(scratch, f"{case}.{i}.db") for i in range(runs)]
    truth = [record(database, case) for database in databases][0]
    scores = {}
    for pooled in POOLED:
        score = Score()
        for first in range(0, runs - pooled + 1, pooled):
            some = databases[first:first + pooled]
            place = pool(some, os.path.join(scratch, "pool.db")) if pooled > 1 else some[0]
            score.add(place, pooled * truth)
        if score.count > 0:
            scores[pooled] = score
    return scores


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="three runs instead of 24")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seeds", type=int, help="as the other arms; not used")
    parser.add_argument("--details", default=os.devnull)
    parser.add_argument("--cases", type=lambda s: s.split(","), default=CASES)
    return parser.parse_args()


def main():
    options = arguments()
    runs = options.runs or (3 if options.quick else RUNS)
    sums = {pooled: Score() for pooled in POOLED}
    about = {"name": "known_loops", "arm": "known-loops", "split": "tuned", "estimator": "dcpi"}
    with tempfile.TemporaryDirectory() as scratch, \
            open(options.details, "w", encoding="ascii") as details:
        for case in options.cases:
            for pooled, score in score_case(case, runs, scratch).items():
                print(score.line({**about, "program": case, "pooled": pooled}), file=details,
                      flush=True)
                sums[pooled].add_all(score)
    for pooled, score in sums.items():
        if score.count > 0:
            print(score.line({**about, "pooled": pooled}))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (subprocess.CalledProcessError, OSError) as failed:
        sys.exit(f"known_loops: {failed}")
