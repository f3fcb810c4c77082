#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Programs whose paths are timed. If all paths are timed, their counts equal an emulator's; if some
# are, these are among them, in the number that follows from the checks. The programs behave as
# before. dcpivpp adds up, ranks and compares, and survives any file contents.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
. tests/lib/recorded_db.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
. tests/lib/path_truth.sh
make --no-print-directory -s path-plugin || exit 2
dcpivpp=$PWD/build/bin/dcpivpp

# timed PROGRAM: print "COUNT NODE..." for each sequence of nodes, interrupted ones too
timed()
{
	"$dcpivpp" --csv "$1" "$DCPIX_OUT".* | awk -F '"' 'FNR > 1 {
		split($1, of, ",")
		split($NF, behind, ",")
		count[behind[2]] += of[2] + of[5]
	} END { for (nodes in count) print count[nodes], nodes }' | sort
}

# alike NAME OLD NEW ARGUMENT...: test that all paths are timed with the same probability, by the
# difference between the distributions of timed paths and of all paths. The period is long enough to
# be drawn at random.
alike()
{
	local name=$1 old=$2 new=$3 wrong

	shift 3
	"$dcpix" -q --mode variation --checks 40 -o "$new" "$old"
	rm -f "$DCPIX_OUT".*
	path_run "$old" "$new" "$@"
	timed "$new" > "$scratch/timed"
	wrong=$(awk 'NR == FNR { count = $1; $1 = ""; seen[$0] = count; all += count; next }
		{ count = $1; $1 = ""; timed[$0] = count; some += count }
		END { for (nodes in seen) {
			apart = seen[nodes] / all - timed[nodes] / some
			sum += apart < 0 ? -apart : apart
		} printf "%.1f\n", 100 * sum / 2 }' "$scratch/seen" "$scratch/timed")
	check "$name: of some, all kinds are timed alike ($wrong% are not)" [ "${wrong%.*}" -lt 20 ]
}

# exact NAME ARGUMENT...: test that if all paths are timed, they equal an emulator's; and that timed
# paths are among these if some are timed. A period of three checks: several counters are used, and
# the shortest program has few checks.
exact()
{
	local name=$1 old new wrong all

	old=$(readlink -f "$(command -v "$1")")
	new=$scratch/$(basename "$old").vpp
	shift
	"$dcpix" -q --mode variation --checks 0 -o "$new" "$old" ||
		{ not_ok "$name: is rewritten"; return; }
	path_run "$old" "$new" "$@"
	"$dcpivpp" --edges "$new" | path_emulate "$old" "$@"
	timed "$new" > "$scratch/timed"
	wrong=$(comm -3 "$scratch/timed" "$scratch/seen" | wc -l)
	all=$(wc -l < "$scratch/timed")
	check "$name: every path is timed as often as it is gone ($all paths)" \
		[ "$wrong" -eq 0 -a "$all" -gt 5 ]
	[ "$wrong" -eq 0 ] || comm -3 "$scratch/timed" "$scratch/seen" | head -n 5 | sed 's/^/# /'
	"$dcpix" -q --mode variation --checks 3 -o "$new" "$old"
	path_run "$old" "$new" "$@"
	timed "$new" > "$scratch/timed"
	wrong=$(awk 'NR == FNR { count = $1; $1 = ""; seen[$0] = count; next }
		{ count = $1; $1 = ""; wrong += count > seen[$0]; all += count }
		END { print wrong + 0, all }' "$scratch/seen" "$scratch/timed")
	is "$name: of some, none is timed more often" "${wrong% *}" 0
	check "$name: and there are some (${wrong#* })" [ "${wrong#* }" -gt 2 ]
	[ "${wrong#* }" -lt 16000 ] || alike "$name" "$old" "$new" "$@"
	rm -f "$DCPIX_OUT".*
}

${CC:-gcc} -O2 -g tests/fixtures/programs/paths.c -o "$scratch/program" || exit 2
for way in recursion callbacks many; do
	exact "$scratch/program" $way
done
cat docs/*.md > "$scratch/text"
exact gzip -6c README.md
# shellcheck disable=SC2016 # awk's
exact mawk '{ n += NF; w[$1]++ } END { print n, w["the"] }' "$scratch/text"

# same LABEL CHECKS PROGRAM ARGUMENT...: test that output and exit status are the same
same()
{
	local label=$1 checks=$2 old want got

	shift 2
	old=$(readlink -f "$(command -v "$1")")
	shift
	check "$label: it is rewritten" "$dcpix" -q --mode variation --checks "$checks" \
		-o "$scratch/new" "$old"
	want=$("$old" "$@" 2>&1 < /dev/null | md5sum; echo "${PIPESTATUS[0]}")
	got=$(exec -a "$old" "$scratch/new" "$@" 2>&1 < /dev/null | md5sum; echo "${PIPESTATUS[0]}")
	is "$label" "$got" "$want"
	rm -f "$DCPIX_OUT".*
}

${CC:-gcc} -O2 -g -pthread tests/fixtures/programs/ways.c -o "$scratch/ways" || exit 2
for way in "threads 7" "fork 5" "jump 1000" "goto 1000" "switch 5000" "signal 100" own; do
	# shellcheck disable=SC2086 # words
	same "ways $way" 5 "$scratch/ways" $way
done
${CXX:-g++} -O2 -pthread tests/fixtures/programs/throws.cc -o "$scratch/throws" || exit 2
same "throws" 3 "$scratch/throws"
same "sed" 1 sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' README.md

# A loop with one check per iteration: one iteration in a hundred is timed.
${CC:-gcc} -O2 -g tests/fixtures/programs/bursts.c -o "$scratch/known" || exit 2
check "known loops are rewritten" "$dcpix" -q --mode variation --checks 100 \
	-o "$scratch/known.vpp" "$scratch/known"
rm -f "$DCPIX_OUT".*
"$scratch/known.vpp" 3 > /dev/null
"$dcpivpp" --json "$scratch/known.vpp" "$DCPIX_OUT".* > "$scratch/json"
check "JSON is as the schema has it" tests/lib/validate_json.py dcpivpp < "$scratch/json"
check "it is JSON, and its sums are right" python3 - "$scratch/json" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
paths = report["paths"]
assert report["checks"] == 100 and report["threads"] == 1, report
assert sum(p["times"] for p in paths) == report["times"]
assert sum(p["cycles"] for p in paths) == report["cycles"]
assert sum(p["net_variation"] for p in paths) == report["net_variation"]
for p in paths:
    assert p["net_variation"] == p["cycles"] - p["times"] * p["fastest"]
    assert sum(step["times"] for step in p["above"]) == p["times"]
assert paths == sorted(paths, key=lambda p: -p["net_variation"])
walk = max((p for p in paths if p["procedure"] == "walk"), key=lambda p: p["times"])
# 20 times 21846 iterations; the distance between two timed paths is drawn, 100 checks on average
assert abs(walk["times"] + walk["interrupted"] - 4369) < 200, walk
END
for file in "$DCPIX_OUT".*; do
	cp "$file" "$scratch/first"
done
rm -f "$DCPIX_OUT".*
"$scratch/known.vpp" 3 > /dev/null
out=$("$dcpivpp" --compare "$scratch/first" "$scratch/known.vpp" "$DCPIX_OUT".*)
check "so is JSON of two runs" tests/lib/validate_json.py dcpivpp < <(
	"$dcpivpp" --json --compare "$scratch/first" "$scratch/known.vpp" "$DCPIX_OUT".*)
"$dcpivpp" --json "$scratch/known.vpp" "$scratch/first" |
	sed 's/"times":/"time":/' > "$scratch/wrong"
# shellcheck disable=SC2016 # the inner shell's
check "and JSON without a key is not" bash -c '! tests/lib/validate_json.py dcpivpp < "$1" 2> "$1.why"' \
	bash "$scratch/wrong"
like "a listing says how it was made" "$out" "1 file, 1 thread; one path timed for 100 checks"
like "and what others would have listed first" "$out" "are not among the first 10 by frequency"
like "paths have source lines" "$out" 'programs/bursts\.c:[0-9]+'
like "and histograms" "$out" 'and up +[0-9]+  ##'
like "two runs are compared" "$out" 'compared: [0-9]+ of the first [0-9]+ paths'
like "by their ranks" "$out" 'rank correlation of [0-9]+ paths timed in both: '
"$dcpivpp" --svg "$scratch/known.vpp" "$scratch/first" > "$scratch/svg"
like "browsers keep the spaces of a picture" "$(cat "$scratch/svg")" '<svg [^>]*xml:space="preserve"'
check "a picture is XML with a line for each path" python3 - "$scratch/svg" << 'END'
import sys, xml.dom.minidom
picture = xml.dom.minidom.parse(sys.argv[1])
assert 1 <= len(picture.getElementsByTagName("polyline")) <= 5
END
sum=$("$dcpivpp" --csv "$scratch/known.vpp" "$scratch/first" "$scratch/first" |
	awk -F, 'NR > 1 { sum += $2 } END { print sum }')
one=$("$dcpivpp" --csv "$scratch/known.vpp" "$scratch/first" |
	awk -F, 'NR > 1 { sum += $2 } END { print sum }')
is "two files are summed up" "$sum" $((2 * one))

# The database has the same records, by epoch.
stored=$scratch/stored.db
out=$("$dcpix" counts --db "$stored" "$scratch/known.vpp" "$scratch/first")
like "times are kept" "$out" "^variation of 1 process of .*known: epoch 1 of "
"$dcpix" counts -q --db "$stored" "$scratch/known.vpp" "$DCPIX_OUT".*
for how in "" --json --csv --svg; do
	# shellcheck disable=SC2086 # none, or one
	is "the database tells the same${how:+, $how}" \
		"$("$dcpivpp" $how --db "$stored" --epoch 1 2>&1 | md5sum)" \
		"$("$dcpivpp" $how "$scratch/known.vpp" "$scratch/first" 2>&1 | md5sum)"
done
is "epochs are summed up" \
	"$("$dcpivpp" --csv --db "$stored" | md5sum)" \
	"$("$dcpivpp" --csv "$scratch/known.vpp" "$scratch/first" "$DCPIX_OUT".* | md5sum)"
is "epochs are compared" \
	"$("$dcpivpp" --db "$stored" --epoch 1 --compare-epoch 2 | md5sum)" \
	"$("$dcpivpp" --compare "$(ls "$DCPIX_OUT".*)" "$scratch/known.vpp" "$scratch/first" | md5sum)"

# Export: a stack for each path, whose value is its net variation.
export_()
{
	build/bin/dcpiexport --db "$stored" --epoch 1 --variation "$@"
}
csv=$("$dcpivpp" --csv --db "$stored" --epoch 1)
is "dcpiexport: folded" "$(export_ -f folded | sort)" "$(awk -F, 'NR > 1 && $1 > 0 {
	gsub("\"", "", $10); printf "%s;%s, path %d %d\n", $10, $10, $8 + 1, $1 }' <<< "$csv" | sort)"
export_ -f pprof -o "$scratch/pprof"
is "dcpiexport: pprof: net variation, and how often paths were timed" \
	"$(tests/lib/pprof_read.py stacks < "$scratch/pprof" |
		awk '$1 != "types" && $1 != "image" { calls += $(NF - 1); sum += $NF } END { print calls, sum }')" \
	"$(awk -F, 'NR > 1 && $2 > 1 { calls += $2; sum += $1 } END { print calls, sum }' <<< "$csv")"
for format in callgrind speedscope flamegraph; do
	check "dcpiexport: $format" export_ -f $format -o "$scratch/$format"
done
refuses "dcpiexport: csv has none" "dcpiexport: format 'csv' does not support variation" \
	build/bin/dcpiexport --db "$stored" --epoch 1 --variation -f csv
build/bin/dcpiexport --db "$stored" --variation --image nothing > "$scratch/none" 2>&1
is "dcpiexport: of nothing" $? 1

"$dcpix" -q --mode variation --checks 200 -o "$scratch/other.vpp" "$scratch/known"
rm -f "$DCPIX_OUT".*
"$scratch/other.vpp" 3 > /dev/null
"$dcpix" counts -q --db "$stored" "$scratch/other.vpp" "$DCPIX_OUT".*
refuses "paths timed at another rate" "differ in the quantity measured" "$dcpivpp" --db "$stored"
refuses "files to compare with epochs" "compare needs a rewritten program" \
	"$dcpivpp" --db "$stored" --epoch 1 --compare "$scratch/first"
refuses "epochs to compare with files" "--compare-epoch and files are mutually exclusive" \
	"$dcpivpp" --compare-epoch 1 "$scratch/known.vpp" "$scratch/first"

# The same holds for a real program, and for other databases.
WORK=$scratch bin=$PWD/build/bin
"$dcpix" -q --mode variation --checks 100 -o "$scratch/gzip" "$(command -v gzip)"
for run in run1 run2; do
	DCPIX_OUT=$scratch/$run "$scratch/gzip" -6c README.md > "$scratch/packed"
	sleep 0.05 # files' times have ticks, and the last one is asked for
done
same_in_database dcpivpp "$scratch/gzip" "$scratch"/run1.* "$scratch"/run2.*

refuses "no files" "^dcpivpp: a rewritten program and the files that it recorded are required" "$dcpivpp" "$scratch/known.vpp"
refuses "not rewritten" "was not rewritten" "$dcpivpp" "$scratch/known" "$scratch/first"
refuses "no profile" "is not a profile" "$dcpivpp" "$scratch/known.vpp" "$scratch/text"
refuses "no profile to compare" "is not a profile" "$dcpivpp" --compare "$scratch/text" \
	"$scratch/known.vpp" "$scratch/first"
refuses "rewritten to count paths" "was not rewritten" "$dcpipaths" "$scratch/known.vpp" \
	"$scratch/first"
refuses "more than a path" "timed one by one" "$dcpix" --mode variation --burst 5 -o "$scratch/x" \
	"$scratch/known"
refuses "loops without checks" "have paths, too" "$dcpix" --mode variation --checks-at EC+L4 \
	-o "$scratch/x" "$scratch/known"
for at in 8 24 32 40 44 48 56 4096 4110 4150 4200; do
	cp --sparse=always "$scratch/first" "$scratch/damaged"
	printf '\377\377\377\377\377\377\377\377' |
		dd of="$scratch/damaged" bs=1 seek=$at conv=notrunc status=none
	"$dcpivpp" "$scratch/known.vpp" "$scratch/damaged" > /dev/null 2>&1
	check "damage at $at is survived" [ $? -le 2 ]
done
tap_done
