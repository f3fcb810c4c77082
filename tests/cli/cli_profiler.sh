#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The profiler's own samples: marked, left out of shares and comparisons, and counted on request.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"

# epoch PROBES OTHERS: print an epoch with PROBES probes; of the samples at uprobes, OTHERS are
# other programs'
epoch()
{
	echo "event cpu-clock ns 200000 200000"
	echo "epoch Some CPU"
	echo "counter stat probes $1"
	echo "image kernel - vmlinux-6"
	echo "symbols schedule uprobe_notify_resume irqentry_exit_to_user_mode find_active_uprobe_rcu"
	printf 'sample 0 0x%x %d\n' 0x10 200 0x1010 "$2" 0x2010 $((50 + 2 * $2)) 0x3010 40
	echo "image jit - [bpf]"
	echo "symbols bpf_prog_0123456789abcdef_dcpi_branch_probe bpf_prog_0123456789abcdef_firewall"
	printf 'sample 0 0x%x %d\n' 0x10 30 0x1010 30
	echo "image file - /usr/sbin/dcpid"
	echo "sample 0 0x10 100"
	echo "image file - /usr/bin/work"
	echo "sample 0 0x10 600"
	echo end
}

{
	epoch 7 200
	epoch 7 1200
} | make_db probes
epoch 0 200 | make_db none

prof()
{
	"$bin/dcpiprof" --db "$scratch/$1.db" "${@:2}"
}

# row DB PROCEDURE ARGUMENT...: print samples, share, name and mark
row()
{
	prof "$1" "${@:3}" | awk -v name="$2" '$4 == name { $1 = $1; sub(/ [^ ]*$/, ""); print }'
}

is "a row of the profiler has no share" "$(row probes uprobe_notify_resume --epoch 1)" \
	"200 - - uprobe_notify_resume [profiler]"
is "a row that is the profiler's in part" "$(row probes irqentry_exit_to_user_mode --epoch 1 |
	cut -d' ' -f1,2,4-)" "450 35.2% irqentry_exit_to_user_mode [profiler, in part]"
is "shares are of the others" "$(row probes schedule --epoch 1 | cut -d' ' -f1,2,4)" \
	"200 15.6% schedule"
is "a BPF program that takes samples" "$(row probes bpf_prog_0123456789abcdef_dcpi_branch_probe --epoch 1)" \
	"30 - - bpf_prog_0123456789abcdef_dcpi_branch_probe [profiler]"
is "another BPF program" "$(row probes bpf_prog_0123456789abcdef_firewall --epoch 1 |
	cut -d' ' -f1,2,4-)" "30 2.3% bpf_prog_0123456789abcdef_firewall"
is "the daemon, by image" "$(prof probes --by image --epoch 1 | grep dcpid | xargs)" \
	"100 - - /usr/sbin/dcpid [profiler]"
like "the header says how many are excluded" "$(prof probes --epoch 1)" \
	'^profiler    370 samples, 22.42%, of profiling itself: excluded \(--include-profiler'
like "nothing is missing in the accounting" "$(prof probes --epoch 1)" \
	'^accounting  1650 interrupts = 1650 samples \+ 0 lost: exact'
is "rows excluded stand last" "$(prof probes --epoch 1 | sed '1,/^cpu-clock/d' |
	awk '{ print $2 == "-" }' | uniq | paste -sd' ')" "0 1"
is "cumulative shares end at 100%" "$(prof probes --epoch 1 | awk '$2 != "-" { last = $3 } $2 == "-" { exit }
	END { print last }')" "100.0%"
is "--include-profiler: shares are of all" "$(row probes uprobe_notify_resume --epoch 1 \
	--include-profiler | cut -d' ' -f1,2,4-)" "200 12.1% uprobe_notify_resume [profiler]"
is "--include-profiler: nothing is excluded" "$(prof probes --include-profiler |
	grep -c '^profiler')" 0
