#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Jump tables as compilers make them (tests/programs/switches.c), at every level of
# optimization, position independent or not: each switch is resolved, and each edge
# that runs is in the graph.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/tap.sh

plugin=build/tests/count_plugin.so
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
make --no-print-directory -s count-plugin build/tests/cfg_edges || exit 2

# value NAME: of a JSON object of numbers
value()
{
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$scratch/result"
}

# one LABEL QEMU COMPILER...: at least 8 tables of each program run
one()
{
	local label=$1 qemu=$2 program="$scratch/program"
	shift 2

	if ! "$@" -o "$program" tests/programs/switches.c 2> "$scratch/errors"; then
		not_ok "$label" "$(cat "$scratch/errors")"
		return
	fi
	$qemu -plugin "$plugin,out=$scratch/counts,edges=$scratch/run" "$program" > /dev/null
	tests/truth/image_edges.sh "$program" "$scratch/run" > "$scratch/edges"
	if build/tests/cfg_edges "$program" "$scratch/edges" > "$scratch/result" &&
		[ "$(value unresolved)" = 0 ] && [ "$(value entered)" = 0 ] &&
		[ "$(value marked)" = 0 ] && [ "$(value edges)" -gt 300 ] &&
		[ "$(value tables_ran)" -ge 8 ]; then
		ok "$label: $(value tables_ran) tables"
	else
		not_ok "$label" "$(cat "$scratch/result")"
	fi
}

# all ARCH QEMU COMPILER...
all()
{
	local arch=$1 qemu=$2 level mode
	shift 2

	if ! command -v "${qemu%% *}" > /dev/null || ! command -v "$1" > /dev/null; then
		skip "$arch" "no ${qemu%% *} or no $1"
		return
	fi
	for level in -O0 -O1 -O2 -O3 -Os; do
		for mode in '-fno-pie -no-pie' '-fPIE -pie'; do
			# shellcheck disable=SC2086
			one "$arch $* $level ${mode%% *}" "$qemu" "$@" $level $mode
		done
	done
}

all x86-64 qemu-x86_64 gcc
all x86-64 qemu-x86_64 clang
all arm64 'qemu-aarch64 -L /usr/aarch64-linux-gnu' aarch64-linux-gnu-gcc
all arm64 'qemu-aarch64 -L /usr/aarch64-linux-gnu' clang --target=aarch64-linux-gnu
all alpha 'qemu-alpha -L /usr/alpha-linux-gnu' alpha-linux-gnu-gcc-12
tap_done
