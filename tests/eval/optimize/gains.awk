# SPDX-License-Identifier: GPL-2.0-only
# Gains in percent, and their pooled share, from lines "PROGRAM VARIANT INSTRUCTIONS TAKEN MISSES
# MISPREDICTIONS COST" of optimize.sh, in the format of tests/eval/bench/bench.h.
function figure(name, subject, workload, value, unit)
{
	printf "{\"name\": \"%s\", \"subject\": \"%s\", \"workload\": \"%s\", \"value\": %.4g, " \
		"\"unit\": \"%s\"}\n", name, subject, workload, value, unit
}

NF == 7 && $2 == "base" {
	base[$1] = $7
}

NF == 7 && $2 != "base" && base[$1] > 0 {
	split($2, part, ".")
	gain[$1, part[1], part[2]] = 100 * (1 - $7 / base[$1])
	figure("optimizer_gain_" part[2], part[1], $1, gain[$1, part[1], part[2]], "%")
	if (part[2] != "instr")
		next
	all[part[1]]++
	if (gain[$1, part[1], "instr"] < 5)
		next
	pooled[part[1]]++
	instr[part[1]] += gain[$1, part[1], "instr"]
	dcpi[part[1]] += gain[$1, part[1], "dcpi"]
	perf[part[1]] += gain[$1, part[1], "perf"]
}

END {
	for (optimizer in all) {
		figure("optimizer_programs", optimizer, "gain of 5% or more", pooled[optimizer] + 0,
			"programs")
		if (pooled[optimizer] == 0)
			continue
		figure("optimizer_gain_share", optimizer, "dcpirun", dcpi[optimizer] / instr[optimizer],
			"ratio")
		figure("optimizer_gain_share", optimizer, "perf record",
			perf[optimizer] / instr[optimizer], "ratio")
	}
}
