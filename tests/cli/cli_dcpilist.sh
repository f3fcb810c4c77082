#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpilist as users run it. With UPDATE=1 golden output is written, not compared.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

# list DB ARGUMENT...: run dcpilist on a database
list()
{
	"$bin/dcpilist" --db "$scratch/$1.db" "${@:2}"
}

# golden NAME DB ARGUMENT...: test that the output equals tests/golden/dcpilist_NAME
golden()
{
	tool_golden "dcpilist_$1" "dcpilist ${*:3}" list "${@:2}"
}

# refused STATUS PATTERN DB ARGUMENT...: test that it fails, with one line on stderr and no output
refused()
{
	tool_refused dcpilist "$1" "$2" list "${@:3}"
}

# sum DB EVENT ARGUMENT...: print the sum of all rows
sum()
{
	list "$1" --json "${@:3}" | jq --arg e "$2" '[.rows[][$e]] | add'
}

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"
copy_db | make_db copy
list_db | make_db list
both_db | make_db both

golden walk.txt both walk
periods_db | make_db periods
is "periods differ: samples are scaled" "$(sum periods cycles --asm divide)" 9000
is "--raw: they are as taken" "$(sum periods cycles --raw --asm divide)" 2250
golden walk_one.txt list --epoch 1 -e imiss,cpu-clock walk
golden asm.txt both --asm -i list space::spin
golden copy.txt copy
golden file.txt list --file list.s -e cpu-clock --epoch 1
golden file.csv both --file "$scratch/list.s" --csv
golden walk.json both --json walk
is "the hottest procedure is the default" "$(list both)" "$(list both copy)"
is "all samples of a procedure: source" "$(sum both cycles walk)" 9110
is "all samples of a procedure: instructions" "$(sum both cycles walk --asm)" 9110
is "of all events" "$(sum both imiss walk) $(sum both imiss walk --asm)" "70 70"
is "all samples of a procedure with a part far away" "$(sum both cycles helper.cold)" 35
is "as dcpicalc has them" "$(list copy --json --asm | jq -c '[.rows[].cycles]')" \
	"$("$bin/dcpicalc" --db "$scratch/copy.db" --json | jq -c '[.instructions[].samples]')"
is "instructions as dcpicalc has them" "$(list both --json --asm walk | jq -r '.rows[].text')" \
	"$("$bin/dcpicalc" --db "$scratch/both.db" walk --no-source |
		sed -nE 's/^0x4010[0-9a-f]{2}  (.*[^ ])  +[0-9]+ +[0-9.]+% .*/\1/p' | sed 's/ *$//')"
is "lines add up to those of dcpiprof --by line" "$(list list --file list.s --csv |
	tail -n +2 | awk -F, '{ n += $1 } END { print n }')" "$("$bin/dcpiprof" \
	--db "$scratch/list.db" --by line --csv | awk -F, '/list\.s/ { n += $1 } END { print n }')"
is "what took turns is scaled, or not" "$(sum list cpu-clock walk) $(sum list cpu-clock walk --raw)" \
	"27330 18220"
is "without an event of time" "$(list both -e imiss -i list --json | jq -c '[.procedure, .listed]')" \
	'["walk",{"imiss":70}]'
is "one without lines is listed as instructions, and why" "$(list copy | grep -c '^assembly ')" 1
like "which nobody wanted" "$(list copy --asm | grep '^assembly ' || echo no)" '^no$'
is "text as in the file, blanks for tabs" \
	"$(list list --file list.s --json | jq -r '.rows[].text')" "$(expand "$scratch/list.s")"
valid "JSON of source" dcpilist list both walk
valid "JSON of instructions" dcpilist list both --asm
valid "JSON of a file" dcpilist list both --file list.s

# Options that locate the source.
mkdir -p "$scratch/moved/deep"
mv "$scratch/list.s" "$scratch/moved/deep/list.s"
is "not where it was" "$(list both walk | grep '^assembly ')" \
	"assembly    its source file was not found: use --source-path to specify its folder"
refused 2 'walk: its source file was not found' both --source walk
refused 1 'cannot read .*list\.s.: use --source-path' both --file list.s
for option in "--source-path $scratch/moved/deep" "--substitute-path $scratch=$scratch/moved/deep" \
	"--substitute-path /none=/x --source-path /nonexistent --source-path $scratch/moved/deep"; do
	# shellcheck disable=SC2086 # options
	is "found by ${option//$scratch/.}" "$(list both walk $option | grep -c 'movq (%rdi), %rdi')" 1
done
like "dcpicalc finds it, too" "$("$bin/dcpicalc" --db "$scratch/both.db" walk \
	--source-path "$scratch/moved/deep")" 'list\.s:[0-9]+: movq'
printf 'one\r\n\ttab\033[31m\n' > "$scratch/list.s"
is "a file that became shorter, with what no terminal should get" \
	"$(list both --file list.s --json | jq -c '[.rows[].text]')" \
	'["one","        tab?[31m","<no such line: the file has changed>"]'
mkdir "$scratch/tabs"
sed 's/movq (/movq\t(/; s/$/\r/' "$scratch/moved/deep/list.s" > "$scratch/tabs/list.s"
is "tabs inside of lines are blanks, between instructions, too" "$(list both --asm walk \
	--substitute-path "$scratch=$scratch/tabs" | sed -nE 's/.*(list\.s:[0-9]+: movq)/\1/p' | cat -A)" \
	"list.s:8: movq    (%rdi), %rdi\$"