is "without probes, uprobes are another program's" "$(row none uprobe_notify_resume |
	cut -d' ' -f1,4-)" "200 uprobe_notify_resume"
is "without probes, traps are unmarked" "$(row none irqentry_exit_to_user_mode |
	cut -d' ' -f1,4-)" "450 irqentry_exit_to_user_mode"
is "without probes, the daemon is still marked" "$(prof none --by image | grep -c 'dcpid \[profiler\]')" 1
is "JSON" "$(prof probes --json --epoch 1 | jq -c '[.profiler_samples, .profiler_totals]')" \
	'[370,{"cpu-clock":370}]'
{
	epoch 7 200 | sed 's/^epoch/event imiss events 4096 4096\n&/; s/^image file.*dcpid/&\nsample 1 0x10 5000/'
} | make_db two_events
is "JSON has the profiler's samples of each event" "$(prof two_events --json |
	jq -c '[.profiler_samples, .profiler_totals, .totals]')" \
	'[5370,{"cpu-clock":370,"imiss":5000},{"cpu-clock":1650,"imiss":5000}]'
is "the page has them, too" "$("$bin/dcpireport" --db "$scratch/two_events.db" --json |
	jq -c '.procedures.profiler_totals')" '{"cpu-clock":370,"imiss":5000}'
valid "a report with the profiler's samples" dcpiprof prof probes

# Samples that a report lists, and those that it excludes, are all samples, in each report. The kernel
# has an image with its samples at probes; two images have the path of the daemon; the daemon has samples
# in images of others.
sums()
{
	epoch 7 200 | sed '/^image file/,$d'
	echo "image kernel - vmlinux-6 [probes]"
	echo "sample 0 0x1010 300"
	echo "image file - /usr/sbin/dcpid"
	echo "sample 0 0x10 100"
	echo "image file 00ff /usr/sbin/dcpid"
	echo "sample 0 0x20 70"
	echo "image file - /usr/bin/b"
	echo "sample 0 0x10 600"
	echo "process $own_process"
	echo "sample 0 0x10 40"
	echo "process -"
	list_samples
	echo "process $own_process"
	echo "sample 0 0x1005 3"
	echo "image kernel - vmlinux-6"
	printf 'sample 0 0x%x %d\n' 0x10 6 0x1010 1
	echo "process -"
	echo end
}
# Number of the profiles of the profiler's processes, PROFILE_PID_PROFILER
own_process=-4294967296
sums | make_db sums
{
	sums
	sums
} | make_db sums_twice
# rows_and_own TOOL ARGUMENT...: print the samples of the rows with a share, the profiler's, and the sum
rows_and_own()
{
	"$bin/$1" --db "$scratch/sums.db" "${@:2}" --json | jq -c '[.rows[] | to_entries |
		map(select(.key == "cpu-clock" or .key == "total"))[0].value as $n |
		map(select(.key == "cpu-clock_percent" or .key == "total_percent"))[0].value |
		select(. != null) | $n] | add' | xargs
}
# own TOOL ARGUMENT...: print the samples of the profiler, and all samples
own()
{
	"$bin/$1" --db "$scratch/sums.db" "${@:2}" --json 2> "$scratch/err" |
		jq -c '[.profiler_samples, .samples // .total_samples]'
}
excluded=790 all=$(prof sums --json | jq .interrupts)
for command in dcpiprof "dcpiprof --by instruction" "dcpiprof --by image" "dcpiprof --by host" \
	"dcpiprof --by epoch" "dcpitop --no-flush --batch -n 1 --rows 100" \
	"dcpitop --no-flush --batch -n 1 --rows 100 --by procedure"; do
	read -ra words <<< "$command"
	is "${words[*]}: rows and the profiler's samples are all samples" \
		"$(own "${words[@]}") $(rows_and_own "${words[@]}")" "[$excluded,$all] $((all - excluded))"
done
for command in "dcpilist walk" dcpisumm dcpitopstalls; do
	read -ra words <<< "$command"
	is "$command: the profiler's samples are counted once" "$(own "${words[@]}")" "[$excluded,$all]"
