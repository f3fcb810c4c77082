#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The out-of-order arm of the accuracy table: dcpicalc on samples of this machine.

    x86.py [--quick] [--seeds N] [--details FILE] [--estimators A,B] [--programs A,B]
           [--worst N]
    x86.py [--quick] --list

The programs are those of x86_programs.txt, with the samples and exact counts of x86_collect.sh.
Arm x86-64/printed judges the numbers as dcpicalc prints them. Samples of a clock do not determine
execution counts, so the other arms scale estimates by the weighted median of truth / estimate. Arm
x86-64/program uses one factor for each program, arm x86-64/procedure one for each procedure.
Intervals are judged as stated, without any factor; in x86-64/program there is also
interval_holds_scaled, with it. Rows named "printed" summarize arm x86-64/printed, with widths.

JSON lines go to stdout; FILE gets the same for each program.
"""

import argparse
import json
import os
import subprocess
import sys

import score

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))
DATA = f"{ROOT}/build/accuracy/x86-64"
QUICK = ("gzip", "sorts", "bzip2", "graph")
# A warning is printed above this percentage of untrue samples.
UNTRUE_MAX = 1
ESTIMATORS = ["dcpi", "paper", "avg", "max", "profi"]
ABSOLUTE = ("dcpi", "paper")  # the others estimate proportions only


def programs(options):
    """Yield (name, split) of the selected programs."""
    with open(f"{HERE}/x86_programs.txt", encoding="ascii") as lines:
        rows = [line.split("\t")[:2] for line in lines if line.strip() and line[0] != "#"]
    wanted = options.programs or (QUICK if options.quick else None)
    return [(name, split) for name, split in rows if not wanted or name in wanted]


def counts_read(name, runs):
    """Return {image: {offset: executions in all runs}}."""
    counts, image = {}, None
    with open(f"{DATA}/{name}/counts", encoding="utf-8") as lines:
        first = next(lines)
        if not first.endswith(" exact\n"):
            raise SystemExit(f"x86: {name}: counts are not exact")
        for line in lines:
            if line.startswith("image "):
                image = counts.setdefault(line[6:].rstrip("\n"), {})
            else:
                offset, _, _, executed = line.split()
                offset = int(offset, 16)
                image[offset] = image.get(offset, 0) + int(executed) * runs
    return counts


def calc(name, estimator):
    """Return the objects that dcpicalc prints, one for each procedure."""
    done = subprocess.run([f"{ROOT}/build/bin/dcpicalc", "--db", f"{DATA}/{name}/samples.db",
                           "--all", "--json", "--estimator", estimator],
                          check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def samples_of(name):
    """Return {(image, offset): samples}, and the number of runs."""
    done = subprocess.run([f"{ROOT}/build/bin/dcpiprof", "--db", f"{DATA}/{name}/samples.db",
                           "--by", "instruction", "--raw", "--json"],
                          check=True, stdout=subprocess.PIPE, text=True)
    report = json.loads(done.stdout)
    event = report["events"][0]["event"]
    samples = {}
    for row in report["rows"]:
        if row["image"].startswith("/"):
            key = (row["image"], int(row["file_offset"], 16))
            samples[key] = samples.get(key, 0) + row[event]
    return samples, len(report["epochs"])


def entry_of(blocks, at):
    """Return the block that reaches most others, since split-off parts may precede the entry."""
    ways = [[at[s["to"]] for s in block["successors"] if s["to"] in at] for block in blocks]
    inside = {to for number, out in enumerate(ways) for to in out if to != number}
    best = (0, 0)
    for first in [n for n in range(len(blocks)) if n not in inside] or [0]:
        seen, left = {first}, [first]
        while left:
            new = set(ways[left.pop()]) - seen
            seen |= new
            left += new
        best = max(best, (len(seen), -first))
    return -best[1]


def profi_input(procedure):
    """Return the graph, with each block's maximum count of samples, as LLVM's loader uses them."""
    blocks, at = procedure["blocks"], {}
    for number, block in enumerate(blocks):
        at[block["start"]] = number
    most = [0] * len(blocks)
    starts = sorted(at)
    for i, number in instructions_by_block(procedure, starts, at):
        most[number] = max(most[number], i["samples"])
    lines = [f"procedure {len(blocks)}"]
    lines += [f"block {round(m) if m else -1}" for m in most]
    lines.append(f"jump -1 {entry_of(blocks, at)}")
    for number, block in enumerate(blocks):
        ways = {at.get(s["to"], -1) for s in block["successors"]} or {-1}
        lines += [f"jump {number} {to}" for to in sorted(ways)]
    return lines + ["end"]


def instructions_by_block(procedure, starts, at):
    """Yield (instruction, number of its block), in order of addresses."""
    where = -1
    for i in procedure["instructions"]:
        while where + 1 < len(starts) and starts[where + 1] <= i["address"]:
            where += 1
        if where >= 0:
            yield i, at[starts[where]]


def infer(procedures):
    """Replace the frequencies of procedures by the results of LLVM's inference."""
    lines = [line for p in procedures for line in profi_input(p)]
    done = subprocess.run([f"{ROOT}/build/tests/profi"], check=True, stdout=subprocess.PIPE,
                          input="\n".join(lines) + "\n", text=True)
    for procedure, flows in zip(procedures, done.stdout.splitlines()):
        flows = [int(f) for f in flows.split()]
        at = {block["start"]: n for n, block in enumerate(procedure["blocks"])}
        for i, number in instructions_by_block(procedure, sorted(at), at):
            i.update(frequency=flows[number], frequency_low=None, frequency_high=None,
                     confidence=None)


def estimates(name, estimator):
    if estimator != "profi":
        return calc(name, estimator)
    procedures = [p for p in calc(name, "max") if p["blocks"]]
    infer(procedures)
    return procedures