is "and in dcpicalc" "$("$bin/dcpicalc" --db "$scratch/both.db" walk \
	--substitute-path "$scratch=$scratch/tabs" | sed -nE 's/.*(list\.s:[0-9]+: movq)/\1/p' | cat -A)" \
	"list.s:8: movq    (%rdi), %rdi\$"
mkfifo "$scratch/fifo"
is "instructions without their source: which line it is" "$(list both --asm walk \
	--substitute-path "$scratch=$scratch/none" | grep -oE 'list\.s:[0-9]+.*' | head -n 1)" "list.s:6"
is "a fifo is no source" "$(within "$bin/dcpilist" --db "$scratch/both.db" walk \
	--substitute-path "$scratch/list.s=$scratch/fifo" | grep -c '^assembly ')" 1
rm "$scratch/list.s"
ln -s moved/deep/list.s "$scratch/list.s"

# on_terminal ARGUMENT...: run on a terminal of 80 columns
on_terminal()
{
	script -qec "stty cols 80; $bin/dcpilist --db $scratch/both.db $*" /dev/null < /dev/null |
		tr -d '\r'
}
check "colours on a terminal" [ "$(on_terminal walk | grep -c $'\033\\[1;31m')" -ge 1 ]
is "but not with --no-color" "$(on_terminal walk --no-color | grep -c $'\033')" 0
is "nor in a pipe" "$(list both walk | grep -c $'\033')" 0
is "lines fit the terminal" "$(on_terminal walk --no-color | sed -n '/line  source/,$p' |
	awk 'length > 80' | wc -l)" 0

refused 2 'are mutually exclusive' both --asm --source walk
refused 2 'are mutually exclusive' both --file list.s walk
refused 2 'are mutually exclusive' both --file list.s --asm
refused 2 "no samples in a source file 's'" both --file s
refused 2 'not of the form FROM=TO' both --substitute-path /a
refused 2 'not of the form FROM=TO' both --substitute-path =/a
refused 2 'unknown event .dmiss. \(did you mean .imiss.\?\); known: cycles, imiss' both -e dmiss
refused 2 "'helper' is ambiguous: 2 procedures match" both helper
refused 2 "no procedure 'nothing' in images" both nothing
refused 2 'no samples in images that match' both -i 'no*'
refused 2 "'vmlinux' is the kernel" list -i vmlinux
refused 2 "unexpected argument 'b'" both a b
refused 2 'no epoch matches' both --epoch 9
refused 2 'no epoch matches' both --host gamma
refused 2 'No such file' none
list both > /dev/full 2> "$scratch/err"
is "a full disk is an error" "$? $(cut -d: -f1 "$scratch/err")" "2 dcpilist"
no_reader "$bin/dcpilist" --db "$scratch/both.db"
mv "$scratch/list" "$scratch/gone"
refused 2 "cannot open .*list': No such file" both -i list walk

# A procedure inside of another one: each has only its own samples.
cat > "$scratch/nested.s" <<-'EOF'
	.globl _start
	.type outer, @function
	.type inner, @function
	_start:
	outer:
		movl $200, %ecx
	1:	decl %ecx
		jnz 1b
	inner:
		movl $300, %ecx
	2:	decl %ecx
		jnz 2b
		ret
		.size inner, . - inner
		movl $100, %ecx
		ret
		.size outer, . - outer
EOF
nested_id=0badc0de0badc0de0badc0de0badc0de0badc0de
as -g -o "$scratch/nested.o" "$scratch/nested.s"
ld --build-id=0x$nested_id -Ttext=0x401000 -o "$scratch/nested" "$scratch/nested.o"
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	echo "image file $nested_id $scratch/nested"
	printf 'sample 0 0x%x %d\n' 0x1000 1 0x1005 60 0x1007 5 0x1009 3 0x100e 200 0x1010 14 \
		0x1012 2 0x1013 4 0x1018 7
	echo end
} | make_db nested
for procedure in outer inner; do
	want=$("$bin/dcpiprof" --db "$scratch/nested.db" --csv |
		awk -F, -v name=$procedure '$4 == name { print $1 }')
	is "nested: $procedure's samples are dcpiprof's" "$(sum nested cycles --asm $procedure) $(
		sum nested cycles --source $procedure)" "$want $want"
done
is "nested: and its instructions its own" "$(list nested --json --asm outer |
	jq -r '.rows[].address' | tr '\n' ' ')" "0x401000 0x401005 0x401007 0x401013 0x401018 "

# Live data: inlined code, and a program with line information.
"${CC:-gcc}" -O2 -g -o "$scratch/varies" tests/fixtures/programs/varies.c
check "a program is profiled" "$bin/dcpirun" -q -e cpu-clock --db "$scratch/live.db" -- \
	"$scratch/varies" 400
like "live: the loop's line is the hottest" "$(list live -i varies follow_chain --json |
	jq -r '.rows | max_by(."cpu-clock") | .text')" 'while \(steps-- > 0\)|line = line->next'
is "live: whole file" "$(list live --file varies.c --json | jq '.rows | length')" \
	"$(wc -l < tests/fixtures/programs/varies.c)"
valid "JSON of live data" dcpilist list live -i varies
tap_done