done
is "dcpireport: the profiler's samples are counted once" "$("$bin/dcpireport" --db "$scratch/sums.db" \
	--json | jq -c '.procedures | [.profiler_samples, .samples]')" "[$excluded,$all]"
like "dcpicalc: the profiler's samples are counted once" "$("$bin/dcpicalc" --db "$scratch/sums.db" walk)" \
	"^profiler    $excluded samples, "
for name in dcpistats dcpidiff; do
	is "$name: the profiler's samples are counted once in each set" "$("$bin/$name" \
		--db "$scratch/sums_twice.db" --json 1 2 |
		jq -c '[.profiler_samples, .samples], (.sets[] | [.profiler_samples, .samples])' | xargs)" \
		"[$((2 * excluded)),$((2 * all))] [$excluded,$all] [$excluded,$all]"
done
is "dcpiexport: the other samples" "$("$bin/dcpiexport" --db "$scratch/sums.db" -f csv | tr -d '\r' |
	awk -F, 'NR > 1 { sum += $NF } END { print sum }')" $((all - excluded))

is "the samples of the profiler's processes have rows of their own" "$(prof sums | grep -E ' (schedule|walk) ' |
	awk '{ print $1, $2 == "-", $NF }' | sort -n | xargs)" \
	"3 1 $scratch/list 6 1 vmlinux-6 200 0 vmlinux-6 9110 0 $scratch/list"
is "a library is named once, without its build-id" "$(prof sums --by image --csv | tr -d '\r' |
	grep -c ',/usr/bin/b')" 2
is "--include-profiler: their samples have shares" "$(prof sums --by image --include-profiler --json |
	jq '[.rows[]["cpu-clock_percent"]] | add - 100 | fabs < 0.01')" true
is "dcpilist: no line has their samples" "$("$bin/dcpilist" --db "$scratch/sums.db" --asm --json walk |
	jq '[.rows[]["cpu-clock"] // 0] | add')" 9110

# differ ARGUMENT...: print the names of rows of dcpidiff, and their verdicts
differ()
{
	"$bin/dcpidiff" --db "$scratch/probes.db" --csv --min 0 "$@" 1 2 | tr -d '\r' | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) n[$i] = i; next }
		{ print $n["procedure"], $n["significant"] }' | sort
}
is "sets count all samples, and the profiler's apart" "$("$bin/dcpidiff" --db "$scratch/probes.db" --json 1 2 |
	jq -c "[.sets[] | .samples, .profiler_samples]")" "[1650,370,4650,1370]"
is "a comparison leaves the profiler out" "$(differ | grep -c uprobe)" 0
is "a row that is the profiler's in part does not differ" "$(differ | grep irqentry)" \
	"irqentry_exit_to_user_mode no"
is "--include-profiler: it differs" "$(differ --include-profiler | grep uprobe_n)" \
	"uprobe_notify_resume yes"
is "nothing else seems to differ" "$(differ --normalize none | grep -c ' yes')" 0

# dcpitop: the last epoch
top()
{
	"$bin/dcpitop" --db "$scratch/probes.db" --no-flush --batch -n 1 --rows 100 "$@"
}
# top_row NAME ARGUMENT...: print shares, samples, name and mark
top_row()
{
	top "${@:2}" | awk -v name="$1" '$5 == name { print $1, $3, $4, $5, $6 }'
}
is "dcpitop: the daemon has no share" "$(top_row /usr/sbin/dcpid)" "- - 100 /usr/sbin/dcpid [profiler]"
is "dcpitop: shares of images are of the others" "$(top_row /usr/bin/work | cut -d' ' -f2,3)" "18.3% 600"
is "dcpitop: a procedure of the profiler's has no share" \
	"$(top_row uprobe_notify_resume --by procedure)" "- - 1200 uprobe_notify_resume [profiler]"
