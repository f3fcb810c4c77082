# SPDX-License-Identifier: GPL-2.0-only
#
# Print the tables of docs/results/overhead.md from lines of bench_modes.sh on standard input: for
# each mode, programs by kinds of recording, in instructions and in CPU time.
BEGIN { FS = "\"" }

$2 == "name" && $6 == "subject" && $10 == "workload" {
	number = $15
	gsub(/[^0-9.e+-]/, "", number)
	if (!($12 in known)) {
		known[$12] = 1
		program[++programs] = $12
	}
	mode = $4
	sub(/_.*/, "", mode)
	if (!((mode, $8) in ways_known)) {
		ways_known[mode, $8] = 1
		way[mode, ++ways[mode]] = $8
	}
	value[$4, $8, $12] = number + 0
}

# row NAME FIGURE MODE PROGRAM: print a row with a cell for each kind of recording
function row(name, figure, mode, i, k, line, any) {
	line = sprintf("| %s |", name)
	for (i = 1; i <= ways[mode]; i++) {
		k = figure SUBSEP way[mode, i] SUBSEP name
		line = line (k in value ? sprintf(" %.1f |", value[k]) : " |")
		any += k in value
		if (!(k in value))
			continue
		sum[i] += value[k]
		found[i]++
		if (found[i] == 1 || value[k] > most[i])
			most[i] = value[k]
	}
	if (any)
		print line
}

function table(words, figure, mode, i, p, line, any) {
	for (p = 1; p <= programs; p++)
		for (i = 1; i <= ways[mode]; i++)
			any += (figure, way[mode, i], program[p]) in value
	if (!any)
		return
	split("", sum); split("", found); split("", most)
	line = "|"
	print "\n" words ":\n"
	printf "| |"
	for (i = 1; i <= ways[mode]; i++) {
		printf " %s |", way[mode, i]
		line = line "---:|"
	}
	print "\n|---" line
	for (p = 1; p <= programs; p++)
		row(program[p], figure, mode)
	line = "| *average* |"
	for (i = 1; i <= ways[mode]; i++)
		line = line (found[i] ? sprintf(" **%.1f** |", sum[i] / found[i]) : " |")
	print line
	line = "| *maximum* |"
	for (i = 1; i <= ways[mode]; i++)
		line = line (found[i] ? sprintf(" %.1f |", most[i]) : " |")
	print line
}

# section TITLE MODE: print a section; its text is in docs/gen/overhead/MODE.md
function section(title, mode, line, file) {
	if (!ways[mode])
		return
	print "\n## " title "\n"
	file = "docs/gen/overhead/" mode ".md"
	while ((getline line < file) > 0)
		print line
	close(file)
	table("Added CPU time, percent", mode "_overhead_percent", mode)
	table("Added instructions, percent", mode "_instructions_percent", mode)
}

END {
	printf "| |"
	for (p = 1; p <= programs; p++)
		printf " %s |", program[p]
	printf "\n|---|"
	for (p = 1; p <= programs; p++)
		printf "---:|"
	printf "\n| share of the executable, %% of instructions |"
	for (p = 1; p <= programs; p++)
		printf (("image_percent", "program", program[p]) in value ? " %.0f |" : " |"),
			value["image_percent", "program", program[p]]
	print ""
	section("Accuracy of the times", "again")
	section("Paths", "paths")
	section("Calling contexts", "context")
	section("Calls", "calls")
	section("Bursts", "bursts")
	section("Variation of paths", "variation")
}
