#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpisumm and dcpitopstalls as users run them. With UPDATE=1 golden output is written, not
# compared. The golden figures are those that the paper published, which do not change.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

# tool NAME DB ARGUMENT...: run the tool on a database
tool()
{
	"$bin/$1" --db "$scratch/$2.db" "${@:3}"
}

# golden FILE NAME DB ARGUMENT...: test that the output equals the golden file
golden()
{
	tool_golden "$1" "${*:2}" tool "${@:2}"
}

# refused STATUS PATTERN NAME DB ARGUMENT...: test that it fails
refused()
{
	tool_refused "$3" "$1" "$2" tool "${@:3}"
}

# on_terminal NAME DB ARGUMENT...: print the output on a terminal of 80 columns, without colours
on_terminal()
{
	script -qec "stty cols 80; $bin/$1 --db $scratch/$2.db ${*:3}" /dev/null < /dev/null |
		sed 's/\x1b\[[0-9;]*[mK]//g' | tr -d '\r'
}

# too_long NAME DB ARGUMENT...: print lines of the table that are longer than the terminal
too_long()
{
	on_terminal "$@" | sed -n '/instruction\|main cause/,$p' | awk 'length > 80' | wc -l
}

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"
copy_db | make_db copy
list_db | make_db list
both_db | make_db both
periods_db | make_db periods

# Names of events with control characters.
sqlite3 -readonly "$scratch/list.db" "VACUUM INTO '$scratch/escape.db'"
sqlite3 "$scratch/escape.db" "UPDATE event SET name = name || char(27, 155)"
for name in dcpisumm dcpitopstalls dcpicalc dcpicfg; do
	is "$name: nothing that a terminal obeys" "$(tool $name escape 2>&1 |
		grep -cP '\x1b|\xc2\x9b') $(tool $name escape | grep -oF '??' | sort -u)" '0 ??'
done

# Procedures in which the kernel waits for work are no stalls, and are left out.
. tests/lib/pages.sh
idle_pages | make_db idle
for name in dcpisumm dcpitopstalls; do
	like "$name: the idle kernel is left out" "$(tool $name idle)" \
		'^idle        40000 samples, [0-9.]*%, of waiting for work: excluded \(--idle includes them\)$'
	is "$name: its samples" "$(tool $name idle --json | jq -c '[.idle_samples, .time_samples]')" \
		"[40000,10675]"
	is "$name: all other samples are analysed" "$(tool $name idle --json | jq '[.left_out[]] | add')" 0
	is "$name --idle: as any procedure" "$(tool $name idle --idle --json |
		jq -c '[.idle_samples, .time_samples]')" "[null,50675]"
	is "$name --as-published: as in the paper" "$(tool $name idle --as-published --json |
		jq .idle_samples)" null
done
is "no stall is in it" "$(tool dcpitopstalls idle | grep -c default_idle)" 0
like "other procedures of the kernel have stalls" "$(tool dcpitopstalls idle)" ' schedule\+0x10 '
like "an instruction before the beginning of its procedure" "$(tool dcpitopstalls idle)" ' helper-0x16 '
is "and in JSON" "$(tool dcpitopstalls idle --json | jq -r '.rows[].procedure_offset' | grep '^-')" -0x16

# Samples of a timer in the kernel are two instructions after sti, if interrupts were disabled: no stall.
# masked_db KIND EVENT...: an image has such samples in _raw_spin_unlock_irqrestore
masked_db()
{
	echo "event ${*:2}"
	echo "epoch AMD EPYC, family 25 model 1"
	echo "image $1 - vmlinux-6"
	echo "symbols _raw_spin_unlock_irqrestore"
	# movb $0, (%rdi); test $0x200, %esi; je 0x11; sti; nopl; 0x11: decl (%rdi); ret
	echo "code 0 c60700f7c6000200007406fb0f1f440000ff0fc3"
	printf 'sample 0 0x%x %d\n' 0x3 30 0x11 3000 0x13 20
	echo end
}