is "dcpitop: a BPF program that takes samples" \
	"$(top_row bpf_prog_0123456789abcdef_dcpi_branch_probe --by procedure)" \
	"- - 30 bpf_prog_0123456789abcdef_dcpi_branch_probe [profiler]"
is "dcpitop: shares of procedures are of the others" \
	"$(top_row schedule --by procedure | cut -d' ' -f2,3)" "6.1% 200"
like "dcpitop: a row that is the profiler's in part" "$(top --by procedure)" \
	' 74\.7% +2450  irqentry_exit_to_user_mode \[profiler, in part\]'
like "dcpitop: the heading says how many are excluded" "$(top --by procedure)" \
	'4650 since .*; profiler 1370 excluded'
is "dcpitop: shares add up to 100%" "$(for by in image procedure; do
	top --by $by --json | jq '[.rows[].total_percent // 0] | add - 100 | fabs < 0.01'
done | xargs)" "true true"
is "dcpitop: JSON" "$(top --by procedure --json | jq -c '[.total_samples, .profiler_samples]')" \
	"[4650,1370]"
check "dcpitop: JSON is as the schema has it" tests/lib/validate_json.py dcpitop \
	<<< "$(top --by procedure --json)"
is "dcpitop: --include-profiler" "$(top_row uprobe_notify_resume --by procedure --include-profiler |
	cut -d' ' -f3-)" "1200 uprobe_notify_resume [profiler]"
is "dcpitop: --include-profiler excludes nothing" "$(top --by procedure --json --include-profiler |
	jq -c '[.profiler_samples, ([.rows[].total_percent] | add | round)]')" "[null,100]"

# By owner: samples of images and of procedures are left out
for by in host epoch process; do
	epoch 7 200 | sed 's#^image file - /usr/bin/work#&\nprocess 42#' | make_db owners
	is "by $by: rows and the header add up" "$(prof owners --by $by --json |
		jq -c '[([.rows[]["cpu-clock"]] | add), .profiler_samples, .samples]')" "[1280,370,1650]"
	is "by $by: shares add up to 100%" "$(prof owners --by $by --json |
		jq '[.rows[]["cpu-clock_percent"]] | add - 100 | fabs < 0.01')" true
	is "by $by: --include-profiler" "$(prof owners --by $by --json --include-profiler |
		jq -c '[([.rows[]["cpu-clock"]] | add), .profiler_samples]')" "[1650,null]"
done
"$helpers/make_golden_db" "$scratch/units.db"
sqlite3 "$scratch/units.db" "UPDATE image SET path = '/usr/sbin/dcpid' WHERE path LIKE '%/server%'"
for by in unit container; do
	is "by $by: rows leave out what the header says" "$(for more in '' --include-profiler; do
		# shellcheck disable=SC2086 # none, or an option
		prof units --by $by --epoch 2 --json $more |
			jq '([.rows[]["cpu-clock"]] | add) + .profiler_samples'
	done | uniq | wc -l)" 1
	is "by $by: there is something to leave out" "$(prof units --by $by --epoch 2 --json |
		jq '.profiler_samples > 0')" true
done
like "by host: only the profiler's" "$(prof owners --by host -i dcpid 2>&1)" \
	"no samples in images that match 'dcpid'; --include-profiler includes"

# dcpiexport
export_of()
{
	"$bin/dcpiexport" --db "$scratch/probes.db" --epoch 1 "$@"
}
is "dcpiexport: the profiler's samples are left out" "$(export_of -f folded | sort)" "\
[bpf];bpf_prog_0123456789abcdef_firewall 30
vmlinux-6;irqentry_exit_to_user_mode 450
vmlinux-6;schedule 200
work;<image missing> 600"
is "dcpiexport: --include-profiler" "$(export_of -f folded --include-profiler |
	awk '{ sum += $NF } END { print NR, sum }')" "8 1650"
is "dcpiexport: CSV has the same samples" "$(export_of -f csv | tr -d '\r' |
	awk -F, 'NR > 1 { sum += $NF } END { print sum }')" 1280
