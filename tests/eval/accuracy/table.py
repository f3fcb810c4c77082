#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""table.py FILE [--markdown]: print the lines of build/accuracy.json as tables."""

import json
import sys

FREQUENCY = ("within5", "within10", "within15", "within45")
COLUMNS = {
    "stacks": ("programs", "complete_percent", "least_complete_percent", "perf_fp_percent",
               "libdw_percent", "compared", "wrong_percent"),
    "instructions": FREQUENCY + ("median_error", "wrong_marked_low", "interval_holds"),
    "edges": FREQUENCY,
    "culprits": ("recall", "precision", "list_size", "unexplained_percent"),
    "misses": ("icache", "icache_true", "icache_cycles", "dcache", "dcache_true",
               "dcache_cycles", "branch", "branch_true", "branch_cycles", "dtb", "dtb_true",
               "dtb_cycles"),
    "printed": ("within10", "within45", "interval_holds", "interval_median", "low"),
    "kernels": ("within10", "within45", "interval_holds", "interval_median", "interval_narrow",
                "low"),
    "causes": ("kernels", "not_measured", "correct", "correct_70", "first_correct", "attributed"),
    "slowdown": ("programs", "blocks", "not_measured", "within10", "time_correct",
                 "cause_correct"),
    "time": ("taken_error", "error"),
    "perturbation": ("programs", "worst_points", "median_points", "within5", "first_five",
                     "not_measured"),
}
TITLES = {
    "printed": "Executions as printed, without any scale, percent of samples",
    "kernels": "Executions of kernels as printed, without any scale, percent of kernels",
    "causes": "Causes of kernels' stalls, percent of attributed stall cycles or of kernels",
    "slowdown": "Work inserted into blocks of programs: its time and cause, percent of blocks",
    "instructions": "Instructions, percent of samples", "edges": "Edges, percent of executions",
    "culprits": "Culprits, percent of stall cycles",
    "misses": "Stall cycles and true misses of procedures, correlation",
    "time": "Time attributed to wrong instructions with skid, percent",
    "stacks": "Complete call stacks, percent",
    "perturbation": "Shares of procedures, measured by dcpix and sampled, percentage points",
}
KEYS = ("arm", "split", "budget", "estimator")
KERNEL_KEYS = ("arm", "build", "place", "split", "estimator")
PERTURBATION_KEYS = ("arm", "metric")


def keys_of(name):
    """Return the columns that identify a line of a table."""
    return {"kernels": KERNEL_KEYS, "perturbation": PERTURBATION_KEYS}.get(name, KEYS)


def read(path):
    """Return the lines of whole arms, which name no program."""
    with open(path, encoding="utf-8") as lines:
        return [line for line in map(json.loads, lines) if "program" not in line]


def cell(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value)


def rows(lines, name, columns=None, keys=None):
    """Return header and rows of one table; @keys: the columns that a line of the table has."""
    columns = columns or COLUMNS[name]
    chosen = [line for line in lines if line["name"] == name]
    keys = keys or [k for k in keys_of(name) if any(k in line for line in chosen)]
    table = [list(keys) + [c.replace("within", "<=").replace("_", " ") for c in columns]]
    for line in chosen:
        table.append([cell(line.get(k)) for k in list(keys) + list(columns)])
    return table


def text(table):
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        yield "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip()


def markdown(table):
    yield "| " + " | ".join(table[0]) + " |"
    yield "|" + "---|" * len(table[0])
    for row in table[1:]:
        yield "| " + " | ".join(row) + " |"


def main():
    lines = read(sys.argv[1])
    for name, title in TITLES.items():
        table = rows(lines, name)
        if len(table) > 1:
            print(f"{title}\n")
            print("\n".join(text(table)) + "\n")


if __name__ == "__main__":
    main()
