#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that scripts and makefiles run only commands that packaging/deps.sh installs for their
goal of make, and that their awk programs are in the language of mawk, Debian's default awk.

    tests/check_commands.py [FILE...]      (default: all scripts and makefiles that git knows)

shfmt parses the scripts. A command must belong to a package in the list of the goal, to a package
that one of these depends on, or to an essential package. The check looks at the packages that are
installed here. A command that is not installed is a fault if all packages of its goal are.
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

# The goal of make of each file, whose packages packaging/deps.sh knows: the first pattern that
# matches.
GOALS = [
    ("packaging/demo_vm.sh", "demo-vm"),
    ("packaging/demo*.sh", "demo"),
    ("packaging/deb.sh", "deb"),
    ("packaging/deps.sh", "build"),
    ("tests/eval/*/bench_*.sh", "bench"),
    ("tests/eval/cost/*", "bench"),
    ("tests/eval/accuracy/*", "accuracy"),
    ("tests/eval/truth/compare_models.sh", "models"),
    ("tests/long/jump_tables.sh", "jump-tables"),
    ("tests/long/check_paths.sh", "check-paths"),
    ("tests/lib/path_*", "check-paths"),
    ("tests/long/check_bursts.sh", "check-bursts"),
    ("tests/lib/bursts_*", "check-bursts"),
    ("tests/long/node.sh", "node"),
    ("tests/long/consumers.sh", "consumers"),
    ("tests/long/fleet.sh", "fleet"),
    ("tests/lint.sh", "lint"),
    ("tests/prose_lint.sh", "lint"),
    ("tests/check_fresh.sh", "fresh"),
    ("tests/long/dcpix_programs.sh", "dcpix-programs"),
    ("tests/long/dcpix_random.sh", "dcpix"),
    ("tests/qemu/debug_kernel.sh", "debug-kernel"),
    ("tests/qemu/blind*", "blind-spots"),
    ("tests/eval/blind/*", "blind-spots"),
    ("docs/gen/blind*", "blind-spots"),
    ("docs/gen/bursts*", "check-bursts"),
    ("docs/gen/accuracy*", "accuracy"),
    ("tests/qemu/check_kernels.sh", "kernels"),
    ("tests/qemu/check_systemd.sh", "systemd"),
    ("tests/qemu/check_power_cut.sh", "systemd"),
    ("tests/qemu/disk*", "systemd"),
    ("*", "check"),
]

NEWLINE = "\n"
BUILTINS = set(
    """. : [ alias bg break builtin cd command compgen continue declare disown echo enable
    eval exec exit export false fg getopts hash help history jobs kill let local mapfile popd
    printf pushd pwd read readarray readonly return set shift shopt source test times trap true
    type typeset ulimit umask unalias unset wait""".split()
)
# Commands that run their first argument that is not an option, assignment or number. The number
# counts the arguments before it: the name and the pattern of tests/lib/tap.sh's functions.
WRAPPERS = {
    **dict.fromkeys("chroot command env exec nice nohup setsid stdbuf sudo time".split(), 0),
    **dict.fromkeys("timeout xargs taskset".split(), 0),
    **{"check": 1, "refuses": 2},
}
SHELLS = {"sh", "bash", "dash"}
AWKS = {"awk", "mawk"}

# Features of gawk that mawk 1.3.4-20200120 lacks: in patterns and strings, and outside of them.
AWK_FAULTS = [
    (r"[])\w.]\{\d+(,\d*)?\}", "interval in a pattern"),
    (r"\\[yBSsWw<>`']", "operator in a pattern"),
]
AWK_CODE_FAULTS = [
    (r"\b(gensub|patsplit|asorti?|strtonum|isarray|typeof)\s*\(", "function"),
    (r"\b(systime|strftime|mktime|and|or|xor|lshift|rshift|compl)\s*\(", "function"),
    (r"\bmatch\s*\([^(),]*,[^(),]*,[^()]*\)", "third argument of match()"),
    (r"\b(PROCINFO|IGNORECASE|FIELDWIDTHS|FPAT|RT|ERRNO|BINMODE)\b", "variable"),
    (r"\b(BEGINFILE|ENDFILE|switch|func|@include|@load)\b", "statement"),
    (r"\|&|\*\*|\bdelete\s+\w+\s*\[[^]]*\]\[", "operator"),
    (r"\b0x[0-9a-fA-F]+", "hexadecimal number"),
]
# Faults that the check must find.
SAMPLE = r"""
real() { "$@"; }
real bzip2 -c "$(pgrep -f x)"
timeout -s INT 5 strace -o /dev/null true | xargs -n 1 gawk
trap 'xz "$file"' EXIT
awk '/^7[0-9a-f]{5} / { x = gensub(/a/, "{2}", 1); if (x ~ "b{3}") print "**" } # and()
    END { print strftime("%Y") }' "$1"
"""
SAMPLE_AWK_FAULTS = {"/^7[0-9a-f]{5} /", '"b{3}"', "gensub(", "strftime("}


