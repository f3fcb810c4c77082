#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bursts_truth.py TRUTH ALL: whether what was recorded is what the program refers to.

TRUTH is of tests/truth/reference_plugin.c; ALL a listing of dcpibursts --csv --by reference,
of all that one process without random addresses refers to from some moment on. Each
instruction that is recorded must have referred to the same places in the same order. Prints
how much that is, and of which instructions something is wrong.
"""
import sys

PIE_BASE = 0x555555554000  # of Linux on x86-64, without random addresses
WRONG_SHOWN = 8


def place_of(address, base, end):
    """What is in the image by its address there; of all else, which lies elsewhere in an
    emulator, the lowest four bits."""
    return f"{address - base:x}" if 0 <= address - base < end else f"~{address & 15:x}"


def read_truth(path):
    """Return: {instruction: places}, and whether the image may lie anywhere, and its end."""
    places = {}
    with open(path, encoding="ascii") as file:
        base, end = (int(word, 16) for word in next(file).split())
        for line in file:
            instruction, address = (int(word, 16) for word in line.split())
            places.setdefault(instruction, []).append(place_of(address, base, end))
    return places, base != 0, end


def read_recorded(path, base, end):
    places = {}
    with open(path, encoding="ascii") as file:
        next(file)
        for line in file:
            thread, _, instruction, address = line.split(",")
            if thread == "0":
                place = place_of(int(address, 0), base, end)
                places.setdefault(int(instruction, 0), []).append(place)
    return places


def main():
    truth, is_pie, end = read_truth(sys.argv[1])
    recorded = read_recorded(sys.argv[2], PIE_BASE if is_pie else 0, end)
    wrong = []
    for instruction, places in recorded.items():
        true = truth.get(instruction, [])
        if true[len(true) - len(places) :] != places:
            differ = [i for i in zip(true[::-1], places[::-1]) if i[0] != i[1]]
            wrong.append((instruction, len(true), len(places), differ[:2]))
    count = sum(len(places) for places in recorded.values())
    total = sum(len(places) for places in truth.values())
    print(f"{count} of {total} references, {len(recorded)} instructions, {len(wrong)} wrong")
    for instruction, true, got, differ in wrong[:WRONG_SHOWN]:
        print(f"# {instruction:x}: {got} of {true}, truth and recorded: {differ}")
    return 1 if wrong or not count else 0


sys.exit(main())