# causes DB: print what dcpicalc says that the procedure waits for at 0x11
causes()
{
	tool dcpicalc "$1" --json | jq -r '.instructions[] | select(.address == 17) |
		[.culprits[] | "\(.cause) \(.from)"] | join(", ")'
}

masked_db kernel cpu-clock ns 195000 205000 | make_db masked
masked_db kernel cycles cycles 60000 64000 | make_db nmi
masked_db jit cpu-clock ns 195000 205000 | make_db jit
is "dcpicalc: the kernel's time with interrupts disabled" "$(causes masked)" "interrupts 11"
like "as a sentence" "$(tool dcpicalc masked)" \
	"of code that ran with interrupts disabled, up to 0xb, 'sti', where samples of this event cannot be taken;"
like "dcpitopstalls: the same" "$(tool dcpitopstalls masked)" ' interrupts disabled up to 0xb \('
like "dcpisumm: the same" "$(tool dcpisumm masked)" '^\*\*\* Interrupts disabled +0\.0% to +9[0-9]\.[0-9]%$'
is "a counter with NMIs has no such samples" "$(causes nmi | grep -c interrupts)" 0
is "nor has a program" "$(causes jit | grep -c interrupts)" 0
is "dcpisumm: other profiles have no line for it" "$(tool dcpisumm nmi |
	grep -c 'Interrupts disabled')" 0
golden dcpicalc_masked.txt dcpicalc masked --as-published

# dcpisumm
golden dcpisumm_copy.txt dcpisumm copy --as-published
golden dcpisumm_both.txt dcpisumm both --as-published
golden dcpisumm_procedure.csv dcpisumm list --as-published --by procedure --csv
golden dcpisumm_list.json dcpisumm list --as-published --json
is "its summary is that of dcpicalc --all" "$(tool dcpisumm copy | grep '^\*\*\*')" \
	"$(tool dcpicalc copy --all --summary | grep '^\*\*\*')"
is "and of all images, too" "$(tool dcpisumm list --json | jq -c '.summary.dynamic')" \
	"$(tool dcpicalc list --all --summary --json | jq -c '.summary.dynamic')"
is "periods differ: images' shares are of time" \
	"$(tool dcpisumm periods --json | jq -c '[.rows[].percent == 50]')" "[true,true]"
is "and it is said" "$(tool dcpisumm periods | grep -c 'periods differ: .* their mean$')" 1
is "images add up" "$(tool dcpisumm both --json |
	jq '([.rows[].samples] | add) == .summary.samples and (.rows | length) == 2')" true
is "procedures add up" "$(tool dcpisumm both --by procedure --json |
	jq '([.rows[].samples] | add) == .summary.samples')" true
is "parts are all there is" "$(tool dcpisumm both --by procedure --json | jq '[.rows[] |
	.dynamic_percent + .unexplained_gain_percent + .static_percent + .execution_percent +
	.sampling_error_percent | . > 99.99 and . < 100.01] | all')" true
is "no range is upside down" "$(tool dcpisumm both --json | jq '[.summary.dynamic[] |
	.low <= .high + 1e-9] | all')" true
is "one image" "$(tool dcpisumm both -i copy --csv | tail -n +2 | cut -d, -f1 | paste -sd ' ')" 213754
is "the kernel is not analysed, and that is said" \
	"$(tool dcpisumm list | grep -o 'analysed .*of the samples')" \
	"analysed    100.0% of the samples"
is "sorted by a column" "$(tool dcpisumm both --by procedure --csv --sort procedure |
	tail -n +2 | rev | cut -d, -f4 | rev | sort -c && echo sorted)" sorted
