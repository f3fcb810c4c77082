#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the counts of dcpix with an emulator's, instruction by instruction.

dcpix_exact.py IMAGE COUNTS EDGES BLOCKS WAYS: COUNTS and EDGES are output of
tests/eval/truth/count_plugin.c for an image; the others are dcpix's, --by block and --by edge, --csv.
dcpix_exact.py IMAGE COUNTS BLOCKS: only the share, also if BLOCKS are of another run.

Prints: blocks, instructions in them whose counts differ, edges, edges whose counts differ, and the
share of the executed instructions of the image that dcpix counted, in percent.

Instructions that are repeated by a prefix count each time in the emulator: they are ignored. Edges
are compared in both directions where an instruction of a counted block branches or jumps directly;
for indirect jumps, only the edges that dcpix has. The emulator has no edge from a block to the next
one without a branch between them; the edges of calls are not compared.
"""
import csv
import sys


# Prefixes, and the instructions that a prefix repeats.
PREFIXES = set(range(0x40, 0x50)) | {0x66, 0x67, 0xf2, 0xf3}
REPEATED = {0x6c, 0x6d, 0x6e, 0x6f, 0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf}


def is_repeated(code):
    opcode = next((b for b in code if b not in PREFIXES), 0)
    return opcode in REPEATED and (0xf2 in code or 0xf3 in code)


def read_counts(path, image):
    counts, sizes, repeated, inside = {}, {}, set(), False
    text = open(image, "rb").read()
    for line in open(path):
        if line.startswith("image "):
            inside = line[6:].rstrip("\n") == image
        elif inside:
            offset, address, size, count = line.split()
            offset, address = int(offset, 16), int(address, 16)
            counts[address] = int(count)
            sizes[address] = int(size)
            if is_repeated(text[offset:offset + int(size)]):
                repeated.add(address)
    return counts, sizes, repeated


def insns_of(row, sizes):
    """Return the instructions of an executed block; others may begin inside its instructions."""
    at, insns = int(row["address"], 16), []
    end = at + int(row["bytes"])
    while at < end:
        if at in sizes:
            insns.append(at)
        at += sizes.get(at, 1)
    return insns


def read_edges(path, image):
    edges = {}
    for line in open(path):
        parts = line.rstrip("\n").split("\t")
        if len(parts) != 3 or parts[1] != image or parts[2] != image:
            continue
        kind, source, target, count, _ = parts[0].split()
        edges[int(source, 16), int(target, 16)] = (kind, int(count))
    return edges


def share_of(image, counts, blocks):
    truth, sizes, repeated = read_counts(counts, image)
    for address in repeated:
        del truth[address]
    covered = 0
    for row in csv.DictReader(open(blocks)):
        covered += sum(truth.pop(address, 0) for address in insns_of(row, sizes))
    executed = covered + sum(truth.values())
    print(f"{100 * covered / executed if executed else 0:.2f}")


def main(image, counts, edges, blocks, ways):
    truth, sizes, repeated = read_counts(counts, image)
    followed = read_edges(edges, image)
    counted, block_count, wrong = {}, 0, 0
    for row in csv.DictReader(open(blocks)):
        block_count += 1
        insns = insns_of(row, sizes)
        for address in insns:
            counted[address] = int(row["count"])
            wrong += address not in repeated and truth[address] != int(row["count"])
        wrong += len(insns) != int(row["instructions"])
    mine = {(int(r["from"], 16), int(r["to"], 16)): int(r["count"])
            for r in csv.DictReader(open(ways))}
    kinds = {source: kind for (source, _), (kind, _) in followed.items()}
    jumps = {source for source, target in mine
             if kinds.get(source) in ("direct", "indirect") and
             target != source + sizes[source]}
    edge_count, edges_wrong = 0, 0
    for way, count in mine.items():
        if kinds.get(way[0]) == "conditional" or way[0] in jumps:
            edge_count += 1
            edges_wrong += followed.get(way, ("", 0))[1] != count
    for way, (kind, count) in followed.items():
        if way[0] in counted and (kind == "conditional" or (kind == "direct" and way[0] in jumps)):
            edges_wrong += mine.get(way) != count
    for address in repeated:
        del truth[address]
    executed = sum(truth.values())
    share = 100 * sum(truth.get(a, 0) for a in counted) / executed if executed else 0
    print(block_count, wrong, edge_count, edges_wrong, f"{share:.2f}")


share_of(*sys.argv[1:]) if len(sys.argv) == 4 else main(*sys.argv[1:])
