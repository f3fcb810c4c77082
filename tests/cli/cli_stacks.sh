#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Sampled call stacks: from a program with known calls to reports and exports.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${DCPI_BUILD:-build}
[ "${build#/}" != "$build" ] || build=$top/$build
bin=$build/bin
. "$top/tests/lib/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

cat > "$work/calls.c" << 'C'
#include <time.h>
static volatile unsigned long sink;
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void spin(int n) { for (int i = 0; i < n * 1000; i++) sink += i; }
NOINLINE void often(void) { spin(30); sink++; }
NOINLINE void rarely(void) { spin(10); sink++; }
NOINLINE void recurse(int n) { if (n > 0) recurse(n - 1); else spin(20); sink++; }
int main(void)
{
	while (clock() < 2 * CLOCKS_PER_SEC) {
		often();
		rarely();
		recurse(60);
	}
}
C
gcc -O1 -fomit-frame-pointer -o "$work/calls" "$work/calls.c" || exit 1

# The bound of the cost would lengthen the periods.
"$bin/dcpirun" -q --db "$work/a.db" --overhead 100 --probes 0 -e cpu-clock:900000-1100000 \
	--stack-every 2 "$work/calls" > "$work/log" 2>&1
is "a program is sampled" "$?" 0

counter()
{
	sqlite3 "$work/a.db" "SELECT ifnull(sum(count), 0) FROM counter WHERE counter_group = 'stat'
		AND name $1"
}

# excluded_are_stated DB: test the statements of reports of both excluded and other stacks
excluded_are_stated()
{
	local name=${1##*/} some all

	"$bin/dcpiprof" --db "$1" --inclusive --json > "$work/some.json"
	some=$(jq .profiler_stacks "$work/some.json")
	all=$("$bin/dcpiprof" --db "$1" --inclusive --include-profiler --json | jq .totals.stacks)
	is "$name: the stacks listed and excluded are all stacks" \
		"$(jq '.totals.stacks + .profiler_stacks' "$work/some.json")" "$all"
	is "$name: no samples are said to be excluded" "$(jq .profiler_samples "$work/some.json")" null
	like "$name: the report names the option" "$("$bin/dcpiprof" --db "$1" --inclusive)" \
		"^profiler    $some call stacks, [0-9]?[0-9]\\.[0-9][0-9]%, of profiling itself: excluded \\(--include-profiler includes them\\)$"
	like "$name: an export names the number" \
		"$("$bin/dcpiexport" --stacks -f flamegraph --db "$1")" \
		">call stacks; $some of the profiler are excluded<"
}

# Stacks with a frame of the profiler: a program with its name stands for it.
# It is another image than the program above, with a build-id that elfutils finds only in its segment.
gcc -O1 -fomit-frame-pointer -Wl,--build-id=0x5ac5 -o "$work/dcpid" "$work/calls.c" || exit 1
"$bin/dcpirun" -q --db "$work/own.db" --overhead 100 --probes 0 -e cpu-clock:900000-1100000 \
	--stack-every 2 "$work/dcpid" > "$work/log" 2>&1
if [ "$(sqlite3 "$work/own.db" "SELECT sum(count) FROM counter WHERE name = 'stacks'")" -lt 100 ]; then
	not_measured "stacks of the profiler" "the kernel took too few stacks"
else
	is "stacks of the profiler are excluded" \
		"$("$bin/dcpiprof" --db "$work/own.db" --inclusive 2> /dev/null | grep -c ' recurse ')" 0
	is "stacks of the profiler on request" \
		"$("$bin/dcpiprof" --db "$work/own.db" --inclusive --include-profiler | grep -c ' recurse ')" 1
	all=$("$bin/dcpiprof" --db "$work/own.db" --inclusive --include-profiler --json | jq .totals.stacks)
	is "--include-profiler: all stacks are listed" "$all" \
		"$(sqlite3 "$work/own.db" "SELECT sum(CASE name WHEN 'stacks' THEN count ELSE -count END)
			FROM counter WHERE name IN ('stacks', 'stacks_memory')")"
	# All stacks of the process are the profiler's, also those of the dynamic loader at its start.
	refused_report=$("$bin/dcpiprof" --db "$work/own.db" --inclusive 2>&1)
	is "no stack of its process is listed" "$refused_report" \
		"dcpiprof: no call stacks except those of the profiler; --include-profiler includes those of the profiler"
	cp "$work/a.db" "$work/both.db"
	"$bin/dcpictl" --db "$work/both.db" merge "$work/own.db" > "$work/log" 2>&1
	is "the databases are merged" "$?" 0
	is "own: an export names the option" "$("$bin/dcpiexport" --stacks -f folded --db "$work/own.db" 2>&1)" \
		"dcpiexport: all call stacks are of the profiler: use --include-profiler to export them"
	excluded_are_stated "$work/both.db"
	like "a procedure of the profiler: the message names the option" "$("$bin/dcpiprof" \
		--db "$work/own.db" --callers recurse 2>&1)" \
		"no sampled stack has a procedure 'recurse'.*; --include-profiler includes"
	is "samples listed and excluded are all samples" "$("$bin/dcpiprof" --db "$work/own.db" --json \
		--include-profiler | jq '.samples == ([.rows[]["cpu-clock"]] | add)') $("$bin/dcpiprof" \
		--db "$work/own.db" --json | jq '.samples == .profiler_samples + ([.rows[] |
			select(.["cpu-clock_percent"] != null)["cpu-clock"]] | add // 0)')" "true true"
