#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test the simulated machines (tests/eval/truth/sim_plugin.c) with code whose cycles are known in closed
# form (tests/eval/truth/sim_micro.S), and compare them with the plugin that only counts.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

plugin=build/tests/sim_plugin.so
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
make --no-print-directory -s sim-plugin count-plugin || exit 2

# of NAME COLUMN...: print numbers of an instruction, by the names of columns
of()
{
	awk -v name="$1" -v columns="${*:2}" '
		NR == FNR { at[$3] = $1; sub(/^0+/, "", at[$3]); next }
		/^causes|^events/ { for (i = 2; i <= NF; i++) column[++total] = $i }
		$1 == "i" && $3 == at[name] {
			value["executed"] = $4
			for (i = 1; i <= total; i++)
				value[column[i]] = $(4 + i)
		}
		END {
			n = split(columns, wanted, " ")
			for (i = 1; i <= n; i++)
				printf "%s%s", value[wanted[i]], i < n ? " " : "\n"
		}' "$scratch/symbols" "$scratch/sim"
}

# between LOW HIGH NUMBER: return true if the number is in this range
between()
{
	[ "$3" -ge "$1" ] && [ "$3" -le "$2" ]
}

# run_micro SUFFIX QEMU OPTIONS: simulate the program
run_micro()
{
	"$2" -plugin "$plugin,out=$scratch/sim,edges=$scratch/edges$3" "$scratch/micro.$1"
}

pipeline()
{
	is "$1: dependent instructions issue one a cycle" \
		"$(of at_dependent2 issue slot ra) $(of at_dependent7 issue slot ra)" "1000 0 0 1000 0 0"
	is "$1: independent ones in pairs" "$(of at_first3 issue) $(of at_second3 issue slot)" \
		"1000 0 0"
	is "$1: a loaded value is waited for" "$(of at_load_use issue ra)" "1000 $((1000 * $2))"
	is "$1: a product too" "$(of at_multiply_use issue ra)" "1000 $((1000 * $3))"
	is "$1: branches are mispredicted as their counters have it" \
		"$(of at_alternate executed branchmp)" "1000 500"
	is "$1: what is behind pays for it" "$(of at_taken issue branch) $(of at_not_taken branch)" \
		"500 $((500 * $4)) 0"
}

alpha()
{
	run_micro alpha qemu-alpha ,write_l2=50
	is "alpha: exact" "$(head -n 1 "$scratch/sim")" "sim alpha alpha21164 exact"
	pipeline alpha 1 11 5
	is "alpha: the multiplier is busy" "$(of at_multiply_again issue imul)" "1000 7000"
	is "alpha: two stores don't go together" "$(of at_second_store issue slot)" "0 1000"
	is "alpha: a comparison and its branch do" "$(of at_test executed issue slot ra)" "1000 0 0 0"
	# One of the lines was loaded before.
	is "alpha: each line of a walk through more than L1D misses" "$(of at_walk_far dmiss)" \
		$((100 * 2048 - 1))
	is "alpha: of less than L1D, once" "$(of at_walk_near dmiss)" 128
	# 8 of the 100 pages were known.
	is "alpha: 100 pages don't fit a DTB of 64" "$(of at_walk_pages dtbmiss dtb)" \
		"$((20 * 100 - 8)) $((40 * (20 * 100 - 8)))"
	is "alpha: code larger than L1I misses all the time" "$(of at_code imiss)" 10
	# 20480 stores take 50 cycles each, except 512 / 2 misses with other times.
	check "alpha: the write buffer decides how fast stores are" between 940000 1000000 \
		"$(of at_store write_buffer)"
	run_micro alpha qemu-alpha ,l1d.bytes=131072,dtb_entries=128,latency.load=5,mispredict=9
	is "alpha: a larger L1D misses once" "$(of at_walk_far dmiss)" 2047
	is "alpha: a larger DTB too" "$(of at_walk_pages dtbmiss)" 92
	pipeline "alpha, changed" 4 11 9
}

