#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dcpiexport: what its readers make of a profile is what dcpiprof lists. With UPDATE=1
# golden output is written, not compared.
set -u
. "$(dirname "$0")/tool_cli.sh"
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
golden event.txt -f folded -e imiss --epoch 1
golden image.txt -f folded -i 'libmi*' --epoch 1

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

# pprof: $1 options
pprof()
{
	export_ "$@" | tests/pprof_read.py > "$scratch/pprof"
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
pprof --epoch 3-4
is "pprof: what took turns is scaled" "$(awk -F'\t' '$1 == "procedure" { n += $2; e += $3 }
	END { print (e > n) }' "$scratch/pprof")" 1
is "pprof: the same profile is the same file" "$(export_ | sha256sum)" "$(export_ | sha256sum)"

# A program that is there, with lines.
"${CC:-gcc}" -O2 -g -o "$scratch/split" tests/programs/split.c
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
db=$scratch/golden.db

refused 2 'there is no format "gprof"' -f gprof --db "$db"
refused 2 'No such file' --db "$scratch/none.db"
refused 2 'there is no event "dmiss"; there are: cycles, imiss' --db "$db" --epoch 1 -e dmiss
refused 1 'no epoch matches' --db "$db" --host gamma
refused 1 'no samples' --db "$db" -i nothing
refused 2 'cannot write' --db "$db" -o "$scratch/no/file"
refused 2 'No space left' --db "$db" -o /dev/full
is "a full disk on standard output is told" \
	"$(export_ -f folded 2>&1 > /dev/full | grep -c 'No space left')" 1
check "and /dev/full is still there" [ -c /dev/full ]
tap_done
