#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The cost of a merge is proportional to the changes, not to the size of the database. It is
# measured in instructions (counted by valgrind), so that other load of the machine does not matter.
#
#	DCPI_BUILD	where the build is (default: build)
#	MERGE_BENCH	if set, print figures (tests/eval/bench/bench.h), not results of tests
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"

# instructions IMAGES ENTRIES CHANGED SAMPLES [SLICES]: print the instructions of a merge
instructions()
{
	local db=$work/$1.$2.$3.$4.${5:-0}.db out=$work/callgrind

	valgrind --tool=callgrind --toggle-collect=merge_counted --callgrind-out-file="$out" \
		"$build/tests/merge_cost" "$db" "$@" > "$work/valgrind.log" 2>&1 || {
		cat "$work/valgrind.log" >&2
		return 1
	}
	awk '$1 == "totals:" { print $2 }' "$out"
}

figure()
{
	printf '{"name": "merge_instructions", "subject": "db", "workload": "%s", "value": %s, "unit": "instructions"}\n' \
		"100 samples into each of $3 of $1 images with $2 offsets${6:-}" "$5"
}

# at_most NAME A FACTOR B: test that A <= FACTOR * B
at_most()
{
	if awk -v a="$2" -v f="$3" -v b="$4" 'BEGIN { exit !(a > 0 && b > 0 && a <= f * b) }'; then
		ok "$1 ($2 against $4)"
	else
		not_ok "$1" "$2 is more than $3 times $4"
	fi
}

# Without MERGE_BENCH, a quarter of the images: most of the time is spent on filling the databases.
images=${MERGE_BENCH:+480}
images=${images:-120}
ten=$(instructions "$images" 1000 10 100)
one=$(instructions "$images" 1000 1 100)
hundred=$(instructions "$images" 1000 100 100)
many=$(instructions "$((4 * images))" 1000 10 100)
large=$(instructions "$images" 4000 10 100)
sliced=$(instructions "$images" 1000 10 100 3)
if [ -n "${MERGE_BENCH:-}" ]; then
	[ -n "$one" ] && [ -n "$ten" ] && [ -n "$hundred" ] && [ -n "$many" ] && [ -n "$large" ] &&
		[ -n "$sliced" ] || exit 1
	figure "$images" 1000 1 100 "$one"
	figure "$images" 1000 10 100 "$ten"
	figure "$images" 1000 100 100 "$hundred"
	figure "$((4 * images))" 1000 10 100 "$many"
	figure "$images" 4000 10 100 "$large"
	figure "$images" 1000 10 100 "$sliced" " and 3 slices"
	exit
fi
at_most "ten images cost at most ten times one" "$ten" 10 "$one"
at_most "a hundred cost at most ten times ten" "$hundred" 10 "$ten"
at_most "four times as many images in the database change nothing" "$many" 1.1 "$ten"
at_most "three slices cost at most half as much again" "$sliced" 1.5 "$ten"
at_most "profiles four times as large cost at most four times as much" "$large" 4 "$ten"
tap_done
