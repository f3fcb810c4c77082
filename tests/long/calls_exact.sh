#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of Debian, rewritten with --mode calls, --mode context, and --mode context --sites. Every
# arc, context and cost, in instructions, must equal an emulator's (tests/lib/call_truth.sh). Some of
# the programs recur, call through pointers, and jump out of calls.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
export WORK
head -c 20000 docs/operations.md > "$WORK/text"
for program in quicksort queens interpreter btree; do
	"${CC:-gcc}" -O2 -I. -D_GNU_SOURCE -o "$WORK/$program" tests/eval/truth/programs/$program.c -lm ||
		exit 2
done
"${CC:-gcc}" -O2 -pthread -o "$WORK/ways" tests/fixtures/programs/ways.c || exit 2

# exact NAME PROGRAM ARGUMENT...: test all modes
exact()
{
	local mode got

	for mode in calls context sites; do
		if got=$(tests/lib/call_truth.sh $mode "$@" 2>&1); then
			ok "$1, $mode: $got"
		else
			not_ok "$1, $mode" "$got"
		fi
	done
}
exact gzip gzip -9c "$WORK/text"
exact bzip2 bzip2 -c "$WORK/text"
exact xz xz -1c -T1 "$WORK/text"
exact sort sort "$WORK/text"
exact sed sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' "$WORK/text"
# shellcheck disable=SC2016 # awk's
exact mawk mawk 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }
	{ for (i = 1; i <= NF; i++) c[$i]++ } END { print NF, c["the"], f(12) }' "$WORK/text"
exact readelf readelf -sW "$WORK/quicksort"
exact objdump objdump -d --section=.init "$WORK/quicksort"
exact sqlite3 sqlite3 :memory: "with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 300) select sum(x * x % 97), count(distinct x % 13) from c"
for program in quicksort queens interpreter btree; do
	exact $program "$WORK/$program" 1
done
exact jumps "$WORK/ways" jump 100
tap_done