class Script:
    """The commands (line, name), awk programs (line, text) and functions of a file."""

    def __init__(self, path, text):
        self.path = path
        self.commands, self.arguments, self.awk, self.functions = [], [], [], set()
        self.runners = set()  # functions that may run their arguments
        # A guest has the commands of its image. A part is sourced by other scripts.
        self.guest = "/lib/tap.sh" in text or re.search(r"(guest\.sh|init)$|qemu/kmod_", path)
        self.part = not text.startswith("#!")
        self.sources = set(re.findall(r"(?m)^\s*(?:\.|source)\s.*?([\w.-]+\.sh)", text))
        self.parse(text, 0)

    def parse(self, text, line):
        tree = subprocess.run(
            ["shfmt", "-ln", "bash", "--to-json"], input=text, text=True, capture_output=True
        )
        if tree.returncode:
            raise ValueError(f"{self.path}:{line}: {tree.stderr.strip()}")
        self.walk(json.loads(tree.stdout), line, text)

    def walk(self, node, line, source):
        if isinstance(node, list):
            for child in node:
                self.walk(child, line, source)
            return
        if not isinstance(node, dict):
            return
        kind = node.get("Type")
        if kind == "FuncDecl":
            self.functions.add(node["Name"]["Value"])
            body = source.encode()[node["Pos"]["Offset"] : node["End"]["Offset"]]
            if re.search(rb"\$@|\$\{@|\$\*|command -v", body):
                self.runners.add(node["Name"]["Value"])
        if kind == "CallExpr" and node.get("Args"):
            self.call([literal(w) for w in node["Args"]], line + node["Pos"]["Line"])
        for child in node.values():
            self.walk(child, line, source)

    def call(self, words, line):
        name = words[0]
        if name is None:
            return
        self.commands.append((line, name))
        self.arguments += [(line, name, w) for w in words[1:4] if w]
        rest = words[1:]
        if name == "trap" and rest and rest[0]:
            self.parse(rest[0], line - 1)
        if name in SHELLS and "-c" in rest:
            text = rest[rest.index("-c") + 1] if rest[-1] != "-c" else None
            if text:
                self.parse(text, line - 1)
        if name in AWKS:
            self.awk += [(line, w) for w in rest if w and re.search(r"[{}/]", w)][:1]
        if name == "command" and rest[:1] == ["-v"]:
            rest = rest[1:]
        if name in WRAPPERS:
            rest = rest[WRAPPERS[name] :]
            while rest and rest[0] and re.match(r"-|\w+=|[0-9.]+[smh]?$|[A-Z]+$", rest[0]):
                rest = rest[1:]
            if rest and rest[0]:
                self.call(rest, line)


def literal(word):
    """Return the text of a word without expansions, else None."""
    text = ""
    for part in word.get("Parts", []):
        if part["Type"] in ("Lit", "SglQuoted"):
            text += part.get("Value", "")
        elif part["Type"] == "DblQuoted":
            inner = literal(part)
            if inner is None:
                return None
            text += re.sub(r'\\([$`"\\])', r"\1", inner)
        else:
            return None
    return text


def recipes(text):
    """Return the recipes of a makefile: (line, target, shell command)."""
    target, found, number, in_define = "", [], 0, False
    lines = text.split("\n")
    while number < len(lines):
        line, start = lines[number], number + 1
        while line.endswith("\\") and number + 1 < len(lines):
            number += 1
            line = line + "\n" + lines[number]
        number += 1
        if re.match(r"(define|endef)\b", line):
            in_define = line.startswith("define")
        elif line.startswith("\t"):
            # The text of a definition is expanded twice.
            found.append((start, target, line.replace("$$", "$") if in_define else line))
        elif re.match(r"[^#\s=]+.*?:(?!=)", line):
            target = line
    return found


