#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure by how much dcpid with its defaults slows down a program that keeps a CPU busy, and print
# lines of tests/eval/bench/bench.h. Spells with and without dcpid alternate, BUDGET_PAIRS (15) times.
# Each spell with dcpid is between two without. tests/fixtures/spin_pieces.c measures the mean time
# of a piece of work in a spell; it leaves out preempted pieces. The slowdown of a pair is the
# ratio of these times. The CPU time of the daemon itself is added, as if all of it came from this
# CPU. The figures are the median of the pairs, and half the distance between the quartiles. A
# pair is left out if a spell had too little of the CPU; more than half of the pairs must remain.
#
# If it cannot run, it prints the reason on stderr and fails.
set -u
cd "$(dirname "$0")/../../.." || exit 2
build=${DCPI_BUILD:-build}
pairs=${BUDGET_PAIRS:-15}
work=$(mktemp -d) || exit 2
cpu=$(($(nproc) - 1))

cleanup()
{
	[ -n "${daemon:-}" ] && kill "$daemon" 2> /dev/null
	wait
	rm -rf "$work"
}
trap cleanup EXIT

if [ "$(id -u)" -ne 0 ]; then
	echo "bench_budget: needs root" >&2
	exit 2
fi
[ -x "$build/tests/spin_pieces" ] || {
	echo "bench_budget: cannot run '$build/tests/spin_pieces': make it with 'make tests'" >&2
	exit 2
}

ctl()
{
	"$build/bin/dcpictl" --socket "$work/socket" "$@"
}

# spell_on: run one spell with the daemon; print the mean, and the daemon's share of a CPU in
# percent
spell_on()
{
	local ticks mean

	"$build/bin/dcpid" -c /dev/null --socket "$work/socket" --db "$work/dcpi.db" 2> "$work/log" &
	daemon=$!
	for _ in $(seq 100); do
		ctl status > "$work/status" 2> /dev/null && break
		sleep 0.1
	done
	sleep 0.5
	ticks=$(awk '{ print $14 + $15 }' "/proc/$daemon/stat")
	mean=$("$build/tests/spin_pieces" "$cpu" 3) || return 1
	ticks=$(($(awk '{ print $14 + $15 }' "/proc/$daemon/stat") - ticks))
	ctl stop > "$work/stopped"
	wait "$daemon"
	daemon=
	echo "$mean $(awk -v t="$ticks" -v hz="$(getconf CLK_TCK)" 'BEGIN { print 100 * t / hz / 3 }')"
}

for _ in $(seq "$pairs"); do
	off=$("$build/tests/spin_pieces" "$cpu" 3) || continue
	on=$(spell_on) || continue
	after=$("$build/tests/spin_pieces" "$cpu" 3) || continue
	# Each spell is between two without the daemon, so that a slow drift of the machine cancels
	# out.
	echo "$off $after $on"
done | awk '{ print 100 * ($3 / (($1 + $2) / 2) - 1), $4 }' > "$work/pairs"

# quartile interrupts|daemon|both PART: print a quartile of the pairs
quartile()
{
	awk -v what="$1" '{ print (what != "daemon" ? $1 : 0) + (what != "interrupts" ? $2 : 0) }' \
		"$work/pairs" | sort -n | awk -v part="$2" '{ a[NR] = $1 } END { print a[int(part * (NR - 1)) + 1] + 0 }'
}

figure()
{
	echo "{\"name\": \"$1\", \"subject\": \"dcpid\", \"workload\": \"defaults, $measured pairs\"," \
		"\"value\": $2, \"unit\": \"percent\"}"
}

measured=$(wc -l < "$work/pairs")
[ $((2 * measured)) -gt "$pairs" ] || {
	echo "bench_budget: only $measured of $pairs pairs could be measured" >&2
	exit 1
}
figure budget_slowdown_percent "$(quartile both 0.5)"
figure budget_interrupts_percent "$(quartile interrupts 0.5)"
figure budget_daemon_percent "$(quartile daemon 0.5)"
figure budget_quartiles_percent "$(awk -v a="$(quartile both 0.25)" \
	-v b="$(quartile both 0.75)" 'BEGIN { print (b - a) / 2 }')"
grep -o 'a sample costs.*' "$work/log" | tail -n 1 >&2
