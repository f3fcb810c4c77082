#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Idle time: reports state its share, shares of other rows exclude it, and --idle includes it. Listed and
# excluded samples are all samples.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"
. "$(dirname "$0")/../lib/pages.sh"

# of TOOL ARGUMENT...: print the tool's output
of()
{
	"$bin/$1" --db "$scratch/idle.db" "${@:2}" 2> "$scratch/err"
}

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"
# Without the daemon, whose samples are excluded, too.
idle_pages | sed '/dcpid$/,/^sample 1/d; s/^image kernel.*/&\nprocess 42/' | make_db idle
total=50675 idle=40000

for by in procedure image instruction host epoch process; do
	json=$(of dcpiprof --by $by -e cpu-clock --json)
	is "dcpiprof --by $by: listed and excluded samples are all" \
		"$(jq -c '[.idle_samples, .idle_totals["cpu-clock"], .totals["cpu-clock"],
			([.rows[] | select(.["cpu-clock_percent"] != null)["cpu-clock"]] | add)]' <<< "$json")" \
		"[$idle,$idle,$total,$((total - idle))]"
	is "dcpiprof --by $by: shares add up to 100%" \
		"$(jq '[.rows[]["cpu-clock_percent"]] | add - 100 | fabs < 0.01' <<< "$json")" true
	is "dcpiprof --by $by --idle: shares are of all" "$(of dcpiprof --by $by -e cpu-clock --idle --json |
		jq -c '[.idle_samples, ([.rows[]["cpu-clock"]] | add), ([.rows[]["cpu-clock_percent"]] |
		add | . * 100 | round)]')" "[null,$total,10000]"
done
check "JSON: as the schema has it" tests/lib/validate_json.py dcpiprof <<< "$(of dcpiprof --json)"
is "the idle procedure is the last row" "$(of dcpiprof -e cpu-clock | tail -n 1 | xargs)" \
	"40000 - - default_idle [idle] vmlinux-6"
is "so is the idle part of the kernel" "$(of dcpiprof -e cpu-clock --by image | grep vmlinux | xargs)" \
	"500 4.7% 100.0% vmlinux-6 40000 - - vmlinux-6 [idle]"
like "the header has the share" "$(of dcpiprof)" \
	'^idle        40000 samples, 78\.93%, of waiting for work: excluded \(--idle includes them\)$'
like "so has the header of one line" "$(of dcpiprof --brief | head -n 1)" ', 78\.9% idle excluded'
is "only idle samples" "$(of dcpiprof -e cpu-clock -i vmlinux-6 -n 1 --json | jq -c '[.rows[].procedure]')" \
	'["schedule"]'

# top ARGUMENT...: print rows of dcpitop
top()
{
	of dcpitop --no-flush --batch -n 1 --rows 100 "$@"
}
for by in image procedure; do
	json=$(top --by $by --json)
	is "dcpitop --by $by: listed and excluded samples are all" "$(jq -c '[.idle_samples, .total_samples,
		([.rows[] | select(.total_percent != null).total] | add)]' <<< "$json")" \
		"[$idle,$total,$((total - idle))]"
	check "dcpitop --by $by: JSON is as the schema has it" tests/lib/validate_json.py dcpitop <<< "$json"
	is "dcpitop --by $by --idle" "$(top --by $by --idle --json |
		jq -c '[.idle_samples, ([.rows[].total_percent] | add | . * 10 | round)]')" "[null,1000]"
done
like "dcpitop: the line of samples has them" "$(top)" '; idle 40000 excluded$'

for tool in dcpilist dcpicalc; do
	like "$tool: the share is that of dcpiprof" "$(of $tool schedule)" '[ ,]4\.7% of all'
	like "$tool: the header has the idle samples" "$(of $tool schedule)" '^idle        40000 samples, '
	like "$tool --idle: the share is of all" "$(of $tool --idle schedule)" '[ ,]1\.0% of all'
	is "$tool: idle procedures have no share" "$(of $tool default_idle | grep -c 'of all')" 0
	like "$tool --idle: they have" "$(of $tool --idle default_idle)" '[ ,]78\.9% of all'
done

{
	idle_pages
	idle_pages
} | sed '/dcpid$/,/^sample 1/d' | make_db idle
for tool in dcpistats dcpidiff; do
	json=$(of $tool --json 1 2)
	check "$tool: JSON is as the schema has it" tests/lib/validate_json.py $tool <<< "$json"
	is "$tool: idle samples are counted in each set, and are no row" "$(jq -c '[.idle_samples],
		(.sets[] | [.idle_samples, .samples]), ([.rows[].procedure] | index("default_idle"))' <<< "$json" |
		xargs)" "[$((2 * idle))] [$idle,$total] [$idle,$total] null"
	is "$tool --idle: they are" "$(of $tool --idle --json 1 2 |
		jq '[.rows[].procedure] | index("default_idle") != null')" true
done
is "dcpiexport: without them" "$(of dcpiexport -e cpu-clock -f folded | awk '{ sum += $NF } END { print sum }')" \
	$((2 * (total - idle)))
is "dcpiexport --idle: with them" "$(of dcpiexport -e cpu-clock --idle -f folded |
	awk '{ sum += $NF } END { print sum }')" $((2 * total))
like "dcpiexport: a title has them" "$(of dcpiexport -f flamegraph)" \
	"; $((2 * idle)) samples of waiting for work are excluded"
tap_done
exit
