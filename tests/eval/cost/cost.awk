# SPDX-License-Identifier: GPL-2.0-only
#
# Convert the figures of cost_guest.sh to benchmark lines (tests/eval/bench/bench.h), all in instructions per
# sample in addition to the bare run of the same work:
#
# - sample_cost: with floor, dcpi and perf the cost of interrupt, perf core and profiler, until the
#   sample is in the database or file; with hold the same without dcpid
# - handler_hit, handler_miss: dcpi.ko, never drained, less the floor, in workloads where nearly all
#   samples hit (loop) or miss (wide)
# - held_misses: the misses of the samples in that run
# - daemon_cost: while dcpid's thread ran, including interrupts in that time
# - interrupt_cost: the rest of dcpi's cost above the floor (the handler, wakeups, and the kernel's
#   events of processes and mappings)
# - miss_rate: share of misses of the samples that went to the table
# - data_reduction: samples per entry that dcpid drained
# - possible_reduction: samples per different process and address (subject process), which an
#   unlimited table would achieve, and per address alone (address), as if there were one long-lived
#   process; for the same work in an interval
# - samples: samples in dcpi's window, one merge interval
# - merge_interval: the length of that interval
# - flush_cost: a flush without samples (instructions, not per sample)
# - repeatability: difference of the bare work in another boot, in percent
# - spread: difference of the bare work between the slowest and the fastest unit except the first,
#   which is the possible error of a sample's cost (for three units or more)
#
# Time in which the machine was idle is not a cost.

function report(name, subject, workload, value, unit) {
	printf "{\"name\": \"%s\", \"subject\": \"%s\", \"workload\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n", \
		name, subject, workload, value, unit
}

function cost(name, subject, workload, value) {
	report(name, subject, workload, value, "instructions")
}

# Time of a unit of bare work; the first one is excluded, as it may warm up caches for the others.
function unit(w,    n) {
	n = units[w, "bare"]
	return n > 1 ? (at[w, "bare", n] - at[w, "bare", 1]) / (n - 1) : at[w, "bare", 1]
}

# Time of N units of bare work, and of the work after the last one
function bare(w, n,    measured) {
	measured = n < units[w, "bare"] ? n : units[w, "bare"]
	return at[w, "bare", measured] - at[w, "bare", 0] + (n - measured) * unit(w) + \
		at[w, "bare", "end"] - at[w, "bare", units[w, "bare"]]
}

function busy(w, s) {
	return at[w, s, "end"] - at[w, s, 0]
}

function samples(w, s) {
	return interrupts[w, s, "end"] - interrupts[w, s, 0]
}

function extra(w, s) {
	return (busy(w, s) - bare(w, units[w, s])) / samples(w, s)
}

function spread(w,    i, t, least, most) {
	for (i = 2; i <= units[w, "bare"]; i++) {
		t = at[w, "bare", i] - at[w, "bare", i - 1]
		least = i == 2 || t < least ? t : least
		most = t > most ? t : most
	}
	return 62000 * (most / least - 1)
}

function table_row(w,    floor, all, daemon, hits, misses) {
	floor = extra(w, "floor")
	all = extra(w, "dcpi")
	daemon = (run[w, "dcpi", "end"] - run[w, "dcpi", 0]) / samples(w, "dcpi")
	hits = count[w, "after", "hits"] - count[w, "before", "hits"]
	misses = count[w, "after", "misses"] - count[w, "before", "misses"]
	cost("sample_cost", "dcpi", w, all)
	cost("interrupt_cost", "dcpi", w, all - floor - daemon)
	cost("daemon_cost", "dcpi", w, daemon)
	report("miss_rate", "dcpi", w, 100 * misses / (hits + misses), "%")
	report("data_reduction", "dcpi", w, \
		(count[w, "after", "samples"] - count[w, "before", "samples"]) / \
		(count[w, "after", "entries"] - count[w, "before", "entries"]), "samples/entry")
	report("samples", "dcpi", w, samples(w, "dcpi"), "samples")
	report("merge_interval", "dcpi", w, interval, "s")
	if ((w, "flush", "end") in at)
		cost("flush_cost", "dcpi", w, busy(w, "flush"))
}

$1 == "mark" {
	at[$2, $3, $4] = $5 - $6
	interrupts[$2, $3, $4] = $7
	run[$2, $3, $4] = $8
	if ($4 == 0 && !($2 in seen)) {
		seen[$2] = 1
		order[++workloads] = $2
	}
	if ($4 != "end")
		units[$2, $3] = $4
}
$1 == "held" { missed[$2] = 100 * $5 / $3 }
$1 == "keys" {
	possible[$2, "process"] = $3 / $5
	possible[$2, "address"] = $3 / $6
}
$1 == "counters" {
	count[$2, $3, "samples"] = $4
	count[$2, $3, "hits"] = $5
	count[$2, $3, "misses"] = $6
	count[$2, $3, "entries"] = $7
}

END {
	for (i = 1; i <= workloads; i++) {
		w = order[i]
		if (!((w, "bare", "end") in at))
			continue
		for (s = split("floor hold perf", subject); s > 0; s--) {
			if ((w, subject[s], "end") in at)
				cost("sample_cost", subject[s], w, extra(w, subject[s]))
		}
		if ((w, "dcpi", "end") in at && (w, "floor", "end") in at)
			table_row(w)
		if ((w, "process") in possible) {
			report("possible_reduction", "process", w, possible[w, "process"], "samples/entry")
			report("possible_reduction", "address", w, possible[w, "address"], "samples/entry")
		}
		if ((w, "again", "end") in at)
			report("repeatability", "bare", w, \
				100 * (busy(w, "again") / bare(w, units[w, "again"]) - 1), "%")
		if (units[w, "bare"] > 2)
			cost("spread", "bare", w, spread(w))
		if (w in missed)
			report("held_misses", "dcpi", w, missed[w], "%")
	}
	if (("loop", "hold", "end") in at)
		cost("handler_hit", "dcpi", "loop", extra("loop", "hold") - extra("loop", "floor"))
	if (("wide", "hold", "end") in at)
		cost("handler_miss", "dcpi", "wide", extra("wide", "hold") - extra("wide", "floor"))
}
