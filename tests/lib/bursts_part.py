#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bursts_part.py ALL PART: check that the references recorded in bursts are a part of all.

Both are listings of dcpibursts --csv --by reference, of one process each, without random addresses.
All references of PART must be found in ALL in the same order. Prints their number, and the number
of pieces that are contiguous in both. A burst has several pieces if a call in which it began
returns, since the caller runs unrecorded until its next check.
"""
import bisect
import sys

GRAM = 6


def read(path):
    """Read the first thread: numbers of bursts, and references as (instruction, address)."""
    bursts, references = [], []
    with open(path, encoding="ascii") as file:
        next(file)
        for line in file:
            thread, burst, instruction, address = line.split(",")
            if thread == "0":
                bursts.append(int(burst))
                references.append((int(instruction, 0), int(address, 0)))
    return bursts, references


def index_of(references):
    """Return the places of each sequence of GRAM references, ascending."""
    index = {}
    for i in range(len(references) - GRAM + 1):
        index.setdefault(hash(tuple(references[i : i + GRAM])), []).append(i)
    return index


def next_place(everything, index, at, wanted):
    """Return the first place of @wanted from @at on, else of its first reference, else None."""
    if len(wanted) == GRAM:
        places = index.get(hash(tuple(wanted)), [])
        k = bisect.bisect_left(places, at)
        if k < len(places):
            return places[k]
    for i in range(at, len(everything)):
        if everything[i] == wanted[0]:
            return i
    return None


def is_subsequence(everything, part):
    rest = iter(everything)
    return all(reference in rest for reference in part)


def count_pieces(everything, bursts, part):
    """Count the pieces, each at the next place where GRAM references match; None if that fails."""
    index, at, pieces = index_of(everything), 0, 0
    for i, reference in enumerate(part):
        begins = i == 0 or bursts[i] != bursts[i - 1]
        if begins or at >= len(everything) or everything[at] != reference:
            at = next_place(everything, index, at, part[i : i + GRAM])
            if at is None:
                return None
            pieces += 1
        at += 1
    return pieces


def main():
    _, everything = read(sys.argv[1])
    bursts, part = read(sys.argv[2])
    if not part or not is_subsequence(everything, part):
        print(f"{len(part)} references are no part of {len(everything)}")
        return 1
    pieces = count_pieces(everything, bursts, part)
    print(
        f"{len(part)} of {len(everything)} references, "
        f"{len(set(bursts))} bursts, {pieces} pieces"
    )
    return 0


sys.exit(main())
