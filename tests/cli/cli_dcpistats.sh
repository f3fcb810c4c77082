#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpistats as users run it. With UPDATE=1 golden output is written, not compared.
set -u
tool=dcpistats
. "$(dirname "$0")/../lib/stats_cli.sh"

check "a database of the paper's runs is made" make_db "$db" figure_3.txt
check "a database of several hosts is made" make_db "$sets" sets.txt

# The paper's figure, to the last digit.
golden figure_3.txt "$db"
is "figure 3: the procedure that varies comes first" "$(run "$db" |
	grep -A1 '^range%' | tail -n 1 | tr -s ' ')" \
	" 11.3% 441040 6.2% 8 55130 21168.70 38155 88075 * smooth_"
is "figure 3 fits 80 columns" "$(run "$db" | awk 'length > 80' | wc -l)" 0
is "the test fits 80 columns" "$(run "$db" --test | awk 'length > 80' | wc -l)" 0
golden test.txt "$db" --test --normalize rest -n 4
golden others.txt "$db" --test --normalize total --against others --sort q -n 3
golden time.csv "$db" --csv --normalize time -n 2
golden named.json "$db" --json -n 1 1-4 5,7 8

# Sets of epochs, hosts, labels; different periods; different builds.
golden hosts.txt "$sets" --by host --epoch 1-3 --min 0
golden labels.csv "$sets" --by label --epoch 1-3 --csv --min 0
golden turns.csv "$sets" -e imiss --csv --min 0 --epoch 1-3
golden images.txt "$sets" --by-image --epoch 1-3 --normalize total
golden image.txt "$sets" -i server --epoch 1-3 --normalize total
cp "$sets" "$scratch/copy.db"
is "several databases are sets" "$(run "$sets" --db "$scratch/copy.db" --csv --epoch 1 \
	--normalize total | cut -d, -f1,20,21 | tr -d '\r' | paste -sd ' ')" \
	"range_percent,set_1,set_2 0.0000,500,500 0.0000,300,300 0.0000,200,200"
is "sets are named one by one, of any database" "$(run "$sets" --csv 1 "$scratch/copy.db@1" \
	"$scratch/copy.db@2" | sed -n 2p | cut -d, -f20-22)" "300,300,900"
is "epochs without the event are left out" "$(run "$sets" --epoch 1-4 |
	grep '^skipped')" "skipped     1 epoch(s) without samples of cycles"
is "rows can be sorted by any column" "$(run "$sets" --csv --epoch 1-3 --min 0 --sort procedure |
	tail -n +2 | awk -F , '{ print $(NF - 2) }' | paste -sd ' ')" "answer bcopy idle log parse"

escapes -e $'cycles\033\xc2\x9b' --by host --epoch 1-4 --min 0
escapes -e $'cycles\033\xc2\x9b' --by label --epoch 1-4 --test

valid "figure 3" "$tool" run "$db" --min 0
valid "sets by name" "$tool" run "$db" 1-4 5-8 --normalize rest --against others
valid "images, by label" "$tool" run "$sets" --by label --by-image --epoch 1-3
valid "rows that are not tested" "$tool" run "$sets" --epoch 1-3 --min 0
is "CSV has the columns of JSON" "$(run "$db" --csv -n 1 | head -n 1 | tr -d '\r' | tr , '\n')" \
	"$(run "$db" --json -n 1 | python3 -c 'import json, sys
print("\n".join(json.load(sys.stdin)["rows"][0]))')"

refused 2 'more than one set' "$db" --epoch 3
refused 2 'more than one set' "$db" --by label
refused 2 'is also in another set' "$db" 1-4 4-8
refused 2 'neither a database nor a list of epochs' "$db" 1-4 nonsense
refused 2 "no epoch matches '9': there are epochs 1 to 8" "$db" 1-4 9
refused 2 'no epoch matches: there are epochs 1 to 8' "$db" --epoch 77
refused 2 "unknown event 'cycels'" "$db" -e cycels
refused 1 "no samples of cycles in '4'" "$sets" 1 4
refused 2 'no samples in images' "$db" -i 'no*such'
refused 2 "periods of event 'cycles' have different units: cycles and ns" "$sets"
refused 2 'only one event can be compared' "$db" -e cycles,imiss
refused 2 "unknown kind of set 'color'" "$db" --by color
refused 2 'are mutually exclusive' "$db" --by host 1-4 5-8
refused 2 "unknown normalization 'color'" "$db" --normalize color
refused 2 "unknown baseline 'color'" "$db" --against color
refused 2 'is not a valid level of significance' "$db" --level 2
refused 2 'is not a valid percentage' "$db" --min x
refused 2 'no such column' "$db" --sort color
refused 2 'prints text only' "$db" --compare smooth_ --json
refused 2 'are mutually exclusive' "$db" --csv --json
refused 2 'No such file' "$scratch/none.db"
before=$(sha256sum "$db")
run "$db" > /dev/null
is "the database is not changed" "$(sha256sum "$db")" "$before"
run "$db" > /dev/full 2> "$scratch/err"
is "a full disk is an error" "$? $(cut -d: -f1 "$scratch/err")" "2 dcpistats"

