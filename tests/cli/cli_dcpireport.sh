#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpireport as users run it, without a browser: the document is that of the other reports, and
# the page contains it and nothing that could run.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. tests/lib/pages.sh

report()
{
	"$bin/dcpireport" --db "$scratch/$1.db" "${@:2}"
}

# same LABEL FILTER FILTER COMMAND...: the first filter of the document equals the second of the
# command's JSON
same()
{
	is "$1" "$(jq -cS "$2" "$scratch/both.json")" "$("${@:4}" | jq -cS "$3")"
}

check "pages are made" make_pages
report both --diff 1 2 --json > "$scratch/both.json"
check "the document is as the schema has it" tests/lib/validate_json.py dcpireport < "$scratch/both.json"
report hostile --json > "$scratch/hostile.json"
check "a document of hostile names, too" tests/lib/validate_json.py dcpireport < "$scratch/hostile.json"

# The parts are those of the other reports, of the same functions.
db=(--db "$scratch/both.db")
same "procedures are dcpiprof's" .procedures . "$bin/dcpiprof" "${db[@]}" --sort cpu-clock --json
same "images are dcpiprof's" .groups.image.rows .rows "$bin/dcpiprof" "${db[@]}" --by image --json
same "processes are dcpiprof's" .groups.process.rows .rows "$bin/dcpiprof" "${db[@]}" --by process --json
same "the variation is dcpistats's" '.variation.rows | sort_by(.procedure)' '.rows | sort_by(.procedure)' \
	"$bin/dcpistats" "${db[@]}" --normalize total --test --min 0 --sort sum --json
same "the differences are dcpidiff's" .diff . "$bin/dcpidiff" "${db[@]}" 1 2 --json
part='.parts[] | select(.calc.procedure == "walk")'
same "instructions and culprits are dcpicalc's" \
	"[$part.calc.instructions[] | [.address, .samples, .culprits[].cause, .culprits[].from]]" \
	'[.instructions[] | [.address, .samples, .culprits[].cause, .culprits[].from]]' \
	"$bin/dcpicalc" "${db[@]}" --json walk
same "the breakdown is dcpicalc's" "$part.summary" . "$bin/dcpicalc" "${db[@]}" --summary --json walk
same "instructions are dcpilist's" "[$part.listing.rows[] | [.address, .text, .line]]" \
	'[.rows[] | [.address, .text, .line]]' "$bin/dcpilist" "${db[@]}" --asm --json walk
is "a stall names its culprit" \
	"$(jq -c "$part.calc.instructions[] | select(.address == 4198408) | [.culprits[].from] | unique" "$scratch/both.json")" \
	'[4198405]'
is "each part has its entry" "$(jq -c '[.details | length] == [.parts | length]' "$scratch/both.json")" true
# A row may be of a part that the compiler split off: "helper.cold" of "helper".
is "entries are of the parts' procedures" "$(jq -c '.procedures.rows as $rows |
	[[.details[] | $rows[.row].procedure], [.parts[].calc.procedure]] | transpose |
	map(select(.[1] as $name | .[0] | startswith($name) | not))' "$scratch/both.json")" '[]'
is "the graph has all blocks of the procedure" \
	"$(jq -c "$part | [.graph.blocks[][0]] | sort == (\$c | sort)" --argjson c \
		"$(jq -c "[$part.calc.blocks[].start]" "$scratch/both.json")" "$scratch/both.json")" true
like "a procedure without code has a reason" "$(jq -c '.not_analysed[].reason' "$scratch/hostile.json")" \
	'no jitdump recorded its code'

# Samples by time are those of the same range in dcpiprof, also with scaled events.
for event in cpu-clock imiss; do
	report timed -e $event --no-graphs --json > "$scratch/timed.json"
	check "a document with a timeline of $event is as the schema has it" \
		tests/lib/validate_json.py dcpireport < "$scratch/timed.json"
	is "ranges of $event are dcpiprof's" "$(/usr/bin/python3 tests/cli/page/timeline_check.py \
		"$scratch/timed.json" "$bin/dcpiprof" --db "$scratch/timed.db")" "5 ranges compared"
	is "columns of $event are of 20 seconds" "$(jq -c '.timeline | [.step_s, (.columns | length)]' \
		"$scratch/timed.json")" '[20,150]'
done
report timed --since @1700001405 --until @1700001605 --rows 1 --no-graphs --json > "$scratch/timed.json"
is "a timeline of a selected time" "$(jq -c '[.timeline.step_s, (.timeline.columns | length, .[0][0], .[-1][0]),
	([.timeline.columns[][4]] | add) == .procedures.interrupts, (.timeline.rows | length)]' "$scratch/timed.json")" \
	'[1,20,1700001410,1700001600,true,1]'
is "epochs without slices have none" "$(jq .timeline "$scratch/both.json")" null

# The page: data cannot end its element, nothing is loaded from elsewhere, and the policy names the
# only script and the only style.
check "the pages are intact" /usr/bin/python3 tests/cli/page/check_html.py "$scratch/list.html" "$scratch/hostile.html"
check "the data of the page is the document" /usr/bin/python3 tests/cli/page/check_html.py --document \
	"$scratch/both.json" "$scratch/list.html"
report both > "$scratch/stdout.html"
check "the page on stdout" /usr/bin/python3 tests/cli/page/check_html.py "$scratch/stdout.html"
report both --no-graphs --no-source --json -n 1 > "$scratch/small.json"
is "-n 1 --no-graphs --no-source" \
	"$(jq -c '[(.parts | length) <= 1, .parts[0].graph, .parts[0].source]' "$scratch/small.json")" '[true,null,null]'

refused()
{
	tool_refused dcpireport "$1" "$2" report "${@:3}"
}
refused 2 'needs two sets' both --diff 1 --json
refused 2 'unexpected argument' both 1
refused 2 'no epoch matches' both --epoch 7 --json
refused 2 'cannot write' both -o "$scratch/no/such/folder.html"
tool_refused dcpireport 2 'cannot open' "$bin/dcpireport" --db "$scratch/none.db" --json

tap_done
