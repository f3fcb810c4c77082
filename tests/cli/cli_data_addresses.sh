#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# dcpicalc knows from the addresses at samples which cache can hold the data of a loop. Two loops
# with the same code follow lists of 16 lines and of 64 MB. dcpiprof lists the regions of the data.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"

gcc -O2 -g -o "$scratch/kernels" tests/fixtures/programs/loop_kernels.c -lm || exit 2

# profile NAME PROCEDURE: a profile of at least 300 accesses. On a busy machine few of the samples are
# interpreted.
profile()
{
	local seconds

	for seconds in 2 8; do
		rm -rf "$scratch"/db*
		"$bin/dcpirun" -q --db "$scratch/db" -- "$scratch/kernels" "$1" $seconds \
			> /dev/null || return
		"$bin/dcpicalc" --db "$scratch/db" --evidence --json "$2" > "$scratch/json"
		[ "$(data '.samples >= 300')" = true ] && return
	done
	not_measured "$1: addresses of data" "the machine is too busy: $(data '.samples') accesses"
	return 1
}

# data FILTER: of the data of the instruction with the most accesses
data()
{
	jq "[.evidence.data[]] | max_by(.samples) | $1" "$scratch/json"
}

if [ "$(uname -m)" != x86_64 ]; then
	not_measured "addresses of data" "only x86-64 has an interpreter of them"
	tap_done
	exit
fi
# Five regions of 64 KiB, 1,024 lines and 16 or 17 pages each, accessed equally often.
gcc -O1 -g -o "$scratch/regions" tests/fixtures/programs/data_regions.c || exit 2
rm -rf "$scratch"/db*
"$bin/dcpirun" -q --db "$scratch/db" -- "$scratch/regions" 2 > /dev/null || exit 2
"$bin/dcpiprof" --db "$scratch/db" --by data --json > "$scratch/regions.json"
# of the rows of the five regions
rows()
{
	jq -c "[.rows[] | select(.region == \"stack\" or .region == \"heap\" or
		.region == \"anonymous memory\" or .region == \"shared memory\" or
		.symbol == \"region_table\")] | $1" "$scratch/regions.json"
}
if [ "$(jq '[.rows[].accesses] | add >= 100' "$scratch/regions.json")" != true ]; then
	not_measured "regions of data" "the machine is too busy"
else
	is "all regions are listed" "$(rows length)" 5
	is "at least 85% of the accesses are in them" "$(rows "([.[].accesses] | add) >=
		0.85 * $(jq '[.rows[].accesses] | add' "$scratch/regions.json")")" true
	is "intervals of lines hold" \
		"$(rows 'map(select(.lines_least > 1025 or (.lines_most // 1025) < 1024)) | length')" 0
	is "intervals of pages hold" \
		"$(rows 'map(select(.pages_least > 24 or (.pages_most // 16) < 16)) | length')" 0
	is "the interval of a share contains it" "$(rows 'map(select(.percent_low > .percent or
		.percent_high < .percent)) | length')" 0
	is "the variable has its image" \
		"$(rows '.[] | select(.symbol != null) | .image | endswith("/regions")')" true
	like "as text" "$("$bin/dcpiprof" --db "$scratch/db" --by data)" \
		'^ +[0-9]+ +[0-9.]+%  [0-9.]+-[0-9.]+% +[0-9]+  .* region_table  '
fi
valid "JSON" dcpiprof "$bin/dcpiprof" --db "$scratch/db" --by data
like "data has no events" "$("$bin/dcpiprof" --db "$scratch/db" --by data -e cpu-clock 2>&1)" \
	'data is not stored by event'

profile chase_big chase || {
	tap_done
	exit
}
is "64 MB exceed the first cache" "$(data '.caches_exceeded >= 1')" true
is "and much more" "$(data '.bytes_least > 200000')" true
is "without a steady stride" "$(data 'has("stride_bytes")')" false
is "the stall is due to D-cache misses for the most part" \
	"$(jq '[.instructions[] | select(.culprits != null) | .culprits[] |
		select(.cause == "dcache" and .cycles_low > 0.5 * .cycles_high)] | length > 0' \
		"$scratch/json")" true
like "the report begins with it" "$("$bin/dcpicalc" --db "$scratch/db" chase)" \
	'^[0-9]+% of the procedure.s time (probably )?waits for data that is not in the cache, accessed at'
like "in words" "$("$bin/dcpicalc" --db "$scratch/db" chase)" \
	'^The instruction at 0x[0-9a-f]+ accesses at least .* more than the (first|second)-level cache of'

like "a table of data" "$("$bin/dcpicalc" --db "$scratch/db" --data chase)" \
	'^0x[0-9a-f]+ +mov .* [0-9.]+% +[0-9]+ +at least '
is "without addresses" "$("$bin/dcpicalc" --db "$scratch/db" --data chase |
	grep -cE '0x(5[5-6]|7f)[0-9a-f]{10}')" 0
like "the table replaces the summary" \
	"$("$bin/dcpicalc" --db "$scratch/db" --data --summary chase 2>&1)" 'mutually exclusive'

profile chase_small chase || {
	tap_done
	exit
}
is "16 lines fit the first cache" "$(data '.caches_exceeded == 0 and .bytes <= 2048')" true
is "so D-cache misses explain no long stall" \
	"$(jq '[.instructions[] | select(.culprits != null) | .culprits[] |
		select(.cause == "dcache" and (.cycles_low > 0 or .cycles_high > 30))] | length' \
		"$scratch/json")" 0

# A list's addresses are in the heap, which begins above 0x550000000000 or 0x7f0000000000.
is "no address is in the report" \
	"$(cat "$scratch/json" "$scratch/regions.json" | grep -cE '[^0-9.](8|9|1[0-4])[0-9]{13}[^0-9]')" 0
tap_done
