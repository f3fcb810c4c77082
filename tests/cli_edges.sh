#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Edges of the perf source: what dcpirun finds of a program against the program's
# exact edges (tests/truth/edge_counts.h). A user may sample the own processes.
#
#	DCPI_BENCH	set: print the figures as lines of tests/bench.h as well
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/tap.sh

build=${DCPI_BUILD:-build}
plugin=build/tests/count_plugin.so
rounds=10000
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
program=$(realpath "$scratch")/branches
db=$scratch/edges.db

query()
{
	sqlite3 -readonly -cmd ".load $build/lib/dcpi_sqlite" "$db" "$1"
}

counter()
{
	query "SELECT sum(count) FROM counter WHERE counter_group = 'stat' AND name = '$1'"
}

figure()
{
	[ -z "${DCPI_BENCH:-}" ] || awk -v name="$1" -v a="$2" -v b="$3" 'BEGIN {
		printf "{\"name\": \"%s\", \"subject\": \"perf\", \"workload\": \"branches\", " \
			"\"value\": %.5f, \"unit\": \"share\"}\n", name, (b > 0 ? a / b : 0) }'
}

# right TRUTH: "RIGHT TOTAL" of the edges within the program
right()
{
	query "SELECT printf('%x', from_offset), printf('%x', to_offset), sum(count) FROM dcpi_edges
		WHERE path = '$program' AND to_path = path AND kind = 'branch'
		GROUP BY from_offset, to_offset" | tr '|' ' ' |
		awk 'NR == FNR { if ($4 > 0) happened[$2 " " $3] = 1; next }
			{ total += $3 }
			($1 " " $2) in happened { right += $3 }
			END { print right + 0, total + 0 }' "$1" -
}

case $(uname -m) in
x86_64) qemu="qemu-x86_64" ;;
aarch64) qemu="qemu-aarch64" ;;
*) qemu=none ;;
esac
if ! command -v "$qemu" > /dev/null; then
	skip "edges of the perf source" "no $qemu"
	tap_done
	exit
fi
make --no-print-directory -s count-plugin || exit 2
"${CC:-gcc}" -O2 -g -o "$program" tests/programs/branches.c || exit 2
"$qemu" -plugin "$plugin,out=/dev/null,edges=$scratch/all" "$program" $rounds || exit 2
tests/truth/image_edges.sh "$program" "$scratch/all" > "$scratch/truth" || exit 2

if ! "$build/bin/dcpirun" -q --user --db "$db" -e cpu-clock:190000-210000 --branch-every 1 \
	"$program" $rounds 2> "$scratch/errors"; then
	skip "edges of the perf source" "$(cat "$scratch/errors")"
	tap_done
	exit
fi
tried=$(counter branches_tried)
yielded=$(counter branches_found)
found=$(counter edges)
read -r good all < <(right "$scratch/truth")
check "there are edges ($found, of $yielded of $tried samples)" [ "$found" -gt 100 ]
check "at least 70 per cent of the samples yield one" [ $((yielded * 10)) -ge $((tried * 7)) ]
check "999 of 1000 are edges that the program takes ($good of $all)" \
	[ $((good * 1000)) -ge $((all * 999)) ]
is "all are handed over, and in the database or accounted for" \
	"$(counter edges_handed) $(query "SELECT sum(count) FROM dcpi_edges")" \
	"$found $((found - $(counter edges_unknown) - $(counter edges_memory)))"
# What is judged so must be able to fail: the program's edges but one branch's.
sort -k 4nr "$scratch/truth" | awk '$1 == "conditional" && !from { from = $2 } $2 != from' \
	> "$scratch/less"
read -r less _ < <(right "$scratch/less")
check "a branch that never happened is noticed" [ $((less * 1000)) -lt $((all * 999)) ]
like "dcpiprof lists them" "$("$build/bin/dcpiprof" --db "$db" --by edge -n 3)" \
	'^ *[0-9]+ +branch +hot_'
figure edge_right "$good" "$all"
figure edge_yield "$yielded" "$tried"
tap_done
