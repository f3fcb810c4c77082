#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Exact counts of dcpix in the tools: they show the counted values, independent of the samples,
# which are made up.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

db=$scratch/ways.db
dcpix=$bin/dcpix
${CC:-gcc} -g -O2 -fno-inline -pthread -fPIE -pie tests/fixtures/programs/ways.c -o "$scratch/ways" || exit 2
build_id=$(readelf -n "$scratch/ways" | awk '/Build ID/ { print $3 }')

# offsets PROCEDURE: print the file offsets of its instructions, which equal addresses in the text
offsets()
{
	objdump -d --no-show-raw-insn "$scratch/ways" |
		awk -v name="<$1>:" '$2 == name { inside = 1; next } /^$/ { inside = 0 }
			inside { sub(":", "", $1); print $1 }'
}

# Samples of code that ran, and of a procedure that did not run.
ways_db()
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	echo "image file $build_id $scratch/ways"
	{
		for procedure in choose compare; do
			offsets $procedure
		done | python3 -c '
import sys
ran = [line.split(",") for line in open(sys.argv[1])][1:]
ran = [range(int(a, 16), int(a, 16) + int(size)) for a, size, insns, count in ran]
print(*(a for a in sys.stdin if any(int(a, 16) in r for r in ran)), sep="")' "$scratch/blocks"
		offsets deep | head -n 3
	} | awk 'NF { print "sample 0 0x" $1, 10 + NR * 7 % 13 }' | sort -k3
	echo end
}

# calc EXPRESSION PROCEDURE ARGUMENT...: print a Python expression for its object p, and counts c
calc()
{
	"$bin/dcpicalc" --db "$db" --json "${@:3}" "$2" | python3 -c '
import json, sys
p = json.loads(sys.stdin.readline())
c = {}
for line in open(sys.argv[2]):
    address, size, insns, count = line.split(",")
    if address != "address":
        for a in range(int(address, 16), int(address, 16) + int(size)):
            c[a] = int(count)
insns = p["instructions"]
print(eval("(" + sys.argv[1] + ")"))' "$1" "$scratch/blocks"
}

check "it is rewritten" "$dcpix" -q -o "$scratch/ways.new" "$scratch/ways"
export DCPIX_OUT=$scratch/counts
for _ in 1 2; do
	"$scratch/ways.new" switch 5000 > /dev/null
done
"$dcpix" --by block --csv counts "$scratch/ways.new" "$scratch"/counts.* > "$scratch/blocks"
"$dcpix" --by edge --csv counts "$scratch/ways.new" "$scratch"/counts.* > "$scratch/edges"
ways_db | make_db ways
"$bin/dcpicalc" --db "$db" choose > "$scratch/before"
check "counts are kept" "$dcpix" -q --db "$db" counts "$scratch/ways.new" "$scratch"/counts.*

exactly='all(i["frequency"] == i["frequency_low"] == i["frequency_high"] == SCALE *
	c.get(i["address"], 0) and i["confidence"] == "exact" for i in insns)'
is "dcpicalc --scale 1: frequencies are counts" "$(calc "${exactly/SCALE/1}" choose --scale 1)" True
is "dcpicalc --scale 2.5: as many times" "$(calc "${exactly/SCALE/2.5}" choose --scale 2.5)" True
fast='The block at 0x[0-9a-f]+ takes [01]\.[0-9] cycles, less than its best case of .*'
like "a best case that is none" "$("$bin/dcpicalc" --db "$db" --scale 1000 choose)" \
	"$fast: the processor is faster than the model, or the block ran less often\."
is "where it is one" "$("$bin/dcpicalc" --db "$db" --scale 1 choose | grep -c "faster than")" 0
is "dcpicalc: cycles are samples' by counts" "$(calc 'all(i["cpi"] is None or
	abs(i["cpi"] * i["frequency"] - 62000 * i["samples"]) < 1e-6 * i["frequency"] * i["cpi"] + 1
	for i in insns if i["frequency"])' choose --scale 1)" True
