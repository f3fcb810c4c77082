#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure how much of the gain of instrumented profiles our samples reach, without branch records of
# the hardware. Each program is built from Debian's sources. BOLT and clang (AutoFDO) optimise it by
# a profile of one workload; another workload is measured by cachegrind and QEMU. Prints lines of
# tests/eval/bench/bench.h. The profiles:
#
#   dcpi   dcpirun, event cpu-clock
#   perf   perf record, event cpu-clock, without branch records, about as many samples
#   instr  instrumentation: llvm-bolt -instrument, clang -fprofile-generate
#
#   tests/eval/optimize/optimize.sh [PROGRAM]...    default: all of $programs
#
# The cost is a simple model of cycles: 0.25 per instruction, 1 per taken branch of
# the program, 10 per miss of the L1 I-cache, 15 per mispredicted branch. optimizer_gain_share is the
# sum of the gains by our samples, divided by the sum of the instrumented gains, over the programs
# whose instrumented gain is 5% or more. LLVM is the folder of clang 19. WORK
# keeps all files, and programs that were built there are not built again.
set -u -o pipefail
cd "$(dirname "$0")/../../.." || exit 2
programs=(interpreter bzip2 minisat mujs lua tcc zstd)
llvm=${LLVM:-/usr/lib/llvm-19/bin}
bin=$PWD/build/bin
here=$PWD/tests/eval/optimize
if [ -n "${WORK:-}" ]; then
	work=$WORK
	mkdir -p "$work" || exit 2
else
	work=$(mktemp -d) || exit 2
	trap 'rm -rf "$work"' EXIT
fi
finished=variants.made
work=$(realpath "$work")
# shellcheck disable=SC2054 # a comma of the option
flags=(-O2 -w -gdwarf-4 -gline-tables-only -fdebug-info-for-profiling -fno-pie -no-pie -fuse-ld=lld
	-Wl,--emit-relocs)
layout=(-reorder-blocks=ext-tsp -reorder-functions=hfsort -split-functions -split-all-cold)

say()
{
	echo "optimize: $*" >&2
}

# source_of PACKAGE: print the folder of a package's sources
source_of()
{
	local package=$1 apt=$work/apt options

	if [ ! -e "$work/src/$package" ]; then
		mkdir -p "$apt/lists/partial" "$work/src/$package"
		# shellcheck disable=SC2016 # variables of apt-get
		apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
			'Created-By: Packages' | sort -u > "$apt/list"
		options=(-qq -o Dir::Etc::sourcelist="$apt/list" -o Dir::Etc::sourceparts="$apt/none"
			-o Dir::State::lists="$apt/lists")
		[ -e "$apt/updated" ] || apt-get "${options[@]}" update >&2 || return 1
		: > "$apt/updated"
		(cd "$work/src/$package" && apt-get "${options[@]}" source "$package" >&2) || return 1
	fi
	find "$work/src/$package" -mindepth 1 -maxdepth 1 -type d
}

