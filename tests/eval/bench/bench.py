#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run benchmarks and collect their figures.

    tests/eval/bench/bench.py OUTPUT COMMAND...

Each COMMAND is a line for bash. On stdout it prints figures, in the form of tests/eval/bench/bench.h: one
JSON object a line. A command fails if its exit status is not zero, if it prints no figure, or if
it prints anything else. OUTPUT is replaced only if no command failed; otherwise the figures stay
in OUTPUT.new for a look, and the exit status is 1.
"""

import json
import math
import os
import subprocess
import sys

FIELDS = {"name": str, "subject": str, "workload": str, "unit": str}


def not_a_number(word):
    raise ValueError(f"{word} is not a JSON number")


def fault(line):
    """Return the fault of a figure, or None."""
    try:
        figure = json.loads(line, parse_constant=not_a_number)
    except ValueError as error:
        return f"not JSON: {error}"
    if not isinstance(figure, dict):
        return "not a JSON object"
    value = figure.pop("value", None)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return "'value' is not a number"
    for field, kind in FIELDS.items():
        if not isinstance(figure.pop(field, None), kind):
            return f"'{field}' is not a string"
    return f"unknown member '{next(iter(figure))}'" if figure else None


def run(command, output):
    """Run a command, add its figures to the output and return its faults."""
    faults = []
    count = 0
    with subprocess.Popen(["bash", "-o", "pipefail", "-c", command], text=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        for line in process.stdout:
            wrong = fault(line)
            if wrong:
                faults.append(f"{wrong}: {line.strip()}")
                continue
            count += 1
            output.write(line)
            output.flush()
    if process.returncode:
        faults.append(f"exit status {process.returncode}")
    if not count:
        faults.append("printed no figure")
    return faults


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path, commands = sys.argv[1], sys.argv[2:]
    failed = []
    with open(path + ".new", "w", encoding="utf-8") as output:
        for number, command in enumerate(commands, 1):
            print(f"bench {number}/{len(commands)}: {command}", file=sys.stderr, flush=True)
            failed += [f"{command}: {wrong}" for wrong in run(command, output)]
    for line in failed:
        print(f"bench: {line}", file=sys.stderr)
    if failed:
        print(f"bench: '{path}' is not written; the other figures are in '{path}.new'",
              file=sys.stderr)
        return 1
    os.replace(path + ".new", path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