def without_make(text):
    """Return a recipe as its shell sees it, with a placeholder for each variable of make."""
    text = re.sub(r"^[\t @+-]*(\$\(Q\))?[@+-]*", "", text).replace("$$", "\0")
    while True:
        shorter = re.sub(r"\$\((?:[^()$]|\0\([^()]*\))*\)|\$[@<^*?]", "MAKE_VARIABLE", text)
        if shorter == text:
            break
        text = shorter
    return text.replace("\0", "$")


class Packages:
    """The packages that are installed here, and their commands."""

    def __init__(self):
        self.depends, self.provides, self.base = {}, {}, {"make", "apt"}
        form = "${Package}\t${Depends}, ${Pre-Depends}\t${Provides}\t${Priority}\t${Essential}\n"
        for line in output("dpkg-query", "-W", "-f", form).splitlines():
            name, depends, provides, priority, essential = line.split("\t")
            self.depends.setdefault(name, set()).update(names(depends, 1))
            for virtual in names(provides):
                self.provides.setdefault(virtual, set()).add(name)
            if essential == "yes" or priority == "required":
                self.base.add(name)
        self.lists = {}

    def closure(self, goal):
        """Return the packages of a goal and their dependencies, and those that are missing here."""
        if goal not in self.lists:
            todo = output("packaging/deps.sh", "--list", goal).split()
            absent = [p for p in todo if p not in self.depends and p not in self.provides]
            have, todo = set(), todo + sorted(self.base)
            while todo:
                name = todo.pop()
                if name not in have:
                    have.add(name)
                    todo += self.depends.get(name) or self.provides.get(name, ())
            self.lists[goal] = have, absent
        return self.lists[goal]

    def owners(self, commands):
        """Return the packages of each command's file, for commands that exist."""
        files, owners = {}, {}
        for command in commands:
            path = shutil.which(command, path="/usr/sbin:/usr/bin:/sbin:/bin")
            if path:
                owners[command] = set()
                for name in (path, os.path.realpath(path)):
                    name = name.removeprefix("/usr")
                    files.setdefault(name, []).append(command)
                    files.setdefault("/usr" + name, []).append(command)
        found = subprocess.run(["dpkg", "-S", *files], text=True, capture_output=True).stdout
        for line in found.splitlines():
            if not line.startswith("diversion "):
                packages, path = line.rsplit(": ", 1)
                for command in files[path]:
                    owners[command].update(re.sub(":[^,]*", "", packages).split(", "))
        return owners


def is_name(word):
    return re.match(r"[A-Za-z0-9][A-Za-z0-9_.+-]*$", word) and "MAKE_VARIABLE" not in word


def names(relations, alternatives=None):
    """Return the packages in a field of dpkg's, with up to @alternatives each (apt: the first)."""
    found = [group.split("|")[:alternatives] for group in relations.split(",")]
    return {re.sub(r"[ (:].*", "", r.strip()) for group in found for r in group if r.strip()}


def output(*command):
    return subprocess.run(command, text=True, check=True, capture_output=True).stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def goal_of(path):
    return next(t for pattern, t in GOALS if fnmatch.fnmatch(path, pattern))


def shell_files(files):
    for path in files:
        if not os.path.isfile(path) or os.path.islink(path):
            continue
        if path.endswith(".sh") or (
            "." not in os.path.basename(path) and re.match(r"#!.*\b(ba)?sh\b", read(path)[:80])
        ):
            yield path