fi

stacks=$(counter "= 'stacks'")
if [ "$stacks" -lt 100 ]; then
	not_measured "stacks" "the kernel took only $stacks stacks"
	tap_done
	exit
fi
is "each stack has an end" "$(counter "IN ('stacks_complete', 'stacks_short', 'stacks_unreadable',
	'stacks_other_stack', 'stacks_no_table', 'stacks_no_rule', 'stacks_expression',
	'stacks_register', 'stacks_bad_frame', 'stacks_bad_address', 'stacks_frames',
	'stacks_no_registers', 'stacks_waiting')")" "$stacks"
complete=$(counter "= 'stacks_complete'")
check "97% of the stacks are complete ($complete of $stacks)" \
	[ $((complete * 100)) -ge $((stacks * 97)) ]

# field COLUMN PROCEDURE OPTION...: print a value of a procedure
field()
{
	local column=$1 procedure=$2

	shift 2
	"$bin/dcpiprof" --csv --db "$work/a.db" "$@" | awk -F, -v column="$column" \
		-v procedure="$procedure" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["procedure"] == procedure { print $at[column] }'
}

# near NAME VALUE LOW HIGH
near()
{
	check "$1: $2 is in $3..$4" awk -v x="$2" -v low="$3" -v high="$4" \
		'BEGIN { exit !(x != "" && x >= low && x <= high) }'
}

near "main has nearly everything" "$(field total_percent main --inclusive)" 95 100
near "spin: itself" "$(field self_percent spin --inclusive)" 75 100
near "a recursive procedure counts once for each stack" \
	"$(field total_percent recurse --inclusive)" 20 50
near "callers: often" "$(field total_percent often --callers spin)" 38 62
near "callers: rarely" "$(field total_percent rarely --callers spin)" 8 27
near "callees of often" "$(field total_percent spin --callees often)" 95 100

# Shares of procedures, against those of all samples: within five standard errors. The numbers
# differ more: on a virtual machine that others interrupt, short periods lose more than long ones.
flat=$("$bin/dcpiprof" --csv --db "$work/a.db" | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["procedure"] == "spin" { print $at["cpu-clock_percent"] }')
check "the share of spin is that of its samples ($flat%)" awk -v a="$flat" -v n="$stacks" \
	-v b="$(field self_percent spin --inclusive)" 'BEGIN { a /= 100; b /= 100
		exit !(n * (a - b) ^ 2 <= 25 * 2 * a * (1 - a)) }'
