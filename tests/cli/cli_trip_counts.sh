#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Loops as compilers make them (tests/fixtures/programs/loops.c), at every level of optimization. Trip counts
# that are derived from the code equal the executed ones, and most of the constant ones are found. A
# third of the combinations runs, with ALL=1 all of them.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

. tests/lib/compiled_edges.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
make --no-print-directory -s count-plugin build/tests/cfg_trips || exit 2

# one LABEL LEAST QEMU COMPILER...: test that at least LEAST loops with known trip counts run
one()
{
	local label=$1 least=$2 program="$scratch/program"
	shift 2

	is_sampled || return
	compile_and_count "$label" tests/fixtures/programs/loops.c "$@" || return
	if build/tests/cfg_trips "$program" "$scratch/edges" > "$scratch/result" &&
		[ "$(value off)" = 0 ] && [ "$(value ran)" -ge "$least" ]; then
		ok "$label: $(value ran) loops"
	else
		not_ok "$label" "$(cat "$scratch/result")"
	fi
}

# all ARCH QEMU COMPILER...: test all levels of optimization
all()
{
	local arch=$1 qemu=$2 level
	shift 2

	for level in -O0 -O1 -O2 -O3 -Os; do
		one "$arch $* $level" "${least[$level]}" "$qemu" "$@" $level
	done
}

# Loops with constant trip counts no longer exist if they were unrolled.
declare -A least=([-O0]=21 [-O1]=21 [-O2]=17 [-O3]=9 [-Os]=25)
with_all_compilers all
tap_done
