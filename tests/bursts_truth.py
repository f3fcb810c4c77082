#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bursts_truth.py TRUTH ALL IMAGE: whether what was recorded is what the program refers to.

TRUTH is of tests/truth/reference_plugin.c; ALL a listing of dcpibursts --csv --by reference,
of all that one process without random addresses refers to from some moment on. Each
instruction that is recorded must have referred to the same places in the same order. Prints
how much that is, and of which instructions something is wrong.
"""
import struct
import sys

ET_DYN, PT_LOAD = 3, 1
PIE_BASE = 0x555555554000  # of Linux on x86-64, without random addresses
WRONG_SHOWN = 8


def image_of(path):
    """Return: where it is loaded, and where its last segment ends."""
    with open(path, "rb") as file:
        elf = file.read()
    (kind,) = struct.unpack_from("<H", elf, 16)
    (at,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    end = 0
    for i in range(count):
        what, _, _, address, _, _, memory = struct.unpack_from("<IIQQQQQ", elf, at + i * size)
        if what == PT_LOAD:
            end = max(end, address + memory)
    return (PIE_BASE if kind == ET_DYN else 0), end


def read_truth(path):
    places = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            instruction, place = line.split()
            places.setdefault(int(instruction, 16), []).append(place)
    return places


def read_recorded(path, base, end):
    places = {}
    with open(path, encoding="ascii") as file:
        next(file)
        for line in file:
            thread, _, instruction, address = line.split(",")
            if thread != "0":
                continue
            at = int(address, 0) - base
            place = f"{at:x}" if 0 <= at < end else f"~{at & 15:x}"
            places.setdefault(int(instruction, 0), []).append(place)
    return places


def main():
    truth = read_truth(sys.argv[1])
    recorded = read_recorded(sys.argv[2], *image_of(sys.argv[3]))
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