near "stacks stand for about as many samples as there are" "$(awk -v a="$(field total main \
	--inclusive)" -v b="$(sqlite3 "$work/a.db" "SELECT sum(samples) FROM profile")" \
	'BEGIN { print a / b }')" 0.6 1.6

# dcpicalc states the callers; a caller's share has an interval, and recursion adds nothing.
called=$("$bin/dcpicalc" --db "$work/a.db" -n 1 spin | sed -n 's/^called by *//p')
like "dcpicalc: callers of spin" "$called" \
	'^(often|recurse) [0-9.]+% \([0-9.]+ to [0-9.]+\); (often|recurse) .*; rarely '
near "dcpicalc: often" "$(grep -oE 'often [0-9.]+' <<< "$called" | cut -d' ' -f2)" 38 62
# shellcheck disable=SC2016 # a program of awk
check "dcpicalc: shares are in their intervals, and add up to 100%" awk '{
	gsub(/[^0-9. ]/, " ")
	for (i = 1; i < NF; i += 3) { sum += $i; bad += $i < $(i + 1) || $i > $(i + 2) }
	exit !(sum > 99.7 && sum < 100.3 && bad == 0) }' <<< "$called"
"$bin/dcpicalc" --db "$work/a.db" --json spin > "$work/spin.json"
is "dcpicalc --json: valid" "$(python3 "$top/tests/lib/dcpicalc_schema.py" "$work/spin.json")" ""
is "dcpicalc --json: the same callers" "$(python3 -c '
import json, sys
callers = json.load(open(sys.argv[1]))["callers"]["list"]
print("; ".join("%s %.1f%% (%.1f to %.1f)" % (c["procedure"], 100 * c["share"],
	100 * c["share_low"], 100 * c["share_high"]) for c in callers))' "$work/spin.json")" "$called"
is "dcpicalc --json --all: no callers" "$("$bin/dcpicalc" --db "$work/a.db" --json --all -i calls |
	grep -c '"callers"')" 0
# Few samples, perhaps none, are in the procedure itself.
if "$bin/dcpicalc" --db "$work/a.db" -n 1 recurse > "$work/recurse" 2>&1; then
	is "dcpicalc: a recursive procedure is not its own caller" \
		"$(sed -n 's/^called by *\([a-z]*\) .*/\1/p' "$work/recurse")" main
else
	not_measured "dcpicalc: callers of a recursive procedure" "$(tail -n 1 "$work/recurse")"
fi

tree=$("$bin/dcpiprof" --db "$work/a.db" --tree)
check "the tree has 61 frames of the recursion" \
	[ "$(grep -c ' recurse ' <<< "$tree")" -ge 61 ]
"$bin/dcpiprof" --json --db "$work/a.db" --inclusive > "$work/inclusive.json"
check "JSON: main is a row" grep -q '"procedure": "main"' "$work/inclusive.json"
"$bin/dcpiexport" --stacks -f folded --db "$work/a.db" > "$work/folded"
check "folded: complete stacks" grep -qE '^_start;.*;main;often;spin [0-9]+$' "$work/folded"
"$bin/dcpiexport" --stacks -f flamegraph --db "$work/a.db" > "$work/flame.svg"
check "a flame graph" xmllint --noout "$work/flame.svg"
"$bin/dcpiexport" --stacks -f speedscope --db "$work/a.db" > "$work/speedscope.json"
check "speedscope: valid JSON" /usr/bin/python3 -m json.tool "$work/speedscope.json" /dev/null
"$bin/dcpiexport" --stacks -f pprof --db "$work/a.db" -o "$work/pprof.gz"
check "pprof: gzip" gzip -t "$work/pprof.gz"

