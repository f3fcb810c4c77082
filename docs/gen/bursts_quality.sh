#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bursts_quality.sh [NAME]...: measure how much of the hot data streams of all references is found
# in bursts (dcpibursts --overlap). Uses the settings of Hirzel and Chilimbi's figure 7, and 1000:50
# with the placements of checks of their figure 8. Prints the tables of docs/bursts.md. Measurements
# are kept in build/bursts_quality.csv: programs that are not named keep their earlier ones; "none"
# only prints.
set -u
cd "$(dirname "$0")/../.." || exit 2
dcpix=build/bin/dcpix
dcpibursts=build/bin/dcpibursts
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export DCPIX_OUT=$work/record LC_ALL=C
kept=build/bursts_quality.csv
wanted=" $* "

# By rate: 5%, 1%, 0.5%.
settings=(20:1 200:10 1000:50 100:1 1000:10 5000:50 200:1 2000:10)
places=(orig EL EC EN L4 L10 LN EC+L4)

# record CHECKS BURST WHERE: run $program, with $arguments
record()
{
	rm -f "$DCPIX_OUT".* "$work/new"
	$dcpix -q --mode bursts --checks "$1" --burst "$2" --checks-at "$3" --room 40000000 \
		-o "$work/new" "$program" || return
	"$work/new" "${arguments[@]}" > /dev/null 2>&1 < /dev/null
	ls "$DCPIX_OUT".* > "$work/files" 2> "$work/none"
}

# all WHERE: print the streams of the complete recording
all()
{
	record 0 1 "$1" && $dcpibursts --streams --csv "$work/new" "$DCPIX_OUT".* > "$work/all.$1"
}

# overlap CHECKS BURST WHERE: print the overlap with those streams, in per cent
overlap()
{
	record "$@" || return
	$dcpibursts --overlap "$work/all.orig" --csv "$work/new" "$DCPIX_OUT".* | tail -n 1
}

# row FIGURE VALUE...: store a row for the tables
row()
{
	local figure=$1 column

	shift
	printf '%s,%s' "$figure" "$name"
	for column in "$@"; do
		printf ',%s' "${column:-}"
	done
	printf '\n'
}

# measure NAME PROGRAM ARGUMENT...: measure one program
measure()
{
	local name=$1 program arguments values=() setting place references own

	program=$(readlink -f "$(command -v "$2")") && [ -n "$program" ] || return
	shift 2
	[ -z "${wanted// /}" ] || [[ $wanted = *" $name "* ]] || return
	arguments=("$@")
	all orig || return
	references=$(awk -F, 'NR == 2 { print $2 }' "$work/all.orig")
	own=$($dcpibursts --overlap "$work/all.orig" --csv "$work/new" "$DCPIX_OUT".* | tail -n 1)
	for setting in "${settings[@]}"; do
		values+=("$(overlap "${setting%:*}" "${setting#*:}" orig)")
	done
	row settings "$references" "$own" "${values[@]}"
	values=()
	for place in "${places[@]}"; do
		values+=("$(overlap 1000 50 "$place")")
	done
	row places "$references" "$own" "${values[@]}"
}

# table FIGURE COLUMN...: print a row for each program, and averages; a setting that recorded
# nothing has an overlap of zero
table()
{
	local figure=$1

	shift
	awk -F, -v figure="$figure" -v columns="$*" '
		function cell(value) { return value == "" ? " - |" : sprintf(" %.1f |", value) }
		BEGIN {
			n = split(columns, name, " ")
			printf "| | references, M | all |"
			for (i = 1; i <= n; i++)
				printf " %s |", name[i]
			printf "\n|---|---:|---:|"
			for (i = 1; i <= n; i++)
				printf "---:|"
			print ""
		}
		$1 == figure {
			printf "| %s | %.1f |", $2, $3 / 1e6
			for (i = 4; i <= n + 4; i++) {
				printf "%s", cell($i)
				sum[i] += $i
				count[i]++
			}
			print ""
		}
		END {
			printf "| *average* | |"
			for (i = 4; i <= n + 4; i++)
				printf "%s", count[i] ? sprintf(" **%.1f** |", sum[i] / count[i]) : " |"
			print ""
		}' $kept
}

for program in quicksort interpreter btree huffman lexer; do
	"${CC:-gcc}" -O2 -I. -D_GNU_SOURCE -o "$work/$program" tests/eval/truth/programs/$program.c -lm ||
		exit 2
done
head -c 300000 "$(${CC:-gcc} -print-prog-name=cc1)" > "$work/code"
cat docs/*.md | head -c 300000 > "$work/text"
cat > "$work/script.py" << 'END'
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
seen = {}
for i in range(3000):
    seen[i % 97] = seen.get(i % 97, "") [-20:] + str(i)
print(fib(14), len(seen), sorted(seen.values())[3])
END
# shellcheck disable=SC2016 # their own
{
	measure gzip gzip -6c "$work/code"
	measure zstd zstd -q -6 -T1 --single-thread -c "$work/code"
	measure sort sort -k2 --parallel=1 "$work/text"
	measure mawk mawk '{ for (i = 1; i <= NF; i++) c[$i]++ } END { print NF, c["the"] }' \
		"$work/text"
	measure perl perl -ne 'for (split) { $c{$_}++ } END { print map { "$_ $c{$_}\n" }
		sort { $c{$b} <=> $c{$a} } keys %c }' "$work/text"
	measure python3 /usr/bin/python3 -S -E "$work/script.py"
	for program in quicksort interpreter btree huffman lexer; do
		measure $program "$work/$program" 1
	done
} > "$work/rows"
touch $kept
awk -F, 'NR == FNR { mine[$1, $2] = 1; print; next } !(($1, $2) in mine)' "$work/rows" $kept |
	sort -t, -k2,2 > "$work/kept"
cp "$work/kept" $kept
table settings "${settings[@]}"
echo
table places "${places[@]}"
