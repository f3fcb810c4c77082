#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print lines for make_profile_db: samples of an ELF file that are independent of its control flow.

random_samples.py FILE COUNT

Most samples are on few instructions, as in real profiles, and many procedures have few of them.
"""
import random
import subprocess
import sys


def lines_of(arguments):
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    random.seed(39)
    shift = 0
    for line in lines_of(["readelf", "-SW", path]):
        fields = line.split("]")[-1].split()
        if fields[:1] == [".text"]:
            shift = int(fields[3], 16) - int(fields[2], 16)
    code = [int(line.split(":")[0], 16)
            for line in lines_of(["objdump", "-d", "--section=.text", "--no-show-raw-insn", path])
            if line.startswith(" ") and ":" in line]
    counts = {}
    centers = [random.randrange(len(code)) for _ in range(max(1, len(code) // 50))]
    for _ in range(count):
        center = centers[min(int(random.paretovariate(0.6)), len(centers)) - 1]
        place = min(len(code) - 1, center + int(random.expovariate(0.1)))
        counts[code[place]] = counts.get(code[place], 0) + 1
    for address in sorted(counts):
        print("sample 0 %d %d" % (address + shift, counts[address]))


main()