# Inlined functions: known calls. Stacks that end in the kernel, or in clock(), are counted, too.
cat > "$work/inlines.c" << 'C'
#include <time.h>
static volatile unsigned long sink;
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void leaf(int n) { for (int i = 0; i < n * 1000; i++) sink += i; }
INLINE void inner(int n) { for (int i = 0; i < n * 1000; i++) sink += i; }
INLINE void middle(int n) { inner(n); }
INLINE void wrapper(int n) { leaf(n); sink++; }
NOINLINE void outer(void) { middle(30); wrapper(10); sink++; }
int main(void)
{
	while (clock() < CLOCKS_PER_SEC)
		outer();
}
C
gcc -g -O2 -fomit-frame-pointer -o "$work/inlines" "$work/inlines.c" || exit 1
"$bin/dcpirun" -q --db "$work/inlines.db" --overhead 100 --probes 0 -e cpu-clock:900000-1100000 \
	--stack-every 2 "$work/inlines" > "$work/log" 2>&1
if [ "$(sqlite3 "$work/inlines.db" "SELECT sum(count) FROM counter WHERE name = 'stacks'")" -lt 100 ]; then
	not_measured "inlined functions" "the kernel took too few stacks"
else
	"$bin/dcpiexport" --stacks --inline -f folded --db "$work/inlines.db" > "$work/folded"
	check "inlined functions are between their callers and callees" \
		grep -qE ';main;outer;wrapper \[inlined\];leaf(;| )' "$work/folded"
	# shellcheck disable=SC2016 # a program of awk
	check "code of inlined functions is theirs" awk '
		/;outer;middle \[inlined\];inner \[inlined\]/ { inlined += $NF }
		/;outer(;middle \[inlined\])? [0-9]+$/ { other += $NF }
		END { exit !(inlined > 10 * other) }' "$work/folded"
	# callers_of PROCEDURE OPTION...: print the procedures that call it
	callers_of()
	{
		local procedure=$1

		shift
		"$bin/dcpiprof" --csv --db "$work/inlines.db" --callers "$procedure" "$@" |
			awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
				{ print $at["procedure"] }'
	}
	is "each call of leaf is by the inlined function" \
		"$(callers_of leaf --inline)" "wrapper [inlined]"
	is "an inlined function is named without its mark" \
		"$(callers_of inner --inline)" "middle [inlined]"
	is "without --inline they are part of their callers" \
		"$(callers_of leaf)" "outer"
	is "inlined functions do not change the number of samples" \
		"$("$bin/dcpiexport" --stacks --inline -f folded --db "$work/inlines.db" |
			awk '{ n += $NF } END { print n }')" \
		"$("$bin/dcpiexport" --stacks -f folded --db "$work/inlines.db" |
			awk '{ n += $NF } END { print n }')"
fi

# Refusals.
"$bin/dcpiprof" --db "$work/a.db" --inline > "$work/log" 2>&1
is "dcpiprof: --inline without stacks" "$? $(cat "$work/log")" \
	"2 dcpiprof: --inline needs --inclusive, --callers, --callees or --tree"
"$bin/dcpiexport" --db "$work/a.db" --inline > "$work/log" 2>&1
is "dcpiexport: --inline without stacks" "$? $(cat "$work/log")" \
	"2 dcpiexport: --inline needs --stacks"
"$bin/dcpiprof" --db "$work/a.db" --callers nonesuch > "$work/log" 2>&1
is "an unknown procedure" "$? $(cat "$work/log")" \
	"2 dcpiprof: no sampled stack has a procedure 'nonesuch'"
"$bin/dcpirun" -q --db "$work/none.db" --stack-every 0 "$work/calls" > /dev/null 2>&1
"$bin/dcpiprof" --db "$work/none.db" --inclusive > "$work/log" 2>&1
is "no stacks" "$? $(grep -c 'no call stacks' "$work/log")" "1 1"
tap_done
