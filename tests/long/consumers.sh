#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test exports with the programs that read them: pprof, BOLT, AutoFDO's converter, llvm-profgen and
# clang. Speedups are reported, not tested: the script prints numbers of instructions.
#
#   LLVM_BOLT   folder of perf2bolt and llvm-bolt (default: the newest of /usr/lib/llvm-*)
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
source=docs/optimize/interpreter.c
bolt=${LLVM_BOLT:-$(dirname "$(find /usr/lib/llvm-*/bin/perf2bolt 2> /dev/null | sort -V | tail -n 1)")}
rounds=200000

# profiled NAME: run $scratch/NAME, and profile it in $scratch/NAME.db
profiled()
{
	"$bin/dcpirun" -q --branch-every 1 -e cpu-clock --user --db "$scratch/$1.db" \
		"$scratch/$1" "$rounds" > /dev/null
}

exported()
{
	"$bin/dcpiexport" --db "$scratch/$1.db" -i "$1" -f "$2" -o "$scratch/$1.$2"
}

# instructions PROGRAM: print the user-mode instructions of a short run
instructions()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" 2000 2>&1 > /dev/null |
		sed -n 's/.*I *refs: *//p' | tr -d ,
}

# told() LABEL BEFORE AFTER: print the instructions of two programs with the same output
told()
{
	local before after

	is "$1: the program still does what it did" "$("$3" 20000)" "$("$2" 20000)"
	before=$(instructions "$2")
	after=$(instructions "$3")
	printf '# %s: %s instructions before, %s after\n' "$1" "$before" "$after"
}

# pprof itself, from Debian's sources.
pprof=build/cache/pprof
[ -x "$pprof" ] || GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$scratch/go \
	go build -o "$pprof" github.com/google/pprof
check "a database is made" "$helpers/make_golden_db" "$scratch/golden.db"
check "pprof: a profile is written" "$bin/dcpiexport" --db "$scratch/golden.db" --epoch 1 \
	-o "$scratch/golden.pb.gz"
is "pprof: procedures have the samples that dcpiprof lists" \
	"$("$pprof" -top -unit=count -nodefraction=0 -nodecount=100000 \
		-sample_index=cycles_samples "$scratch/golden.pb.gz" 2> /dev/null |
		awk 'rows { print $6, $1 } /flat%/ { rows = 1 }' | sort)" \
	"$("$bin/dcpiprof" --db "$scratch/golden.db" --epoch 1 -e cycles --csv |
		awk -F, 'NR > 1 && $1 > 0 { print $4, $1 }' | tr '<>' '[]' | sort)"

# BOLT reorders blocks by estimated edges.
check "BOLT: a program is built" gcc -O2 -g -Wl,-q -fno-reorder-blocks-and-partition \
	-o "$scratch/bolted" "$source"
check "BOLT: it is profiled" profiled bolted
check "BOLT: the profile is written" exported bolted bolt
"$bolt/perf2bolt" -pa -p "$scratch/bolted.bolt" -o "$scratch/bolted.fdata" "$scratch/bolted" \
	> "$scratch/log" 2>&1
is "BOLT: perf2bolt takes each line" "$(grep -oE 'read [0-9]+ aggregated' "$scratch/log")" \
	"read $(wc -l < "$scratch/bolted.bolt") aggregated"
like "BOLT: and finds all of it in the program" "$(cat "$scratch/log")" \
	'mismatching disassembled function contents: 0 '
check "BOLT: the program is rewritten" "$bolt/llvm-bolt" "$scratch/bolted" \
	-o "$scratch/bolted.new" -data="$scratch/bolted.fdata" -reorder-blocks=ext-tsp \
	-reorder-functions=hfsort -split-functions -split-all-cold
told BOLT "$scratch/bolted" "$scratch/bolted.new"

# AutoFDO reads the text, and the counts are at the right procedures.
check "AutoFDO: a program is built" gcc -O2 -g -gdwarf-4 -o "$scratch/fdo" "$source"
check "AutoFDO: it is profiled" profiled fdo
check "AutoFDO: the profile is written" exported fdo autofdo
create_gcov --profiler=text --profile="$scratch/fdo.autofdo" --binary="$scratch/fdo" \
	--gcov="$scratch/fdo.gcov" --gcov_version=2 2> /dev/null
is "AutoFDO: create_gcov finds the procedures" \
	"$(dump_gcov "$scratch/fdo.gcov" --gcov_version=2 2> /dev/null |
		grep -oE '^(main|push|pop) total:[1-9]' | cut -d' ' -f1 | sort | tr '\n' ' ')" \
	"main pop push "
tap_done
