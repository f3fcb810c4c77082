#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Paths of rewritten programs are exact with any control flow, and dcpipaths reports them correctly.
# "make check-paths" tests more programs.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
. tests/lib/path_truth.sh
make --no-print-directory -s path-plugin || exit 2

check "the test's program" "${CC:-gcc}" -O2 -g tests/fixtures/programs/paths.c -o "$scratch/program"
path_exact "$scratch/program" recursion
path_exact "$scratch/program" callbacks
path_exact "$scratch/program" jumps
path_exact "$scratch/program" many
path_options="--room 1"
path_exact "$scratch/program" many
path_options=--whole
path_exact "$scratch/program" recursion
path_exact "$scratch/program" callbacks
# Two clones; only one measures. Tests all transitions from one to the other.
for path_options in "--metric cycles" "--metric cycles --checks 20 --burst 5" \
	"--metric cycles --checks 1 --burst 1 --checks-at orig" "--metric cycles --checks 0"; do
	for way in recursion callbacks jumps many; do
		path_exact "$scratch/program" $way
	done
done
path_options=--sites
path_mode=context-paths
for way in recursion callbacks jumps many; do
	path_exact "$scratch/program" $way
done
path_mode=paths
path_options=
check "one with exceptions" "${CXX:-g++}" -O2 tests/fixtures/programs/unwinds.cc -o "$scratch/unwinds"
path_exact "$scratch/unwinds"
XDG_CACHE_HOME=$scratch "$dcpix" run -q --mode paths "$scratch/unwinds" > "$scratch/report" 2>&1
check "procedures are called what the source calls them" \
	grep -q 'draw(unsigned int), path 1 of 1' "$scratch/report"
check "and not what linkers do" sh -c "! grep -q ' _Z' '$scratch/report'"
# Loops of one block, left in any iteration, with and without live flags.
check "one with small loops" "${CC:-gcc}" -O2 tests/fixtures/programs/carry.c -o "$scratch/carry"
path_exact "$scratch/carry"
# A block that begins in one file and ends in code inlined from another.
cat > "$scratch/inlined.s" <<-'EOF'
	.file 1 "user.c"
	.file 2 "step.h"
	.globl main
	.type main, @function
	main:
	.loc 1 10
	movl $1, %eax
	xorl %eax, %eax
	.loc 2 700
	nop
	ret
	.size main, . - main
	.section .note.GNU-stack, "", @progbits
EOF
check "one with two files in a block" "${CC:-gcc}" -o "$scratch/inlined" "$scratch/inlined.s"
is "lines of a block are of one file" "$(XDG_CACHE_HOME=$scratch "$dcpix" run -q --mode paths \
	"$scratch/inlined" 2>&1 | grep -o 'user\.c:.*')" user.c:10
# Code that throws is in loops that are copied.
check "one with traps" "${CXX:-g++}" -O2 -fnon-call-exceptions tests/fixtures/programs/traps.cc \
	-o "$scratch/traps"