is "the first row alone" "$(tool dcpisumm both --by procedure --csv -n 1 | wc -l)" 2
valid "JSON of images" dcpisumm tool dcpisumm both
valid "JSON of procedures" dcpisumm tool dcpisumm list --by procedure
is "its table fits a terminal" "$(too_long dcpisumm list --by procedure)" 0
refused 2 'known: image, procedure' dcpisumm list --by colour
refused 2 'no such column' dcpisumm list --sort colour
refused 2 "unknown model 'z80'" dcpisumm list --model z80
refused 2 'are mutually exclusive' dcpisumm list --as-published --estimator avg
refused 2 'are mutually exclusive' dcpitopstalls list --as-published --estimator avg
refused 2 'imiss. does not measure time' dcpisumm list -e imiss
refused 2 'unexpected argument' dcpisumm list walk
refused 2 'no samples in images that match' dcpisumm list -i 'no*'
refused 2 'no epoch matches' dcpisumm list --epoch 9
refused 2 'No such file' dcpisumm none

# The sum over many procedures, most of them with few samples and inaccurate estimates.
#
# lines_of FILE: print the lines of its image
lines_of()
{
	echo "image file $(readelf -n "$1" | sed -n 's/.*Build ID: //p') $(readlink -f "$1")"
}
{
	echo "event cpu-clock ns 1000000 1100000"
	echo "epoch AMD EPYC, family 26 model 2"
	lines_of "$bin/dcpid"
	tests/lib/random_samples.py "$bin/dcpid" 60000
	lines_of "$bin/dcpictl"
	tests/lib/random_samples.py "$bin/dcpictl" 10
	echo "image kernel - vmlinux"
	echo "sample 0 0x1000 7000"
	echo end
} | make_db wild
for least in 1 16; do
	for by in image procedure; do
		tool dcpisumm wild --include-profiler --min-samples $least --by $by --json \
			> "$scratch/wild.json"
		is "by $by, $least samples: no row is faster than its best case" "$(jq '[.summary, .rows[] |
			select(.best_cpi > .actual_cpi * 1.000001)] | length' "$scratch/wild.json")" 0
		is "and executions take no longer than was sampled" "$(jq '[.rows[] |
			.execution_percent + .static_percent | . < 100.01 and . > 0] | all' \
			"$scratch/wild.json")" true
	done
	is "$least samples: the interval holds the CPI, and no less than the best case" "$(
		jq '.summary | .best_cpi <= .actual_cpi_low and .actual_cpi_low <= .actual_cpi and
			.actual_cpi <= .actual_cpi_high' "$scratch/wild.json")" true
	is "the net sampling error is within its noise" "$(jq '.summary |
		(.sampling_error | fabs) <= .sampling_noise' "$scratch/wild.json")" true
	is "all samples are analysed, or left out for a reason" "$(jq '.time_samples -
		.summary.samples - ([.left_out[]] | add) | fabs < 0.5' "$scratch/wild.json")" true
done
is "what has few samples is said" "$(tool dcpisumm wild --include-profiler |
	grep -cE '^left out .*% in [0-9]+ procedures with fewer than 16 samples$')" 1
is "so is what has no code" "$(tool dcpisumm wild --include-profiler |
	grep -cE '^ {12}.*% in 1 image whose')" 1
is "and is not analysed" "$(tool dcpisumm wild --include-profiler --csv | grep -c dcpictl)" 0
is "unless that is asked for" "$(tool dcpisumm wild --include-profiler --min-samples 1 --csv |
	grep -c dcpictl)" 1
refused 1 'no procedure has 100000 samples' dcpisumm wild --include-profiler --min-samples 100000
refused 2 'number of samples' dcpisumm wild --include-profiler --min-samples 0

