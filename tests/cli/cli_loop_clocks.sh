#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# dcpicalc finds the numbers of iterations of loops from the registers of samples. The loops wait
# for different things. The results do not depend on the speed or the load of the machine.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"

for level in 0 2 3; do
	gcc -O$level -g -o "$scratch/kernels$level" tests/fixtures/programs/loop_kernels.c -lm || exit 2
done

# executions PROCEDURE: value, lower and upper bound of the most frequent block
executions()
{
	"$bin/dcpicalc" --db "$scratch/db" --json "$1" | jq -r '[.blocks[].successors[]] |
		max_by(.frequency) | "\(.frequency) \(.frequency_low) \(.frequency_high)"'
}

# kernel LEVEL NAME PROCEDURE
kernel()
{
	local found count name="-O$1 $2"

	rm -rf "$scratch"/db*
	count=$("$bin/dcpirun" -q --db "$scratch/db" -- "$scratch/kernels$1" "$2" 1.2)
	found=$(executions "$3")
	check "$name: $count iterations: found $found" \
		awk -v n="$count" -v found="$found" 'BEGIN {
			split(found, f)
			exit !(f[1] > n / 1.25 && f[1] < n * 1.25 && f[2] < n && f[3] > n)
		}'
}

for level in 2 3; do
	kernel $level chase_small chase
	kernel $level chase_big chase
	for name in divide mispredict calls; do
		kernel $level $name $name
	done
done
for name in square_root multiply update atomic; do
	kernel 2 $name $name
done
# The counters are in memory.
for name in chase_big mispredict divide; do
	kernel 0 $name "${name%_big}"
done
kernel 0 atomic atomic
like "--evidence lists the clock" "$("$bin/dcpicalc" --db "$scratch/db" --evidence atomic)" \
	'^ +loop 0x[0-9a-f]+: registers count [0-9.e+]+ iterations from one sample to the next, \+-[0-9.]+%, by [0-9]+ pairs'
check "also as JSON" [ "$("$bin/dcpicalc" --db "$scratch/db" --evidence --json atomic |
	jq '[.evidence.clocks[] | select(.iterations_per_sample > 1)] | length')" -ge 1 ]
is "which has it on request only" "$("$bin/dcpicalc" --db "$scratch/db" --json atomic |
	jq -c '.evidence')" null
tap_done