check "traps: it is rewritten" "$dcpix" -q --mode paths -o "$scratch/traps.new" "$scratch/traps"
is "traps" "$("$scratch/traps.new" 2>&1)" "$("$scratch/traps" 2>&1)"
rm -f "$DCPIX_OUT".*
cat docs/*.md > "$scratch/text"
path_exact base64 "$scratch/text"
path_exact gzip -9c "$scratch/text"
path_exact mawk '{ n += NF } END { print n }' "$scratch/text"

# The database has the same records as the files.
bin=$PWD/build/bin
WORK=$scratch
. tests/lib/recorded_db.sh
"$dcpix" -q --mode paths --metric cycles --checks 0 -o "$scratch/stored" "$scratch/program"
DCPIX_OUT=$scratch/first "$scratch/stored" recursion > /dev/null
sleep 0.05 # files' times have ticks, and the last one is asked for
DCPIX_OUT=$scratch/second "$scratch/stored" jumps > /dev/null
same_in_database dcpipaths "$scratch/stored" "$scratch"/first.* "$scratch"/second.*
is "--by procedure, too" "$("$dcpipaths" --by procedure --db "$scratch/two.db")" \
	"$("$dcpipaths" --by procedure "$scratch/stored" "$scratch"/first.* "$scratch"/second.*)"

# Costs from traces are stored as sums, too: one recording's are the same.
"$dcpix" -q --mode paths --metric cycles -o "$scratch/traced" "$scratch/program"
DCPIX_OUT=$scratch/traces "$scratch/traced" callbacks > /dev/null
"$dcpix" counts --db "$scratch/traced.db" "$scratch/traced" "$scratch"/traces.*
is "costs from a trace are the same in the database" \
	"$("$dcpipaths" --csv --db "$scratch/traced.db" | sort)" \
	"$("$dcpipaths" --csv "$scratch/traced" "$scratch"/traces.* | sort)"
out=$("$dcpipaths" "$scratch/traced" "$scratch"/traces.*)
like "the share that was not measured is reported" "$out" \
	'not measured: paths with [0-9.]+% of instructions'
like "so is what was subtracted" "$out" \
	'^subtracted: [0-9.]+ cycles \([0-9.]+ to [0-9.]+\) for recording a path'

# Programs that the emulator cannot follow: the output is the same, and no number is lost.
for metric in "" "--metric cycles" "--whole" "--room 1" "--room 1 --metric cycles" \
	"--metric cycles --checks 3 --burst 2" "--metric cycles --checks 0"; do
	# shellcheck disable=SC2086 # words
	check "the program is rewritten $metric" "$dcpix" -q --mode paths $metric \
		-o "$scratch/rewritten" "$scratch/program"
	for way in recursion callbacks jumps many coroutines fork signal; do
		rm -f "$DCPIX_OUT".*
		is "$way $metric: it does what it did" "$("$scratch/rewritten" $way; echo $?)" \
			"$("$scratch/program" $way; echo $?)"
		out=$("$dcpipaths" "$scratch/rewritten" "$DCPIX_OUT".*)
		is "$way $metric: status" $? 0
		like "$way $metric: no path loses its number" "$out" \
			" not finished, 0 without number, 0 without memory"
	done
done
# measured METRIC...: print for "callbacks" the count of paths, the number of measured ones, their
# total, and the maximum of one path
measured()
{
	"$dcpix" -q --mode paths --metric cycles "$@" -o "$scratch/measured" "$scratch/program"
	rm -f "$DCPIX_OUT".*
	"$scratch/measured" callbacks > /dev/null
	"$dcpipaths" --csv "$scratch/measured" "$DCPIX_OUT".* | awk -F , 'FNR > 1 {
		count += $1
		measured += $NF
		all += $3
		mean = $3 / $1
		most = mean > most ? mean : most
		wrong += $NF > $1 || ($NF == 0 && $3 > 0)
	} END { print count, measured, int(all), int(most), wrong + 0 }'
}
read -r count timed whole _ wrong <<< "$(measured --checks 0 --whole)"
is "all is measured ($count)" "$timed $wrong" "$count 0"
for room in "" "--room 1"; do
	# shellcheck disable=SC2086 # words
	read -r count timed all most wrong <<< "$(measured --checks 50 --burst 10 $room)"
	check "in bursts some is ($timed of $count) $room" [ "$timed" -gt 100 -a \
		"$((timed * 2))" -lt "$count" -a "$wrong" -eq 0 ]
	check "nothing is measured over the end of a burst ($all of $whole cycles, most $most)" [ \
		"$all" -lt "$((whole * 50))" -a "$most" -lt 1000000000 ]
done

like "a path has source lines" "$out" 'programs/paths\.c:[0-9]+'
# The same numbers from the list of all paths.
want=$("$dcpipaths" --csv "$scratch/measured" "$DCPIX_OUT".* | tr -d '"' | awk -F , 'FNR > 1 {
	count = split($8, blocks, " ")
	for (i = 1; i <= count; i++) {
		all[blocks[i]]++
		hot[blocks[i]] += $4 != "cold"
	}
} END {
	for (block in hot) {
		if (hot[block] == 0)
			continue
		number++
		through += all[block]
		through_hot += hot[block]
	}
	printf "%d, each on %.1f executed paths (%.1f hot ones)", number, through / number,
		through_hot / number
}')
is "paths through blocks of hot paths" "$("$dcpipaths" "$scratch/measured" "$DCPIX_OUT".* |
	sed -n 's/^blocks on hot paths: //p')" "$want"
like "hot paths are dense or sparse" "$out" '[0-9]+ instructions +[0-9.]+ cycles +(dense|sparse) '

rm -f "$DCPIX_OUT".*
"$dcpix" -q --mode paths -o "$scratch/rewritten" "$scratch/program"
"$scratch/rewritten" jumps > /dev/null
out=$("$dcpipaths" --by procedure --csv "$scratch/rewritten" "$DCPIX_OUT".*)
unfinished()
{
	awk -F, -v name="\"$1\"" '$12 == name { print $8 }' <<< "$out"
}
# Each longjmp leaves a path of deeper() unfinished, and one of jumps() that continued after
# setjmp().
left=$(unfinished jumps)
check "what longjmp leaves is unfinished ($left)" [ "$left" -gt 100 -a "$left" -lt 1000 ]
check "in all procedures that it leaves" [ "$(unfinished deeper)" -ge "$left" ]
is "and nothing else is" "$(unfinished draw)" 0
out=$("$dcpipaths" --threshold 100 -n 1 "$scratch/rewritten" "$DCPIX_OUT".*)
like "nothing is hot at 100%" "$out" $'hot +0 +0.0%\n'
like "rows can be fewer" "$out" '\.\.\. [0-9]+ more'

refuses "no files" "^dcpipaths: a rewritten program and the files that it recorded are required" "$dcpipaths" a
refuses "no database" "^dcpipaths: cannot open .*/none" "$dcpipaths" --db "$scratch/none"
refuses "edges of a database" "^dcpipaths: --by edge needs" "$dcpipaths" --by edge --db "$scratch/two.db"
refuses "no such rows" "^dcpipaths: unknown kind of row" "$dcpipaths" --by block a b
refuses "a wrong threshold" "^dcpipaths: '101' is not a valid threshold" "$dcpipaths" --threshold 101 a b
refuses "a wrong limit" "^dcpipaths: 'x' is not a valid number" "$dcpipaths" -n x a b
refuses "not rewritten" "was not rewritten" "$dcpipaths" "$scratch/program" /dev/null
refuses "no profile" "is not a profile" "$dcpipaths" "$scratch/rewritten" "$scratch/text"
objcopy --dump-section ".dcpix.paths=$scratch/map" "$scratch/rewritten" "$scratch/older" &&
	printf '\002' | dd of="$scratch/map" conv=notrunc status=none &&
	objcopy --update-section ".dcpix.paths=$scratch/map" "$scratch/rewritten" "$scratch/older"
