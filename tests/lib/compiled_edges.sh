# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of several compilers, and the edges that they execute; sourced after tap.sh by tests that
# set $scratch.
# shellcheck disable=SC2154

# Test every third case. ALL: test all of them.
stride=${ALL:+1}
stride=${stride:-3} cases=0

# is_sampled: return true for the cases to test. Neither the number of levels nor that of modes is a
# multiple of 3, so each level, mode and compiler occurs.
is_sampled()
{
	cases=$((cases + 1))
	[ $((cases % stride)) -eq 0 ]
}

# value NAME: print a value of a JSON object of numbers
value()
{
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$scratch/result"
}

# compile_and_count LABEL SOURCE QEMU COMPILER...: make $scratch/program and $scratch/edges
compile_and_count()
{
	local label=$1 source=$2 qemu=$3 program="$scratch/program"
	shift 3

	if ! "$@" -o "$program" "$source" 2> "$scratch/errors"; then
		not_ok "$label" "$(cat "$scratch/errors")"
		return 1
	fi
	$qemu -plugin "build/tests/count_plugin.so,out=$scratch/counts,edges=$scratch/run" \
		"$program" > /dev/null
	tests/eval/truth/image_edges.sh "$program" "$scratch/run" > "$scratch/edges"
}

# with_all_compilers COMMAND: run COMMAND ARCH QEMU COMPILER... for each installed compiler
with_all_compilers()
{
	local command=$1 arm64='qemu-aarch64 -L /usr/aarch64-linux-gnu'

	with_compiler "$command" x86-64 qemu-x86_64 gcc
	with_compiler "$command" x86-64 qemu-x86_64 clang
	with_compiler "$command" arm64 "$arm64" aarch64-linux-gnu-gcc
	with_compiler "$command" arm64 "$arm64" clang --target=aarch64-linux-gnu
	with_compiler "$command" alpha 'qemu-alpha -L /usr/alpha-linux-gnu' alpha-linux-gnu-gcc-12
}

with_compiler()
{
	local command=$1 arch=$2 qemu=$3
	shift 3

	if ! command -v "${qemu%% *}" > /dev/null || ! command -v "$1" > /dev/null; then
		skip "$arch" "no ${qemu%% *} or no $1"
		return
	fi
	"$command" "$arch" "$qemu" "$@"
}