like "dcpiexport: a title says how many are excluded" "$(export_of -f flamegraph)" \
	'; 370 samples of the profiler are excluded'
like "dcpiexport: only the profiler's" "$(export_of -f folded -i dcpid 2>&1)" \
	"all samples are of the profiler or of waiting for work: use --include-profiler or --idle"

# dcpisumm and dcpitopstalls: a program with code, and the profiler's own samples
mkdir "$scratch/own"
cp "$scratch/chain" "$scratch/own/dcpid"
analysed()
{
	epoch 7 200 | sed '/^image file/,$d'
	list_samples
	chain_db | sed -n "/^image/,/^sample/s#$scratch/chain#$scratch/own/dcpid#p; /^sample/p"
	echo end
}
analysed | make_db analysed

# analysis TOOL ARGUMENT...: run the tool
analysis()
{
	"$bin/$1" --db "$scratch/analysed.db" "${@:2}"
}
for name in dcpisumm dcpitopstalls; do
	like "$name: the header says how many are excluded" "$(analysis $name)" \
		'^profiler    7980 samples, 42.37%, of profiling itself: excluded'
	is "$name: JSON" "$(analysis $name --json |
		jq -c '[.profiler_samples, .time_samples, .samples]')" "[7980,10855,18835]"
	is "$name: no row of the daemon" "$(analysis $name --csv | grep -c own/dcpid)" 0
	like "$name: --include-profiler has one" "$(analysis $name --csv --include-profiler)" 'own/dcpid'
	is "$name: --include-profiler excludes nothing" "$(analysis $name --json --include-profiler |
		jq -c '[.profiler_samples, .time_samples]')" "[null,18835]"
	like "$name: the image asked for is the profiler's" "$(analysis $name -i dcpid 2>&1)" \
		"no samples in images that match 'dcpid'; --include-profiler includes"
	like "$name: it is analysed if asked for" "$(analysis $name -i dcpid --csv --include-profiler)" \
		'own/dcpid'
	valid "$name: a report without the profiler's samples" $name analysis $name
done
is "dcpisumm: shares add up to 100%" "$(analysis dcpisumm --json --min-samples 1 |
	jq '([.left_out[]] | add) + .summary.samples == .time_samples')" true
is "dcpisumm: --as-published leaves nothing out" "$(analysis dcpisumm --json --as-published |
	jq .time_samples)" 18835

list_of()
{
	"$bin/dcpilist" --db "$scratch/analysed.db" "$@"
}

# share TOOL ARGUMENT...: print the share of all samples that the tool gives the procedure walk
share()
{
	local out

	out=$(analysis "$@") || return
	case $1 in
		dcpiprof) awk '$4 == "walk" { print $2 }' ;;
		dcpisumm) tr -d '\r' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) n[$i] = i }
			$n["procedure"] == "walk" { printf "%.1f%%\n", $n["percent"] }' ;;
		*) grep -oE '[0-9.]+% of all' | head -n 1 | cut -d' ' -f1 ;;
	esac <<< "$out"
}
for more in '' --include-profiler; do
	want=$(share dcpiprof ${more:+"$more"})
	for command in "dcpicalc walk" "dcpicalc --summary walk" "dcpicfg -f dot walk" \
		"dcpilist --asm walk" "dcpisumm --by procedure --csv"; do
		read -ra words <<< "$command $more"
		is "$command: the share of dcpiprof ${more:-without the profiler}" \
			"$(share "${words[@]}")" "$want"
	done
done
for command in "dcpicalc -i dcpid" "dcpicalc --summary -i dcpid" "dcpicfg -f dot -i dcpid" \
	"dcpilist --asm -i dcpid"; do
	read -ra words <<< "$command"
	is "$command: the profiler has no share" \
		"$(analysis "${words[@]}" 2>&1 | grep -cE '% of all|^dcpi')" 0