is "dcpicalc: without a scale, in proportion to counts" "$(calc '(lambda k: k > 0 and all(
	abs(i["frequency"] - k * c.get(i["address"], 0)) <= 1e-6 * i["frequency"] + 1e-9 and
	i["frequency_low"] <= i["frequency"] <= i["frequency_high"] and
	i["confidence"] == "exact" for i in insns))(
	insns[0]["frequency"] / c[insns[0]["address"]])' choose)" True
cat > "$scratch/edges.py" << 'END'
import json, sys
p = json.loads(sys.stdin.readline())
want = {}
for line in open(sys.argv[1]):
    a, b, count = line.split(",")
    if a != "from":
        want[int(a, 16), int(b, 16)] = int(count)
last, wrong, seen = {}, 0, 0
for block in p["blocks"]:
    inside = [i["address"] for i in p["instructions"]
              if block["start"] <= i["address"] < block["end"]]
    ways = [s for s in block["successors"] if s["to"] is not None]
    for s in ways:
        got = want.get((max(inside), s["to"]))
        if got is not None and len([w for w in ways if w["to"] == s["to"]]) == 1:
            seen += 1
            wrong += s["frequency"] != got
print(wrong, seen > 5)
END
is "dcpicalc: edges are counts, too" "$("$bin/dcpicalc" --db "$db" --json --scale 1 choose |
	python3 "$scratch/edges.py" "$scratch/edges")" "0 True"
"$bin/dcpicalc" --db "$db" --json choose > "$scratch/lines"
is "JSON is as documented" "$(tests/lib/dcpicalc_schema.py "$scratch/lines" | head -n 5)" ""
like "the heading says what was counted, and that the number of runs does not fit" \
	"$("$bin/dcpicalc" --db "$db" choose)" \
	"^counted +in 2 processes, by dcpix; multiplied by [0-9.e+]+ \(.*\); by the number of runs: 1;$"
is "a scale that was given is not compared with the number of runs" \
	"$("$bin/dcpicalc" --db "$db" --scale 2 choose | grep -c 'number of runs')" 0
like "and the listing how often" "$("$bin/dcpicalc" --db "$db" --scale 1 choose)" \
	"ran [0-9]+ times, counted$"
like "once is no plural" "$("$bin/dcpicalc" --db "$db" choose --scale \
	"$(calc '1 / c[insns[0]["address"]]' choose)")" "ran 1 time, counted$"

# summ ARGUMENT...: run dcpisumm with the counts
summ()
{
	"$bin/dcpisumm" --db "$db" -i ways "$@" | grep '^counted'
}
like "dcpisumm says how they are scaled" "$(summ)" \
	"ways, by dcpix; multiplied by [0-9.e+-]+ \\(.*; by the number of runs: 1$"
is "dcpisumm --scale" "$(summ --scale 2.5)" \
	"counted     $scratch/ways, by dcpix; multiplied by 2.5 (--scale)"
is "dcpisumm --frequency estimate: without counts" "$(summ --frequency estimate)" ""

# stalls ARGUMENT...: run dcpitopstalls with the counts
stalls()
{
	"$bin/dcpitopstalls" --db "$db" -i ways "$@" | sed -n 's/^counted .*ways, //p'
}
# worst ARGUMENT...: print the rounded cycles of the stalls of a procedure with counts
worst()
{
	"$bin/dcpitopstalls" --db "$db" -i ways --csv "$@" | python3 -c '
import csv, sys
print(*(round(float(row["stall_cycles"]) * float(sys.argv[1]), -2)
        for row in csv.DictReader(sys.stdin) if row["procedure"] == "choose"))' "$scale"
}
is "dcpitopstalls --scale" "$(stalls --scale 2.5)" "by dcpix; multiplied by 2.5 (--scale)"
is "dcpitopstalls --frequency estimate: without counts" "$(stalls --frequency estimate)" ""
is "dcpitopstalls: cycles are of executions that were counted" \
	"$(scale=1 worst --scale 0.01 -n 3)" "$(scale=2 worst --scale 0.02 -n 3)"
