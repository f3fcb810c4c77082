#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpiexport: other tools read the same profile that dcpiprof lists. With UPDATE=1 golden
# output is written, not compared.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"
db=$scratch/golden.db

export_()
{
	"$bin/dcpiexport" --db "$db" "$@"
}

golden()
{
	tool_golden "dcpiexport_$1" "dcpiexport ${*:2}" export_ "${@:2}"
}

refused()
{
	tool_refused dcpiexport "$1" "$2" "$bin/dcpiexport" "${@:3}"
}

check "a database is made" "$helpers/make_golden_db" "$db"

golden folded.txt -f folded --epoch 1
golden speedscope.json -f speedscope --epoch 1
golden callgrind.txt -f callgrind --epoch 1
golden flamegraph.svg -f flamegraph --epoch 1
golden event.txt -f folded -e imiss --epoch 1
golden image.txt -f folded -i 'libmi*' --epoch 1
golden csv.csv -f csv -i 'libmi*' --epoch 1

want=$("$bin/dcpiprof" --db "$db" --csv --epoch 1 -e cycles | tail -n +2 |
	awk -F, '{ print $4, $1 }' | sort)
is "folded: as dcpiprof lists" \
	"$(export_ -f folded --epoch 1 -e cycles | sed 's/^[^;]*;//' | sort)" "$want"
is "speedscope: weights and frames likewise" "$(export_ -f speedscope --epoch 1 -e cycles |
	jq -r '.shared.frames as $f | .profiles[0] | [.samples, .weights] | transpose[] |
		"\($f[.[0][1]].name) \(.[1])"' | sort)" "$want"
is "speedscope: a profile ends at the sum of its weights" \
	"$(export_ -f speedscope | jq '[.profiles[] | .endValue == (.weights | add)] | all')" true
export_ -f callgrind --epoch 1 -e cycles -o "$scratch/callgrind"
is "callgrind_annotate: likewise" "$(callgrind_annotate --threshold=100 "$scratch/callgrind" |
	sed -nE 's/^ *([0-9,]+) \([ 0-9.]+%\) +[^:]*:([^ ]+) \[.*/\2 \1/p' | tr -d , | sort)" "$want"

is "csv: likewise" "$(export_ -f csv --epoch 1 -e cycles | python3 -c '
import collections, csv, sys
sums = collections.Counter()
for row in csv.DictReader(sys.stdin):
    sums[row["procedure"]] += int(row["cycles"])
for name, samples in sums.items():
    if samples > 0:
        print(name, samples)' | sort)" "$want"
check "speedscope: as its schema has it" python3 -c '
import json, sys, jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \
	tests/golden/dcpiexport_speedscope.json tests/fixtures/data/speedscope.schema.json

# pprof: set its options
pprof()
{
	export_ "$@" | tests/lib/pprof_read.py lines > "$scratch/pprof"
}

check "pprof is read" pprof --epoch 1
is "pprof: procedures likewise" \
	"$(awk -F'\t' '$1 == "procedure" && $2 > 0 { print $7, $2 }' "$scratch/pprof" | sort)" "$want"
is "pprof: samples, and the events that they stand for" "$(head -n 1 "$scratch/pprof")" \
	"types cycles_samples/count cycles/cycles imiss_samples/count imiss/events"
is "pprof: a sample stands for the mean of its period" "$(awk -F'\t' '
	$1 == "procedure" { samples += $2; events += $3 } END { print events / samples }' \
	"$scratch/pprof")" "$(sqlite3 -readonly "$db" "SELECT (period_min + period_max) / 2.0
		FROM event WHERE epoch = 1 AND name = 'cycles'" | sed 's/\.0$//')"
is "pprof: it is not left to pprof to shorten readable names" \
	"$(export_ --epoch 2 | tests/lib/pprof_read.py systems | grep Foo)" $'Foo::bar(int)\t'
is "pprof: but to demangle others" \
	"$(export_ --epoch 2 --no-demangle | tests/lib/pprof_read.py systems | grep Foo)" \
	$'_ZN3Foo3barEi\t_ZN3Foo3barEi'
