#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# dcpix --mode calls and dcpicalls: exact callers, callees and costs.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
. tests/lib/call_cli.sh

bin=$PWD/build/bin
WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
export WORK
make --no-print-directory -s call-plugin || exit 2

# record NAME ARGUMENT...: run $WORK/NAME, rewritten as $WORK/NAME.calls, with records in
# $WORK/profile.*
record()
{
	local name=$1

	shift
	rm -f "$WORK"/profile.*
	DCPIX_OUT=$WORK/profile "$WORK/$name.calls" "$@" > "$WORK/out" 2>&1
}

# Print CSV without quotes, for names that need none
plain()
{
	tr -d '"\r'
}

# arc NAME CALLER PROCEDURE: print calls, self and children of an arc, and the caller's share of
# them
arc()
{
	"$bin/dcpicalls" --csv "$WORK/$1.calls" "$WORK"/profile.* | plain |
		awk -F, -v caller="$2" -v procedure="$3" '$8 == caller && $10 == procedure { print $6, $2, $3, $4, $5 }'
}

rewrite()
{
	"$bin/dcpix" -q --mode calls --metric instructions -o "$WORK/$1.calls" "$WORK/$1"
}

# --- the classic cases
check "callers: builds" "${CC:-gcc}" -O1 -fno-optimize-sibling-calls -o "$WORK/callers" \
	tests/fixtures/programs/callers.c
check "callers: is rewritten" rewrite callers
record callers 3
read -r calls self children _ < <(arc callers costly_caller shared)
read -r cheap_calls cheap_self cheap_children _ < <(arc callers cheap_caller shared)
is "a shared procedure: calls" "$calls $cheap_calls" "3 3000"
costly=$((self + children)) cheap=$((cheap_self + cheap_children))
check "most of it is whose it is, by one call in a thousand ($costly, $cheap)" \
	[ $costly -gt $((50 * cheap)) ]
read -r calls self children _ < <(arc callers with_large apply)
read -r small_calls small_self small_children _ < <(arc callers with_small apply)
is "a procedure that is told what to do: calls" "$calls $small_calls" "3 3"
large=$((self + children)) small=$((small_self + small_children))
check "it takes as long as it is told ($large, $small)" [ $large -gt $((10 * small)) ]
read -r calls _ _ self children < <(arc callers odd even)
read -r back_calls _ _ back_self back_children < <(arc callers even odd)
is "a circle: calls" "$calls $back_calls" "30 30"
check "arcs in a circle have costs" [ $((self + children)) -gt 0 -a \
	$((back_self + back_children)) -gt 0 ]
is "metrics of callers add up to the procedure's, those of what it called to its children's" \
	"$("$bin/dcpicalls" --json "$WORK/callers.calls" "$WORK"/profile.* | python3 -c '
import json, sys
report = json.load(sys.stdin)
for p in report["procedures"]:
    up = sum(a["self"] + a["children"] for a in report["arcs"] if a["address"] == p["address"])
    down = sum(a["caller_self"] + a["caller_children"] for a in report["arcs"]
               if a["caller_address"] == p["address"])
    if up != p["self"] + p["children"] or down != p["children"]:
        print(p["procedure"], up, down)')" ""
report()
{
	"$bin/dcpicalls" "$@" "$WORK/callers.calls" "$WORK"/profile.*
}
report > "$WORK/text"
like "text: the heading" "$(sed -n 2,3p "$WORK/text" | tr '\n' ' ')" \
	'^metric +[0-9]+ instructions contexts +33, of 1 thread $'
like "text: the procedure between its callers and what it called" \
	"$(grep -B 2 -A 2 '^\[[0-9]*\].* shared \[' "$WORK/text" | tr -s ' \n' ' ')" \
	'3/3003 costly_caller \[[0-9]+\].* 3000/3003 cheap_caller .* 3003 shared .* 3003/3219 spin .*---'
is "-n: so many procedures" "$(report -n 2 | grep -c '^\[[12]\]')" 2
like "--by procedure" "$(report --by procedure | grep ' shared$')" ' 3003 +0  shared'
is "text: one stack" "$(grep -c '^unknown' "$WORK/text")" 0
report --json > "$WORK/json"
check "JSON is as the schema has it" tests/lib/validate_json.py dcpicalls < "$WORK/json"

# --- in the database
. tests/lib/recorded_db.sh
DCPIX_OUT=$WORK/again "$WORK/callers.calls" 7 > /dev/null
same_in_database dcpicalls "$WORK/callers.calls" "$WORK"/profile.* "$WORK"/again.*
"$bin/dcpix" run -q --mode calls --metric instructions --db "$WORK/run.db" "$WORK/callers" 3 > /dev/null
is "run --db keeps it" "$("$bin/dcpicalls" --csv --db "$WORK/run.db" | tail -n +2 | sort)" \
	"$("$bin/dcpicalls" --csv "$WORK/callers.calls" "$WORK"/profile.* | tail -n +2 | sort)"

# --- same results as in an emulator
truth calls callers "$WORK/callers" 2
# shellcheck disable=SC2016 # awk's
truth calls mawk mawk '{ for (i = 1; i <= NF; i++) c[$i]++ } END { print NF, c["the"] }' README.md

