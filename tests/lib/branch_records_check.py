#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare printed executions, edges and block times with the truth of make_branch_records.

    branch_records_check.py counts TRUTH JSON [DOT]...
    branch_records_check.py intervals TRUTH JSON

JSON: lines of dcpicalc --all --json; DOT: output of dcpicfg. "counts" prints the share of all
executions whose printed number is within 10% of the truth: of blocks, of edges, of cycles of
blocks; "intervals" the share whose interval contains the truth. Exit status 1 if a share is too
low.
"""
import bisect
import json
import re
import sys

WITHIN = 0.10
SHARE = {"counts": 0.95, "intervals": 0.90}
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
RAN = r'ran ([0-9.]+)([kMG]?) times'


class Truth:
    """Blocks by their first address: last address, executions, cycles. Edges by both."""

    def __init__(self, path):
        self.blocks, self.edges = {}, {}
        with open(path, encoding="ascii") as lines:
            for line in lines:
                kind, *numbers = line.split()
                if kind == "block":
                    start, last, executions = (int(n) for n in numbers[:3])
                    self.blocks[start] = (last, executions, float(numbers[3]))
                else:
                    start, to, count = (int(n) for n in numbers)
                    self.edges[start, to] = self.edges.get((start, to), 0) + count
        self.starts = sorted(self.blocks)

    def parts(self, start, end):
        """The blocks of a block that does not end at calls."""
        first = bisect.bisect_left(self.starts, start)
        return self.starts[first:bisect.bisect_left(self.starts, end)]


class Share:
    """Executions, and those of which a value is right."""

    def __init__(self, name):
        self.name, self.all, self.right = name, 0, 0

    def add(self, executions, right):
        self.all += executions
        self.right += executions if right else 0

    def holds(self, least):
        share = self.right / self.all if self.all > 0 else 0
        print(f"{self.name}: {100 * share:.1f}% of {self.all} executions")
        return share >= least


def near(value, true):
    return value is not None and abs(value - true) <= WITHIN * true


def inside(thing, true):
    return (thing["frequency"] is not None and
            thing["frequency_low"] <= true <= thing["frequency_high"])


def check_json(path, truth, mode):
    counts, edges, cycles = Share("blocks"), Share("edges"), Share("cycles of blocks")
    with open(path, encoding="ascii") as lines:
        procedures = [json.loads(line) for line in lines]
    for procedure in procedures:
        insns = {insn["address"]: insn for insn in procedure["instructions"]}
        for block in procedure["blocks"]:
            parts = truth.parts(block["start"], block["end"])
            executions = truth.blocks[parts[0]][1]
            first = insns[block["start"]]
            counts.add(executions, inside(first, executions) if mode == "intervals"
                       else near(first["frequency"], executions))
            cycles.add(executions, near(block["recorded_cycles"],
                                        sum(truth.blocks[p][2] for p in parts)))
            printed = {}
            for successor in block["successors"]:
                printed.setdefault(successor["to"], []).append(successor)
            for to, successors in printed.items():
                true = truth.edges.get((parts[-1], to), 0)
                if mode == "intervals" and len(successors) == 1:
                    edges.add(true, inside(successors[0], true))
                elif mode == "counts":
                    edges.add(true, near(sum(s["frequency"] for s in successors), true))
    return [counts, edges] if mode == "intervals" else [counts, edges, cycles]


def printed_number(match, group):
    return float(match.group(group)) * UNITS[match.group(group + 1)]


def check_dot(path, truth):
    counts, edges, starts = Share("blocks of the graph"), Share("edges of the graph"), {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(rf'\n  (b\d+) \[.*?tooltip="{RAN}.*\n.*?0x([0-9a-f]+)', text):
        starts[match.group(1)] = int(match.group(4), 16)
    ordered = sorted(starts.values())
    for match in re.finditer(rf'\n  (b\d+) \[.*?tooltip="{RAN}', text):
        true = truth.blocks[starts[match.group(1)]][1]
        counts.add(true, near(printed_number(match, 2), true))
    for match in re.finditer(rf'\n  (b\d+) -> (b\d+) \[.*?edgetooltip="{RAN}', text):
        start, to = starts[match.group(1)], starts[match.group(2)]
        after = bisect.bisect_right(ordered, start)
        end = ordered[after] if after < len(ordered) else start + 1
        true = truth.edges.get((truth.parts(start, end)[-1], to), 0)
        edges.add(true, near(printed_number(match, 3), true))
    return [counts, edges]


def main():
    mode, truth = sys.argv[1], Truth(sys.argv[2])
    shares = check_json(sys.argv[3], truth, mode)
    for path in sys.argv[4:]:
        shares += check_dot(path, truth)
    return 0 if all([share.holds(SHARE[mode]) for share in shares]) else 1


if __name__ == "__main__":
    sys.exit(main())
