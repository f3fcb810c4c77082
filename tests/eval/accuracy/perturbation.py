#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cycles of procedures as dcpix measures them, compared with sampled time of the unmodified program
(the perturbation of Ammons, Ball and Larus).

    perturbation.py [--quick] [--programs A,B] [--runs N] [--details FILE] [--seeds N]

Programs and commands are those of x86_programs.txt. Each program is sampled by cpu-clock with call
stacks, and alternately runs rewritten in each mode. A sample belongs to the innermost procedure
that the mode measures, since the time of libraries is that of their callers. One JSON line for
each mode goes to stdout, and one for each program and mode to stdout and FILE:

    worst_points     largest difference of a procedure's shares, in percentage points
    median_points    of lines for all programs: the median of the programs' worst_points
    first_five       the order of the procedures with the most sampled time is the same; those whose
                     shares differ by less than two standard errors have no order. For all programs:
                     the number of them
    not_measured     percent of instructions on paths that were not measured
    samples, stacks  samples of the program, and those that have a call stack
"""

import argparse
import csv
import glob
import io
import json
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BIN = os.environ.get("BIN", f"{ROOT}/build/bin")
INPUTS = f"{ROOT}/build/accuracy/x86-64/inputs"
PROGRAMS = ("gzip bzip2 mawk sort sed bc perl gawk lua sqlite m4 troff md5sum grep python tclsh "
            "zstd jq objdump").split()
QUICK = ("gzip", "mawk", "sort")
MODES = {
    "paths": (["--mode", "paths", "--metric", "cycles"], "dcpipaths", []),
    "context": (["--mode", "context"], "dcpicct", ["--no-demangle"]),
    "calls": (["--mode", "calls"], "dcpicalls", ["--by", "procedure", "--no-demangle"]),
}
# The columns of a procedure's own cycles.
COLUMNS = {"paths": "metric", "context": "exclusive", "calls": "self"}
RUNS = 4
EVENT = "cpu-clock:380000-420000"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent",
               "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def output_of(arguments, **options):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, **options).stdout


def run(arguments, **environment):
    subprocess.run(arguments, check=True, cwd=INPUTS, env={**ENVIRONMENT, **environment},
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def commands():
    """Return {name: words of the command}."""
    found = {}
    with open(f"{HERE}/x86_programs.txt", encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#") and line.count("\t") == 3:
                name, _, _, command = line.rstrip("\n").split("\t")
                if not command.startswith("@"):
                    found[name] = shlex.split(command)
    return found


class Recorder:
    """A program, sampled and rewritten in all modes, in a directory of its own."""

    def __init__(self, words, directory):
        self.directory = directory
        self.database = f"{directory}/samples.db"
        self.arguments = words[1:]
        path = shutil.which(words[0], path=ENVIRONMENT["PATH"])
        if path is None:
            raise FileNotFoundError(f"no program '{words[0]}'")
        self.program = os.path.realpath(path)
        for mode, (options, _, _) in MODES.items():
            output_of([f"{BIN}/dcpix", "-q", *options, "-o", self.rewritten(mode), self.program])

    def rewritten(self, mode):
        return f"{self.directory}/{mode}"

    def files(self, mode):
        return glob.glob(f"{self.directory}/{mode}.record.*")

    def run_all(self):
        run([f"{BIN}/dcpirun", "-q", "--overhead", "100", "--stack-every", "1", "--branch-every",
             "0", "--probes", "0", "--image-store", "none", "-e", EVENT, "--db", self.database,
             "--", self.program, *self.arguments])
        for mode in MODES:
            run([self.rewritten(mode), *self.arguments],
                DCPIX_OUT=f"{self.directory}/{mode}.record")

    def stacks(self):
        """Return (procedures from the root, samples) for each stack."""
        for line in output_of([f"{BIN}/dcpiexport", "--stacks", "--no-demangle", "-f", "folded",
                               "--db", self.database]).splitlines():
            names, _, samples = line.rpartition(" ")
            yield [name.split(" (+")[0] for name in names.split(";")], int(samples)

    def samples(self):
        text = output_of([f"{BIN}/dcpiprof", "--db", self.database, "-n", "1"])
        return int(re.search(r"accounting +(\d+) interrupts", text).group(1))

    def cycles(self, mode):
        """Return {procedure: cycles}."""
        _, reader, options = MODES[mode]
        text = output_of([f"{BIN}/{reader}", "--csv", *options, self.rewritten(mode),
                          *self.files(mode)])
        sums = {}
        for row in csv.DictReader(io.StringIO(text)):
            if not row["procedure"].startswith("<"):
                sums[row["procedure"]] = (sums.get(row["procedure"], 0) +
                                          int(row[COLUMNS[mode]]))
        return sums

    def not_measured(self):
        text = output_of([f"{BIN}/dcpipaths", "-n", "1", self.rewritten("paths"),
                          *self.files("paths")])
        found = re.search(r"not measured: paths with ([0-9.]+)%", text)
        return float(found.group(1)) if found else 0.0


def sampled_by(procedures, stacks):
    """Return {procedure: samples} of the innermost of these procedures in each stack."""
    sums = {}
    for names, samples in stacks:
        for name in reversed(names):
            if name in procedures:
                sums[name] = sums.get(name, 0) + samples
                break
    return sums


def same_order(measured, sampled, total):
    """Return True if the five procedures with most samples are in the same order."""
    first = sorted(sampled, key=sampled.get, reverse=True)[:5]
    for i, one in enumerate(first):
        for other in first[i + 1:]:
            error = math.sqrt(sampled[one] + sampled[other]) / total
            if ((sampled[one] - sampled[other]) / total > 2 * error and
                    measured.get(one, 0) < measured.get(other, 0)):
                return False
    return True


def compare(cycles, stacks):
    """Return the figures of one program in one mode."""
    sampled = sampled_by(cycles, stacks)
    all_cycles, all_samples = sum(cycles.values()), sum(sampled.values())
    points = [(100 * abs(c / all_cycles - sampled.get(p, 0) / all_samples), p)
              for p, c in cycles.items()]
    worst, procedure = max(points)
    return {"worst_points": round(worst, 2), "procedure": procedure,
            "measured_percent": round(100 * cycles[procedure] / all_cycles, 2),
            "sampled_percent": round(100 * sampled.get(procedure, 0) / all_samples, 2),
            "first_five": same_order(cycles, sampled, all_samples), "attributed": all_samples}


def measure(words, runs):
    """Return {mode: figures} of a program."""
    with tempfile.TemporaryDirectory() as directory:
        recorder = Recorder(words, directory)
        for _ in range(runs):
            recorder.run_all()
        stacks = list(recorder.stacks())
        about = {"samples": recorder.samples(), "stacks": sum(samples for _, samples in stacks)}
        results = {mode: {**about, **compare(recorder.cycles(mode), stacks)} for mode in MODES}
        results["paths"]["not_measured"] = recorder.not_measured()
        return results


def summary(about, lines):
    worst = [line["worst_points"] for line in lines]
    total = {**about, "programs": len(lines), "worst_points": max(worst),
             "median_points": round(statistics.median(worst), 2),
             "within5": sum(w <= 5 for w in worst),
             "first_five": sum(line["first_five"] for line in lines)}
    if "not_measured" in lines[0]:
        total["not_measured"] = max(line["not_measured"] for line in lines)
    return json.dumps(total)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="three programs, one run")
    parser.add_argument("--programs", type=lambda s: s.split(","))
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seeds", type=int, help="as the other arms; not used")
    parser.add_argument("--details", default=os.devnull)
    return parser.parse_args()


def main():
    options = arguments()
    runs = options.runs or (1 if options.quick else RUNS)
    known = commands()
    lines = {mode: [] for mode in MODES}
    about = {"name": "perturbation", "arm": "perturbation", "split": "reported"}
    output_of([f"{HERE}/x86_inputs.sh", INPUTS])
    with open(options.details, "w", encoding="ascii") as details:
        for name in options.programs or (QUICK if options.quick else PROGRAMS):
            try:
                results = measure(known[name], runs)
            except (FileNotFoundError, subprocess.CalledProcessError) as failed:
                print(f"perturbation: {name} is not measured: {failed}", file=sys.stderr)
                continue
            for mode, figures in results.items():
                lines[mode].append(figures)
                line = json.dumps({**about, "program": name, "metric": mode, **figures})
                print(line, flush=True)
                print(line, file=details, flush=True)
    for mode in MODES:
        if lines[mode]:
            print(summary({**about, "metric": mode}, lines[mode]))
    return 0 if lines["paths"] else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (subprocess.CalledProcessError, OSError) as failure:
        sys.exit(f"perturbation: {failure}")