# --- control flow other than calls and returns
check "ways: builds" "${CC:-gcc}" -O2 -pthread -o "$WORK/ways" tests/fixtures/programs/ways.c
check "ways: is rewritten" rewrite ways
recursive()
{
	"$bin/dcpicalls" --csv --by procedure "$WORK/ways.calls" "$WORK"/profile.* |
		plain | awk -F, -v name="$1" '$7 == name { print $4, $5 }'
}
truth calls ways "$WORK/ways" jump 100
rewrite ways
record ways jump 1000
is "calls that never come back" "$(recursive deep)" "1000 3000"
record ways signal 100
is "the kernel calls handlers" "$("$bin/dcpicalls" --csv "$WORK/ways.calls" "$WORK"/profile.* |
	plain | awk -F, '$8 == "<signal>" && $10 == "handler" { print $6 }')" 100
record ways threads 8
is "threads lose nothing" "$(recursive called)" "1000000 0"
check "workers: builds" "${CC:-gcc}" -O2 -pthread -o "$WORK/workers" tests/fixtures/programs/workers.c
check "workers: is rewritten" rewrite workers
record workers 600
is "more threads than have blocks, but not at once: lose nothing" \
	"$("$bin/dcpicalls" --csv --by procedure "$WORK/workers.calls" "$WORK"/profile.* |
		plain | awk -F, '$7 == "called" { print $4 }')" 60000
record ways fork 5
is "a file for each process" "$(find "$WORK" -maxdepth 1 -name 'profile.*' | wc -l)" 6
is "children count" "$(recursive called)" "5 0"
rm -f "$WORK"/profile.*
DCPIX_OUT=$WORK/profile "$WORK/ways.calls" forever & forever=$!
has_called()
{
	[ -n "$(find "$WORK" -maxdepth 1 -name 'profile.*')" ] || return 1
	read -r calls _ < <(recursive called)
	[ "${calls:-0}" -gt 10000 ]
}
eventually has_called
kill -9 $forever
wait $forever 2> /dev/null
read -r calls _ < <(recursive called)
check "nothing is lost by kill -9" [ "$calls" -gt 10000 ]

# --- errors, in one line
calls=$bin/dcpicalls
refuses "no files" "a rewritten program and the files that it recorded are required" "$calls" "$WORK/ways.calls"
refuses "not rewritten" "was not rewritten" "$calls" "$WORK/ways" "$WORK"/profile.*
refuses "no profile" "is not a profile" "$calls" "$WORK/ways.calls" README.md
refuses "another program's" "is of another program" "$calls" "$WORK/callers.calls" "$WORK"/profile.*
refuses "no such rows" "unknown kind of row" "$calls" --by line "$WORK/ways.calls" "$WORK"/profile.*
refuses "no such metric" "unknown metric" "$bin/dcpix" --mode calls --metric time \
	-o "$WORK/x" "$WORK/ways"

# In one step: the report equals dcpicalls' output, on stderr, separate from the program's output.
got=$("$bin/dcpix" run -q --mode calls -- "$WORK/ways" 2>&1 > "$WORK/out")
is "run: ends as the program does" $? 0
like "run: the graph of calls" "$got" "contexts +[0-9]+, of [0-9]+ thread"
is "run: the program's output is its own" "$(cmp "$WORK/out" <("$WORK/ways") 2>&1)" ""
like "run: options of the report" \
	"$("$bin/dcpix" run -q --mode calls -n 1 --csv "$WORK/ways" 2>&1 > /dev/null | head -n 1)" ","
# A path may contain control characters of terminals: this report and others print it safely.
odd=$WORK/odd$'\033'
cp "$WORK/callers" "$odd"
for mode in calls context bursts; do
	"$bin/dcpix" run --mode $mode --db "$WORK/odd.db" -- "$odd" 200 > /dev/null 2>&1
done
for tool in dcpicalls dcpicct dcpibursts "dcpibursts --streams"; do
	# shellcheck disable=SC2086 # words
	is "$tool: nothing that a terminal obeys" "$("$bin"/$tool --db "$WORK/odd.db" 2>&1 |
		sed -nE 's/.*(odd[^a-z :]).*/\1/p')" 'odd?'
done
# --- separate stacks
for mode in calls context; do
	tool=dcpicalls
	[ $mode = calls ] || tool=dcpicct
	rm -f "$WORK"/profile.*
	${CC:-gcc} -O2 tests/fixtures/programs/coroutines.c -o "$WORK/coroutines"
	"$bin/dcpix" -q --mode $mode -o "$WORK/coroutines.new" "$WORK/coroutines"
	is "$mode: coroutines work" "$(DCPIX_OUT=$WORK/profile "$WORK/coroutines.new")" \
		"$("$WORK/coroutines")"
	like "$tool: the report says that callers are not known" \
		"$("$bin/$tool" "$WORK/coroutines.new" "$WORK"/profile.*)" \
		'^unknown     callers on other stacks'
	"$bin/dcpix" -q --db "$WORK/$mode.db" counts "$WORK/coroutines.new" "$WORK"/profile.*
	like "$tool: and that of the database" "$("$bin/$tool" --db "$WORK/$mode.db")" \
		'^unknown     callers on other stacks'
	is "$tool: JSON has it" "$("$bin/$tool" --json "$WORK/coroutines.new" "$WORK"/profile.* |
		jq .switches_stacks)" true
done
tap_done