pprof --epoch 3-4
is "pprof: what took turns is scaled" "$(awk -F'\t' '$1 == "procedure" { n += $2; e += $3 }
	END { print (e > n) }' "$scratch/pprof")" 1
is "pprof: the same profile is the same file" "$(export_ | sha256sum)" "$(export_ | sha256sum)"

like "a unit's samples are those of its processes" \
	"$(export_ --format folded --epoch 2 -e cpu-clock --unit 'web.*' | grep -c .) $(
		export_ --format folded --epoch 2 -e cpu-clock --unit 'web.*')" '^1 server, .* 40$'

# Epochs with different periods.
check "programs of two epochs are made" tests/fixtures/calc_fixtures.sh "$scratch"
periods_db | make_db periods
db=$scratch/periods.db
want=$'divide 9000\nwalk 9000'
is "periods differ: folded has what dcpiprof lists" \
	"$(export_ -f folded | sed 's/^[^;]*;//' | sort)" "$want"
is "csv, too" "$(export_ -f csv | tail -n +2 | tr -d '\r' | cut -d, -f3,8 | tr , ' ' | sort)" "$want"
is "callgrind, too" "$(export_ -f callgrind | sed -n 's/^0x.* //p')" $'9000\n9000'
is "speedscope, too" "$(export_ -f speedscope | jq -c '.profiles[0] | [.endValue] + .weights')" \
	"[18000,9000,9000]"
check "pprof of them is read" pprof
is "pprof: as taken, and the cycles of these" \
	"$(awk -F'\t' '$1 == "procedure" { print $5, $2, $3 }' "$scratch/pprof" | sort)" \
	$'divide 2250 9000000\nwalk 9000 9000000'

# A program that exists on this machine, with line information.
"${CC:-gcc}" -O2 -g -o "$scratch/split" tests/fixtures/programs/split.c
check "a program is profiled" "$bin/dcpirun" -q -e cpu-clock --user --db "$scratch/live.db" \
	"$scratch/split" 3000
db=$scratch/live.db
check "live: pprof is read" pprof -i split
like "live: with the source file" "$(grep split_seventy "$scratch/pprof")" 'split\.c$'
like "live: with the build-id" "$(grep '^image' "$scratch/pprof")" \
	"split $(readelf -n "$scratch/split" | sed -n 's/ *Build ID: //p')"
is "live: as many samples as in the database" "$(export_ -f folded | awk '{ n += $NF } END { print n }')" \
	"$(sqlite3 -readonly "$db" 'SELECT sum(samples) FROM profile')"
export_ -f callgrind -i split -o "$scratch/callgrind"
like "live: callgrind_annotate shows the source" \
	"$(callgrind_annotate --auto=yes "$scratch/callgrind")" 'Auto-annotated source: .*split\.c'

# Lines of an inlined procedure are in another file than the lines around them.
cat > "$scratch/step.h" <<-'EOF'
	static inline __attribute__((always_inline)) unsigned step(unsigned x)
	{
		for (int i = 0; i < 50; i++)
			x = x * 1664525u ^ x >> 7;
		return x;
	}
EOF
cat > "$scratch/user.c" <<-'EOF'
	#include <stdio.h>
	#include "step.h"
	// The header has fewer lines than this.
	// ...
	// ...
	// ...
	// ...
	int main(void)
	{
		unsigned x = 1;
		for (int i = 0; i < 1000000; i++) {
			x = step(x);
			for (volatile int j = 0; j < 50; j++)
				;
		}
		return printf("%u", x) < 0;
	}