done
for name in dcpicalc dcpilist; do
	like "$name: the header says how many are excluded" "$(analysis $name walk)" \
		'^profiler    7980 samples, 42.37%, of profiling itself: excluded'
	is "$name: --include-profiler excludes nothing" "$(analysis $name walk --include-profiler |
		grep -c ^profiler)" 0
done
like "dcpilist: the heading marks a procedure of the profiler's" "$(list_of --asm -i dcpid 2>&1)" \
	'^procedure .*\[profiler\]'
like "dcpilist: others have no mark" "$(list_of --asm walk)" '^procedure +walk$'

# source_file IMAGE: print a program with lines, as if it was IMAGE
source_file()
{
	mkdir -p "$scratch/lines"
	cp "$scratch/list" "$scratch/lines/$1"
	list_samples | sed "s#$scratch/list\$#$scratch/lines/$1#"
	echo "branch 4104 4096 30"
}
{
	epoch 0 200 | sed '/^image file/,$d'
	source_file dcpid
	echo end
} | make_db own_lines
{
	epoch 0 200 | sed '/^image file/,$d'
	source_file work
	echo end
} | make_db other_lines
like "dcpilist: a file of the profiler is marked" "$("$bin/dcpilist" --db "$scratch/own_lines.db" \
	--file list.s)" '^file .*list.s \[profiler\]$'
like "dcpilist: a file of another program is not" "$("$bin/dcpilist" --db "$scratch/other_lines.db" \
	--file list.s)" '^file .*list.s$'
like "edges of the profiler are marked" "$(prof own_lines --by edge)" \
	' branch +walk\+0x5 \[profiler\] +helper.cold\+0x0 \[profiler\] '
like "edges of others are not" "$(prof other_lines --by edge)" ' branch +walk\+0x5 +helper.cold\+0x0 '

# The hottest procedure is the profiler's only if the user asks for the profiler's image.
{
	epoch 0 200 | sed '/^image file/,$d'
	source_file dcpid
	chain_db | sed -n '/^image/p; /^sample/p'
	echo end
} | make_db hottest
for name in dcpicalc dcpilist; do
	is "$name: the hottest procedure is not the profiler's" "$("$bin/$name" --db \
		"$scratch/hottest.db" | awk '$1 == "image" { print $2 }' | cut -d, -f1)" "$scratch/chain"
	like "$name: a procedure of the profiler's is marked" "$("$bin/$name" --db \
		"$scratch/hottest.db" -i dcpid)" '^procedure +walk \[profiler\]'
done

# Procedures of the kernel that serve all users of perf and BPF are the profiler's in part.
kernel_paths()
{
	echo "event cpu-clock ns 200000 200000"
	echo "epoch Some CPU"
	echo "image kernel - vmlinux-6"
	echo "symbols schedule perf_event_mmap_output __perf_event_overflow bpf_ringbuf_output"
	printf 'sample 0 0x%x %d\n' 0x10 2000 0x1010 "$1" 0x2010 "$1" 0x3010 "$1"
	echo "image jit - [bpf]"
	echo "symbols bpf_trampoline_6442 bpf_prog_0123456789abcdef_dcpi_walk_step bpf_prog_0123456789abcdef_hook_exit"
	printf 'sample 0 0x%x %d\n' 0x10 "$1" 0x1010 "$1" 0x2010 300
	echo end
}
{
	kernel_paths 300
	kernel_paths 900
} | make_db probes
for name in perf_event_mmap_output __perf_event_overflow bpf_ringbuf_output bpf_trampoline_6442; do
	like "$name is the profiler's in part" "$(row probes $name --epoch 1)" '^300 [0-9.]+% .* \[profiler, in part\]$'
	is "$name does not differ" "$(differ | grep "^$name ")" "$name no"
done
like "a subprogram of a BPF program" "$(row probes bpf_prog_0123456789abcdef_dcpi_walk_step --epoch 1)" \
	'^300 - - .* \[profiler\]$'
