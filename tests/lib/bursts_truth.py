#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bursts_truth.py TRUTH ALL: check that the recorded references are those of the program.

TRUTH is the output of tests/eval/truth/reference_plugin.c. ALL is a listing of dcpibursts --csv --by
reference, of all references of one process without random addresses from some time on. Each
recorded instruction must have referred to the same places in the same order. Prints the numbers of
references, and the instructions with wrong ones.
"""
import sys

PIE_BASE = 0x555555554000  # of Linux on x86-64, without random addresses
WRONG_SHOWN = 8


def place_of(address, base, end):
    """Return a place in the image by its address there.

    Other places have different addresses in an emulator; only their lowest four bits are kept.
    """
    return f"{address - base:x}" if 0 <= address - base < end else f"~{address & 15:x}"


def read_truth(path):
    """Return {instruction: places}, true if the image is position-independent, and its end."""
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