EOF
"${CC:-gcc}" -O1 -g -o "$scratch/user" "$scratch/user.c"
db=$scratch/inlined.db
# On a busy machine a run has few samples: it is repeated until both files have some.
inlined_has_samples()
{
	"$bin/dcpirun" -q -e cpu-clock --user --db "$db" "$scratch/user" &&
		[ "$("$bin/dcpiprof" --db "$db" --csv | awk -F, 'NR > 1 { sum += $1 } END { print sum + 0 }')" -ge 300 ]
}
check "inlined: a program is profiled" eventually inlined_has_samples
check "inlined: pprof is read" pprof
is "inlined: pprof's locations have the files and lines of csv" \
	"$(awk -F'\t' '$1 == "line" { print $4, $5, $6 }' "$scratch/pprof" | sort)" \
	"$(export_ -f csv | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["address"] or "0x0", row["source"], row["line"] or 0)' | sort)"
is "inlined: and one procedure is in both files" "$(awk -F'\t' '$1 == "line" && $3 == "main" {
	sub(".*/", "", $5); print $5, ($5 == "user.c") == ($6 > 7) }' "$scratch/pprof" | sort -u)" \
	$'step.h 1\nuser.c 1'

# Execution profiles for compilers. Counts of blocks are those of dcpicalc.
program=docs/optimize/interpreter.c
flags="-O2 -gline-tables-only -fdebug-info-for-profiling"
# shellcheck disable=SC2086 # words
clang $flags -o "$scratch/interpreter" "$program"
check "flow: a program is profiled" "$bin/dcpirun" -q -e cpu-clock --user --branch-every 1 \
	--db "$scratch/flow.db" "$scratch/interpreter" 150000
db=$scratch/flow.db
export_ -f pixie -i interpreter | grep -v '^#' > "$scratch/pixie"
"$bin/dcpicalc" --db "$db" --all --json -i interpreter |
	jq -r '.instructions as $i | .blocks[] | .start as $s |
		([$i[] | select(.address == $s)][0].frequency // 0) as $f |
		select($f >= 0.5) | "\($s) \($f | round)"' > "$scratch/blocks"
# (With a tolerance of one: halves are rounded before and after printing.)
is "pixie: blocks and counts are dcpicalc's" \
	"$(while read -r address _ count; do echo "$((address)) $count"; done < "$scratch/pixie" |
		sort | join -a 1 -a 2 - <(sort "$scratch/blocks") |
		awk 'NF != 3 || $2 - $3 > 1 || $3 - $2 > 1')" ""
is "pixie: and there are some" "$([ "$(wc -l < "$scratch/pixie")" -gt 20 ] && echo yes)" yes
export_ -f autofdo -i interpreter > "$scratch/autofdo"
export_ -f profgen -i interpreter > "$scratch/profgen"
is "autofdo: as many blocks" "$(head -n 1 "$scratch/autofdo")" "$(wc -l < "$scratch/pixie")"
is "profgen: the same without single addresses" \
	"$(sed "$(($(head -n 1 "$scratch/autofdo") + 2))d" "$scratch/autofdo" | sha256sum)" \
	"$(sha256sum < "$scratch/profgen")"
is "bolt: what is taken and what is not, of the same branches" \
	"$(export_ -f bolt -i interpreter | awk '{ sum[$1] += $4 } END { print (sum["B"] > 0 && sum["F"] > 0) }')" 1
is "bolt: branches are autofdo's" \
	"$(export_ -f bolt -i interpreter | awk '/^B/ { print $2 "->" $3 ":" $4 }' | sort | sha256sum)" \
	"$(grep -e '->' "$scratch/autofdo" | sort | sha256sum)"
check "clang: llvm-profgen converts it" "$(clang -print-prog-name=llvm-profgen)" \
	--format=text --use-offset=0 \
	--binary="$scratch/interpreter" --unsymbolized-profile="$scratch/profgen" \
	--output="$scratch/sample"
like "clang: its procedures are there" "$(grep -oE '^(main|push|pop):[1-9]' "$scratch/sample" |
	cut -d: -f1 | sort | tr '\n' ' ')" '^main pop push $'
check "clang: llvm-profdata reads it" "$(clang -print-prog-name=llvm-profdata)" \
	merge --sample "$scratch/sample" -o "$scratch/merged"
