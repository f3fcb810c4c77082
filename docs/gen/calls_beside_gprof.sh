#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# calls_beside_gprof.sh: run tests/fixtures/programs/callers.c under gprof and under dcpix --mode calls, and
# print the lines about callers and callees of both; docs/calls.md shows them. gprof samples a
# hundred times a second, so the program runs for some seconds there.
set -eu
cd "$(dirname "$0")/../.."
bin=$PWD/build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-O1 -fno-optimize-sibling-calls"
# shellcheck disable=SC2086 # words
${CC:-gcc} $flags -pg -o "$work/callers.pg" tests/fixtures/programs/callers.c
# shellcheck disable=SC2086
${CC:-gcc} $flags -o "$work/callers" tests/fixtures/programs/callers.c
"$bin/dcpix" -q --mode calls -o "$work/callers.calls" "$work/callers"
rounds=${ROUNDS:-1000}
(cd "$work" && ./callers.pg "$rounds" > /dev/null)
DCPIX_OUT=$work/profile "$work/callers.calls" "$rounds" > /dev/null

# about PROCEDURE FILE: print its paragraph
about()
{
	awk -v name="$1" '
		/^index/ { next }
		/^-----/ { if (found) { printf "%s", text; exit } text = ""; next }
		{ text = text $0 "\n"
		  if ($0 ~ "^\\[[0-9]+\\] .* " name "( <cycle [0-9]+>)? \\[[0-9]+\\]$") found = 1 }' "$2"
}
gprof -b -q "$work/callers.pg" "$work/gmon.out" > "$work/gprof"
"$bin/dcpicalls" "$work/callers.calls" "$work"/profile.* > "$work/calls"
for name in shared apply even odd; do
	printf 'gprof:\n\n'
	grep '^index' "$work/gprof"
	about $name "$work/gprof"
	printf '\ndcpicalls (cycles):\n\n'
	grep '^index' "$work/calls"
	about $name "$work/calls"
	echo
done
