#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""call_check.py calls|context|sites TRUTH JSON: compare the JSON output of dcpicalls or dcpicct with
the result that follows from the tree of all calls (tests/eval/truth/call_plugin.c). Instructions are
compared unless the report has no metric; call sites are compared for "sites". Prints the numbers of
compared items, or the first differences; the exit status is then 1."""
import json
import sys
from collections import defaultdict

ROOT = None


def read_truth(path):
    """Read the nodes: parent, procedure, calls, instructions and call site of each; parents first."""
    with open(path, encoding="ascii") as file:
        if file.readline() != "calls exact\n":
            sys.exit("the truth is not exact: more than one thread")
        rows = [line.split() for line in file]
    return [(int(p), int(e, 16) or ROOT, int(c), int(i), int(s, 16)) for _, p, e, c, i, s in rows]


def paths_of(nodes):
    paths = [()]
    for parent, entry, *_ in nodes[1:]:
        paths.append(paths[parent] + (entry,))
    return paths


def extend(history, procedure):
    """Return the history of Spivey's state after a call, as (procedure, superseded)."""
    if history and history[-1][0] == procedure:
        return history
    marked = [(p, m or p == procedure) for p, m in history] + [(procedure, False)]
    kept = marked[:1]
    for k in range(1, len(marked) - 1):
        useless = kept[-1][1] and marked[k][1] and (marked[k + 1][1] or kept[-1] == marked[k])
        if not useless:
            kept.append(marked[k])
    return tuple(kept + marked[-1:]) if len(marked) > 1 else tuple(marked)


def expected_calls(nodes):
    """Compute arcs and procedures by definition: active procedures, and the last caller of each."""
    arcs = defaultdict(lambda: [0] * 5)
    procedures = defaultdict(lambda: [0] * 4)
    histories = {0: ()}
    for number, path in enumerate(paths_of(nodes)):
        parent, entry, calls, metric, _ = nodes[number]
        if number == 0:
            continue
        histories[number] = extend(histories[parent], entry)
        caller = nodes[parent][1]
        if caller == entry:
            procedures[entry][1] += calls
        else:
            procedures[entry][0] += calls
            arcs[caller, entry][0] += calls
        stack = [ROOT]
        for procedure in path:
            if stack[-1] != procedure:
                stack.append(procedure)
        procedures[entry][2] += metric
        last = {procedure: place for place, procedure in enumerate(stack)}
        for procedure, place in last.items():
            if place > 0:
                arcs[stack[place - 1], procedure][1 if procedure == entry else 2] += metric
            if place + 1 < len(stack):
                called = stack[place + 1]
                if procedure is not ROOT:
                    procedures[procedure][3] += metric
                arcs[procedure, called][3 if called == entry else 4] += metric
    return arcs, procedures, len(set(histories.values()) - {()})


def number(address):
    return ROOT if address is None else int(address, 16)


def check_calls(nodes, report):
    arcs, procedures, contexts = expected_calls(nodes)
    got_arcs = {
        (number(a["caller_address"]), number(a["address"])): [
            a[k] for k in ("calls", "self", "children", "caller_self", "caller_children")]
        for a in report["arcs"]}
    got_procedures = {
        number(p["address"]): [p[k] for k in ("calls", "recursive", "self", "children")]
        for p in report["procedures"]}
    wrong = differences("arc", dict(arcs), got_arcs)
    wrong += differences("procedure", dict(procedures), got_procedures)
    if report["contexts"] != contexts:
        wrong.append(f"{report['contexts']} contexts, not {contexts}")
    return wrong, f"{len(arcs)} arcs of {len(procedures)} procedures, {contexts} contexts"


def name(key):
    if isinstance(key, tuple):
        return " ".join(name(k) for k in key)
    return "root" if key is ROOT else f"{key:#x}"


def differences(what, want, got):
    return [f"{what} {name(key)}: {got.get(key)}, not {want.get(key)}"
            for key in sorted(set(want) | set(got), key=str) if want.get(key) != got.get(key)]


def expected_contexts(nodes):
    """Compute the record of each path in the tree; recursion leads back to an existing record.
    Steps of a path are (call site, procedure). Also returns the reached sites of each record."""
    records = defaultdict(lambda: [0] * 3)
    folded = [()]
    reached = set()
    for parent, entry, calls, metric, site in nodes[1:]:
        path = folded[parent]
        active = [procedure for _, procedure in path]
        if site:
            reached.add((path, site))
        if entry in active:
            path = path[:active.index(entry) + 1]
            records[path][1] += calls
        else:
            path += ((site, entry),)
            records[path][0] += calls
        records[path][2] += metric
        folded.append(path)
    return records, reached


def check_contexts(nodes, report):
    want, reached = expected_contexts(nodes)
    got, paths = {}, {}
    for record in report["rows"]:
        parent = paths.get(record["parent"], ())
        path = parent + ((number(record.get("site")) or 0, number(record["address"])),)
        paths[record["context"]] = path
        sums = got.setdefault(path, [0] * 3)
        for i, key in enumerate(("calls", "recursive", "exclusive")):
            sums[i] += record[key]
    wrong = differences("context", dict(want), got)
    if report["shape"].get("sites_reached", 0) != len(reached):
        wrong.append(f"{report['shape'].get('sites_reached')} call sites, not {len(reached)}")
    return wrong, f"{len(want)} contexts" + (f", {len(reached)} call sites" if reached else "")


def main():
    what, truth, path = sys.argv[1:]
    nodes = read_truth(truth)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    if report["metric"] == "calls":
        nodes = [(parent, entry, calls, 0, site) for parent, entry, calls, _, site in nodes]
    if what == "context":
        nodes = [(*node[:4], 0) for node in nodes]
    wrong, compared = (check_calls if what == "calls" else check_contexts)(nodes, report)
    lost = [key for key, count in report["lost"].items() if count]
    if lost:
        wrong.append(f"lost: {', '.join(lost)}")
    print("\n".join(wrong[:10]) if wrong else compared)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
