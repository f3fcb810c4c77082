#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The in-order arms of the accuracy table: dcpicalc on what simulated machines sampled.

    in_order.py ARM [late] [events] [edges] [--quick] [--details FILE] [--estimators A,B]
                [--budgets N,..] [--seeds N] [--programs A,B] [--worst N]
                [--keep DIRECTORY]

ARM is one of tests/eval/accuracy/arms; its ground truth is in build/truth/ARM (make truth-ARM). With
"late", samples fall one instruction late (arm ARM-skid1). With "events" and "edges", there are also
samples of misses and of branches (ARM-events, ...). JSON lines go to stdout: one for each split,
budget and estimator. FILE gets the same for each program.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import score
import truth

BUDGETS = (10000, 100000, 1000000)
PROPORTIONS = ("avg", "max")  # estimators without a scale: they are given the best one
BRANCHES = ("conditional", "indirect")  # kinds of branches whose edges the collector finds
EVENTS = {"icache": "imiss", "dcache": "dmiss", "branch": "branchmp", "dtb": "dtbmiss"}


def rows(path):
    """Return the lines of a table except comments, split into words."""
    with open(path, encoding="ascii") as lines:
        return [line.split() for line in lines if line.strip() and line[0] != "#"]


class Arm:
    """An arm, with the kind of its samples."""

    def __init__(self, options):
        here = os.path.dirname(os.path.abspath(__file__))
        self.root = os.path.abspath(os.path.join(here, "../../.."))
        found = [r for r in rows(f"{here}/arms") if r[0] == options.arm]
        if not found:
            raise SystemExit(f"in_order: no arm {options.arm}")
        self.machine, self.model, self.suffix = found[0][:3]
        self.with_ = options.with_
        self.late = "late" in options.with_
        self.keep = options.keep
        parts = ["skid1" if w == "late" else w for w in options.with_]
        self.name = "-".join([self.machine] + parts)
        programs = [(name, split) for name, split, quick in rows(f"{here}/manifest")
                    if not options.quick or quick == "quick"]
        self.debian = {}
        if self.suffix == "arm64" and not options.quick:
            self.debian = {row[0]: row[2] for row in rows(f"{here}/debian")}
            programs += [(row[0], row[1]) for row in rows(f"{here}/debian")]
        self.programs = [p for p in programs if not options.programs or p[0] in options.programs]

    def image(self, program):
        if program in self.debian:
            return os.path.realpath(
                f"{self.root}/build/cache/truth-arm64/{self.debian[program]}")
        return f"{self.root}/build/truth/bin/{program}.{self.suffix}"

    def file(self, program, ending):
        return f"{self.root}/build/truth/{self.machine}/{program}.{ending}"


def thinned(counts, most, chance):
    """Return about @most samples of exact counts, and the resulting period."""
    period = sum(counts.values()) // (most + 1) + 1
    samples = {key: n // period + (chance.random() * period < n % period)
               for key, n in counts.items()}
    return {key: n for key, n in samples.items() if n}, period


def profile_lines(arm, program, simulation, branches, sampler):
    """Return the input from which tests/fixtures/make_profile_db.c makes a database."""
    chance = random.Random(f"{program} {sampler}")
    taken = {offset: (insn.late if arm.late else insn.samples)[sampler]
             for offset, insn in simulation.insns.items() if insn.samples}
    period = round(simulation.samplers[sampler][0])
    columns = [("cycles", "cycles", taken, period)]
    most = sum(taken.values())
    if "events" in arm.with_:
        for event in EVENTS.values():
            samples, period = thinned({o: i.events[event] for o, i in simulation.insns.items()},
                                      most, chance)
            columns.append((event, "events", samples, period))
    lines = [f"event {name} {unit} {period} {period}" for name, unit, _, period in columns]
    lines += [f"epoch {simulation.cpu}", f"image file - {arm.image(program)}"]
    for number, (_, _, samples, _) in enumerate(columns):
        lines += [f"sample {number} {offset:#x} {n}" for offset, n in sorted(samples.items()) if n]
    if "edges" in arm.with_:
        ways = {(start, to): n for start, out in branches.items() for to, n in out.items()}
        seen = thinned(ways, most, chance)[0]
        # Without this count, which a profiler records, dcpicalc does not look for branches.
        lines.append(f"counter stat edges_handed {sum(seen.values())}")
        lines += [f"branch {start:#x} {to:#x} {n}" for (start, to), n in sorted(seen.items())]
    return lines + ["end"]


