# SPDX-License-Identifier: GPL-2.0-only
"""Ground truth of a program, from the files of tests/eval/truth/ plugins."""

import re

# The simulator's causes, by dcpicalc's names; the other causes are not dynamic stalls. "fetch", the
# bubble after a taken branch, is none either, but a listed culprit "branch" is right for it.
CAUSES = {
    "icache": "icache", "itb": "itb", "dcache": "dcache", "dtb": "dtb", "branch": "branch",
    "write_buffer": "write_buffer", "sync": "synchronization",
    "imul": "imul", "fdiv": "fdiv", "other": "other",
}


class Insn:
    """An instruction: executed, cycles, stalls {cause: cycles}, bubbles, events, samples, late."""

    __slots__ = ("address", "executed", "cycles", "stalls", "bubbles", "events", "samples",
                 "late")

    def __init__(self, address, executed, cycles, stalls, bubbles, events):
        self.address = address
        self.executed = executed
        self.cycles = cycles
        self.stalls = stalls
        self.bubbles = bubbles
        self.events = events
        self.samples = None
        self.late = None


class Simulation:
    """One image of a .sim file (tests/eval/truth/sim_report.h): insns by offset in the file."""

    def __init__(self, path, image):
        self.insns = {}
        self.samplers = []  # (period, seed, samples)
        self.cycles = 0
        self.instructions = 0
        self.cpu = ""
        causes = events = []
        inside = False
        insn = None
        for line in open(path, encoding="ascii"):
            words = line.split()
            if words[0] == "i" and inside:
                insn = self._insn(words, causes, events)
            elif words[0] == "s" and inside:
                insn.samples = [int(w) for w in words[1:]]
            elif words[0] == "k" and inside:
                insn.late = [int(w) for w in words[1:]]
            elif words[0] == "image":
                inside = line[6:].rstrip("\n") == image
            elif words[0] == "totals":
                self.instructions, self.cycles = int(words[1]), int(words[2])
            elif words[0] == "cpu":
                self.cpu = line[4:].rstrip("\n")
            elif words[0] == "causes":
                causes = words[1:]
            elif words[0] == "events":
                events = words[1:]
            elif words[0] == "sampler":
                self.samplers.append(((int(words[1]) + int(words[2])) / 2, int(words[3]),
                                      int(words[4])))
        if not self.insns:
            raise SystemExit(f"truth: {path} has nothing of {image}")

    def _insn(self, words, causes, events):
        cycles = [int(w) for w in words[4:4 + len(causes)]]
        stalls = {}
        for name, count in zip(causes, cycles):
            if count and name in CAUSES:
                stalls[CAUSES[name]] = stalls.get(CAUSES[name], 0) + count
        insn = Insn(int(words[2], 16), int(words[3]), sum(cycles), stalls,
                    cycles[causes.index("fetch")],
                    dict(zip(events, (int(w) for w in words[4 + len(causes):]))))
        self.insns[int(words[1], 16)] = insn
        return insn


def edges_read(path, image, kinds=None):
    """Return the exact edges within an image: {from: {to: count}}, by offsets in the file.

    kinds: only edges from these kinds of instructions (tests/eval/truth/edge_counts.h)
    """
    edges = {}
    for line in open(path, encoding="ascii"):
        if line.startswith("edges "):
            continue
        head, source, target = line.rstrip("\n").split("\t")
        if source != image or target != image:
            continue
        kind, start, to, count, _ = re.split(" ", head)
        if kinds is not None and kind not in kinds:
            continue
        ways = edges.setdefault(int(start, 16), {})
        ways[int(to, 16)] = ways.get(int(to, 16), 0) + int(count)
    return edges