def awk_faults(text):
    """Yield the features of a program that mawk lacks: (offset, feature, text)."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    token = r'"(?:[^"\\\n]|\\.)*"|(?<=[~(,!&|{};\n])\s*/(?:[^/\\\n\[]|\\.|\[\^?\]?[^]\n]*\])+/'
    text = "\n" + re.sub(r"(?m)(^|(?<=[\s;{}]))#.*$", blank, text)
    code = re.sub(token, blank, text)
    for match in re.finditer(token, text):
        for pattern, what in AWK_FAULTS:
            if re.search(pattern, match.group()):
                yield match.start(), what, match.group().strip()
    for pattern, what in AWK_CODE_FAULTS:
        for match in re.finditer(pattern, code):
            yield match.start(), what, match.group()


def self_test():
    """Return the faults of SAMPLE that the check misses."""
    script = Script("sample", SAMPLE)
    faults = {found for _, text in script.awk for _, _, found in awk_faults(text)}
    found = {name for _, name in script.commands} | {word for _, _, word in script.arguments}
    return [f"{name} is missed" for name in ("strace", "pgrep", "bzip2", "gawk", "xz")
            if name not in found] + [f"awk: {found}"] * (faults != SAMPLE_AWK_FAULTS)


def main():
    if not shutil.which("dpkg-query"):
        print("ok 1 - commands # SKIP this is not Debian\n1..1")
        return 0
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = sys.argv[1:] or output("git", "ls-files", "-co", "--exclude-standard").split("\n")
    executables = [f for f in files if os.path.isfile(f) and os.access(f, os.X_OK)]
    files = [f for f in files if re.search(r"(\.sh|\.mk|\.awk|/init|_init|/run|Makefile)$", f)]
    uses, perhaps, faults, awk = [], [], [], []
    scripts = [Script(path, read(path)) for path in shell_files(files)]
    by_name = {}
    for script in scripts:
        by_name.setdefault(os.path.basename(script.path), []).append(script)

    everywhere = set().union(*(script.functions for script in scripts))
    runners = set().union(*(script.runners for script in scripts))

    def functions(script, seen):
        if script.path in seen:
            return set()
        seen.add(script.path)
        found = set(script.functions)
        for name in script.sources:
            for other in by_name.get(name, []):
                found |= functions(other, seen)
        return found

    for script in scripts:
        awk += [(script.path, line, text) for line, text in script.awk]
        if script.guest:
            continue
        own = (everywhere if script.part else functions(script, set())) | BUILTINS
        goal = goal_of(script.path)
        uses += [(script.path, line, name, goal)
                 for line, name in script.commands if name not in own]
        # An argument of such a function may be a command; "file" is a kind of image and of row.
        perhaps += [(script.path, line, word, goal) for line, name, word in script.arguments
                    if name in own & runners and word != "file"]
    for path in (f for f in files if re.search(r"(\.mk|Makefile)$", f)):
        for line, rule, text in recipes(read(path)):
            goal = re.match(r"([a-z0-9-]+):.* ## ", rule)
            recipe = Script(path, "")
            recipe.parse(without_make(text) + "\n", line - 1)
            awk += [(path, number, program) for number, program in recipe.awk]
            uses += [(path, number, name, goal.group(1) if goal else goal_of(path))
                     for number, name in recipe.commands if name not in BUILTINS]
    awk += [(path, 1, read(path)) for path in files if path.endswith(".awk")]
    for path in executables:
        interpreter = re.match(r"#!\s*(?:/usr/bin/env\s+)?(\S+)", read(path))
        if interpreter:
            uses.append((path, 1, os.path.basename(interpreter.group(1)), goal_of(path)))

    packages = Packages()
    known = packages.owners({u[2] for u in uses + perhaps if is_name(u[2])})
    uses = [u for u in uses if is_name(u[2]) and (u[2] in known or u[2] not in everywhere)]
    uses += [u for u in perhaps if u[2] in known]
    for path, line, name, goal in uses:
        have, absent = packages.closure(goal)
        owners = known.get(name)
        if owners is None and not absent:
            faults.append(f"{path}:{line}: '{name}' is in no package of 'deps.sh --list {goal}'")
        elif owners is not None and not owners & have:
            owner = "/".join(sorted(owners)) or "(none)"
            faults.append(f"{path}:{line}: '{name}' is of package {owner}, which"
                          f" 'deps.sh --list {goal}' does not have")
    tap("each command is in a package that packaging/deps.sh installs", faults)

    tap("awk programs use what mawk has", [
        f"{path}:{line + (' ' + text)[:start].count(NEWLINE)}: mawk lacks this {what}: {found}"
        for path, line, text in awk for start, what, found in awk_faults(text)])
    tap("faults are found", self_test())
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


def tap(name, faults):
    tap.count += 1
    tap.failed += bool(faults)
    print(f"{'not ok' if faults else 'ok'} {tap.count} - {name}")
    for fault in faults:
        print(f"#   {fault}")


tap.count = tap.failed = 0
sys.exit(main())