# build PROGRAM OUTPUT FLAG...: build a program with additional flags
build()
{
	local program=$1 output=$2 s=$source
	local cc=("$llvm/clang" "${flags[@]}" "${@:3}" -o "$output")

	case $program in
	interpreter) "${cc[@]}" docs/optimize/interpreter.c ;;
	bzip2) "${cc[@]}" "$s"/{blocksort,huffman,crctable,randtable,compress,decompress,bzlib,bzip2}.c ;;
	lua)
		echo '#define DEB_HOST_MULTIARCH "lib"' > "$s/src/lua5.4-deb-multiarch.h"
		rm -f "$s/src/luac.c"
		"${cc[@]}" -DLUA_COMPAT_5_3 -DLUA_USE_JUMPTABLE=0 "$s"/src/*.c -lm
		;;
	minisat)
		cc[0]=$llvm/clang++
		"${cc[@]}" -Wno-everything -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS -I"$s" \
			"$s"/minisat/core/{Main,Solver}.cc "$s"/minisat/utils/*.cc -lz
		;;
	mujs) "${cc[@]}" "$s"/{one,main}.c -lm ;;
	tcc)
		[ -e "$s/config.h" ] || (cd "$s" && ./configure) > /dev/null || return 1
		"${cc[@]}" -DONE_SOURCE=1 -I"$s" "$s/tcc.c" -ldl -lm -lpthread
		;;
	zstd)
		"${cc[@]}" -DZSTD_LEGACY_SUPPORT=0 -DZSTD_DISABLE_ASM -DBACKTRACE_ENABLE=0 -I"$s/lib" \
			-I"$s/lib/common" "$s"/lib/{common,compress,decompress,dictBuilder}/*.c \
			"$s"/programs/*.c -lpthread
		;;
	esac
}

package_of()
{
	case $1 in
	lua) echo lua5.4 ;;
	minisat) echo minisat2 ;;
	zstd) echo libzstd ;;
	*) echo "$1" ;;
	esac
}

# formula SEED VARIABLES: print a satisfiability problem, which is always the same
formula()
{
	awk -v seed="$1" -v variables="$2" '
		function literal() {
			return (rand() < 0.5 ? "-" : "") 1 + int(rand() * variables)
		}
		BEGIN {
			srand(seed)
			clauses = int(4.2 * variables)
			print "p cnf", variables, clauses
			for (i = 0; i < clauses; i++)
				print literal(), literal(), literal(), 0
		}'
}

# inputs: make the inputs of both workloads
inputs()
{
	cp "$here/workload.lua" "$here/workload.js" "$work/"
	find "$PWD/analysis" "$PWD/daemon" -name '*.c' | sort | head -n 150 | xargs cat > "$work/train.txt"
	find "$PWD/instrument" -name '*.c' | sort | head -n 40 | xargs cat > "$work/ref.txt"
	formula 4 240 > "$work/train.cnf"
	formula 7 160 > "$work/ref.cnf"
}

# workload PROGRAM train|ref: set $arguments
workload()
{
	local repeat

	case $1-$2 in
	interpreter-train) arguments=(100000) ;;
	interpreter-ref) arguments=(2000) ;;
	bzip2-train)
		arguments=(-kc9)
		for ((repeat = 0; repeat < 8; repeat++)); do arguments+=("$work/train.txt"); done
		;;
	bzip2-ref) arguments=(-kc5 "$work/ref.txt") ;;
	lua-train) arguments=("$work/workload.lua" 200) ;;
	lua-ref) arguments=("$work/workload.lua" 3) ;;
	minisat-train) arguments=(-verb=0 "$work/train.cnf") ;;
	minisat-ref) arguments=(-verb=0 -cpu-lim=600 "$work/ref.cnf") ;;
	mujs-train) arguments=("$work/workload.js" 60) ;;
	mujs-ref) arguments=("$work/workload.js" 2) ;;
	zstd-train) arguments=(-b5e7 -i1 "$work/train.txt") ;;
	zstd-ref) arguments=(-6 -qkc "$work/ref.txt") ;;
	tcc-train)
		arguments=(-B"$source" -I"$source" -DONE_SOURCE=1 -E)
		for ((repeat = 0; repeat < 40; repeat++)); do arguments+=("$source/tcc.c"); done
		;;
	tcc-ref) arguments=(-B"$source" -I"$source" -E "$source/tccpp.c" "$source/tccgen.c") ;;
	esac
}

# train COMMAND...: run a command with the program's workload of the profiles
train()
{
	workload "$program" train
	# The status of minisat is its answer.
	"$@" "${arguments[@]}" > /dev/null 2>> log || [ "$program" = minisat ]
}

# perf_ranges: print the samples of perf.data in the format of llvm-profgen. The program has a fixed
# address.
perf_ranges()
{
	perf script -i perf.data -F ip,dso 2>> log | awk -v dso="($PWD/base)" '
		$2 == dso { count[$1]++ }
		END {
			for (address in count) { print address "-" address ":" count[address]; n++ }
			print n > "/dev/stderr"
		}' 2> ranges.count > ranges.list
	cat ranges.count
	sort ranges.list
	echo 0
}

profiles()
{
	train "$bin/dcpirun" -q --user -e cpu-clock --db dcpi.db ./base || return 1
	"$bin/dcpiexport" --db dcpi.db -i base -f bolt -o dcpi.bolt || return 1
	"$bin/dcpiexport" --db dcpi.db -i base -f profgen -o dcpi.ranges || return 1
	train perf record -q -e cpu-clock:u -c 1500000 -o perf.data ./base || return 1
	perf_ranges > perf.ranges
	train ./base.instr || return 1
	LLVM_PROFILE_FILE=$PWD/instr.profraw train ./base.generate || return 1
	"$llvm/llvm-profdata" merge instr.profraw -o instr.profdata || return 1
}

# optimise: build all variants
optimise()
{
	local kind

	"$llvm/llvm-bolt" base -o bolt.dcpi -pa -p dcpi.bolt "${layout[@]}" >> log 2>&1 || return 1
	"$llvm/llvm-bolt" base -o bolt.perf -nl -p perf.data "${layout[@]}" >> log 2>&1 || return 1
	"$llvm/llvm-bolt" base -o bolt.instr -data=instr.fdata "${layout[@]}" >> log 2>&1 || return 1
	for kind in dcpi perf; do
		"$llvm/llvm-profgen" --use-offset=0 --binary=base --unsymbolized-profile=$kind.ranges \
			--output=$kind.prof >> log 2>&1 || return 1
		(cd "$top" && build "$program" "$OLDPWD/clang.$kind" \
			-fprofile-sample-use="$OLDPWD/$kind.prof") >> log 2>&1 || return 1
	done
	(cd "$top" && build "$program" "$OLDPWD/clang.instr" \
		-fprofile-use="$OLDPWD/instr.profdata") >> log 2>&1
}

# cost VARIANT: print instructions, taken branches, I-cache misses, mispredictions, and the cost
cost()
{
	workload "$program" ref
	valgrind --tool=cachegrind --cache-sim=yes --branch-sim=yes --cachegrind-out-file="$1.cachegrind" \
		"./$1" "${arguments[@]}" > "$1.out" 2> "$1.log"
	qemu-x86_64 -cpu max -plugin "$top/build/tests/count_plugin.so,out=$1.counts,edges=$1.edges" \
		"./$1" "${arguments[@]}" > "$1.qemu" 2>> "$1.log"
	if ! cmp -s base.out "$1.out" || ! cmp -s base.out "$1.qemu"; then
		say "$program: the output of $1 differs"
		return 1
	fi
	awk -v taken="$("$here/taken_branches.py" "$PWD/$1" "$1.counts" "$1.edges")" '
		$1 == "events:" { for (i = 2; i <= NF; i++) column[$i] = i }
		$1 == "summary:" {
			n = $column["Ir"]
			miss = $column["I1mr"]
			wrong = $column["Bcm"] + $column["Bim"]
		}
		END {
			if (!(n > 0) || !(taken > 0))
				exit 1
			printf "%.0f %.0f %.0f %.0f %.0f\n", n, taken, miss, wrong,
				n / 4 + taken + 10 * miss + 15 * wrong
		}' "$1.cachegrind"
}

# variants: take the profiles, and build all variants
variants()
{
	: > log
	"$llvm/llvm-bolt" base -o base.instr -instrument -instrumentation-file="$PWD/instr.fdata" \
		>> log 2>&1 && profiles && optimise && : > "$finished" && return 0
	tail -n 3 log >&2
	return 1
}

measure_program()
{
	local top=$PWD variant

	mkdir -p "$work/$program" || return 1
	source=
	[ "$program" = interpreter ] || source=$(source_of "$(package_of "$program")") || return 1
	if [ ! -e "$work/$program/$finished" ]; then
		build "$program" "$work/$program/base" >&2 || return 1
		build "$program" "$work/$program/base.generate" -fprofile-generate >&2 || return 1
	fi
	cd "$work/$program" || return 1
	[ -e "$finished" ] || variants || return 1
	for variant in base bolt.{dcpi,perf,instr} clang.{dcpi,perf,instr}; do
		echo "$program $variant $(cost "$variant")" || return 1
	done
}

inputs
: > "$work/costs"
[ $# -eq 0 ] || programs=("$@")
[ -e build/tests/count_plugin.so ] || { say "make count-plugin first"; exit 2; }
for program in "${programs[@]}"; do
	say "$program"
	(measure_program) > "$work/$program.costs" || { say "$program: failed"; continue; }
	cat "$work/$program.costs" >> "$work/costs"
done
awk -f "$here/gains.awk" "$work/costs"