class Profile:
    """A database with the samples of one sampler, and dcpicalc's results for it."""

    def __init__(self, arm, program, simulation, branches, sampler, scratch):
        self.arm = arm
        self.program = program
        self.database = f"{scratch}/{program}.{sampler}.db"
        if os.path.exists(self.database):  # left by --keep: more epochs would be added to it
            os.unlink(self.database)
        lines = profile_lines(arm, program, simulation, branches, sampler)
        subprocess.run([f"{arm.root}/build/tests/make_profile_db", self.database], check=True,
                       input="\n".join(lines) + "\n", text=True)

    def calc(self, estimator, *options):
        """Return the objects that dcpicalc prints."""
        done = subprocess.run(
            [f"{self.arm.root}/build/bin/dcpicalc", "--db", self.database, "--all", "--json",
             "--model", self.arm.model, "--estimator", estimator,
             "-i", self.arm.image(self.program), *options],
            check=True, stdout=subprocess.PIPE, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.arm.keep:
            os.unlink(self.database)


def instruction_items(simulation, procedures, sampler, late):
    """Return (samples, estimate, truth, confidence, low, high) of each sampled instruction."""
    said = {i["offset"]: i for p in procedures for i in p["instructions"]}
    items = []
    for offset, insn in simulation.insns.items():
        taken = insn.late if late else insn.samples
        if not taken or not taken[sampler]:
            continue
        i = said.get(offset)
        if i is None:
            items.append((taken[sampler], None, insn.executed, None, None, None))
        else:
            items.append((taken[sampler], i["frequency"], insn.executed, i["confidence"],
                          i["frequency_low"], i["frequency_high"]))
    return items


def edge_items(simulation, edges, procedures):
    """Return (executions, estimate, truth) of the edges of all graphs, and of missing edges."""
    items = []
    for procedure in procedures:
        offsets = {i["address"]: i["offset"] for i in procedure["instructions"]}
        for block in procedure["blocks"]:
            inside = [a for a in (block["end"] - 4,) if a in offsets]
            if inside and offsets[inside[0]] in simulation.insns:
                items += block_edges(simulation, edges, block, offsets, inside[0])
    return items


def block_edges(simulation, edges, block, offsets, last):
    executed = simulation.insns[offsets[last]].executed
    ways = edges.get(offsets[last], {})
    said, next_address, items = {}, last + 4, []
    for successor in block["successors"]:
        to = successor["to"]
        if to is not None and to in offsets:
            said[to] = None if successor["frequency"] is None else \
                (said.get(to) or 0) + successor["frequency"]
    within = {a for a in offsets if offsets[a] in ways}
    # A call's own edge leads elsewhere, and the call returns. Without a branch, all continue.
    calls = next_address in said and not within
    for to, estimate in said.items():
        count = executed if calls and to == next_address else ways.get(offsets[to], 0)
        if count > 0:
            items.append((count, estimate, count))
    if not calls:
        items += [(ways[offsets[to]], None, ways[offsets[to]]) for to in within
                  if to not in said and ways[offsets[to]] > 0]
    return items


def true_stalls(insn, said):
    """Return {cause: cycles} of an instruction's dynamic stalls.

    Cycles that the code alone explains are excluded: a unit that is always busy is a static stall
    to the analyser.
    """
    static = sum(s["cycles"] for s in said["static_stalls"] if s["kind"] == "fu_dependency")
    left = static * insn.executed
    stalls = dict(insn.stalls)
    for cause in ("imul", "fdiv"):
        known = min(left, stalls.get(cause, 0))
        left -= known
        if known:
            stalls[cause] -= known
    return stalls


def listed_stalls(said):
    """Return {cause: cycles} of all executions, by the middle of each stated range."""
    listed = {}
    for c in said["culprits"]:
        cycles = (c["cycles_low"] + c["cycles_high"]) / 2 * (said["frequency"] or 0)
        listed[c["cause"]] = listed.get(c["cause"], 0) + cycles
    return listed


def stall_sums(simulation, procedures):
    """Return the sums from which culprits are scored; see stall_scores()."""
    sums = dict.fromkeys(("true", "recalled", "listed", "right", "list"), 0.0)
    for procedure in procedures:
        for i in procedure["instructions"]:
            insn = simulation.insns.get(i["offset"])
            if insn is None:
                continue
            listed, stalls = listed_stalls(i), true_stalls(insn, i)
            sums["true"] += sum(stalls.values())
            sums["recalled"] += sum(n for c, n in stalls.items() if c in listed)
            sums["listed"] += sum(listed.values())
            sums["list"] += sum(listed.values()) * len(listed)
            stalls["branch"] = stalls.get("branch", 0) + insn.bubbles
            sums["right"] += sum(min(n, stalls.get(c, 0)) for c, n in listed.items())
    return sums


def summary_sums(summaries):
    sums = {"unexplained": 0.0, "tallied": 0.0}
    for s in summaries:
        sums["unexplained"] += s["summary"]["dynamic"]["unexplained"]["high"]
        sums["tallied"] += s["summary"]["tallied"]
    return sums


def stall_scores(sums):
    return {"recall": score.percent(sums["recalled"], sums["true"]),
            "precision": score.percent(sums["right"], sums["listed"]),
            "list_size": round(sums["list"] / sums["listed"], 2) if sums["listed"] else None,
            "unexplained_percent": score.percent(sums["unexplained"], sums["tallied"])}


def miss_rows(simulation, procedures):
    """Return {cause: [(listed stall cycles, true ones, true events), ...]}, one per procedure."""
    rows_of = {cause: [] for cause in EVENTS}
    for procedure in procedures:
        for cause, event in EVENTS.items():
            listed = true = events = 0
            for i in procedure["instructions"]:
                insn = simulation.insns.get(i["offset"])
                events += insn.events[event] if insn else 0
                true += insn.stalls.get(cause, 0) if insn else 0
                listed += listed_stalls(i).get(cause, 0)
            rows_of[cause].append((listed, true, events))
    return rows_of


def miss_scores(rows_of):
    """Return correlations over procedures.

    Listed stalls are compared with events and with true stalls. For comparison, true stalls are
    also compared with events: misses differ in cost, even if their cycles are counted exactly.
    """
    scores = {}
    for cause, procedures in rows_of.items():
        scores[cause] = score.correlation([(listed, n) for listed, _, n in procedures])
        scores[f"{cause}_true"] = score.correlation([(true, n) for _, true, n in procedures])
        scores[f"{cause}_cycles"] = score.correlation([row[:2] for row in procedures])
    return scores


class Pool:
    """The data that is combined for one line of the table."""

    def __init__(self):
        self.instructions = []
        self.edges = []
        self.stalls = {}
        self.misses = {cause: [] for cause in EVENTS}
        self.times = []

    def add(self, other):
        self.times += other.times
        self.instructions += other.instructions
        self.edges += other.edges
        for key, value in other.stalls.items():
            self.stalls[key] = self.stalls.get(key, 0) + value
        for cause, procedures in other.misses.items():
            self.misses[cause] += procedures

    def lines(self, about):
        yield {"name": "instructions", **about, **score.within(self.instructions),
               "median_error": score.median_error(self.instructions),
               "wrong_marked_low": score.flagged(self.instructions),
               "interval_holds": score.held(self.instructions),
               "confidence": score.confidences(self.instructions),
               "errors": score.histogram(self.instructions)}
        yield {"name": "edges", **about, **score.within(self.edges)}
        if self.stalls:
            yield {"name": "culprits", **about, **stall_scores(self.stalls)}
            yield {"name": "misses", **about, **miss_scores(self.misses)}
        if self.times:
            raw, own = (round(sum(column) / len(self.times), 2) for column in zip(*self.times))
            yield {"name": "time", **about, "taken_error": raw, "error": own}


def alike(items):
    """Scale the weights to a sum of 1, so that every program counts the same."""
    total = sum(i[0] for i in items)
    return [(i[0] / total, *i[1:]) for i in items] if total else []


def time_error(simulation, shares):
    """Return the percentage of time credited to wrong instructions; shares: {offset: samples}."""
    samples = sum(shares.values())
    cycles = sum(insn.cycles for insn in simulation.insns.values())
    return sum(abs(shares.get(offset, 0) / samples - insn.cycles / cycles)
               for offset, insn in simulation.insns.items()) * 50


def time_errors(simulation, procedures, sampler):
    """Return the error of samples as taken, and as attributed by dcpicalc."""
    taken = {offset: insn.late[sampler] for offset, insn in simulation.insns.items() if insn.late}
    own = {i["offset"]: i["own_samples"] for p in procedures for i in p["instructions"]}
    return time_error(simulation, taken), time_error(simulation, own)


def judge(arm, program, simulation, edges, sampler, estimator, profile):
    procedures = profile.calc(estimator)
    pool = Pool()
    pool.instructions = alike(instruction_items(simulation, procedures, sampler, arm.late))
    pool.edges = alike(edge_items(simulation, edges, procedures))
    if estimator in PROPORTIONS:
        factor = score.scale(pool.instructions)
        pool.instructions = score.scaled(pool.instructions, factor)
        pool.edges = score.scaled(pool.edges, factor)
    if estimator == "dcpi":
        sums = stall_sums(simulation, procedures)
        sums |= summary_sums(profile.calc(estimator, "--summary"))
        pool.stalls = {key: value / simulation.cycles for key, value in sums.items()
                       if key not in ("unexplained", "tallied")}
        pool.stalls |= {key: sums[key] / max(sums["tallied"], 1)
                        for key in ("unexplained", "tallied")}
        pool.misses = miss_rows(simulation, procedures)
        if arm.late:
            pool.times = [time_errors(simulation, procedures, sampler)]
    return pool


def samplers_of(simulation, budgets, seeds):
    """Yield (number, budget) of the selected samplers, with the budget nearest to their samples."""
    for number, (_, seed, taken) in enumerate(simulation.samplers):
        budget = min(BUDGETS, key=lambda b: abs(b - taken))
        if budget in budgets and seed <= seeds:
            yield number, budget


def worst_show(program, simulation, procedures, count):
    """Print the most costly errors to stderr: frequencies, and stalls whose cause is not listed."""
    wrong = []
    for procedure in procedures:
        for i in procedure["instructions"]:
            insn = simulation.insns.get(i["offset"])
            if insn is None:
                continue
            off = score.error(i["frequency"], insn.executed)
            place = f"{program} {procedure['procedure']} {i['address']:#x}"
            if abs(off) > 0.05:
                wrong.append((insn.cycles / simulation.cycles, f"{place}: executed {insn.executed}, "
                              f"said {i['frequency']:.0f} ({100 * off:+.1f}%, {i['confidence']})"
                              if i["frequency"] is not None else f"{place}: not said"))
            listed = listed_stalls(i)
            for cause, cycles in true_stalls(insn, i).items():
                if cause not in listed:
                    wrong.append((cycles / simulation.cycles,
                                  f"{place}: {cause} {cycles / insn.executed:.2f} cycles each time "
                                  f"of {insn.cycles / insn.executed:.2f}, "
                                  f"said {i['cpi']} {sorted(listed)}"))
    for share, text in sorted(wrong, reverse=True)[:count]:
        print(f"{100 * share:6.2f}% {text}", file=sys.stderr)


def program_run(arm, program, split, options, scratch, pools, details):
    simulation = truth.Simulation(arm.file(program, "sim"), arm.image(program))
    edges = truth.edges_read(arm.file(program, "edges"), arm.image(program))
    branches = truth.edges_read(arm.file(program, "edges"), arm.image(program), BRANCHES)
    own = {}
    for number, budget in samplers_of(simulation, options.budgets, options.seeds):
        with Profile(arm, program, simulation, branches, number, scratch) as profile:
            for estimator in options.estimators:
                # Estimators that are only compared with need no repetition.
                if estimator != "dcpi" and simulation.samplers[number][1] > 1:
                    continue
                if options.worst and estimator == "dcpi":
                    worst_show(program, simulation, profile.calc(estimator), options.worst)
                pool = judge(arm, program, simulation, edges, number, estimator, profile)
                own.setdefault((budget, estimator), Pool()).add(pool)
                pools.setdefault((split, budget, estimator), Pool()).add(pool)
    for (budget, estimator), pool in own.items():
        about = {"arm": arm.name, "program": program, "split": split, "budget": budget,
                 "estimator": estimator}
        for line in pool.lines(about):
            print(json.dumps(line), file=details)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("arm")
    parser.add_argument("with_", nargs="*", metavar="late|events|edges")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--details", default=os.devnull)
    parser.add_argument("--estimators", type=lambda s: s.split(","),
                        default=["dcpi", "paper", "avg", "max"])
    parser.add_argument("--budgets", type=lambda s: [int(b) for b in s.split(",")],
                        default=list(BUDGETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--programs", type=lambda s: s.split(","))
    parser.add_argument("--keep", metavar="DIRECTORY",
                        help="leave the databases there: PROGRAM.SAMPLER.db")
    parser.add_argument("--worst", type=int, default=0, metavar="N",
                        help="show the N costliest errors of dcpi, each run, on stderr")
    return parser.parse_args()


def main():
    options = arguments()
    arm = Arm(options)
    pools = {}
    with tempfile.TemporaryDirectory() as temporary, \
            open(options.details, "w", encoding="ascii") as details:
        for program, split in arm.programs:
            program_run(arm, program, split, options, options.keep or temporary, pools, details)
    for (split, budget, estimator), pool in sorted(pools.items()):
        about = {"arm": arm.name, "split": split, "budget": budget, "estimator": estimator}
        for line in pool.lines(about):
            print(json.dumps(line))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failed:
        sys.exit(f"in_order: {failed}")