check "of which there are some" test -n "$(scale=1 worst --scale 0.01 -n 3)"
like "dcpicfg: blocks were counted" "$("$bin/dcpicfg" --db "$db" --scale 1 choose)" \
	"ran [0-9]+ times, counted"
is "dcpicfg --frequency estimate: none was" \
	"$("$bin/dcpicfg" --db "$db" --frequency estimate choose | grep -c counted)" 0
like "a scale that is hardly known is said to be so" "$("$bin/dcpicalc" --db "$db" choose)" \
	"ran [0-9.kMG]+ times \([0-9.kMG]+ to [0-9.kMG]+\), counted and scaled, low confidence$"
is "dcpicalc --frequency estimate: as without counts" \
	"$("$bin/dcpicalc" --db "$db" --frequency estimate choose | sed '1,/^time/d' | grep -v skipped)" \
	"$(sed '1,/^time/d' "$scratch/before")"
"$bin/dcpilist" --db "$db" --asm --csv choose > "$scratch/list"
is "dcpilist --asm: executions are counts" "$(python3 -c '
import csv, sys
c = {}
for line in open(sys.argv[2]):
    address, size, insns, count = line.split(",")
    if address != "address":
        for a in range(int(address, 16), int(address, 16) + int(size)):
            c[a] = int(count)
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["address"]]
print(len(rows) > 50, all(int(r["executions"]) == c.get(int(r["address"], 16), 0) for r in rows))' \
	"$scratch/list" "$scratch/blocks")" "True True"
is "dcpilist: no column without counts" "$("$bin/dcpilist" --db "$db" --asm deep | grep -c executed)" 0
is "dcpiexport -f bolt: in proportion to counts" "$("$bin/dcpiexport" --db "$db" -f bolt -i ways |
	python3 -c '
import sys
want = {}
for line in open(sys.argv[1]):
    a, b, count = line.split(",")
    if a != "from":
        want[int(a, 16), int(b, 16)] = int(count)
got = [(int(w[3]), want.get((int(w[1], 16), int(w[2], 16)), 0)) for w in map(str.split, sys.stdin)]
got = [pair for pair in got if pair[1] > 0]
most = max(got, key=lambda pair: pair[1])
k = most[0] / most[1]
print(len(got) > 10, all(abs(n - k * m) <= 0.6 + k / 2 for n, m in got))' "$scratch/edges")" "True True"
# The procedure did not run, so its counts are estimated.
is "not counted: estimated" "$(calc 'set(i["confidence"] for i in insns) <=
	{"low", "medium", "high", None}' deep)" True
tool_refused dcpicalc 1 "has no exact counts" "$bin/dcpicalc" --db "$db" --frequency exact deep
tool_refused dcpicalc 2 "unknown kind of frequency .guess" "$bin/dcpicalc" --db "$db" --frequency guess choose
for scale in 0 -1 nan inf x ""; do
	tool_refused dcpicalc 2 "is not a valid scale" "$bin/dcpicalc" --db "$db" --scale "$scale" choose
done
tool_refused dcpicalc 2 "needs exact counts" \
	"$bin/dcpicalc" --db "$db" --scale 1 --frequency estimate choose

# Counts of a process whose code was only partly recorded would not be comparable.
"$dcpix" -q --db "$db" counts "$scratch/ways.new" "$(find "$scratch" -name 'counts.*' | head -n 1)"
# Recordings made within a tick of the file system's clock are separate epochs, too.
mkdir "$scratch/moment"
for _ in 1 2 3 4 5 6 7 8; do
	DCPIX_OUT=$scratch/moment/counts "$scratch/ways.new" > /dev/null &
done
wait
for file in "$scratch"/moment/counts.*; do
	"$dcpix" -q --db "$scratch/moment.db" counts "$scratch/ways.new" "$file"
done
like "epochs of a moment are all merged" \
	"$("$bin/dcpictl" --db "$scratch/merged.db" merge "$scratch/moment.db")" "\\b8 epochs"
is "counts of several epochs add up" "$(calc 'insns[0]["frequency"] * 2 ==
	3 * c[insns[0]["address"]]' choose --scale 1)" True
tap_done