like "a hook of another program" "$(row probes bpf_prog_0123456789abcdef_hook_exit --epoch 1)" \
	'^300 [0-9.]+% [0-9.]+% bpf_prog_0123456789abcdef_hook_exit$'
# All names that a BPF program of dcpid has in the kernel
is "all BPF programs have the prefix" "$(for object in "${bin%/bin}"/obj/*/*/bpf/*.bpf.o \
	"${bin%/bin}"/obj/*/bpf/*.bpf.o; do
	[ ! -e "$object" ] || readelf -sW "$object"
done | awk '$4 == "FUNC" { n++; bad += $8 !~ /^dcpi_/ } END { print (n > 10), bad }')" "1 0"

# Live data: a process that executes a program with the daemon's name, mostly in a library and in the
# kernel. Not all of it may be known, if the kernel drops events.
cat > "$scratch/own.c" << 'END'
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static char a[1 << 16], b[1 << 16];
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 2) {
		for (int i = 0; i < 50; i++)
			memcpy(a, b, sizeof(a));
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
	}
	return a[0];
}
END
mkdir -p "$scratch/process"
check "a program with the daemon's name is made" gcc -O1 -o "$scratch/process/dcpid" "$scratch/own.c"
# The same program under both names: the one is the profiler, the other is not
cp "$scratch/process/dcpid" "$scratch/process/work"
for command in dcpid work; do
	"$bin/dcpirun" -q --db "$scratch/process_$command.db" --overhead 100 --probes 0 \
		-e cpu-clock:400000-440000 "$scratch/process/$command"
done
# of_process NAME: print the samples of known images with and without a share
of_process()
{
	prof "process_$1" --by image --json | jq -r 'def sum(f): [.rows[] | select(.image != "unknown") |
		select(f)["cpu-clock"]] | add // 0;
		"\(sum(.["cpu-clock_percent"] != null)) \(sum(.["cpu-clock_percent"] == null))"'
}
read -r others own <<< "$(of_process dcpid)"
if [ "$own" -lt 100 ]; then
	not_measured "live: samples of the profiler's process" "there are only $own"
else
	is "live: all samples of the profiler's process are excluded" "$others" 0
	for image in libc vmlinux; do
		like "live: those in $image, too" "$(prof process_dcpid --by image)" " - .*/?$image.* \\[profiler\\]"
	done
	is "live: nothing is missing" "$(prof process_dcpid --json |
		jq '.samples == .profiler_samples + (.unknown_samples // 0)')" true
fi
read -r _ own <<< "$(of_process work)"
is "live: no sample of another process is excluded" "$own" 0

# Live data: probes on branches, if the kernel sets any.
cat > "$scratch/br.c" << 'END'
#include <stdlib.h>
__attribute__((noinline)) int step(unsigned *x)
{
	*x = *x * 1103515245u + 12345u;
	return *x & 0x10000 ? 3 : *x & 0x20000 ? 5 : 1;
}
int main(int argc, char **argv)
{
	unsigned x = 1;
	long sum = 0;

	for (long i = 0; i < 100000000; i++)
		sum += step(&x);
	return sum == argc;
}
END
check "a program is made" gcc -O1 -o "$scratch/br" "$scratch/br.c"
# counter NAME: print a counter of the live data
counter()
{
	sqlite3 "$scratch/live.db" "SELECT ifnull(sum(count), 0) FROM counter
		WHERE counter_group = 'stat' AND name = '$1'"
}
# A run on a busy host may have no sample at a probe. Without probes, one run is enough.
live_is_probed()
{
	rm -rf "$scratch"/live.db*
	"$bin/dcpirun" -q --db "$scratch/live.db" --overhead 100 --probes 100 \
		-e cpu-clock:200000-220000 "$scratch/br" || return
	[ "$(counter probe_samples)" -gt 0 ] || [ "$(counter probes_unavailable)" -gt 0 ]
}
eventually live_is_probed
check "it is profiled" test -e "$scratch/live.db"
if [ "$(counter probe_samples)" -eq 0 ]; then
	not_measured "live: uprobes are excluded" "no sample at a probe"