refuses "rewritten by an older dcpix" "was rewritten by another version of dcpix" "$dcpipaths" \
	"$scratch/older" "$scratch/text"
refuses "no such metric" "^dcpix: .*unknown metric" "$dcpix" --mode paths --metric apples \
	-o "$scratch/x" "$scratch/program"
refuses "whole calls" "^dcpix: .*does not support --whole" "$dcpix" --mode calls --whole -o "$scratch/x" \
	"$scratch/program"
refuses "a metric of counts" "^dcpix: .*metric" "$dcpix" --metric cycles -o "$scratch/x" \
	"$scratch/program"
for file in "$DCPIX_OUT".*; do
	for options in "--metric cycles" --whole "--room 4"; do
		# shellcheck disable=SC2086 # words
		"$dcpix" -q --mode paths $options -o "$scratch/other" "$scratch/program"
		refuses "another rewriting's: $options" "is of another program" \
			"$dcpipaths" "$scratch/other" "$file"
	done
	# A damaged file never causes a crash, but a specific exit status.
	for at in 0 8 24 32 44 56 4096 2101400; do
		cp --sparse=always "$file" "$scratch/damaged"
		printf '\377\377\377\377\377\377\377\377' |
			dd of="$scratch/damaged" bs=1 seek=$at conv=notrunc status=none
		"$dcpipaths" "$scratch/rewritten" "$scratch/damaged" > /dev/null 2>&1
		check "damage at $at is survived" [ $? -le 2 ]
	done
	break
done
rm -f "$DCPIX_OUT".*
tap_done
