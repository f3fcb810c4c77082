#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Jump tables as compilers make them (tests/fixtures/programs/switches.c), at every level of optimization,
# position independent or not: each switch is resolved, and each executed edge is in the graph. A third
# of the combinations runs, with ALL=1 all of them.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

. tests/lib/compiled_edges.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
make --no-print-directory -s count-plugin build/tests/cfg_edges || exit 2

# one LABEL QEMU COMPILER...: test that at least 8 tables of each program run
one()
{
	local label=$1 program="$scratch/program"
	shift

	is_sampled || return
	compile_and_count "$label" tests/fixtures/programs/switches.c "$@" || return
	if build/tests/cfg_edges "$program" "$scratch/edges" > "$scratch/result" &&
		[ "$(value unresolved)" = 0 ] && [ "$(value entered)" = 0 ] &&
		[ "$(value marked)" = 0 ] && [ "$(value edges)" -gt 300 ] &&
		[ "$(value tables_ran)" -ge 8 ]; then
		ok "$label: $(value tables_ran) tables"
	else
		not_ok "$label" "$(cat "$scratch/result")"
	fi
}

# all ARCH QEMU COMPILER...: test all levels of optimization
all()
{
	local arch=$1 qemu=$2 level mode
	shift 2

	for level in -O0 -O1 -O2 -O3 -Os; do
		for mode in '-fno-pie -no-pie' '-fPIE -pie'; do
			# shellcheck disable=SC2086
			one "$arch $* $level ${mode%% *}" "$qemu" "$@" $level $mode
		done
	done
}

with_all_compilers all
tap_done