else
	is "live: no uprobe procedure has a share" "$(prof live | awk '$4 ~ /uprobe/ && $2 != "-"' |
		wc -l)" 0
	like "live: samples at probes are in an image of their own" \
		"$(prof live --by image --include-profiler)" '\[probes\]'
	like "live: they have names" "$(prof live --include-profiler)" '^ .* [a-z_0-9]+ \[profiler\] +vmlinux.*\[probes\]'
	is "live: no trap is the profiler's in part" "$(prof live | grep 'in part' |
		grep -vcE ' (perf|__perf|x86_pmu|intel_pmu|amd_pmu|event_sched|ctx_sched|bpf|__bpf)_')" 0
	is "live: --include-profiler has as many samples" \
		"$(prof live --csv | awk -F, 'NR > 1 { n += $1 } END { print n }')" \
		"$(prof live --csv --include-profiler | awk -F, 'NR > 1 { n += $1 } END { print n }')"
fi
# Reference: the same program without probes. Its kernel samples must be as many as the samples
# outside of probes here.
#
# kernel NAME PROBES: print samples of the program, of the kernel at probes, and of the rest of the
# kernel
kernel()
{
	rm -rf "$scratch/$1".db*
	"$bin/dcpirun" -q --db "$scratch/$1.db" --overhead 100 --probes "$2" \
		-e cpu-clock:200000-220000 "$scratch/br" &&
		"$bin/dcpiprof" --db "$scratch/$1.db" --by image --include-profiler --json |
		jq -r '[(.rows[] | select(.image | endswith("/br"))), {"cpu-clock": 0}][0]["cpu-clock"] as $own |
			[.rows[] | select(.image | startswith("vmlinux"))] as $kernel |
			def sum(f): [$kernel[] | select(.image | endswith("[probes]") | f) |
				.["cpu-clock"]] | add // 0;
			"\($own) \(sum(.)) \(sum(not))"'
}
# difference: compare the samples of the run with probes with those of the runs without probes before
# and after it. Prints 0 for equal numbers, -1 for fewer samples, 1 for more; then the figures.
difference()
{
	awk -v n0="$own_before" -v r0="$rest_before" -v n2="$own_after" -v r2="$rest_after" \
		-v n1="$own_all" -v p1="$probes_all" -v r1="$rest_all" 'BEGIN {
			first = r0 / n0 * n1
			last = r2 / n2 * n1
			base = (first + last) / 2
			spread = first > last ? first - last : last - first
			sigma = sqrt(r1 + ((r0 + 1) * (n1 / n0) ^ 2 + (r2 + 1) * (n1 / n2) ^ 2) / 4)
			limit = 4 * sigma + 0.1 * p1 + spread
			printf "%d at probes %d, elsewhere %d, expected %.0f and %.0f, sigma %.1f\n",
				(r1 > base + limit) - (r1 < base - limit), p1, r1, first, last, sigma
		}'
}

# The load of a busy machine changes between runs, in both directions.
signs=0
for _ in 1 2 3 4; do
	read -r own_before _ rest_before <<< "$(kernel truth_none 0)"
	read -r own_all probes_all rest_all <<< "$(kernel truth_all 100)"
	read -r own_after _ rest_after <<< "$(kernel truth_none 0)"
	read -r sign figures <<< "$(difference)"
	sign=${sign:-0}
	signs=$((signs + sign))
	[ "$sign" -ne 0 ] || break
done
if [ "${probes_all:-0}" -lt $((${own_all:-0} / 50)) ]; then
	not_measured "live: samples at probes" "they are $probes_all beside $own_all of the program"
elif [ "$sign" -eq 0 ] || [ ${signs#-} -eq 4 ]; then
	is "live: the kernel has as many samples elsewhere as without probes ($figures)" "$sign" 0
else
	not_measured "live: samples of the kernel elsewhere" "the load changes: $figures"
fi
tap_done
