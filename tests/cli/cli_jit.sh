#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Names of JIT code: maps of any size, any number of processes, and names that are valid for a part
# of the time only.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$top/tests/lib/profile_cli.sh"

${CC:-gcc} -O2 -o "$work/jit_maps" "$top/tests/fixtures/programs/jit_maps.c" || exit 1

jit()
{
	procedure_samples "$1" "$work/jit_maps \\[jit\\]"
}

# unnamed: print the samples in JIT code that have no name
unnamed()
{
	echo $(($(unknown anonymous) + $(unknown jit_limit) + $(unknown jit_ambiguous)))
}

# named WHAT PROCEDURE PERCENT: test that the name has at least that share of samples in JIT code
named()
{
	local got without

	got=$(jit "$2")
	without=$(unnamed)
	if [ $((100 * got)) -ge $(($3 * (got + without))) ] && [ "$got" -gt 0 ]; then
		ok "$1: $3% of the samples are in $2"
	else
		not_ok "$1: $3% of the samples are in $2" \
			"$got, $without unnamed: $(unknown anonymous) anonymous, $(unknown jit_limit) jit_limit"
	fi
}

# Large maps.
for entries in 1000 70000 300000; do
	profile big$entries "$work/jit_maps" big 1000 $entries
	named "$entries entries" hot 90
done
# The map has no code, so it is read from the process. Its loop decrements a register.
like "the code of a perf map is analysed" "$("$bin/dcpicalc" --db "$db" hot 2>&1)" \
	'^0x[0-9a-f]+ +(dec|sub|jne|jnz) .* [1-9][0-9]* +[0-9.]+%'
profile first "$work/jit_maps" first 1000 300000
named "300000 entries after it" hot 90

# More entries than fit into memory. A name that is not at the end of the map must be searched for.
profile limit "$work/jit_maps" first 1500 2000000
is "more entries than memory holds: none is anonymous" "$(unknown anonymous)" 0
is "more entries than memory holds: they are counted" \
	"$(sql "$db" "SELECT sum(count) > 1000000 FROM counter WHERE name = 'jit_evicted'")" 1
like "more entries than memory holds: samples have their name or the reason" \
	"$(jit hot) $(unknown jit_limit) $("$bin/dcpiprof" --db "$db" 2>&1)" \
	'^[1-9][0-9]* |^0 [1-9][0-9]* .*jit_limit'

# Many processes, which run long enough that dcpirun gets to each of them while all compete for CPUs.
profile many "$work/jit_maps" many 60 200
named "200 processes" hot 90

# generations WHAT: test that gen_1 to gen_3 have 1/6, 2/6, 3/6 of the samples, each within 7 points
generations()
{
	local one two three all

	one=$(jit gen_1)
	two=$(jit gen_2)
	three=$(jit gen_3)
	all=$((one + two + three + $(unnamed)))
	if awk -v one="$one" -v two="$two" -v three="$three" -v all="$all" '
		function near(got, want) { return got > want - 0.07 && got < want + 0.07 }
		BEGIN { exit !(all > 100 && near(one / all, 1 / 6) && near(two / all, 2 / 6) &&
			near(three / all, 3 / 6)) }'; then
		ok "$1: each name has the samples of its time"
	else
		not_ok "$1: each name has the samples of its time" "$one, $two, $three of $all"
	fi
}

profile exec "$work/jit_maps" exec 300
generations exec
for mode in rewrite append rename; do
	for lines in 0 20000; do
		profile $mode$lines "$work/jit_maps" $mode 300 $lines
		generations "$mode, $lines other lines"
	done
done

# A map of a previous program with the same process id, and the parent's map after a fork.
profile stale "$work/jit_maps" stale 500
is "a map of the program before: its names are not used" "$(jit wrong)" 0
like "a map of the program before: samples are anonymous" "$(unknown anonymous)" '^[1-9]'
profile fork "$work/jit_maps" fork 500
is "a child: names that the parent lists later are not used" "$(jit other)" 0
named "a child: names from before the fork are used" hot 90
profile inherit "$work/jit_maps" inherit 300
generations "a child that lists code at the address of inherited code"

tap_done
