#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Call stacks of recordings of perf: copied stacks and call chains, in all reports.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${DCPI_BUILD:-build}
[ "${build#/}" != "$build" ] || build=$top/$build
bin=$build/bin
. "$top/tests/lib/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# All work is below often() or rarely(), two thirds below the first.
cat > "$work/calls.c" << 'C'
static volatile unsigned long sink;
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void spin(int n) { for (int i = 0; i < n * 1000; i++) sink += i; }
NOINLINE void often(void) { spin(20); sink++; }
NOINLINE void rarely(void) { spin(10); sink++; }
NOINLINE void recurse(int n) { if (n > 0) recurse(n - 1); else { often(); rarely(); } sink++; }
int main(void)
{
	for (int i = 0; i < 6000; i++)
		recurse(20);
}
C
gcc -O1 -fomit-frame-pointer -o "$work/calls" "$work/calls.c" || exit 1

# recorded NAME OPTION...: record the program as NAME.data and import it. Another profiler can make
# perf abort, so there are five attempts.
recorded()
{
	for _ in 1 2 3 4 5; do
		perf record -q -N -o "$work/$1.data" -e cpu-clock -c 1000000 "${@:2}" -- \
			"$work/calls" > /dev/null 2>&1 && break
	done
	"$bin/dcpiimport" --db "$work/$1.db" "$work/$1.data" > "$work/$1.log" 2>&1
	is "$1: imported" "$? $(grep -c ' stacks, ' "$work/$1.log")" "0 1"
}

# stat NAME COUNTER: a counter of the recording
stat_of()
{
	sqlite3 "$work/$1.db" "SELECT ifnull(sum(count), 0) FROM counter
		WHERE counter_group = 'stat' AND name $2"
}

# accounted NAME: each sample has a stack, and each stack an end
accounted()
{
	is "$1: each sample has a stack" "$(stat_of "$1" "= 'stacks'")" \
		"$(sqlite3 "$work/$1.db" 'SELECT sum(samples) FROM profile')"
	is "$1: each stack has an end" "$(stat_of "$1" "IN ('stacks_complete', 'stacks_short',
		'stacks_unreadable', 'stacks_other_stack', 'stacks_no_table', 'stacks_no_rule',
		'stacks_expression', 'stacks_register', 'stacks_bad_frame', 'stacks_bad_address',
		'stacks_frames', 'stacks_no_registers', 'stacks_waiting', 'stacks_chain',
		'stacks_damaged')")" "$(stat_of "$1" "= 'stacks'")"
}

# self NAME OPTION...: procedures with their own samples, without those of other stacks
self()
{
	"$bin/dcpiprof" --csv --db "$work/$1.db" "${@:2}" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ n = "self" in at ? $at["self"] : $at["cpu-clock"] }
		n > 0 && $at["procedure"] ~ /^[a-z]/ { print $at["procedure"], n }' | sort
}

# share NAME PROCEDURE OPTION...: total percentage of a procedure
share()
{
	"$bin/dcpiprof" --csv --db "$work/$1.db" "${@:3}" | awk -F, -v procedure="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["procedure"] == procedure { print $at["total_percent"] }'
}

# near NAME VALUE LOW HIGH
near()
{
	check "$1: $2 is in $3..$4" awk -v x="$2" -v low="$3" -v high="$4" \
		'BEGIN { exit !(x != "" && x >= low && x <= high) }'
}

recorded copied --call-graph dwarf,16384
accounted copied
stacks=$(stat_of copied "= 'stacks'")
if [ "$stacks" -lt 200 ]; then
	not_measured "copied stacks" "perf recorded only $stacks samples"
	tap_done
	exit
fi
complete=$(stat_of copied "= 'stacks_complete'")
check "97% of the copied stacks are complete ($complete of $stacks)" \
	[ $((complete * 100)) -ge $((stacks * 97)) ]
is "samples of each procedure are the same with and without stacks" \
	"$(self copied --inclusive)" "$(self copied)"
near "main has nearly everything" "$(share copied main --inclusive)" 95 100
near "callers: often" "$(share copied often --callers spin)" 50 82
near "callees of often" "$(share copied spin --callees often)" 95 100
"$bin/dcpiexport" --stacks -f folded --db "$work/copied.db" > "$work/folded"
check "folded: complete stacks" \
	grep -qE '^_start;.*;main;(recurse;){21}often;spin [0-9]+$' "$work/folded"

# perf unwinds the same copies with libdw; an unfinished stack of perf has no main or no _start.
perf script -i "$work/copied.data" --no-inline -F ip,sym 2> /dev/null |
	awk 'NF == 0 && stack == "" { next }
		NF == 0 { if (stack ~ / main /) whole++; all++; stack = ""; next }
		{ sub(/\+0x[0-9a-f]*$/, "", $2); stack = stack " " $2 " " }
		END { print whole + 0, all + 0 }' > "$work/perf"
read -r whole all < "$work/perf"
if [ "$all" -eq 0 ]; then
	not_measured "stacks of perf" "perf script failed"
else
	check "as many samples are below main as perf finds ($whole of $all)" \
		awk -v ours="$("$bin/dcpiprof" --csv --db "$work/copied.db" --inclusive --callees main |
			awk -F, 'NR > 1 { n += $1 } END { print n + 0 }')" -v perf="$whole" \
		'BEGIN { exit !(ours >= perf * 0.99 && ours <= perf * 1.01 + 5) }'
fi

# Without frame pointers, chains do not reach the outermost frame, unless that is sampled itself.
recorded chain -g
accounted chain
check "hardly any chain is complete without frame pointers" \
	[ $(($(stat_of chain "= 'stacks_complete'") * 50)) -le "$(stat_of chain "= 'stacks'")" ]
is "chain: samples of each procedure are the same" "$(self chain --inclusive)" "$(self chain)"
like "the reason is in the report" "$("$bin/dcpiprof" --db "$work/chain.db" --inclusive)" \
	'unfinished: recorded call chain too short'

# A recording without stacks.
recorded_plain()
{
	perf record -q -N -o "$work/plain.data" -e cpu-clock -c 1000000 -- "$work/calls" \
		> /dev/null 2>&1 && "$bin/dcpiimport" -q --db "$work/plain.db" "$work/plain.data"
}
check "a recording without stacks" eventually recorded_plain
is "it has no stacks" "$(stat_of plain "LIKE 'stacks%'")" 0
tap_done
