#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check lines of JSON from dcpicalc against docs/dcpicalc-json.md.

    dcpicalc_schema.py [FILE]      prints the faults; exit status 1 if there are any
"""
import bisect
import json
import sys

CAUSES = {"icache", "itb", "dcache", "dtb", "write_buffer", "synchronization", "branch",
          "imul", "fdiv", "interrupts", "store_forward", "sharing", "page_fault",
          "latency", "other"}
KINDS = {"slotting", "ra_dependency", "rb_dependency", "rc_dependency", "fu_dependency",
         "latency"}
MODELS = {"alpha21164", "cortex-a53", "cortex-a55", "skylake", "ice-lake", "golden-cove", "zen2",
          "zen3", "zen5", "x86-64"}
NUMBER = (int, float)


class Wrong(Exception):
    """A rule is violated."""


def must(holds, *what):
    if not holds:
        raise Wrong(" ".join(str(w) for w in what))


def no_constant(name):
    raise Wrong(f"{name} is no JSON")


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def keys(thing, wanted, where):
    must(isinstance(thing, dict), where, "is no object")
    missing = set(wanted.split()) - set(thing)
    must(not missing, where, "lacks", missing)


def optional(thing, key, where):
    """Check for a number that is not negative, or null."""
    value = thing[key]
    must(value is None or (isinstance(value, NUMBER) and value >= 0), where, key, value)
    return value


def estimate(thing, where):
    value = optional(thing, "frequency", where)
    low = optional(thing, "frequency_low", where)
    high = optional(thing, "frequency_high", where)
    must((value is None) == (low is None) == (high is None), where, "half an interval")
    # Nine digits are printed.
    must(value is None or low * (1 - 1e-8) <= value <= high * (1 + 1e-8) + 1e-6, where,
         "interval", low, value, high)
    return value


def check_culprit(culprit, where):
    keys(culprit, "cause cycles_low cycles_high from", where)
    must(culprit["cause"] in CAUSES, where, "cause", culprit["cause"])
    low, high = culprit["cycles_low"], culprit["cycles_high"]
    must(isinstance(low, NUMBER) and isinstance(high, NUMBER) and 0 <= low <= high, where,
         "cycles", low, high)
    must(culprit["from"] is None or whole(culprit["from"]), where, "from")


def check_stall(stall, where):
    keys(stall, "kind cycles from" + (" cause" if stall["kind"] == "latency" else ""), where)
    must(stall.get("cause", "latency") in CAUSES, where, "cause", stall)
    must(stall["kind"] in KINDS, where, "kind", stall["kind"])
    must(isinstance(stall["cycles"], NUMBER) and stall["cycles"] > 0, where, "cycles")
    must(stall["from"] is None or whole(stall["from"]), where, "from")


def check_instruction(insn, where):
    keys(insn, "offset address samples own_samples frequency frequency_low frequency_high cpi "
               "dynamic_cycles confidence confidence_count static_stalls culprits", where)
    must(whole(insn["offset"]) and whole(insn["address"]) and whole(insn["samples"]), where,
         "offset, address or samples")
    optional(insn, "own_samples", where)
    value = estimate(insn, where)
    must(insn["confidence"] in ("low", "medium", "high", "exact", None), where, "confidence")
    must((insn["confidence"] is None) == (value is None), where, "confidence without frequency")
    must(insn["confidence_count"] in ("low", "medium", "high", "exact", None), where,
         "confidence_count")
    must((insn["confidence_count"] is None) == (value is None), where,
         "confidence_count without frequency")
    cpi = optional(insn, "cpi", where)
    must(cpi is None or (value is not None and value > 0), where, "cpi without frequency")
    for i, stall in enumerate(insn["static_stalls"]):
        check_stall(stall, f"{where} stall {i}")
    for i, culprit in enumerate(insn["culprits"]):
        check_culprit(culprit, f"{where} culprit {i}")
    must(not insn["culprits"] or cpi is not None, where, "culprits without cpi")
    causes = [culprit["cause"] for culprit in insn["culprits"]]
    must(len(causes) == len(set(causes)), where, "a cause twice")


def check_block(block, where):
    keys(block, "start end best_cpi actual_cpi recorded_cycles successors", where)
    must(whole(block["start"]) and whole(block["end"]) and block["start"] < block["end"], where,
         "start, end")
    optional(block, "best_cpi", where)
    optional(block, "actual_cpi", where)
    optional(block, "recorded_cycles", where)
    must(block["best_cpi"] is not None, where, "best_cpi")
    for i, successor in enumerate(block["successors"]):
        keys(successor, "to frequency frequency_low frequency_high", f"{where} successor {i}")
        must(successor["to"] is None or whole(successor["to"]), where, "to")
        estimate(successor, f"{where} successor {i}")


def check_callers(callers, where):
    keys(callers, "stacks list", where)
    must(whole(callers["stacks"]), where, "stacks")
    must((callers["stacks"] == 0) == (not callers["list"]), where, "callers without stacks")
    for i, caller in enumerate(callers["list"]):
        keys(caller, "procedure samples share share_low share_high", f"{where} caller {i}")
        must(isinstance(caller["procedure"], str) and caller["procedure"], where, "caller's name")
        must(whole(caller["samples"]), where, "caller's samples")
        must(0 <= caller["share_low"] <= caller["share"] <= caller["share_high"] <= 1, where,
             "interval of a caller", caller)
    total = sum(caller["share"] for caller in callers["list"])
    must(not callers["list"] or abs(total - 1) < 1e-6, where, "shares add up to", total)
    samples = [caller["samples"] for caller in callers["list"]]
    must(samples == sorted(samples, reverse=True), where, "callers are not in order")


def check_whole(procedure, where):
    """Blocks and instructions cover the same bytes, in order."""
    addresses = [insn["address"] for insn in procedure["instructions"]]
    starts = [block["start"] for block in procedure["blocks"]]
    must(addresses == sorted(set(addresses)), where, "instructions are not in order")
    must(starts == sorted(set(starts)), where, "blocks are not in order")
    must(set(starts) <= set(addresses), where, "a block begins at no instruction")
    taken = sum(insn["samples"] for insn in procedure["instructions"])
    own = sum(insn["own_samples"] for insn in procedure["instructions"])
    must(abs(taken - own) <= len(addresses) / 2 + 1e-6 * taken, where, "samples", taken, own)
    must(procedure["skid"] or all(abs(insn["samples"] - insn["own_samples"]) <= 0.5 + 1e-6 * taken
                                  for insn in procedure["instructions"]), where, "moved samples")
    covered = 0
    for block in procedure["blocks"]:
        inside = (bisect.bisect_left(addresses, block["end"]) -
                  bisect.bisect_left(addresses, block["start"]))
        must(inside > 0, where, "a block without instructions")
        covered += inside
    # The sum is larger where code is reached in two alignments.
    must(covered >= len(addresses), where, "blocks hold", covered, "of", len(addresses))
    known = set(addresses)
    for insn in procedure["instructions"]:
        for cause in insn["culprits"] + insn["static_stalls"]:
            must(cause["from"] is None or cause["from"] in known, where, "culprit elsewhere")


def check_summary(thing, where):
    summary = thing["summary"]
    intervals = "actual_cpi_low actual_cpi_high sampling_noise "
    # The paper's summary has no such line.
    if "sampling_noise" not in summary:
        intervals = ""
    keys(summary, intervals + "best_cpi actual_cpi dynamic static dynamic_total unexplained_gain "
                              "execution sampling_error tallied samples", where)
    if intervals:
        must(abs(summary["sampling_error"]) <= summary["sampling_noise"], where, "sampling_error")
    if intervals and summary["best_cpi"] is not None:
        must(summary["best_cpi"] <= summary["actual_cpi_low"] * (1 + 1e-6), where, "actual_cpi_low")
    must(set(summary["dynamic"]) == CAUSES | {"unexplained"}, where, "causes")
    must(set(summary["static"]) == KINDS, where, "kinds")
    for cause, share in summary["dynamic"].items():
        must(0 <= share["low"] <= share["high"], where, cause)
    total = (summary["execution"] + sum(summary["static"].values()) +
             summary["dynamic_total"] + summary["unexplained_gain"] + summary["sampling_error"])
    must(abs(total - summary["tallied"]) <= 1e-6 * max(1, summary["tallied"]), where,
         "adds up to", total, "of", summary["tallied"])


def check_line(line, where):
    thing = json.loads(line, parse_constant=no_constant)
    keys(thing, "image build_id procedure model", where)
    if "summary" in thing:
        check_summary(thing, where)
        return
    must(all(isinstance(alias, str) for alias in thing["aliases"]), where, "aliases")
    keys(thing, "skid finding blocks instructions", where)
    if thing["finding"] is not None:
        keys(thing["finding"], "address cycles share causes"
             + (" kernel_samples kernel_stacks" if "kernel_samples" in thing["finding"] else ""),
             where)
        must(0 < thing["finding"]["share"] <= 1, where, "share")
        must(set(thing["finding"]["causes"]) <= CAUSES | KINDS, where, "finding")
    must(thing["skid"] in (0, 1), where, "skid", thing["skid"])
    must(isinstance(thing["image"], str) and isinstance(thing["procedure"], str), where, "names")
    must(set(thing["build_id"]) <= set("0123456789abcdef"), where, "build_id")
    must(thing["model"] in MODELS, where, "model", thing["model"])
    where += f" {thing['procedure']}"
    for block in thing["blocks"]:
        check_block(block, f"{where} block {block.get('start')}")
    for insn in thing["instructions"]:
        check_instruction(insn, f"{where} instruction {insn.get('address')}")
    if "callers" in thing:
        check_callers(thing["callers"], where)
    check_whole(thing, where)


def main():
    wrong = lines = 0
    with open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin as stream:
        for lines, line in enumerate(stream, 1):
            try:
                check_line(line, f"line {lines}")
            except (Wrong, ValueError) as error:
                print(error)
                wrong += 1
    if lines == 0:
        print("nothing to check")
    return 1 if wrong or lines == 0 else 0


sys.exit(main())
