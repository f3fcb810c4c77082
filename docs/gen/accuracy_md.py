#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""accuracy_md.py FILE DIRECTORY [PAGE]: print docs/results/accuracy.md from build/accuracy.json and
the lines of single programs, DIRECTORY/*.programs.json. The text is in accuracy_notes.md. Rows that
were not measured this time are copied from PAGE, an earlier page."""

import datetime
import glob
import json
import os
import platform
import sys

import page

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../../tests/eval/accuracy"))
import table  # noqa: E402 pylint: disable=wrong-import-position

IN_ORDER = ("alpha21164", "cortex-a53")
VARIANTS = ("perturbed", "skid1", "events", "edges")
BUDGET = 1000000
BUDGETS = (10000, 100000, BUDGET)
ESTIMATORS = ("dcpi", "paper", "avg", "max")
ERRORS = "Errors of frequencies, percent of samples (reported half, 10^6 samples)"
WORST = "Programs with the largest errors"

# The project's goals for in-order machines, and the paper's figures; rows without a goal are shown
# for comparison.
GOALS = (
    ("instructions", "within5", "frequencies within 5%, of samples", ">=", 85, "73"),
    ("instructions", "within10", "frequencies within 10%", ">=", 94, "87"),
    ("instructions", "within15", "frequencies within 15%", ">=", 97, "92"),
    ("instructions", "wrong_marked_low", "errors above 15% with low confidence", ">=", 95,
     "-"),
    ("edges", "within10", "edges within 10%, of executions", ">=", 80, "58"),
    ("culprits", "unexplained_percent", "unexplained stalls, of all cycles", "<=", 4, "8.6"),
    ("culprits", "recall", "culprit recall", ">=", 95, "-"),
    ("culprits", "precision", "culprit precision", ">=", 70, "-"),
    ("culprits", "list_size", "culprits listed per stall", "<=", 1.6, "-"),
    ("misses", "icache", "I-cache stalls and misses, correlation", ">=", 0.95, "0.91"),
    ("misses", "icache_true", "(I-cache: true stalls and misses)", None, None, "-"),
    ("misses", "icache_cycles", "(I-cache: stalls and true stalls)", None, None, "-"),
    ("misses", "dcache", "D-cache stalls and misses, correlation", ">=", 0.95, "-"),
    ("misses", "dcache_true", "(D-cache: true stalls and misses)", None, None, "-"),
    ("misses", "dcache_cycles", "(D-cache: stalls and true stalls)", None, None, "-"),
    ("instructions", "interval_holds", "intervals hold the truth, of samples", ">=", 90, "-"),
    ("instructions", "interval_holds", "intervals hold the truth, with 10^4 samples", ">=", 90, "-",
     10000),
)


# The same for this machine, which is out of order and sampled by a clock. Numbers as dcpicalc
# prints them come first, then scaled ones. Without a goal, a figure is shown for comparison.
X86_GOALS_TITLE = "Goals on this machine"
X86_SPLITS = ("reported", "unseen", "tuned")
# The text of each row is unique, since it identifies the row on an earlier page.
X86_GOALS = (
    ("x86-64/program", "interval_holds", "as printed: intervals hold the truth, of samples", 90),
    ("x86-64/program", "median_error", "as printed: median error, percent", None),
    ("x86-64/printed", "within10", "as printed: within 10%, of samples", None),
    ("x86-64/printed", "within45", "as printed: within 45%", None),
    ("x86-64/program", "within10", "one scale per program: within 10%, of samples", 50),
    ("x86-64/program", "within45", "one scale per program: within 45%", 75),
    ("x86-64/procedure", "within10", "one scale per procedure: within 10%", 80),
    ("x86-64/procedure", "within45", "one scale per procedure: within 45%", 90),
)


def find(lines, **wanted):
    for line in lines:
        if all(line.get(key) == value for key, value in wanted.items()):
            return line
    return {}


def goal_cell(value, sign, goal):
    """Return a value, marked if it meets its goal; without a goal it is shown for comparison."""
    if value is None or sign is None:
        return "-" if value is None else f"{value}"
    met = value >= goal if sign == ">=" else value <= goal
    return f"**{value}**" if met else f"{value} (missed)"


def missing(rows):
    """Describe the parts of a whole run that are missing from these rows."""
    there = {(row[0], row[2], row[3]) for row in rows[1:] if len(row) > 3}
    wanted = [(arm, budget, estimator) for arm in IN_ORDER for budget in BUDGETS
              for estimator in ESTIMATORS]
    wanted += [(f"{arm}-{variant}", BUDGET, estimator) for arm in IN_ORDER
               for variant in VARIANTS for estimator in ESTIMATORS[:2]]
    absent = {}
    for arm, budget, estimator in wanted:
        if (arm, str(budget), estimator) not in there:
            absent.setdefault(arm, []).append(f"{estimator} with {budget} samples")
    arms = {arm for arm, _, _ in there}
    return [f"`{arm}` ({', '.join(what)})" if arm in arms else f"`{arm}`"
            for arm, what in absent.items()]


def goals(lines):
    rows = [["in-order machines, reported half, 10^6 samples", "goal", *IN_ORDER, "paper"]]
    for name, key, text, sign, goal, paper, *budget in GOALS:
        row = [text, f"{sign} {goal}" if sign else ""]
        for arm in IN_ORDER:
            value = find(lines, name=name, arm=arm, split="reported",
                         budget=budget[0] if budget else BUDGET, estimator="dcpi").get(key)
            row.append(goal_cell(value, sign, goal))
        rows.append(row + [paper])
    return rows


def x86_goals(lines):
    rows = [["x86-64, samples of cpu-clock", "goal", *X86_SPLITS]]
    for arm, key, text, goal in X86_GOALS:
        found = [find(lines, name="instructions", arm=arm, split=split, estimator="dcpi").get(key)
                 for split in X86_SPLITS]
        sign = ">=" if goal is not None else None
        rows.append([text, f"{sign} {goal}" if sign else ""] +
                    [goal_cell(value, sign, goal) for value in found])
    return rows


def histogram(lines):
    rows = [["error"] + list(IN_ORDER)]
    shown = [find(lines, name="instructions", arm=arm, split="reported", budget=BUDGET,
                  estimator="dcpi").get("errors") for arm in IN_ORDER]
    for step in range(20):
        low = -50 + 5 * step
        name = "below -45%" if step == 0 else "45% and more" if step == 19 else \
            f"{low}% to {low + 5}%"
        rows.append([name] + [table.cell(errors and errors[step]) for errors in shown])
    return rows


def worst(details, count=6):
    """Return the programs with the smallest share of samples within 10%."""
    chosen = [line for line in details if line["name"] == "instructions" and
              line["estimator"] == "dcpi" and line.get("budget", BUDGET) == BUDGET]
    rows = [["arm", "program", "split", "<=5", "<=10", "<=15", "<=45", "marked low"]]
    arms = sorted({line["arm"] for line in chosen})
    for arm in arms:
        mine = sorted((line for line in chosen if line["arm"] == arm),
                      key=lambda line: line["within10"])
        for line in mine[:count]:
            rows.append([arm, line["program"], line["split"]] +
                        [table.cell(line[f"within{n}"]) for n in (5, 10, 15, 45)] +
                        [table.cell(line.get("confidence", {}).get("low"))])
    return rows


def machine():
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} CPUs, Linux {platform.release().split('-')[0]}"


def section(title, rows):
    if len(rows) < 2:
        return
    print(f"\n## {title}\n")
    print("\n".join(table.markdown(rows)))


def worst_kept(rows, old):
    """Merge with old rows. All programs of an arm must be from the same run."""
    arms = {row[0] for row in rows[1:]}
    kept = [row for row in old[1:] if row[0] not in arms] if old[:1] == rows[:1] else []
    return rows[:1] + sorted(rows[1:] + kept, key=lambda row: row[0])


def details_read(directory):
    lines = []
    for path in sorted(glob.glob(f"{directory}/*.programs.json")):
        with open(path, encoding="utf-8") as file:
            lines += [json.loads(line) for line in file]
    return lines


def main():
    lines = table.read(sys.argv[1])
    with open(f"{HERE}/accuracy_notes.md", encoding="utf-8") as notes:
        before, after = notes.read().split("<!-- tables -->\n")
    print(before.rstrip())
    print(f"\nMeasured on {datetime.date.today()} on {machine()}.")
    old = page.read(sys.argv[3]) if len(sys.argv) > 3 else {}
    measured = {}
    for name, title in table.TITLES.items():
        keys = table.keys_of(name)
        rows = table.rows(lines, name, table.COLUMNS[name] + ("commit",), keys)
        measured[title] = page.with_rows(rows, old.get(title), len(keys))
    absent = missing(measured[table.TITLES["instructions"]])
    if absent:
        print("\n**Never measured:** " + "; ".join(absent) + ".")
    section("Goals", page.with_columns(goals(lines), old.get("Goals"), "-"))
    section(X86_GOALS_TITLE, page.with_columns(x86_goals(lines), old.get(X86_GOALS_TITLE), "-"))
    for title, rows in measured.items():
        section(title, rows)
    section(ERRORS, page.with_columns(histogram(lines), old.get(ERRORS), "-"))
    section(WORST, worst_kept(worst(details_read(sys.argv[2])), old.get(WORST, [])))
    print("\n" + after.rstrip())


if __name__ == "__main__":
    main()
