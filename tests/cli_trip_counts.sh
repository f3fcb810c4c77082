#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Loops as compilers make them (tests/programs/loops.c), at every level of optimization: what
# the code says of their turns is what they have when they run, and most of those whose turns
# are constants are known.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/tap.sh

plugin=build/tests/count_plugin.so
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
make --no-print-directory -s count-plugin build/tests/cfg_trips || exit 2

# value NAME: of a JSON object of numbers
value()
{
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$scratch/result"
}

# one LABEL LEAST QEMU COMPILER...: at least LEAST loops are known and run
one()
{
	local label=$1 least=$2 qemu=$3 program="$scratch/program"
	shift 3

	if ! "$@" -o "$program" tests/programs/loops.c 2> "$scratch/errors"; then
		not_ok "$label" "$(cat "$scratch/errors")"
		return
	fi
	$qemu -plugin "$plugin,out=$scratch/counts,edges=$scratch/run" "$program" > /dev/null
	tests/truth/image_edges.sh "$program" "$scratch/run" > "$scratch/edges"
	if build/tests/cfg_trips "$program" "$scratch/edges" > "$scratch/result" &&
		[ "$(value off)" = 0 ] && [ "$(value ran)" -ge "$least" ]; then
		ok "$label: $(value ran) loops"
	else
		not_ok "$label" "$(cat "$scratch/result")"
	fi
}

# all ARCH QEMU COMPILER...
all()
{
	local arch=$1 qemu=$2 level
	shift 2

	if ! command -v "${qemu%% *}" > /dev/null || ! command -v "$1" > /dev/null; then
		skip "$arch" "no ${qemu%% *} or no $1"
		return
	fi
	for level in -O0 -O1 -O2 -O3 -Os; do
		one "$arch $* $level" "${least[$level]}" "$qemu" "$@" $level
	done
}

# Of loops whose turns are constants, unrolled ones are none.
declare -A least=([-O0]=21 [-O1]=21 [-O2]=17 [-O3]=9 [-Os]=25)
all x86-64 qemu-x86_64 gcc
all x86-64 qemu-x86_64 clang
all arm64 'qemu-aarch64 -L /usr/aarch64-linux-gnu' aarch64-linux-gnu-gcc
all arm64 'qemu-aarch64 -L /usr/aarch64-linux-gnu' clang --target=aarch64-linux-gnu
all alpha 'qemu-alpha -L /usr/alpha-linux-gnu' alpha-linux-gnu-gcc-12
tap_done
