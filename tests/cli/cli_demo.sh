#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test the reports that `make demo` prints: at most 60 lines, the hottest procedure and the page last.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

# demo NAME: print the reports of a database
demo()
{
	mkdir -p "$scratch/$1"
	packaging/demo_report.sh "$scratch/$1.db" "$scratch/$1" > "$scratch/$1.out" 2> "$scratch/$1.err"
}

# A database with more rows than are printed, and a long procedure as the hottest one.
many_db()
{
	local epoch

	for epoch in 1 2 3 4 5; do
		echo "label round $epoch"
		list_db | sed -n '1,/^end/p' | sed '/^end/d'
		echo "image file $copy_id $scratch/copy"
		for ((i = 0; i < 26; i++)); do
			printf 'sample 0 0x%x %d\n' $((0x9800 + 4 * i)) $((20000 + epoch * i * 100))
		done
		for ((i = 0; i < 30; i++)); do
			printf 'image file - /usr/bin/program-%d\nsample 0 0x10 %d\n' $i $((100 + i * epoch))
		done
		echo end
	done
}

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"
both_db | make_db both
many_db | make_db many
printf '%s\n' "event cycles cycles 1 1" "epoch CPU" "image file - /nowhere" "sample 0 0 5" end \
	"event cycles cycles 1 1" "epoch CPU" "image file - /nowhere" "sample 0 0 6" end | make_db bare
for name in both many; do
	check "$name: the reports are printed" demo "$name"
	is "$name: without errors" "$(cat "$scratch/$name.err")" ""
	# packaging/demo.sh prints one line before.
	is "$name: in at most 60 lines" "$(($(wc -l < "$scratch/$name.out") < 60))" 1
	is "$name: tables first" "$(grep -m 1 -v '^$' "$scratch/$name.out")" "== dcpiprof -n 12"
	is "$name: the hottest procedure last" "$(grep '^procedure ' "$scratch/$name.out")" \
		"$("$bin/dcpicalc" --db "$scratch/$name.db" | grep '^procedure ')"
	like "$name: and the reason" "$(tail -n 7 "$scratch/$name.out" | head -n 2)" 'stall|cause'
	page=$(tail -n 1 "$scratch/$name.out")
	is "$name: and the path of the page" "$page" "$scratch/$name/report.html"
	like "$name: which exists" "$(head -c 100 "$page")" '^<!doctype html>'
done
is "a long listing is cut" "$(grep -c '^\.\.\.$' "$scratch/many.out")" 1
check "without any code, there is a page, too" demo bare
like "and the reason why there is no listing" "$(cat "$scratch/bare.err")" '^dcpicalc: '
check "the page exists" [ -s "$(tail -n 1 "$scratch/bare.out")" ]
tap_done
