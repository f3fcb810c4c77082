#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whether the best case that dcpicalc tells of blocks is one, on this machine's processor.

    best_case.py [--model NAME] [--worst N] [PROGRAM...]

Samples and exact counts are those of x86_collect.sh. The time of a block is the number of its
samples times their period, divided by its execution count. It is compared with the model's best
case. Prints JSON: the share of the samples in blocks that took less time than that, separately for
loops of one block and for others, whose executions overlap with those of neighbouring blocks.
--worst: the N loops that took the smallest share of their best case: ratio, samples, program,
procedure, address, instructions, cycles, best case.
"""
import argparse
import collections
import json
import subprocess

import x86

# With fewer samples, the time of a block is too uncertain.
SAMPLES_MIN = 200
# Allows for the uncertainty of the core's clock.
SLACK = 0.97


def calc(name, model):
    command = [f"{x86.ROOT}/build/bin/dcpicalc", "--db", f"{x86.DATA}/{name}/samples.db",
               "--all", "--json"]
    done = subprocess.run(command + (["--model", model] if model else []), check=True,
                          stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def blocks_of(procedure):
    """Yield (block, its instructions) for blocks with enough samples."""
    blocks = procedure["blocks"] or []
    at = {block["start"]: number for number, block in enumerate(blocks)}
    inside = collections.defaultdict(list)
    for i, number in x86.instructions_by_block(procedure, sorted(at), at):
        inside[number].append(i)
    for number, block in enumerate(blocks):
        if sum(i["samples"] for i in inside[number]) >= SAMPLES_MIN:
            yield block, inside[number]


def period_of(instructions):
    """Return the number of cycles that a sample represents."""
    for i in instructions:
        if i["samples"] and i["cpi"] and i["frequency"]:
            return i["cpi"] * i["frequency"] / i["samples"]
    return None


def look_at(name, model, tally, loops):
    _, runs = x86.samples_of(name)
    counts = x86.counts_read(name, runs)
    for procedure in calc(name, model):
        for block, instructions in blocks_of(procedure):
            executed = counts.get(procedure["image"], {}).get(instructions[0]["offset"], 0)
            period = period_of(instructions)
            if not executed or not period:
                continue
            samples = sum(i["samples"] for i in instructions)
            cycles = samples * period / executed
            best = block["best_cpi"] * len(instructions)
            loop = any(s["to"] == block["start"] for s in block["successors"])
            tally[loop, "all"] += samples
            if cycles < SLACK * best:
                tally[loop, "faster"] += samples
            if loop:
                loops.append((cycles / best, samples, name, procedure["procedure"],
                              hex(block["start"]), len(instructions), round(cycles, 2),
                              round(best, 2)))
        tally["model"] = procedure["model"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--model")
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("programs", nargs="*")
    parser.set_defaults(quick=False)
    options = parser.parse_args()
    tally, loops = collections.Counter(), []
    for name, _ in x86.programs(options):
        look_at(name, options.model, tally, loops)
    print(json.dumps({
        "name": "best_case", "model": tally.pop("model", None),
        "loops_faster_percent": x86.score.percent(tally[True, "faster"], tally[True, "all"]),
        "blocks_faster_percent": x86.score.percent(tally[False, "faster"],
                                                   tally[False, "all"]),
        "loop_samples": tally[True, "all"], "block_samples": tally[False, "all"]}))
    for row in sorted(loops)[:options.worst]:
        print(*row)


if __name__ == "__main__":
    main()