# The amount of analysis does not grow with the database.
# shellcheck disable=SC2016
{
	echo .text
	for i in $(seq 4000); do
		printf '.globl f%d\n.type f%d, @function\nf%d: add $1, %%eax\nret\n.size f%d, 3\n' \
			"$i" "$i" "$i" "$i"
	done
} | sed 's/add \$1, %eax/inc %eax/' | as -o "$scratch/many.o" -
ld -o "$scratch/many" --build-id=0xabcdef0123456789abcdef0123456789abcdef01 -Ttext=0x401000 \
	-e 0x401000 "$scratch/many.o"
{
	echo "event cpu-clock ns 1000000 1100000"
	echo "epoch Some CPU"
	lines_of "$scratch/many"
	for i in $(seq 0 3999); do
		echo "sample 0 $((0x1000 + 3 * i)) $((20 + i))"
	done
	echo end
} | make_db many
is "of 4000 procedures, 2500 with most samples are analysed" "$(tool dcpisumm many --json |
	jq -c '[.procedures, .left_out.few_samples]')" '[2500,1154250]'
is "dcpitopstalls leaves out the same" "$(tool dcpitopstalls many --json |
	jq '.left_out.few_samples')" 1154250
is "and all of them if that is asked for" "$(tool dcpisumm many --min-samples 1 --json |
	jq -c '[.procedures, .left_out.few_samples]')" '[4000,0]'

# opened REPORT DATABASE FILE: print how often the processes of a report open a file
opened()
{
	strace -f -qq -e trace=openat,open -o "$scratch/opened" "$bin/$1" --db "$scratch/$2.db" \
		> /dev/null
	grep -c "\"$3\"" "$scratch/opened"
}

if strace -o /dev/null true 2> /dev/null; then
	for name in dcpisumm dcpitopstalls; do
		is "$name: an image is opened once for all passes" \
			"$(opened $name many "$scratch/many")" 1
	done
else
	skip "an image is opened once" "no strace, or it is not allowed"
fi

# dcpitopstalls
golden dcpitopstalls_copy.txt dcpitopstalls copy --as-published
golden dcpitopstalls_copy.json dcpitopstalls copy --as-published --json -n 1
golden dcpitopstalls_both.csv dcpitopstalls both --as-published --csv
is "the worst is the paper's" "$(tool dcpitopstalls copy --json | jq -r '.rows[0] |
	[.address, .procedure, (.stall_cycles > 100), .culprits[0].from] | map(tostring) |
	join(" ")')" "0x9834 copy true 0x981c"
is "decreasing" "$(tool dcpitopstalls both --json | jq '[.rows[].stall_percent] | . == (sort | reverse)')" \
	true
for n in 1 3; do
	is "the first $n are the first $n of more" "$(tool dcpitopstalls both -n $n --csv)" \
		"$(tool dcpitopstalls both -n 100 --csv | head -n $((n + 1)))"
done
is "all stalls are what the line says" "$(tool dcpitopstalls both -n 1000 --json |
	jq '([.rows[].stall_percent] | add) - .stalled_percent | fabs < 0.01')" true
is "dynamic stalls are those of the summary" "$(
	a=$(tool dcpitopstalls copy -n 1000 --json |
		jq '[.rows[] | .dynamic_cycles * .stall_samples / .stall_cycles] | add')
	b=$(tool dcpisumm copy --json | jq .summary.dynamic_total)
	awk -v a="$a" -v b="$b" 'BEGIN { print (a <= b * 1.0001 && a > 0.95 * b) }')" 1
valid "JSON of stalls" dcpitopstalls tool dcpitopstalls both
is "its table fits a terminal" "$(too_long dcpitopstalls both)" 0
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	echo "image file $list_id $scratch/list"
	echo "sample 0 0x1021 1"
	echo end
} | make_db few
refused 1 'no significant stall' dcpitopstalls few --min-samples 1
refused 1 'no procedure has 16 samples' dcpitopstalls few
refused 2 'number of instructions' dcpitopstalls list -n 0
refused 2 'unexpected argument' dcpitopstalls list walk
refused 2 'no samples in images that match' dcpitopstalls list -i 'no*'
refused 2 'No such file' dcpitopstalls none