# shellcheck disable=SC2086
check "clang: a program is compiled by it" clang $flags -Werror \
	-fprofile-sample-use="$scratch/merged" -o "$scratch/guided" "$program"
is "clang: which does what it did" "$("$scratch/guided" 20000)" "$("$scratch/interpreter" 20000)"
# instructions PROGRAM: print the instructions that a short run executes
instructions()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" 2000 2>&1 > /dev/null |
		sed -n 's/.*I *refs: *//p' | tr -d ,
}
before=$(instructions "$scratch/interpreter")
after=$(instructions "$scratch/guided")
check "clang: with fewer instructions: $before, then $after" [ "$after" -lt $((before * 8 / 10)) ]
# Orders of procedures: the linkers place procedures as the files have them.
export_ -f lld-order -i interpreter > "$scratch/lld-order"
export_ -f gold-order -i interpreter > "$scratch/gold-order"
is "order: gold's file has the sections of the procedures in lld's" \
	"$(sed 's/^/.text./' "$scratch/lld-order")" "$(cat "$scratch/gold-order")"
is "order: executed procedures are in it" \
	"$(grep -cxE 'main|push|pop' "$scratch/lld-order")" 3
for linker in lld gold; do
	kind=symbol
	[ $linker = gold ] && kind=section
	check "order: $linker takes it" clang -O2 -ffunction-sections -fuse-ld=$linker \
		-Wl,--$kind-ordering-file="$scratch/$linker-order" -o "$scratch/ordered" "$program"
	is "order: $linker places procedures in this order" "$(nm -n "$scratch/ordered" |
		awk '{ print $3 }' | grep -xE 'main|push|pop')" \
		"$(grep -xE 'main|push|pop' "$scratch/lld-order")"
done
refused 2 'select it with --image' -f bolt --db "$db"
# Two programs are profiled, because samples in the libraries of one are left to chance.
check "flow: another program is profiled, too" "$bin/dcpirun" -q -e cpu-clock --user \
	--db "$db" "$scratch/guided" 150000
refused 2 'images match, but bolt needs one' -f bolt -i '*' --db "$db"
refused 2 'no samples in images' -f bolt -i nothing --db "$db"
# Two programs, for the same reason. Without edges: the BPF program that helps to find them may be
# sampled, too.
check "with the kernel: programs are profiled" "$bin/dcpirun" -q -e cpu-clock --branch-every 0 \
	--db "$scratch/all.db" sh -c \
	"$scratch/interpreter 20000; $scratch/guided 150000; head -c 9999999 /dev/urandom > /dev/null"
# The kernel's code is in no file, so it is not among the matching images.
like "the kernel is not among the images of bolt" \
	"$("$bin/dcpiexport" -f bolt -i '*' --db "$scratch/all.db" 2>&1 > /dev/null | tail -n 1)" \
	'^dcpiexport: [0-9]+ images match, but bolt needs one'
refused 2 'is not a file' -f bolt -i 'vmlinux*' --db "$scratch/all.db"
db=$scratch/golden.db

refused 2 "unknown format 'gprof'" -f gprof --db "$db"
refused 2 'No such file' --db "$scratch/none.db"
refused 2 "unknown event 'dmiss' \\(did you mean 'imiss'\\?\\); known: cycles, imiss" --db "$db" --epoch 1 -e dmiss
refused 2 'no epoch matches' --db "$db" --host gamma
refused 2 "no samples in images that match 'nothing'" --db "$db" -i nothing
refused 1 'no samples are stored for process 1 ' --db "$db" --pid 1
refused 1 'no samples are stored for this unit' --db "$db" --unit nothing
refused 2 'cannot write' --db "$db" -o "$scratch/no/file"
refused 2 'No space left' --db "$db" -o /dev/full
is "a full disk on standard output is told" \
	"$(export_ -f folded 2>&1 > /dev/full | grep -c 'No space left')" 1
check "and /dev/full is still there" [ -c /dev/full ]
tap_done
