# SPDX-License-Identifier: GPL-2.0-only
#
# From the figures of cost_guest.sh to benchmark lines (tests/bench.h), all in
# instructions a sample beyond the bare runs of the same work, before and after:
#
#   sample_cost     floor, dcpi, perf: interrupt, perf core and profiler, until
#                   the sample is in the database or file; hold: without dcpid
#   handler_hit     dcpi.ko, drained never, less the floor: loop, of which nearly
#   handler_miss    all samples hit, and wide, of which nearly all miss
#   held_misses     how nearly: misses of the samples in that run
#   interrupt_cost  the same for a workload: its mix of hits and misses
#   daemon_cost     the rest of dcpi's: waking, draining, matching, merging
#   miss_rate       samples that missed, of those that went to the table
#   data_reduction  samples for each entry that dcpid took
#   flush_cost      a flush without samples (instructions, not a sample's)
#   repeatability   the bare work a second time, in percent more
#
# Time in which the machine was idle is no cost. A run has one flush, of a size
# that depends little on the samples: in short runs that is most of daemon_cost,
# and a minute of sampling (COST_SCALE=60) is nearer to what dcpid does, which
# merges every half minute.

function report(name, subject, workload, value, unit) {
	printf "{\"name\": \"%s\", \"subject\": \"%s\", \"workload\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n", \
		name, subject, workload, value, unit
}

# Instructions a sample that SUBJECT adds to WORKLOAD
function extra(workload, subject) {
	return (busy[workload, subject] - (busy[workload, "bare"] + busy[workload, "again"]) / 2) / \
		samples[workload, subject]
}

function cost(name, subject, workload, value) {
	report(name, subject, workload, value, "instructions")
}

$1 == "figure" {
	if (!($2 in seen)) {
		seen[$2] = 1
		order[++workloads] = $2
	}
	busy[$2, $3] = $4 - $5
	samples[$2, $3] = $6
}
$1 == "held" { held[$2] = $4; missed[$2] = $6 }
$1 == "counters" && $3 == "before" { h = $5; m = $6; s = $4; e = $7 }
$1 == "counters" && $3 == "after" {
	hit[$2] = $5 - h
	miss[$2] = $6 - m
	taken[$2] = $4 - s
	entries[$2] = $7 - e
}

END {
	for (i = 1; i <= workloads; i++) {
		w = order[i]
		if (!((w, "dcpi") in busy))
			continue
		cost("sample_cost", "floor", w, extra(w, "floor"))
		cost("sample_cost", "hold", w, extra(w, "hold"))
		cost("sample_cost", "dcpi", w, extra(w, "dcpi"))
		cost("sample_cost", "perf", w, extra(w, "perf"))
		cost("interrupt_cost", "dcpi", w, extra(w, "hold") - extra(w, "floor"))
		cost("daemon_cost", "dcpi", w, extra(w, "dcpi") - extra(w, "hold"))
		report("miss_rate", "dcpi", w, 100 * miss[w] / (hit[w] + miss[w]), "%")
		report("data_reduction", "dcpi", w, taken[w] / entries[w], "samples/entry")
		report("flush_cost", "dcpi", w, busy[w, "flush"], "instructions")
		report("repeatability", "bare", w, \
			100 * (busy[w, "again"] / busy[w, "bare"] - 1), "%")
	}
	if (("loop", "dcpi") in busy)
		cost("handler_hit", "dcpi", "loop", extra("loop", "hold") - extra("loop", "floor"))
	if (("wide", "hold") in busy)
		cost("handler_miss", "dcpi", "wide", extra("wide", "hold") - extra("wide", "floor"))
	for (w in held)
		report("held_misses", "dcpi", w, 100 * missed[w] / held[w], "%")
}
