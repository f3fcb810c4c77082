#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# variation_kernels.sh: profile tests/fixtures/programs/misses.c, whose loops miss the caches, without and
# with prefetches. Prints the path that dcpivpp lists first, its net variation, and the user time of
# the plain programs: minimum and median of ROUNDS (5) alternating runs.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/cpu_time.sh
bin=$PWD/build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rounds=${ROUNDS:-5}
megabytes=${MEGABYTES:-64}
export DCPIX_OUT=$work/record
for kind in plain prefetch; do
	define=$([ $kind = plain ] || echo -DPREFETCH)
	# shellcheck disable=SC2086 # nothing, or a word
	${CC:-gcc} -O2 -g $define -o "$work/$kind" tests/fixtures/programs/misses.c
	"$bin/dcpix" -q --mode variation --checks 1000 -o "$work/$kind.vpp" "$work/$kind"
done

# kernel NAME PROCEDURE: measure one kernel
kernel()
{
	local kind

	rm -f "$work"/*.ms
	for _ in $(seq "$rounds"); do
		for kind in plain prefetch; do
			cpu_time user "$work/$kind" "$1" "$megabytes" >> "$work/$kind.ms"
		done
	done
	for kind in plain prefetch; do
		rm -f "$DCPIX_OUT".*
		"$work/$kind.vpp" "$1" "$megabytes" > /dev/null
		"$bin/dcpivpp" --json "$work/$kind.vpp" "$DCPIX_OUT".* > "$work/$kind.json"
		[ $kind = prefetch ] ||
			"$bin/dcpivpp" -n 1 "$work/$kind.vpp" "$DCPIX_OUT".* |
			sed -e "s,$work/,," -e "s,$PWD/,,"
	done
	python3 - "$1" "$2" "$work" << 'END'
import json, statistics, sys
name, procedure, work = sys.argv[1:]
print()
for kind in "plain", "prefetch":
    report = json.load(open(f"{work}/{kind}.json"))
    mine = [p for p in report["paths"] if p["procedure"].startswith(procedure)]
    ms = [int(line) for line in open(f"{work}/{kind}.ms")]
    net, count = sum(p["net_variation"] for p in mine), sum(p["times"] for p in mine)
    print(f"{name:6} {kind:9} first: {report['paths'][0]['procedure']:18} "
          f"net variation of {procedure}: {net:9} cycles, {net / max(count, 1):6.1f} each time; "
          f"user time {min(ms)} ms, median {statistics.median(ms):.0f}")
print()
END
}
kernel chase chase
kernel heap sift_down
kernel join probe
