#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Rewritten programs can be unwound at each of their instructions, those that were added too; but
# not while the runtime works, where backtraces end (dcpix(1)). That is when a path is timed, and
# when that is first is random: here it is not.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/tap.sh

dcpix=$PWD/build/bin/dcpix
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export DCPIX_OUT=$scratch/counts
old=$scratch/backtraces
new=$scratch/backtraces.new

for flags in "-O2" "-O0" "-O2 -no-pie -fno-pie" "-O3 -fno-omit-frame-pointer" "-O2 -static" \
	"-O2 -fcf-protection=full -Wl,-z,ibtplt"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} $flags tests/programs/backtraces.c -o "$old"
	is "backtraces $flags: it worked before" "$("$old")" "enough, 0 lost"
	# Calls begin again when a handler comes in between, which here is always so.
	for mode in counts paths bursts "variation --checks 2000000000"; do
		# shellcheck disable=SC2086 # words
		"$dcpix" -q --mode $mode -o "$new" "$old"
		is "backtraces $flags: $mode" "$(timeout 60 "$new" 2>&1; echo $?)" "enough, 0 lost
0"
		rm -f "$scratch"/counts.*
	done
done
tap_done