def items_of(procedures, samples, counts):
    """Return [[(samples, estimate, truth, confidence, low, high), ...], ...], by procedure.

    The last list has the samples outside procedures.
    """
    left, lists = dict(samples), []
    for procedure in procedures:
        items = []
        for i in procedure["instructions"]:
            key = (procedure["image"], i["offset"])
            taken = left.pop(key, 0)
            if taken:
                truth = counts.get(key[0], {}).get(key[1], 0)
                items.append((taken, i["frequency"], truth, i["confidence"],
                              i["frequency_low"], i["frequency_high"]))
        if items:
            lists.append(items)
    lists.append([(taken, None, 0, None, None, None) for taken in left.values()])
    return lists


def by_program(lists):
    items = [item for items in lists for item in items]
    return score.scaled(items, score.scale(items))


def by_procedure(lists):
    return [item for items in lists for item in score.scaled(items, score.scale(items))]


def alike(items):
    """Scale the weights to a sum of 1, so that every program counts the same."""
    total = sum(i[0] for i in items)
    return [(i[0] / total, *i[1:]) for i in items]


def worst_show(name, procedures, samples, counts, count):
    """Print the most costly procedures to stderr, by their error with the program's scale."""
    lists = items_of(procedures, samples, counts)
    factor, total = score.scale([i for items in lists for i in items]), sum(samples.values())
    wrong = []
    for procedure in procedures:
        items = items_of([procedure], samples, counts)[0]
        items = [i for i in items if i[2] > 0]
        if items:
            share = sum(i[0] for i in items) / total
            off = score.median_error(score.scaled(items, factor))
            inside = score.within(score.scaled(items, score.scale(items)))
            wrong.append((share * min(abs(off or 100), 100), f"{100 * share:5.1f}% of {name}: "
                          f"{procedure['image']} {procedure['procedure']}: median {off}%, "
                          f"within itself {inside}"))
    for _, text in sorted(wrong, reverse=True)[:count]:
        print(text, file=sys.stderr)


def judge(name, estimator, samples, counts, options):
    """Return {arm: (scaled items, items as stated)}."""
    procedures = estimates(name, estimator)
    if options.worst and estimator == "dcpi":
        worst_show(name, procedures, samples, counts, options.worst)
    lists = items_of(procedures, samples, counts)
    stated = alike([item for items in lists for item in items])
    arms = {"x86-64/program": (alike(by_program(lists)), stated),
            "x86-64/procedure": (alike(by_procedure(lists)), stated)}
    if estimator in ABSOLUTE:
        arms["x86-64/printed"] = (stated, stated)
    return arms


def untrue(samples, counts):
    """Return the percentage of samples at instructions that the counted run never executed.

    These may be in other variants of libc's functions, for example.
    """
    wrong = sum(taken for (image, offset), taken in samples.items()
                if not counts.get(image, {}).get(offset))
    return score.percent(wrong, sum(samples.values()))


def line(about, items, stated):
    found = {"name": "instructions", **about, **score.within(items)}
    if about["estimator"] in ABSOLUTE:
        found |= {"median_error": score.median_error(stated),
                  "wrong_marked_low": score.flagged(items),
                  "interval_holds": score.held(stated),
                  "interval_holds_scaled": score.held(items),
                  "confidence": score.confidences(stated)}
    return {**found, "errors": score.histogram(items)}


def printed(about, stated):
    """Return the row of the counts as dcpicalc prints them, without any scale."""
    shares = score.within(stated)
    return {"name": "printed", **about, "within10": shares["within10"],
            "within45": shares["within45"], "interval_holds": score.held(stated),
            "interval_median": score.interval_median(stated),
            "low": score.confidences(stated)["low"]}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the programs' names")
    parser.add_argument("--seeds", type=int, help="as the other arms; there is one")
    parser.add_argument("--details", default=os.devnull)
    parser.add_argument("--estimators", type=lambda s: s.split(","), default=ESTIMATORS)
    parser.add_argument("--programs", type=lambda s: s.split(","))
    parser.add_argument("--worst", type=int, default=0, metavar="N",
                        help="show the N worst procedures of each program, on stderr")
    return parser.parse_args()


def main():
    options = arguments()
    pools = {}
    if options.list:
        print(" ".join(name for name, _ in programs(options)))
        return 0
    with open(options.details, "w", encoding="ascii") as details:
        for name, split in programs(options):
            samples, runs = samples_of(name)
            counts = counts_read(name, runs)
            wrong = untrue(samples, counts)
            if wrong > UNTRUE_MAX:
                print(f"x86: {name}: {wrong}% of its samples are where it was not counted",
                      file=sys.stderr)
            for estimator in options.estimators:
                judged = judge(name, estimator, samples, counts, options)
                for arm, (items, stated) in judged.items():
                    about = {"arm": arm, "program": name, "split": split,
                             "budget": sum(samples.values()), "estimator": estimator}
                    print(json.dumps(line(about, items, stated)), file=details)
                    if arm == "x86-64/program":
                        print(json.dumps(printed({**about, "arm": "x86-64"}, stated)),
                              file=details)
                    pool = pools.setdefault((arm, split, estimator), ([], []))
                    pool[0].extend(items)
                    pool[1].extend(stated)
    for (arm, split, estimator), (items, stated) in sorted(pools.items()):
        print(json.dumps(line({"arm": arm, "split": split, "estimator": estimator},
                              items, stated)))
        if arm == "x86-64/program":
            print(json.dumps(printed({"arm": "x86-64", "split": split, "estimator": estimator},
                                     stated)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (subprocess.CalledProcessError, OSError) as failed:
        sys.exit(f"x86: {failed}")