for name in dcpisumm dcpitopstalls; do
	no_reader "$bin/$name" --db "$scratch/both.db"
	tool $name both > /dev/full 2> "$scratch/err"
	is "$name: a full disk is an error" "$? $(cut -d: -f1 "$scratch/err")" "2 $name"
	is "$name: no colours in a pipe" "$(tool $name both | grep -c $'\033')" 0
done
is "an image that is gone does not stop the others" "$(
	rm "$scratch/list"
	tool dcpisumm both --csv 2> "$scratch/err" | wc -l
	grep -c 'cannot open .*list' "$scratch/err")" "2
1"

# Code for which only the section is known, as from Haskell's compiler: in pieces that end in a jump
# to an unknown address. A program of such code has no procedures.
#
# section_db NAME PIECES: make a database of such a program
section_db()
{
	local id=ab${2}0abcdef0123456789abcdef0123456789

	id=${id:0:40}
	# shellcheck disable=SC2016
	printf '.text\n.rept %d\nadd $1, %%eax\njmp *(%%rbx)\n.endr\n' "$2" |
		as -o "$scratch/$1.o" -
	ld -o "$scratch/$1" --build-id="0x$id" -Ttext=0x401000 -e 0x401000 "$scratch/$1.o"
	strip "$scratch/$1"
	{
		echo "event cpu-clock ns 195000 205000"
		echo "epoch Some CPU"
		echo "image file $id $scratch/$1"
		printf 'sample 0 0x%x %d\n' 0x1000 5 0x1003 9 0x1008 3
		echo end
	} | make_db "$1"
}

section_db pieces 200000
is "a section of a megabyte takes seconds" "$(ulimit -t 20
	tool dcpisumm pieces --by procedure --json | jq -r '.rows[] | [.samples, .procedure] |
		join(" ")')" "17 [.text]"
section_db program 400000
is "a larger one is no procedure" "$(ulimit -t 20
	tool dcpisumm program 2>&1)" "dcpisumm: no samples in procedures"
refused 2 'too much code without procedures' dcpicalc program '[.text]'

# Live data: a list far larger than the caches.
"${CC:-gcc}" -O2 -g -o "$scratch/varies" tests/fixtures/programs/varies.c
TABLE_KB=32768 "$bin/dcpirun" -q -e cpu-clock --db "$scratch/live.db" -- "$scratch/varies" 100
is "live: the program has most of the time" "$(tool dcpisumm live --json |
	jq -r '.rows[0].image, (.rows[0].percent > 50)' | paste -sd ' ')" "$scratch/varies true"
valid "JSON of live data" dcpisumm tool dcpisumm live --by procedure
tool dcpitopstalls live > "$scratch/out" 2> "$scratch/err"
like "live: stalls, or none that stands out" "$? $(cat "$scratch/err")" '^(0 |1 dcpitopstalls: no significant stall)'

# A whole machine has many images without code: the largest are listed, and the others together.
# many COUNT: make a database in which the image of nearly all samples is missing, and COUNT others
# with 1% of the samples or less each
many()
{
	list_db | sed '/^end/,$d'
	for ((i = 0; i < $1; i++)); do
		echo "image file - /nonexistent/$i"
		[ $i -ge 100 ] || echo "sample 0 0x10 $((100 - i))"
	done
	echo end
}
for count in 11 300; do
	many $count | make_db many
	for name in dcpisumm dcpitopstalls; do
		tool $name many > "$scratch/out" 2> "$scratch/err"
		is "$name: lines about $((count + 1)) images that are missing" "$(grep -c skipped: "$scratch/err")" 11
	done
done
share=$(awk 'BEGIN { for (i = 0; i < 300; i++) { n = 100 - i; if (n > 0) all += n; if (i >= 9 && n > 0) rest += n }
	printf "%.1f", 100 * rest / (all + 10175) }')
like "the last line has the share of the others" "$(tail -n 1 "$scratch/err")" \
	"^dcpitopstalls: skipped: 91 more, with fewer samples each \\($share% of the samples\\)\$"
tap_done
