#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print facts for tests/eval/truth/path_plugin.c, from `dcpipaths --by edge`.

Nodes without code (hubs of indirect jumps, the part between a call and a block's end) are left out:
edges through them become edges between the other nodes.
"""
import collections
import csv
import sys


def facts(procedure, rows):
    address, bytes_of, ways = {}, {}, collections.defaultdict(list)
    for row in rows:
        if row["kind"] == "start":
            address[row["to"]] = row["to_address"]
            continue
        address[row["from"]] = row["from_address"]
        bytes_of[row["from"]] = int(row["from_bytes"])
        ways[row["from"]].append(row)
    for node, out in ways.items():
        if bytes_of[node] == 0:
            continue
        print("node", address[node], procedure)
        if all(way["kind"] == "end" for way in out):
            print("stop", format(int(address[node], 16) + bytes_of[node], "x"))
        seen, pending = set(), [(way, False) for way in out]
        while pending:
            way, was_cut = pending.pop()
            cut = was_cut or way["kind"] == "cut"
            if way["kind"] == "end":
                print("end", address[node])
            elif bytes_of.get(way["to"], 0) != 0:
                print("cut" if cut else "on", address[node], address[way["to"]])
            elif (way["to"], cut) not in seen:
                seen.add((way["to"], cut))
                pending += [(next_way, cut) for next_way in ways[way["to"]]]


def main():
    by_procedure = collections.defaultdict(list)
    for row in csv.DictReader(sys.stdin):
        by_procedure[row["procedure"]].append(row)
    for procedure, rows in by_procedure.items():
        facts(procedure, rows)


main()
