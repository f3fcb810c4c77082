#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Compare the call stacks of a recording with those of libdw: stack_compare.py TREE SCRIPT

TREE is the output of dcpiprof --tree --json --no-demangle, SCRIPT that of perf script --no-inline
--no-demangle -F ip,sym,dso for the same recording. Both unwind the same copies of stacks.

Prints four numbers: the stacks that libdw has unwound; those that it has unwound to the outermost
frame; our complete stacks; and those of them that no stack of libdw agrees with. Two stacks agree if
the frames of libdw's, innermost first, are those of ours; libdw may end early, or in no file. Names
of two symbols at the same address differ between the programs, and perf may assign the wrong name
to an entry of a procedure linkage table. So only the file counts for these, for unknown names, and
for names of the C library.
"""
import collections
import json
import re
import sys

OUTERMOST = {"_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl",
             "clone3", "__clone3", "clone", "__clone", "start_thread", "_dl_start"}
ALIASES = re.compile(r"^(libc|libm|ld-linux|libpthread|libstdc)")

# The variants of a constructor or destructor of C++ have the same address.
CONSTRUCTORS = re.compile(r"(?<=[CD])[012](?=E)")


def frame(path, name):
    """Return what is compared of a frame."""
    file = path.split("/")[-1]
    if ALIASES.match(file) or "@plt" in name or name.startswith(("proc_0x", "[", "<")):
        name = ""
    return file, CONSTRUCTORS.sub("", name.split("@")[0])


def tree_stacks(path):
    """Return stacks of dcpiprof, innermost first, with their number; complete ones only."""
    stacks = collections.Counter()
    open_frames = []
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    for row in rows:
        del open_frames[row["depth"]:]
        open_frames.append((row["image"] or "", row["procedure"]))
        if row["self"] and not open_frames[0][1].startswith("[unfinished"):
            stacks[tuple(frame(*at) for at in reversed(open_frames))] += row["self"]
    return stacks


def known(names):
    """Return the frames up to the first one in no file, and without its callee: libdw has failed."""
    frames = []
    for path, name in names:
        if path.startswith(("[unknown", "[stack", "[heap", "//anon", "anon")):
            return tuple(frames[:-1] or frames)
        frames.append(frame(path, name))
    return tuple(frames)


def script_stacks(path):
    """
    Return stacks of perf, innermost first, with their number, and the number of complete ones.

    The symbol _start may be missing in the file, so that one of the last three frames decides.
    """
    stacks = collections.Counter()
    complete = 0
    names = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in list(file) + [""]:
            match = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)\s*$", line)
            if match:
                names.append((match[2], re.sub(r"\+0x[0-9a-f]+$", "", match[1])))
            elif names:
                stacks[known(names)] += 1
                complete += any(name.split("@")[0] in OUTERMOST for _, name in names[-3:])
                names = []
    return stacks, complete


def agree(ours, theirs):
    """Return true if the frames of a stack of libdw are those of ours."""
    return len(theirs) <= len(ours) and all(
        a[0] == b[0] and (a[1] == b[1] or not a[1] or not b[1]) for a, b in zip(ours, theirs))


def unmatched(ours, theirs):
    """Assign as many stacks to each other as agree. Return the number of ours that are left over.

    The assignment is a maximum flow: each path through assignments that can be changed gets one
    more of our stacks assigned.
    """
    rows, columns = list(ours), list(theirs)
    edges = [[j for j, other in enumerate(columns) if agree(stack, other)] for stack in rows]
    flow = collections.defaultdict(collections.Counter)
    free = [theirs[column] for column in columns]

    def assign(start):
        came = {}
        queue = collections.deque([start])
        seen = {start}
        while queue:
            i = queue.popleft()
            for j in edges[i]:
                if j in came:
                    continue
                came[j] = i
                if free[j] > 0:
                    free[j] -= 1
                    while True:
                        i = came[j]
                        flow[j][i] += 1
                        if i == start:
                            return True
                        j = back[i]
                        flow[j][i] -= 1
                for other, count in flow[j].items():
                    if count > 0 and other not in seen:
                        seen.add(other)
                        back[other] = j
                        queue.append(other)
        return False

    left = 0
    for i, stack in enumerate(rows):
        for _ in range(ours[stack]):
            back = {}
            left += not assign(i)
    return left


def main():
    """Print the result."""
    ours = tree_stacks(sys.argv[1])
    theirs, complete = script_stacks(sys.argv[2])
    print(sum(theirs.values()), complete, sum(ours.values()), unmatched(ours, theirs))


if __name__ == "__main__":
    main()
