#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Execute the commands of docs/tutorial.md, and insert their output below them.

  tutorial.py [--check] FILE     with the programs in build/bin (BIN) in PATH

Commands are in blocks that begin with "    $ "; a line above has their options:

  <!-- run [from=REGEX] [to=REGEX] [lines=N] [expect=REGEX]... [unmeasured=REGEX] -->

The output of a command, including standard error, is kept from the line that matches "from" up to
the line that matches "to", with at most N lines; "..." represents the rest. The command must
succeed, and print each "expect". Commands run one after the other in a temporary folder, with a
copy of the folder next to FILE that has the same name; variables that a command exports are set for
the next ones.

With --check nothing is written: it is a test that the tutorial still works, and prints "ok" and
"not ok", as tests do. A command that fails and prints "unmeasured" depends on times that vary between
machines; it is reported as not measured.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

INDENT = "    "


def blocks(lines):
    """Yield (line number of the comment, options, command, number of the line after the block)."""
    for i, line in enumerate(lines):
        match = re.fullmatch(r"<!-- run(.*) -->", line)
        if not match:
            continue
        options = [word.split("=", 1) for word in shlex.split(match.group(1))]
        start = i + 2
        if not lines[start].startswith(INDENT + "$ "):
            sys.exit(f"line {start + 1}: no command")
        end = start
        while end < len(lines) and (lines[end].startswith(INDENT) or
                                    (lines[end] == "" and end + 1 < len(lines) and
                                     lines[end + 1].startswith(INDENT))):
            end += 1
        yield start, options, lines[start][len(INDENT) + 2:], end


def chosen(output, options):
    """Return the selected lines."""
    settings = dict(options)
    first, last = 0, len(output)
    if "from" in settings:
        first = next((i for i, line in enumerate(output)
                      if re.search(settings["from"], line)), len(output))
    if "to" in settings:
        last = next((i + 1 for i, line in enumerate(output)
                     if i > first and re.search(settings["to"], line)), last)
    kept = output[first:last]
    cut = "lines" in settings and len(kept) > int(settings["lines"])
    if cut:
        kept = kept[:int(settings["lines"])]
    return ((["..."] if first > 0 else []) + kept +
            (["..."] if cut or last < len(output) else []))


def without_host(output, folder):
    """Replace the scratch folder, the host's name and its kernel release by neutral ones."""
    output = output.replace(folder, "/home/me/tutorial")
    output = output.replace(os.uname().release, os.uname().release.split("-")[0])
    return re.sub(r"^(host +).*$", r"\1server", output, flags=re.MULTILINE)


def execute(command, folder):
    environment = dict(os.environ, NO_COLOR="1", COLUMNS="100",
                       XDG_CACHE_HOME=os.path.join(os.path.abspath(folder), "cache"),
                       LC_ALL="C.UTF-8", TZ="UTC",
                       PATH=os.path.abspath(os.environ.get("BIN", "build/bin")) + ":" +
                       os.environ["PATH"])
    environment.pop("DCPI_DB", None)
    script = f"[ ! -e .exports ] || . ./.exports\n{command}\nstatus=$?\n" \
             "export -p > .exports\nexit $status"
    run = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = without_host(run.stdout, folder).rstrip("\n")
    return run.returncode, output.split("\n") if output else []


def problems_of(status, output, options):
    text = "\n".join(output)
    found = [] if status == 0 else [f"exit status {status}"]
    for key, value in options:
        if key == "expect" and not re.search(value, text, re.MULTILINE):
            found.append(f"nothing matches {value}")
        if key == "from" and not re.search(value, text, re.MULTILINE):
            found.append(f"no line matches {value}")
    return found


def reason_unmeasured(output, options):
    """Return the line that says why a command could not measure, or None."""
    pattern = dict(options).get("unmeasured")
    return pattern and next((line for line in output if re.search(pattern, line)), None)


def main():
    check = sys.argv[1] == "--check"
    path = sys.argv[-1]
    lines = open(path, encoding="utf-8").read().split("\n")
    written, at, failed, number = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.splitext(path)[0], folder, dirs_exist_ok=True)
        for start, options, command, end in blocks(lines):
            status, output = execute(command, folder)
            problems = problems_of(status, output, options)
            number += 1
            reason = reason_unmeasured(output, options) if check and problems else None
            if reason:
                print(f"ok {number} - {command} # NOT MEASURED {reason}")
                continue
            failed += bool(problems)
            if check or problems:
                print(f"{'not ok' if problems else 'ok'} {number} - {command}")
                for line in problems + (output if problems else []):
                    print(f"#   {line}")
            written += lines[at:start + 1]
            written += [(INDENT + line).rstrip() for line in chosen(output, options)]
            at = end
    written += lines[at:]
    if check:
        print(f"1..{number}")
    elif not failed:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(written))
    return 1 if failed else 0


sys.exit(main())
