#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the timeline of a document with dcpiprof: timeline_check.py DOCUMENT DCPIPROF ARGUMENT...

For ranges of columns, all counts must be those of dcpiprof for the same time. Prints the differences,
and the number of ranges.
"""

import json
import subprocess
import sys
from collections import Counter


def rows_in(document, first, last):
    """Return the samples by image and procedure from some columns of the timeline."""
    sums = Counter()
    for row, counts in zip(document["procedures"]["rows"], document["timeline"]["rows"]):
        pairs = zip(counts[::2], counts[1::2])
        sums[row["image"], row["procedure"]] += round(sum(count for column, count in pairs if first <= column <= last))
    return sums


def rows_of(report, event, listed):
    """Return the same from a report, of listed procedures."""
    sums = Counter({key: 0 for key in listed})
    for row in report["rows"]:
        if (row["image"], row["procedure"]) in sums:
            sums[row["image"], row["procedure"]] += row[event]
    return sums


def compare(document, command, first, last):
    """Print the differences of one range. Return the number of its samples."""
    columns, event = document["timeline"]["columns"], document["event"]
    times = ["--since", f"@{columns[first][0]}", "--until", f"@{columns[last][0] + document['timeline']['step_s']}"]
    done = subprocess.run([*command, "-e", event, "--json", "-n", "100000", *times], stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    sums = [sum(column[i] for column in columns[first:last + 1]) for i in range(8)]
    rows = rows_in(document, first, last)
    got = {"interrupts": sums[4], "lost": sums[5], "unknown": sums[6], "total": round(sums[7]), **rows}
    want = {key: report[key] for key in ("interrupts", "lost", "unknown")}
    want["total"] = report["totals"][event] - report.get("profiler_samples", 0)
    want.update(rows_of(report, event, rows))
    different = [key for key in want if got[key] != want[key]]
    for key in different[:5]:
        print(f"columns {first} to {last}: {key}: {got[key]}, not {want[key]}")
    return sum(rows.values())


def main():
    """Compare ranges at both ends, in the middle, and all."""
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    last = len(document["timeline"]["columns"]) - 1
    ranges = [(0, 0), (0, last), (last, last), (1, last // 2), (last // 3, 2 * last // 3)]
    counted = [compare(document, sys.argv[2:], *one) for one in ranges]
    print(f"{sum(count > 0 for count in counted)} ranges compared")


if __name__ == "__main__":
    main()
