#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run every program with a fault at each allocation and each system call.

	tests/long/faults.py [--sample N] [--jobs N] [--list] [PROGRAM ...]
	tests/long/faults.py --damage-database SECONDS | --damage-perfdata SECONDS

A reference run of each scenario lists its sites (tests/fixtures/programs/fault_inject.c). Each site then
fails once, and in another run permanently, with each error that its function can return. The program must
end with status 0, 1 or 2, not by a signal and not by its time limit; with status 2 it prints one
line. A database must be sound afterwards, and the samples of each epoch must add up.

With --damage-*, no call fails; instead the bytes of the input file are changed at random, with the
same seeds in each run, and every program that reads it must end in the same way.

--sample N runs N cases of each scenario, the same ones in each run. Output is TAP.
Needs perf_event_open for dcpirun. DCPI_BUILD: where the build is (default: build).
"""
import argparse
import concurrent.futures
import errno
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.join(TOP, os.environ.get("DCPI_BUILD", "build"))
BIN = os.path.join(BUILD, "bin")
# Errors by kind of site: (errno, or 0 for half of the bytes; whether all later calls fail).
ONCE, ALWAYS = False, True
ERRORS = {
    "alloc": [(errno.ENOMEM, ONCE), (errno.ENOMEM, ALWAYS)],
    "open": [(errno.EMFILE, ONCE), (errno.EMFILE, ALWAYS), (errno.EIO, ONCE), (errno.EINTR, ONCE)],
    "read": [(errno.EIO, ONCE), (errno.EIO, ALWAYS), (errno.EINTR, ONCE), (0, ONCE), (0, ALWAYS)],
    "write": [(errno.ENOSPC, ONCE), (errno.ENOSPC, ALWAYS), (errno.EIO, ONCE), (errno.EINTR, ONCE),
              (0, ONCE), (0, ALWAYS)],
    "file": [(errno.EIO, ONCE), (errno.EIO, ALWAYS), (errno.ENOSPC, ONCE)],
    "map": [(errno.ENOMEM, ONCE), (errno.ENOMEM, ALWAYS)],
    "event": [(errno.EINTR, ONCE), (errno.ENOMEM, ONCE), (errno.ENOMEM, ALWAYS)],
    "control": [(errno.EIO, ONCE), (errno.EIO, ALWAYS), (errno.EINTR, ONCE)],
}
LIMIT_S = 30
IDENTITY = """SELECT 'epoch ' || e.id || ': ' || e.interrupts FROM epoch e WHERE e.interrupts <>
    (SELECT ifnull(sum(count), 0) FROM dcpi_samples WHERE epoch = e.id) +
    (SELECT ifnull(sum(count), 0) FROM counter c WHERE c.epoch = e.id AND counter_group = 'loss')"""


def limit_s():
    """Return the time limit of a run in seconds, on a machine that is as busy as now."""
    with open("/proc/loadavg", encoding="ascii") as file:
        load = float(file.read().split()[0])
    return LIMIT_S * max(1.0, load / os.cpu_count())


class Scenario:
    """A command; WORK and FIXTURES in its arguments are folders, a new one for each run.

    writes: the database in WORK that must be sound afterwards, copied from @start if given
    stop:   seconds after which a program that does not end gets SIGTERM
    """

    def __init__(self, program, *arguments, name=None, writes=None, start=None, stop=None):
        self.program = program
        self.arguments = arguments
        self.name = name or program
        self.writes = writes
        self.start = start
        self.stop = stop

    def command(self, folder, fixtures):
        return [os.path.join(BIN, self.program)] + [
            a.replace("WORK", folder).replace("FIXTURES", fixtures) for a in self.arguments]


DB = ("--db", "FIXTURES/run.db")
SCENARIOS = [
    Scenario("dcpiprof", *DB),
    Scenario("dcpiprof", "--json", *DB, name="dcpiprof_json"),
    Scenario("dcpilist", *DB, "split_seventy"),
    Scenario("dcpicalc", *DB, "split_seventy"),
    Scenario("dcpisumm", *DB, "--by", "procedure"),
    Scenario("dcpicfg", *DB, "split_seventy"),
    Scenario("dcpitopstalls", *DB),
    Scenario("dcpistats", "FIXTURES/run.db", "FIXTURES/import.db"),
    Scenario("dcpidiff", "FIXTURES/run.db", "FIXTURES/import.db"),
    Scenario("dcpiexport", *DB, "-f", "folded"),
    Scenario("dcpitop", *DB, "--batch", "--no-flush", "-n", "1"),
    Scenario("dcpipaths", *DB),
    Scenario("dcpicalls", *DB),
    Scenario("dcpicct", *DB),
    Scenario("dcpibursts", *DB),
    Scenario("dcpivpp", *DB),
    Scenario("dcpix", "-q", "-o", "WORK/split", "FIXTURES/split"),
    Scenario("dcpiimport", "--db", "WORK/dcpi.db", "FIXTURES/perf.data", writes="dcpi.db"),
    Scenario("dcpictl", "--db", "WORK/dcpi.db", "merge", "FIXTURES/run.db", "FIXTURES/import.db",
             name="dcpictl_merge", writes="dcpi.db"),
    Scenario("dcpid", "-q", "--source", "replay", "--trace", "FIXTURES/shell.trace", "--db",
             "WORK/dcpi.db", "--socket", "WORK/socket", "--config", "FIXTURES/empty.conf", "-e",
             "cpu-clock", "--drain-interval", "10", "--merge-interval", "1", writes="dcpi.db",
             stop=0.5),
    Scenario("dcpirun", "-q", "-e", "cpu-clock:1000000", "--db", "WORK/dcpi.db", "FIXTURES/split",
             "100", writes="dcpi.db"),
]


class Case:
    """A site, an error, and a flag: later calls of its kind fail as well."""

    def __init__(self, scenario, line, error, always):
        self.scenario = scenario
        self.site, self.kind, self.function = line.split()
        self.error = error
        self.always = always

    def __str__(self):
        error = errno.errorcode[self.error] if self.error else "short"
        return (f"{self.scenario.name}: {self.function} {self.site} {error}"
                f"{' from then on' if self.always else ''}")

    def environment(self):
        values = {"FAULT_SITE": self.site, "FAULT_ERROR": str(self.error)}
        if self.always:
            values["FAULT_ALWAYS"] = "1"
        return values


class Rig:
    def __init__(self, work):
        self.work = work
        self.fixtures = os.path.join(work, "fixtures")
        self.library = os.path.join(work, "fault_inject.so")

    def prepare(self):
        os.mkdir(self.fixtures)
        fixtures = self.fixtures
        compiler = os.environ.get("CC", "gcc").split()
        programs = os.path.join(TOP, "tests", "fixtures", "programs")
        subprocess.run([*compiler, "-O1", "-g", "-shared", "-fPIC", "-D_GNU_SOURCE",
                        "-fno-builtin", "-fno-optimize-sibling-calls", "-o", self.library,
                        os.path.join(programs, "fault_inject.c")], check=True)
        subprocess.run([*compiler, "-O2", "-g", "-o", f"{fixtures}/split",
                        os.path.join(programs, "split.c")], check=True)
        tests = os.path.join(TOP, "build", "tests")
        subprocess.run([f"{tests}/make_perfdata", f"{fixtures}/perf.data"], check=True)
        subprocess.run([f"{BIN}/dcpiimport", "-q", "--db", f"{fixtures}/import.db",
                        f"{fixtures}/perf.data"], check=True)
        shutil.copy(os.path.join(TOP, "tests", "fixtures", "traces", "shell.trace"), fixtures)
        with open(f"{fixtures}/empty.conf", "w", encoding="ascii"):
            pass
        run = [os.path.join(BIN, "dcpirun"), "-q", "-e", "cpu-clock:1000000", "--db",
               f"{fixtures}/run.db", f"{fixtures}/split", "300"]
        if subprocess.run(run, capture_output=True, check=False).returncode != 0:
            return False
        for mode in ("counts", "paths", "context", "calls", "bursts", "variation"):
            self.record(mode)
        return True

    def record(self, mode):
        """Record a rewritten program, for the reports that show a recording."""
        fixtures = self.fixtures
        quiet = {"capture_output": True, "check": False, "timeout": 120}
        rewritten = f"{fixtures}/split.{mode}"
        subprocess.run([f"{BIN}/dcpix", "-q", "-o", rewritten, "--mode", mode, f"{fixtures}/split"], **quiet)
        if not os.path.exists(rewritten):
            return
        subprocess.run([rewritten, "10"], cwd=fixtures, **quiet)
        profiles = [os.path.join(fixtures, name) for name in os.listdir(fixtures)
                    if name.startswith(f"split.{mode}.")]
        if profiles:
            subprocess.run([f"{BIN}/dcpix", "-q", "--db", f"{fixtures}/run.db", "counts", rewritten,
                            *profiles], **quiet)

    def run(self, scenario, folder, extra):
        """Return (status, stdout, stderr); status None: it did not end."""
        environment = dict(os.environ, LD_PRELOAD=self.library, FAULT_PROGRAM=scenario.program,
                           ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0", HOME=folder,
                           **extra)
        os.makedirs(folder)
        if scenario.start:
            shutil.copy(os.path.join(self.fixtures, scenario.start),
                        os.path.join(folder, scenario.writes))
        with subprocess.Popen(scenario.command(folder, self.fixtures), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                              cwd=folder) as process:
            try:
                if scenario.stop:
                    try:
                        output, errors = process.communicate(timeout=self.stop_s(scenario))
                        return process.returncode, output, errors
                    except subprocess.TimeoutExpired:
                        process.send_signal(signal.SIGTERM)
                output, errors = process.communicate(timeout=limit_s())
            except subprocess.TimeoutExpired:
                process.kill()
                output, errors = process.communicate()
                return None, output, errors
        return process.returncode, output, errors

    @staticmethod
    def stop_s(scenario):
        return scenario.stop * max(1.0, limit_s() / LIMIT_S)

    def sites(self, scenario):
        folder = os.path.join(self.work, f"reference.{scenario.name}")
        path = os.path.join(self.work, f"sites.{scenario.name}")
        status, _, errors = self.run(scenario, folder, {"FAULT_LIST": path})
        if status not in (0, 1) or not os.path.exists(path):
            raise RuntimeError(f"{scenario.name}: the reference run has status {status}: "
                               f"{errors.decode(errors='replace')}")
        with open(path, encoding="ascii") as file:
            return sorted(set(file.read().splitlines()))

    def damage(self, path):
        """Return the faults of a database."""
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            return ""

        def sql(text):
            result = subprocess.run(
                ["sqlite3", "-readonly", "-cmd", f".load {TOP}/build/lib/dcpi_sqlite", path, text],
                capture_output=True, check=False, timeout=limit_s())
            return (result.stdout + result.stderr).decode(errors="replace").strip()

        if sql("SELECT count(*) FROM sqlite_schema") == "0":
            return ""
        sound = sql("PRAGMA integrity_check")
        return "" if sound == "ok" and not (sound := sql(IDENTITY)) else sound

    def check(self, case, number):
        """Run a case. Return (true if the fault happened, description of a wrong result)."""
        folder = os.path.join(self.work, f"case.{number}")
        hit = os.path.join(self.work, f"hit.{number}")
        status, _, errors = self.run(case.scenario, folder,
                                     dict(case.environment(), FAULT_HIT=hit))
        text = errors.decode(errors="replace").strip()
        wrong = []
        if status is None:
            wrong.append("it does not end")
        elif status < 0:
            wrong.append(f"ended by {signal.Signals(-status).name}")
        elif status not in (0, 1, 2):
            wrong.append(f"status {status}")
        elif status == 2 and (not text or (len(text.splitlines()) > 1 and
                                           case.scenario.program not in ("dcpid", "dcpirun"))):
            wrong.append("status 2 without one line that says why")
        if case.scenario.writes:
            damage = self.damage(os.path.join(folder, case.scenario.writes))
            if damage:
                wrong.append(f"the database: {damage}")
        shutil.rmtree(folder, ignore_errors=True)
        return os.path.exists(hit), "; ".join(wrong) + (f" [{text[-1500:]}]" if wrong else "")


def mutate(data, generator):
    """Change some bytes, fields or blocks, or cut the file."""
    data = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 4, 16))):
        at = generator.randrange(len(data))
        # Headers determine how the rest is read.
        if generator.random() < 0.3:
            at = generator.randrange(min(len(data), 1024))
        kind = generator.randrange(6)
        if kind == 0:
            data[at] ^= 1 << generator.randrange(8)
        elif kind == 1:
            data[at] = generator.choice((0, 1, 0x7f, 0x80, 0xff))
        elif kind == 2:
            value = generator.choice((0, 1, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 63, 2**64 - 1))
            field = value.to_bytes(8, generator.choice(("little", "big")))
            data[at:at + 8] = field[:len(data) - at]
        elif kind == 3:
            data[at:at + 64] = generator.randbytes(len(data[at:at + 64]))
        elif kind == 4:
            source = generator.randrange(len(data))
            block = data[source:source + 512]
            data[at:at + len(block)] = block[:len(data) - at]
        elif len(data) > 200:
            del data[generator.randrange(len(data) // 2, len(data)):]
    return bytes(data)


def damage(rig, name, seconds):
    """Return the number of runs and their wrong results."""
    path = os.path.join(rig.fixtures, name)
    with open(path, "rb") as file:
        sound = file.read()
    scenarios = [s for s in SCENARIOS if any(name in a for a in s.arguments)]
    end = time.monotonic() + seconds
    runs, wrong = 0, []
    while time.monotonic() < end and len(wrong) < 10:
        for scenario in scenarios:
            rig.fixtures = os.path.join(rig.work, f"damaged.{runs}")
            os.mkdir(rig.fixtures)
            for other in os.listdir(os.path.dirname(path)):
                os.symlink(os.path.join(os.path.dirname(path), other),
                           os.path.join(rig.fixtures, other))
            os.unlink(os.path.join(rig.fixtures, name))
            with open(os.path.join(rig.fixtures, name), "wb") as file:
                file.write(mutate(sound, random.Random(f"{scenario.name} {runs}")))
            _, text = rig.check(Case(scenario, "0 alloc malloc", 0, False), runs)
            if text:
                kept = os.path.join(BUILD, f"damaged.{scenario.name}.{runs}.{name}")
                shutil.copy(os.path.join(rig.fixtures, name), kept)
                wrong.append(f"{scenario.name}: {text} (kept as {kept})")
            shutil.rmtree(rig.fixtures)
            runs += 1
            if time.monotonic() >= end:
                break
    return runs, wrong


def report_damage(rig, name, seconds):
    runs, wrong = damage(rig, name, seconds)
    print(f"{'not ok' if wrong or not runs else 'ok'} 1 - {name}: {runs} damaged files")
    for text in wrong:
        print("#   " + text.replace("\n", "\n#     "))
    print("1..1")
    sys.exit(1 if wrong or not runs else 0)


def choose(cases, count):
    """Select the same cases in each run of the same build: those with the smallest digests."""
    if not count or len(cases) <= count:
        return cases
    return sorted(cases, key=lambda c: hashlib.sha256(str(c).encode()).digest())[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--damage-database", type=int, metavar="SECONDS")
    parser.add_argument("--damage-perfdata", type=int, metavar="SECONDS")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    arguments = parser.parse_args()
    scenarios = [s for s in SCENARIOS
                 if not arguments.programs or s.name in arguments.programs]
    results = 0
    failed = False
    with tempfile.TemporaryDirectory() as work:
        rig = Rig(work)
        if not rig.prepare():
            print("ok 1 - faults # SKIP dcpirun cannot sample here\n1..1")
            return
        if arguments.damage_database:
            report_damage(rig, "run.db", arguments.damage_database)
        if arguments.damage_perfdata:
            report_damage(rig, "perf.data", arguments.damage_perfdata)
        for scenario in scenarios:
            began = time.monotonic()
            sites = rig.sites(scenario)
            if arguments.list:
                print("\n".join(sites))
                continue
            cases = [Case(scenario, line, error, always) for line in sites
                     for error, always in ERRORS[line.split()[1]]]
            chosen = choose(cases, arguments.sample)
            with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
                found = list(pool.map(rig.check, chosen, (f"{scenario.name}.{i}"
                                                          for i in range(len(chosen)))))
            bad = [(case, wrong) for case, (_, wrong) in zip(chosen, found) if wrong]
            results += 1
            print(f"{'not ok' if bad else 'ok'} {results} - {scenario.name}: {len(chosen)} of "
                  f"{len(cases)} faults at {len(sites)} sites, {sum(h for h, _ in found)} of them "
                  "happened")
            print(f"# {time.monotonic() - began:.0f} s")
            for case, wrong in bad:
                print(f"#   {case}: " + wrong.replace("\n", "\n#     "))
            failed = failed or bool(bad)
            sys.stdout.flush()
    print(f"1..{results}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