arm64()
{
	run_micro arm64 qemu-aarch64 ,history=0,write_l1=50
	is "arm64: exact" "$(head -n 1 "$scratch/sim")" "sim aarch64 cortex-a53 exact"
	pipeline arm64 1 1 7
	is "arm64: one store a cycle" "$(of at_second_store issue slot)" "0 1000"
	# Lines have 64 bytes, and loads are 32 bytes apart.
	is "arm64: each line of a walk through more than L1D misses" "$(of at_walk_far dmiss)" \
		$((100 * 1024 - 1))
	is "arm64: of less than L1D, once" "$(of at_walk_near dmiss)" 64
	check "arm64: the write buffer decides how fast stores are" between 940000 1030000 \
		"$(of at_store write_buffer)"
	run_micro arm64 qemu-aarch64 ""
	check "arm64: history learns a pattern" between 0 60 "$(of at_alternate branchmp)"
}

# samplers SUFFIX QEMU: test that budgets are kept, and that samples are proportional to cycles
samplers()
{
	run_micro "$1" "$2" ,budget=20000:1,budget=20000:2,sample=62000:3
	awk '$1 == "sampler" { print $5 }' "$scratch/sim" > "$scratch/taken"
	check "$1: a budget is kept" between 19400 20600 "$(sed -n 1p "$scratch/taken")"
	check "$1: a period too" between 60000 64000 "$(awk '$1 == "totals" { cycles = $3 }
		$1 == "sampler" && $4 == 3 { printf "%d", cycles / $5 }' "$scratch/sim")"
	is "$1: all samples are at instructions, skidded or not" "$(awk '
		$1 == "s" { s += $2 + $3 + $4 } $1 == "k" { k += $2 + $3 + $4 }
		$1 == "sampler" { total += $5 } END { print total - s, (total - k) ^ 2 < 500 ^ 2 }' \
		"$scratch/sim")" "0 1"
	# 1 would be a standard deviation of each instruction's share.
	check "$1: as many as there are cycles" between 0 400 "$(awk '
		$1 == "totals" { cycles = $3 }
		$1 == "i" { mine = 0; for (i = 5; i < NF - 4; i++) mine += $i }
		$1 == "s" { want = mine / cycles * 20000
			if (want > 50) { sum += ($2 - want) ^ 2 / want; n++ } }
		END { printf "%d", n ? 100 * sum / n : 1000 }' "$scratch/sim")"
	is "$1: and not twice the same" "$(awk '$1 == "s" && $2 != $3 { differ = 1 }
		END { print differ + 0 }' "$scratch/sim")" 1
}

# counted SUFFIX QEMU: test that executions and edges equal those of count_plugin.c
counted()
{
	"$2" -plugin "build/tests/count_plugin.so,out=$scratch/counts,edges=$scratch/counted" \
		"$scratch/micro.$1"
	is "$1: executions are what they are" \
		"$(awk '$1 == "i" { print $2, $3, $4 }' "$scratch/sim" | sha1sum)" \
		"$(awk 'NF == 4 && $4 > 0 && $1 != "counts" { print $1, $2, $4 }' "$scratch/counts" |
			sha1sum)"
	is "$1: edges too" "$(sort "$scratch/edges" | sha1sum)" "$(sort "$scratch/counted" | sha1sum)"
}

# one SUFFIX CC QEMU: test one architecture
one()
{
	if ! command -v "$3" > /dev/null || ! command -v "$2" > /dev/null; then
		skip "$1: simulated" "no $3 or no $2"
		return
	fi
	check "$1: the program" "$2" -static -nostdlib -o "$scratch/micro.$1" tests/eval/truth/sim_micro.S
	readelf -sW "$scratch/micro.$1" | awk '$8 ~ /^at_/ { print $2, $3, $8 }' > "$scratch/symbols"
	"$1"
	samplers "$1" "$3"
	counted "$1" "$3"
}

one alpha alpha-linux-gnu-gcc-12 qemu-alpha
one arm64 aarch64-linux-gnu-gcc qemu-aarch64

bad()
{
	"qemu-aarch64" -plugin "$plugin,out=$scratch/x$1" "$scratch/micro.arm64" 2>&1 |
		grep -c '^sim_plugin: '
}
is "no machine of that name" "$(bad ,machine=vax)" 1
is "no machine of that target" "$(bad ,machine=alpha21164)" 1
is "no such number" "$(bad ,l9.bytes=1)" 1
is "no cache of that size" "$(bad ,l1d.bytes=10000)" 1
is "no sampler without a period" "$(bad ,sample=0:1)" 1
tap_done
