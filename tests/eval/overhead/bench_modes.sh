#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bench_modes.sh [NAME]...: measure the cost of recording in dcpix's modes other than counts.
# Programs of Debian are compared with the originals, and lines of tests/eval/bench/bench.h are printed. For
# each program:
#
# - *_overhead_percent: CPU time. This is the median of ROUNDS (9) ratios of a rewritten run to the
#   mean of the original's runs just before and after. All kinds of a program alternate, so that a
#   temporarily slower processor affects both. The time is user and system time, since recording
#   allocates memory. Each run uses a new copy of the file: the location of its pages in memory is
#   fixed for the lifetime of a file and may change the time by six per cent. All runs are on the
#   CPU that is fastest at the start, as others may share execution units with another CPU. The
#   subject "again" is the original itself, the run after compared with the run before: it shows the
#   noise.
# - *_instructions_percent: instructions added to the process; these are reproducible.
# - image_percent: the share of instructions in the executable itself, which is rewritten; the rest
#   is in libraries.
#
# An emulator counts the instructions (make count-plugin), except with COUNTING=off. With ROUNDS=0
# no times are measured. SCALE (5) multiplies the work; each program has about the same amount. With
# SCALE=20 it takes half a second, so that page faults and the start of a recording, which takes
# milliseconds, do not matter. FIGURES (all) chooses modes: "paths bursts". The programs do most of
# their work themselves. The script fails if one of them cannot be measured.
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/lib/cpu_time.sh
dcpix=build/bin/dcpix
rounds=${ROUNDS:-9}
scale=${SCALE:-5}
figures=" ${FIGURES:-paths context calls bursts variation} "
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
# With random hash seeds the work would differ in each run.
export DCPIX_OUT=$work/record LC_ALL=C PYTHONHASHSEED=0 PERL_HASH_SEED=0
failed=0
[ -x $dcpix ] || {
	echo "bench_modes: cannot run '$dcpix'" >&2
	exit 2
}
counting=${COUNTING:-on}
[ "$counting" = off ] || make --no-print-directory -s count-plugin >&2 || exit 2

# not_measured NAME REASON: record that a program could not be measured
not_measured()
{
	echo "bench_modes: $1: $2" >&2
	failed=1
}

# Figure, subject, options. With that number of checks nothing is recorded: this is Hirzel and
# Chilimbi's basic overhead.
kinds=(
	"paths|frequency|--mode paths"
	"paths|frequency and cycles|--mode paths --metric cycles"
	"paths|frequency and all cycles|--mode paths --metric cycles --checks 0"
	"context|calls|--mode context --metric none"
	"context|cycles|--mode context"
	"calls|calls|--mode calls --metric none"
	"calls|cycles|--mode calls"
	"bursts|orig|--mode bursts --checks 2000000000 --checks-at orig"
	"bursts|EL|--mode bursts --checks 2000000000 --checks-at EL"
	"bursts|EC|--mode bursts --checks 2000000000 --checks-at EC"
	"bursts|EN|--mode bursts --checks 2000000000 --checks-at EN"
	"bursts|L4|--mode bursts --checks 2000000000 --checks-at L4"
	"bursts|L10|--mode bursts --checks 2000000000 --checks-at L10"
	"bursts|LN|--mode bursts --checks 2000000000 --checks-at LN"
	"bursts|EC+L4|--mode bursts --checks 2000000000 --checks-at EC+L4"
	"bursts|EC+L4, 1 of 100 recorded|--mode bursts"
	"variation|EC, 1 of 100000 timed|--mode variation"
)

# report NAME SUBJECT WORKLOAD VALUE UNIT: print a line of tests/eval/bench/bench.h
report()
{
	printf '{"name": "%s", "subject": "%s", "workload": "%s", "value": %s, "unit": "%s"}\n' "$@"
}

# above A B: print by how many per cent A exceeds B
above()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", 100 * (a / b - 1) }'
}

# count_all NAME OLD ARGUMENT...: set $plain, and report the executable's own share
count_all()
{
	local name=$1 old=$2

	plain=$(executed "${@:2}")
	[ "$plain" -gt 0 ] || return 1
	report image_percent program "$name" "$(awk -v image="$old" -v all="$plain" '
		/^image / { mine = $2 == image }
		NF == 4 && !/^image / && mine { sum += $4 }
		END { printf "%.1f", 100 * sum / all }' "$work/truth")" percent
}

# rewrite NAME OLD ARGUMENT...: rewrite the program for each selected kind, as $work/new.KIND, and
# list the kinds in $rewritten; reports instructions
rewrite()
{
	local name=$1 old=$2 number figure subject options new

	shift 2
	rewritten=()
	for number in "${!kinds[@]}"; do
		new=$work/new.$number
		IFS='|' read -r figure subject options <<< "${kinds[number]}"
		[[ $figures = *" $figure "* ]] || continue
		# shellcheck disable=SC2086 # words
		$dcpix -q $options -o "$new" "$old" || {
			not_measured "$name" "it cannot be rewritten with $options"
			continue
		}
		rewritten+=("$number")
		[ "$counting" = off ] || report "${figure}_instructions_percent" "$subject" "$name" \
			"$(above "$(executed "$new" "$@")" "$plain")" percent
		rm -f "$DCPIX_OUT".*
	done
}

# middle: print the median of the numbers on standard input
middle()
{
	sort -g | awk '{ n[NR] = $1 } END { print (n[int((NR + 1) / 2)] + n[int(NR / 2) + 1]) / 2 }'
}

