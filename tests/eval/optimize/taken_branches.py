#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""taken_branches.py PROGRAM COUNTS EDGES: print the taken branches of a program.

COUNTS and EDGES are files of tests/eval/truth/count_plugin.c. A branch is taken if it does not
continue at the next instruction. Branches of libraries do not count.
"""
import sys

program, counts, edges = sys.argv[1:]
size = {}
inside = False
with open(counts, encoding="utf-8") as file:
    for line in file:
        words = line.split()
        if words[0] == "image":
            inside = line[len("image "):].rstrip("\n") == program
        elif inside:
            size[int(words[0], 16)] = int(words[2])
taken = 0
with open(edges, encoding="utf-8") as file:
    for line in file:
        words, *images = line.rstrip("\n").split("\t")
        kind, *numbers = words.split()
        if len(images) != 2 or images[0] != program or kind not in (
                "conditional", "direct", "indirect"):
            continue
        start, target = int(numbers[0], 16), int(numbers[1], 16)
        if images[1] != program or start not in size or target != start + size[start]:
            taken += int(numbers[2])
print(taken)
