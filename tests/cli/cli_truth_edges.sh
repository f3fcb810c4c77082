#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test the plugin that counts edges (tests/eval/truth/edge_counts.h) with a program whose edges are known
# in closed form, for x86-64 and arm64.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

plugin=build/tests/count_plugin.so
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
n=400
make --no-print-directory -s count-plugin || exit 2

# known: print "FROM TO COUNT" with the names of instructions, for N rounds in all
known()
{
	awk -v n="$1" '{ print $1, $2, $3 * n }' << 'END'
at_parity at_even 0.5
at_parity at_odd 0.5
at_inner_branch at_inner 2
at_inner_branch at_inner_end 1
at_switch at_case0 0.25
at_switch at_case1 0.25
at_switch at_case2 0.25
at_switch at_case3 0.25
at_case0 at_join 0.25
at_case1 at_join 0.25
at_case2 at_join 0.25
at_join at_callee 1
at_callee at_called 1
at_depth at_deeper 5
at_return at_recursed 1
END
}

# named FILE PROGRAM: print the edges between instructions with names, by these names
named()
{
	nm "$2" | awk '$3 ~ /^at_/ { print $1, $3 }' > "$scratch/symbols"
	# In a static program at a fixed address, the difference between offset and address is in
	# the program header.
	read -r offset address < <(readelf -lW "$2" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	while read -r at name; do
		printf '%x %s\n' $((0x$at - address + offset)) "$name"
	done < "$scratch/symbols" > "$scratch/offsets"
	awk 'NR == FNR { name[$1] = $2; next }
		($2 in name) && ($3 in name) { print name[$2], name[$3], $4, $5, $1 }' \
		"$scratch/offsets" "$1"
}

# of FROM TO: print its count and weight
of()
{
	awk -v from="$1" -v to="$2" '$1 == from && $2 == to { print $3, $4, $5 }' "$scratch/named"
}

counts_are_known()
{
	is "$1: all edges have their counts" "$(awk '
		NR == FNR { want[$1 " " $2] = $3; left++; next }
		($1 " " $2) in want { if ($3 == want[$1 " " $2]) left--; else print }
		END { print left }' <(known "$2") "$scratch/named")" 0
}

# one ARCH CC QEMU TARGET INSTRUCTIONS-THAT-LEAD-TO-THE-SWITCH: test one architecture
one()
{
	local arch=$1 cc=$2 program="$scratch/known.$1"

	if ! command -v "$3" > /dev/null || ! command -v "$cc" > /dev/null; then
		skip "$arch: edges" "no $3 or no $cc"
		return
	fi
	check "$arch: the program" "$cc" -O1 -static -no-pie -pthread -o "$program" \
		tests/eval/truth/known_edges.c tests/eval/truth/known_edges.S
	check "$arch: it runs" "$3" -plugin "$plugin,out=$scratch/counts,edges=$scratch/edges" \
		"$program" $n 1
	is "$arch: edges are exact" "$(head -n 1 "$scratch/edges")" "edges $4 exact"
	named "$scratch/edges" "$program" > "$scratch/named"
	counts_are_known "$arch" $n
	is "$arch: the loop goes back but once" "$(of at_loop_branch at_loop)" \
		"$((n - 1)) $(((n - 1) * 2)) conditional"
	is "$arch: and ends once" "$(of at_loop_branch at_loop_end)" "1 2 conditional"
	# The instructions that lead to the inner branch begin after the previous branch: in each
	# round, three or four instructions the first time, two the second time.
	is "$arch: weights count what leads to a branch" "$(of at_inner_branch at_inner |
		awk '{ print $2, $3 }')" "$((n * 3 / 2 + n * 4 / 2 + n * 2)) conditional"
	is "$arch: switch" "$(of at_switch at_case2)" "$((n / 4)) $((n * $5 / 4)) indirect"
	is "$arch: a direct jump" "$(of at_case1 at_join | awk '{ print $1, $3 }')" "$((n / 4)) direct"

	"$3" -plugin "$plugin,out=$scratch/counts,edges=$scratch/edges" "$program" $n 4
	is "$arch: threads are refused" "$(head -n 1 "$scratch/edges")" "edges $4 racy"
	"$3" -plugin "$plugin,out=$scratch/counts,edges=$scratch/edges,threads=on" "$program" $n 4
	is "$arch: unless asked for" "$(head -n 1 "$scratch/edges")" "edges $4 exact"
	named "$scratch/edges" "$program" > "$scratch/named"
	counts_are_known "$arch, four threads" $((4 * n))
}

one x86-64 gcc qemu-x86_64 x86_64 4
one arm64 aarch64-linux-gnu-gcc qemu-aarch64 aarch64 5
tap_done