# ratios KIND: print the ratio of each round to the mean of the original's runs before and after;
# for "again", the ratio of the run after to the run before
ratios()
{
	if [ "$1" = again ]; then
		paste "$work/alone" "$work/again" | awk '{ print $2 / $1 }'
	else
		paste "$work/alone" "$work/again" "$work/took.$1" | awk '{ print 2 * $3 / ($1 + $2) }'
	fi
}

# time_fresh FILE ARGUMENT...: print the CPU time of a new copy of the file
time_fresh()
{
	local file=$1

	shift
	rm -f "$work/fresh"
	cp "$file" "$work/fresh" || return
	cpu_time all "$work/fresh" "$@"
}

# choose_cpu OLD ARGUMENT...: move this script and its children to the CPU where the program is
# fastest
choose_cpu()
{
	local cpu took best=0 least=

	for cpu in $(seq 0 $(($(nproc --all) - 1))); do
		taskset -pc "$cpu" $$ > "$work/cpu" 2>&1 || continue
		took=$(for _ in 1 2 3; do time_fresh "$@"; done | sort -n | head -n 1)
		[ -n "$least" ] && [ "$took" -ge "$least" ] && continue
		best=$cpu least=$took
	done
	taskset -pc "$best" $$ > "$work/cpu" 2>&1
}

# time_all NAME OLD ARGUMENT...: time the program, all its rewritten versions, and the program
# again, alternately
time_all()
{
	local name=$1 old=$2 number figure subject options

	shift 2
	rm -f "$work/alone" "$work/again" "$work"/took.*
	choose_cpu "$old" "$@"
	for _ in $(seq "$rounds"); do
		time_fresh "$old" "$@" >> "$work/alone"
		for number in "${rewritten[@]}"; do
			time_fresh "$work/new.$number" "$@" >> "$work/took.$number"
			rm -f "$DCPIX_OUT".*
		done
		time_fresh "$old" "$@" >> "$work/again"
	done
	! grep -qx 0 "$work/alone" || {
		not_measured "$name" "it takes less than a millisecond"
		return
	}
	report again_overhead_percent "itself" "$name" "$(above "$(ratios again | middle)" 1)" percent
	for number in "${rewritten[@]}"; do
		IFS='|' read -r figure subject options <<< "${kinds[number]}"
		report "${figure}_overhead_percent" "$subject" "$name" \
			"$(above "$(ratios "$number" | middle)" 1)" percent
	done
}

# measure TIMES NAME PROGRAM ARGUMENT...: measure a program with TIMES times SCALE's work
measure()
{
	local times=$1 name=$2 old plain=0 rewritten=()

	[ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " = *" $name "* ]] || return
	if ! old=$(readlink -f "$(command -v "$3")"); then
		not_measured "$name" "there is no program '$3'"
		return
	fi
	shift 3
	inputs $((times * scale))
	[ "$counting" = off ] || count_all "$name" "$old" "$@" || {
		not_measured "$name" "the emulator counts no instructions"
		return
	}
	rewrite "$name" "$old" "$@"
	[ "$rounds" -eq 0 ] || time_all "$name" "$old" "$@"
}

# inputs WORK: make files and scripts for that amount of work
inputs()
{
	local amount=$1 cc1

	cc1=$(${CC:-gcc} -print-prog-name=cc1)
	while cat "$cc1"; do :; done 2> "$work/broken" | head -c $((400000 * amount)) > "$work/code"
	for _ in $(seq "$amount"); do
		cat docs/*.md
	done > "$work/text"
	cat > "$work/script.py" << END
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
seen = {}
for i in range($((10000 * amount))):
    seen[i % 997] = seen.get(i % 997, "") [-20:] + str(i)
print([fib(16) for i in range($amount)][0], len(seen), sorted(seen.values())[3])
END
	cat > "$work/script.lua" << END
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local seen = {}
for i = 1, $((10000 * amount)) do seen[i % 997] = string.sub((seen[i % 997] or "") .. i, -20) end
table.sort(seen)
for i = 1, $amount do fib(16) end
print(fib(16), #seen)
END
}

wanted=("$@")
# shellcheck disable=SC2016 # awk's
words='{ for (i = 1; i <= NF; i++) c[$i]++ } END { print NF, c["the"] }'
# shellcheck disable=SC2016 # their own
{
measure 2 gzip gzip -6c "$work/code"
measure 4 zstd zstd -q -6 -T1 --single-thread -c "$work/code"
measure 8 sha256sum sha256sum "$work/code" "$work/code" "$work/text" "$work/code"
measure 40 base64 base64 "$work/code"
measure 8 sort sort -k2 --parallel=1 "$work/text"
measure 8 mawk mawk "$words" "$work/text"
measure 6 gawk gawk "$words" "$work/text"
measure 6 perl perl -ne 'for (split) { $c{$_}++ } END { print map { "$_ $c{$_}\n" }
	sort { $c{$b} <=> $c{$a} } keys %c }' "$work/text"
measure 10 python3 /usr/bin/python3 -S "$work/script.py"
measure 10 lua lua5.4 "$work/script.lua"
measure 3 bash bash -c 'for ((i = 0; i < 4000 * $1; i++)); do n=$((n + i % 7)); s=${s:0:20}x; done
	echo $n' bash $((3 * scale))
measure 10 dash dash -c 'while [ ${i:-0} -lt $((2000 * $1)) ]; do n=$((n + 7)); s=x${s%??????}; i=$((i + 1)); done
	echo $n' dash $((10 * scale))
measure 16 git git diff --no-index --stat "$work/text" "$work/code"
}
exit $failed