# Live data: eight runs of a program with a procedure that varies, and the reported reason.
if ! "${CC:-gcc}" -O2 -g -o "$scratch/varies" tests/fixtures/programs/varies.c; then
	not_ok "a program is made"
	tap_done
	exit
fi
# varies DB KB ROUNDS: profile the program
varies()
{
	TABLE_KB=$2 "$bin/dcpirun" -q -e cpu-clock:180000-200000 --db "$1" --label "$2 kB" -- \
		"$scratch/varies" "$3"
}

# Run longer where the kernel permits only few samples.
rounds=100
until [ "${samples:-0}" -ge 1000 ] || [ "$rounds" -ge 10000 ]; do
	rounds=$((rounds * 2))
	rm -f "$scratch"/length.db*
	varies "$scratch/length.db" 16 "$rounds"
	samples=$("$bin/dcpiprof" --db "$scratch/length.db" --by image --csv | tail -n +2 |
		awk -F , '{ sum += $1 } END { print sum + 0 }')
done
for kb in 16 1024 64 256 700 512 900 128; do
	varies "$scratch/live.db" $kb "$rounds"
done
live=$scratch/live.db
# main varies as well: it makes the table. On a fast machine that is at most 2% of all samples.
is "the procedure that varies ranks first" "$(run "$live" --csv --min 5 --normalize rest -i varies |
	sed -n 2p | cut -d, -f19,28)" "yes,follow_chain"
is "by label, too" "$(run "$live" --by label --csv --min 5 -i varies | sed -n 2p |
	cut -d, -f19,28)" "yes,follow_chain"
is "the sets' samples are the reports'" "$(run "$live" --json | python3 -c 'import json, sys
print(*[int(s["samples"]) for s in json.load(sys.stdin)["sets"]])')" "$(for epoch in 1 2 3 4 5 6 7 8; do
	"$bin/dcpiprof" --db "$live" --by image --csv --epoch $epoch | tail -n +2 |
		awk -F , '{ sum += $1 } END { print sum }'
done | paste -sd ' ')"
valid "of live data" "$tool" run "$live"
run "$live" --compare follow_chain > "$scratch/out" 2> "$scratch/err"
is "--compare succeeds" "$? $(cat "$scratch/err")" "0 "
fastest=$(run "$live" --csv -i varies | grep follow_chain | cut -d, -f10)
slowest=$(run "$live" --csv -i varies | grep follow_chain | cut -d, -f11)
like "--compare says which sets these are" "$(grep ^fastest "$scratch/out")" \
	'^fastest     set [0-9], epoch [0-9]: [0-9]+ samples(, of [0-9]+ cycles each)?(, [0-9]+% with low confidence)?$'
low=$("$bin/dcpicalc" --db "$live" --epoch "$fastest" --json follow_chain | python3 -c '
import json, sys
insns = json.loads(sys.stdin.readline())["instructions"]
low = sum(i["samples"] for i in insns if i["confidence"] == "low")
print("%.0f%%" % (100 * low / sum(i["samples"] for i in insns)) if low else "")')
is "--compare says how much is not sure" "$(sed -n "s/^fastest .*, \([0-9]*%\) with low .*/\1/p" \
	"$scratch/out")" "$low"
like "--compare has the fastest and the slowest set" "$(grep '^[*]' "$scratch/out" | head -n 1)" \
	"fastest: set $fastest +slowest: set $slowest$"
is "--compare says of each what dcpicalc does" \
	"$(sed -n 's/^[*]* D-cache miss *\(.*% to *[0-9.]*%\)  .*/\1/p' "$scratch/out" | tr -s ' ')" \
	"$("$bin/dcpicalc" --db "$live" --epoch "$fastest" --summary follow_chain |
	sed -n 's/^[*]* D-cache miss *//p' | tr -s ' ')"
refused 2 "no procedure 'no_such'" "$live" --compare no_such

tap_done
