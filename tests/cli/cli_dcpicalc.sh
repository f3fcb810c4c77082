#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpicalc as users run it. With UPDATE=1 golden output is written, not compared. The golden
# files have the figures of the paper's own estimator, which does not change.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

# calc DB ARGUMENT...: run dcpicalc on a database
calc()
{
	"$bin/dcpicalc" --db "$scratch/$1.db" "${@:2}"
}

# golden NAME DB ARGUMENT...: test that the output equals tests/golden/dcpicalc_NAME
golden()
{
	tool_golden "dcpicalc_$1" "dcpicalc ${*:3}" calc "${@:2}"
}

# refused STATUS PATTERN DB ARGUMENT...: test that it fails, with one line on stderr and no output
refused()
{
	tool_refused dcpicalc "$1" "$2" calc "${@:3}"
}

# procedure DB ARGUMENT...: print name, samples and share of the listed procedure
procedure()
{
	calc "$@" 2>&1 | sed -nE 's/^(dcpicalc: .*|procedure   ([^;]*).*)/\1/p' |
		sed 's/^procedure   //; s/;.*//'
}

# json DB EXPRESSION ARGUMENT...: print the value of a Python expression for the objects p
json()
{
	calc "$1" --json "${@:3}" | python3 -c '
import json, sys
p = [json.loads(line) for line in sys.stdin]
print(eval(sys.argv[1]))' "$2"
}

# valid NAME DB ARGUMENT...: test that the JSON is valid by docs/dcpicalc-json.md
valid()
{
	calc "${@:2}" --json > "$scratch/lines" 2> "$scratch/err"
	is "$1" "$(tests/lib/dcpicalc_schema.py "$scratch/lines" | head -n 5; cat "$scratch/err")" ""
}

# keep FILE IDENTITY DB: copy the file to the database's image store
keep()
{
	local place=$scratch/$3.db-images/${2:0:2}

	mkdir -p "$place"
	cp "$1" "$place/${2:2}.elf"
}

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"

copy_db | make_db copy
golden copy.txt copy --as-published copy
golden copy_summary.txt copy --as-published --summary
like "the best estimate has the same stall" "$(calc copy)" \
	'0x9834  stq t6, 16\(t2\) +174727 +81\.7% +11[0-9]\.[0-9]cy  0x981c'
valid "JSON of the copy loop" copy
like "the report begins with the most expensive stall" "$(calc copy)" \
	"^[89][0-9]% of the procedure's time waits for data .* 0x981c, 'ldq t6, 16\\(t1\\)'.* executions\\.\$"
valid "JSON of its summary" copy --summary
is "the model is that of the machine" "$(json copy 'p[0]["model"]')" alpha21164
is "an executed loop has its frequency" \
	"$(json copy 'all(9e7 < i["frequency"] < 1e8 for i in p[0]["instructions"][1:14])')" True
is "JSON has all samples" "$(json copy 'sum(i["samples"] for i in p[0]["instructions"])')" 213754

# The same with samples that fall on the instruction executed next: those of the loop's last
# instruction on its first one.
copy_db | while read -r what event offset count; do
	[ "$what" = sample ] || { echo "$what $event $offset $count"; continue; }
	printf 'sample %d 0x%x %d\n' "$event" \
		$((offset == 0x9840 ? 0x9810 : offset + 4)) "$count"
done | make_db late
like "samples that are late are moved back" "$(calc late)" \
	'  samples fell on the instruction executed next, and were moved back
.*0x9834  stq t6, 16\(t2\) +1747[0-9][0-9] +81\.[67]% +11[0-9]\.[0-9]cy  0x981c'
# Samples of the last instruction may belong to it or to the code before the loop.
within='[(i["address"], round(i["own_samples"])) for i in p[0]["instructions"][1:-2]]'
is "each to the instruction before" "$(json late "$within")" "$(json copy "$within")"
is "none is lost" "$(json late 'round(sum(i["own_samples"] for i in p[0]["instructions"]))')" \
	213754
is "with them goes the stall" "$(json late '[i["culprits"][0]["cause"]
	for i in p[0]["instructions"] if i["address"] == 0x9834]')" "['dcache']"
is "it is told where they fell" "$(json late '[p[0]["skid"]] + [i["samples"]
	for i in p[0]["instructions"] if i["address"] in (0x9834, 0x9838)]')" "[1, 1493, 174727]"
is "which others did not" "$(json copy 'p[0]["skid"]')" 0
is "the paper's tool knows nothing of it" \
	"$(json late '[p[0]["skid"], p[0]["instructions"][11]["own_samples"]]' --as-published)" \
	"[0, 174727]"
valid "JSON of late samples" late

# Events that were sampled in addition.
{
	echo "event cycles cycles 60000 64000"
	echo "event dtbmiss events 4096 4096"
	echo "event dmiss events 4096 4096"
	echo "epoch Alpha 21164"
	echo "image file $copy_id $scratch/copy"
	figure_2
	echo "sample 2 0x981c 40000"
	echo end
} | make_db evidence
stall='sorted(c["cause"] for i in p[0]["instructions"] if i["address"] == 0x9828
	for c in i["culprits"])'
is "causes that nothing rules out" "$(json copy "$stall" --as-published)" \
	"['dcache', 'dtb', 'write_buffer']"
misses='any(c["cycles_high"] > 0.4 for i in p[0]["instructions"] for c in i["culprits"]
	if c["cause"] == "dtb")'
is "a cause that may be a big one" "$(json copy "$misses" --as-published)" True
is "unless samples of its event say that it is not" \
	"$(json evidence "$misses" --as-published)" False
valid "JSON with evidence" evidence

chain_db | make_db chain
like "a chain of results takes what it takes" "$(calc chain)" \
	"Static stall: 0x401005 waits 1[0-9]\.[0-9] cycles each time for 0x401002, 'div %rcx' \(latency of the previous instruction\): [5-9][0-9]\..*
No other significant stall"
{
	chain_db | grep -v '^sample\|^end'
	printf 'sample 0 0x%x %d\n' 0x1000 300 0x1002 400 0x1005 500 0x1009 300 0x100c 300
	echo end
} | make_db fast
like "but no longer than that took" "$(calc fast)" \
	'Static stall: 0x401005 waits [78]\.[0-9] cycles each time .*: 2[0-9]\..*'
is "its division is waited for, then its multiplication" \
	"$(json chain '[(hex(i["address"]), hex(s["from"]), s["kind"]) for i in p[0]["instructions"]
		for s in i["static_stalls"]]')" \
	"[('0x401005', '0x401002', 'latency'), ('0x401009', '0x401005', 'latency')]"
valid "JSON of a chain" chain
is "by the name that the compiler made another of" "$(procedure chain spin)" \
	"spin.constprop.0: 90 samples, 1.2% of all"
refused 2 "no procedure 'spi' in images with samples \\(did you mean 'spin" chain spi

list_db | make_db list
is "the hottest procedure" "$(procedure list)" "walk: 18220 samples, 89.5% of all"
like "a stall is as unsure as the frequency" "$(calc list)" \
	'The worst stall is at 0x4010[0-9a-f]{2}, .*: [0-9.]+ cycles each time \([0-9.]+ to [0-9.]+\), .* \(low confidence\)\.'
is "of an epoch" "$(procedure list --epoch 1)" "walk: 9110 samples, 89.5% of all"
is "by name" "$(procedure list _ZN5space4spinEi)" "space::spin(int): 2020 samples, 9.9% of all"
is "by the source's name" "$(procedure list space::spin --no-demangle)" \
	"_ZN5space4spinEi: 2020 samples, 9.9% of all"
is "by the source's name with parameters" "$(procedure list 'space::spin(int)')" \
	"space::spin(int): 2020 samples, 9.9% of all"
is "by image and name" "$(procedure list list:walk)" "walk: 18220 samples, 89.5% of all"
is "by path and name" "$(procedure list "$scratch/list:space::spin")" \
	"space::spin(int): 2020 samples, 9.9% of all"
is "by address" "$(procedure list 0x401029)" "helper (twin.o): 40 samples, 0.2% of all"
is "with the part that is far away" "$(procedure list list:0x401016)" \
	"helper (list.o): 70 samples, 0.3% of all"
is "by that part" "$(procedure list helper.cold)" "helper (list.o): 70 samples, 0.3% of all"
refused 2 'helper. is ambiguous: 2 procedures match: .*list:0x401016 \(70 samples\), .*list:0x401027 \(40 s' list helper
refused 1 "no samples in 'unused'" list unused
refused 2 "no procedure 'nothing' in images with samples" list nothing
refused 2 "no samples in images that match 'nolist'" list nolist:walk
refused 2 "no samples in images that match 'no\*'" list -i 'no*' walk
refused 2 "no samples in images that match 'no\*'" list -i 'no*'
refused 2 "no samples in images that match 'no\*'" list -i 'no*' --all
refused 2 "no procedure '0x999999'" list 0x999999
refused 2 'is not a valid address' list 0xzz
refused 2 'is not a valid procedure' list list:
refused 2 "'vmlinux' is the kernel, whose code is not in the database" list -i vmlinux
refused 2 "'vmlinux' is the kernel, whose code is not in the database" list -i vmlinux --all
refused 2 '\[jit\]. is generated at run time, and no jitdump recorded its code' list -i '*jit*' x
refused 2 "unexpected argument 'b'" list a b
refused 2 'are mutually exclusive' list --all walk
refused 2 'are mutually exclusive' list --as-published --estimator avg
refused 2 'unknown model .z80.; known: .*cortex-a53' list --model z80
refused 2 'unknown estimator .guess.; known: .*paper' list --estimator guess
refused 2 'x86-64, which model .alpha21164. does not support' list --model alpha21164
refused 2 "unknown event 'cycles'" list -e cycles
refused 2 'imiss. does not measure time' list -e imiss
refused 2 'number of blocks' list -n 0
refused 2 'no epoch matches' list --epoch 9
refused 2 'No such file' none
calc list --all > /dev/full 2> "$scratch/err"
is "a full disk is an error" "$? $(cut -d: -f1 "$scratch/err")" "2 dcpicalc"

text=$(calc list walk)
like "source lines" "$text" 'list\.s:[0-9]+: movq \(%rdi\), %rdi'
is "none if not wanted" "$(calc list walk --no-source | grep -c 'list\.s')" 0
like "names of what is called" "$text" 'call 0x401016 <helper>'
like "a machine that does not issue in order is said to be one" "$text" 'x86-64, out of order'
is "a clock's period in cycles, by the core's clock" "$(calc list --epoch 1 | grep ^time)" \
	"time        cpu-clock: a sample stands for 600000 cycles, +-5%, at 2.90 to 3.10 GHz"
# Epochs with different periods: a sample represents the mean period, and the number of samples
# stays.
periods_db | make_db periods
for procedure in walk divide; do
	like "periods differ: half of the time is of $procedure" "$(calc periods "$procedure")" \
		"$procedure: 5625 samples, 50.0% of all"
	like "and a sample of it is the mean" "$(calc periods "$procedure")" \
		'cycles: a sample stands for 1600 cycles
 +periods differ: samples are scaled to their mean'
done
valid "JSON of them, where samples are whole" periods --all

list_db | sed '/core_clock_min/s/.*/&\ncounter stat sample_cost_ns 40000/' | make_db costly
is "less what a sample costs" "$(calc costly --epoch 1 | grep ^time)" \
	"time        cpu-clock: a sample stands for 480000 cycles, +-13%, at 2.90 to 3.10 GHz"
list_db | sed '/core_clock_min/s/.*/&\ncounter stat sample_cost_ns 900000/' | make_db costly
like "but never more than most of it" "$(calc costly --epoch 1 | grep ^time)" \
	'stands for 120000 cycles, \+-125%'
is "that of an event that took turns; a core's clock that nobody measured" \
	"$(calc list --epoch 2 | grep ^time)" \
	"time        cpu-clock: a sample stands for 1160000 cycles, +-74%, at 0.8 to 5.0 GHz, ASSUMED: the core's clock was not recorded"
is "the mean of both epochs" "$(calc list | grep -oE '[0-9]+ cycles, \+-')" "880000 cycles, +-"
is "no colours in a file" "$(printf %s "$text" | grep -c $'\033')" 0
# terminal ARGUMENT...: print the number of lines with colours, on a terminal of 80 columns
terminal()
{
	script -qec "stty cols 80; $bin/dcpicalc --db $scratch/list.db $*" /dev/null < /dev/null |
		grep -c $'\033\\[[0-9;]*m'
}
check "colours on a terminal" [ "$(terminal walk)" -gt 5 ]
is "but not with --no-color" "$(terminal --no-color walk)" 0
is "nor with NO_COLOR" "$(NO_COLOR=1 terminal walk)" 0
is "the hottest block alone" \
	"$(calc list walk -n 1 --no-source | grep -cE '^0x4010|^\.\.\. [0-9]+ blocks?, ')" 6
valid "JSON of one procedure" list walk
valid "JSON of all" list --all -i list
is "all procedures with samples, in order" "$(json list '[q["procedure"] for q in p]' --all -i list)" \
	"['walk', 'helper', 'space::spin(int)', 'helper']"
is "offsets and addresses" "$(json list '[(i["offset"], i["address"]) for i in
	p[0]["instructions"]][:2]' walk)" "[(4099, 4198403), (4101, 4198405)]"
is "samples of both epochs" "$(json list '[i["samples"] for i in p[0]["instructions"]][:4]' walk)" \
	"[0, 100, 18000, 120]"
is "build-id" "$(json list 'p[0]["build_id"]' walk)" $list_id
is "successors" "$(json list 'sorted(s["to"] for s in p[0]["blocks"][1]["successors"])' walk)" \
	"[4198405, 4198416]"
is "all at once adds up" "$(json list 'p[0]["summary"]["samples"]' --all --summary -i list)" 20350
# Summaries state their share of all samples, here including those of the kernel.
list_db | sed 's/^sample 0 0x1000 7$/sample 0 0x1000 80000/' | make_db share
is "as dcpiprof does" "$(calc share --all --summary -i list | tail -n 1)" \
	"*** ($("$bin/dcpiprof" --db "$scratch/share.db" --raw --by image --csv -i list | tail -n 1 |
		awk -F, '{ printf "%d, %.1f", $1, $2 }')% of all samples)"
is "a procedure's summary has the share of its heading" \
	"$(calc share --summary walk | sed -nE 's/.* ([0-9.]+%) of all.*/\1/p' | uniq | wc -l)" 1
is "images in no file are passed over" "$(calc list --all 2>&1 > /dev/null)" ""
is "stripped: names from unwinding information, samples of each" "$(
	sed "s,$scratch/list,&.stripped," <(list_db) | make_db stripped
	json stripped '[q["procedure"] for q in p]' --all -i list.stripped)" \
	"['proc_0x401000', '[.text]', 'proc_0x401003', 'proc_0x401016', 'proc_0x401021']"
is "each sample once" "$(json stripped 'sum(i["samples"] for q in p for i in q["instructions"])' \
	--all -i list.stripped)" 20350
is "the hottest is the default, symbol or not" "$(procedure stripped)" \
	"proc_0x401003: 18220 samples, 89.5% of all"
is "a process of which no samples are kept" "$(calc list --pid 7 2>&1)" \
	"dcpicalc: no samples in procedures"
list_db | sed "s,$scratch/list,&.stripped,; s/0x1027 20/0x1027 90000/" | make_db section
is "code of which only the section is known is not" \
	"$(calc section 2>&1 > /dev/null; procedure section | tail -n 1)" \
	"dcpicalc: skipped a hotter procedure: no procedures are known in '$scratch/list.stripped' (89.9% of the samples)
proc_0x401003: 18220 samples, 9.1% of all"

# hotter KIND PATH SAMPLES: add samples of an image that cannot be read, in the first epoch
hotter()
{
	list_db | sed "0,/^end/s,^end,image $1 - $2\nsample 0 0x2000 $3\n&,"
}
hotter file /nonexistent/hot 60000 | make_db gone
is "an image that is gone is told of, if it is hotter" \
	"$(calc gone 2>&1 > /dev/null; procedure gone | tail -n 1)" \
	"dcpicalc: skipped a hotter procedure: cannot open '/nonexistent/hot': No such file or directory (74.7% of the samples)
walk: 18220 samples, 22.7% of all"
is "and nothing if a procedure is named" "$(calc gone walk 2>&1 > /dev/null)" ""
refused 2 "no samples in 'chase' in readable images: cannot open '/nonexistent/hot'" gone chase
refused 2 "no samples in 'unused' in readable images: cannot open" gone unused
refused 2 "no procedure 'chase' in images" gone list:chase
hotter file /nonexistent/hot 17000 | make_db colder
is "nor if what was found is hotter" "$(calc colder 2>&1 > /dev/null)" ""
hotter kernel vmlinux.1 60000 | make_db kernel
is "so is the kernel" "$(calc kernel 2>&1 > /dev/null)" \
	"dcpicalc: skipped a hotter procedure: 'vmlinux.1' is the kernel, whose code is not in the database (74.7% of the samples)"
refused 2 "no procedure 'chase' in images" kernel chase

{
	echo "event cycles cycles 60000 64000"
	echo "epoch Alpha 21164"
	printf 'image file - /nonexistent/\033[31mred\n'
	echo "sample 0 0x1000 1"
	echo end
} | make_db hostile
refused 2 "cannot open '/nonexistent/\?\[31mred" hostile
is "no control characters reach the terminal" \
	"$(calc hostile --all 2>&1 | LC_ALL=C tr -d '\n' | LC_ALL=C grep -c '[[:cntrl:]]')" 0

# Two builds with one path, as after an upgrade: their code is stored next to the database.
other_id=fedcba98765432100123456789abcdeffedcba98
ld --build-id=0x$other_id -Ttext=0x401000 -e walk --eh-frame-hdr -o "$scratch/other" \
	"$scratch/list.o" "$scratch/twin.o"
keep "$scratch/list" $list_id twins
keep "$scratch/other" $other_id twins
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	echo "image file $list_id /gone/list"
	printf 'sample 0 0x%x %d\n' 0x1005 50 0x1008 9000
	echo "image file $other_id /gone/list"
	printf 'sample 0 0x%x %d\n' 0x1005 40 0x1008 7000
	echo end
} | make_db twins
refused 2 'walk. is ambiguous: 2 procedures match: /gone/list \(01020304\):0x401003 \(9050 samples\), /gone/list \(fedcba98\):0x401003 \(7040 samples\)$' twins walk
for build in 01020304:9050 fedcba98:7040; do
	label="/gone/list (${build%:*})" samples=${build#*:}
	is "$label is dcpiprof's name for it" \
		"$("$bin/dcpiprof" --db "$scratch/twins.db" --by image --json -i "$label" |
			jq -r '.rows[] | "\(.cycles) \(.image)"')" "$samples $label"
	like "$label:PROCEDURE" "$(calc twins "$label:walk")" "walk: $samples samples"
	like "list (...), with --image" "$(calc twins -i "list (${build%:*})" walk)" "walk: $samples samples"
	is "in the other tools, too" "$("$bin/dcpilist" --db "$scratch/twins.db" -i "$label" --asm --json |
		jq '[.rows[].cycles] | add') $("$bin/dcpisumm" --db "$scratch/twins.db" -i "$label" --json |
		jq '.rows[].samples') $("$bin/dcpitop" --db "$scratch/twins.db" -i "$label" --json -n 1 \
		--no-flush | jq '.rows[].total') $("$bin/dcpiexport" --db "$scratch/twins.db" -i "$label" \
		-f folded | sed 's/.* //')" "$samples $samples $samples $samples"
done
refused 2 'no samples in images that match' twins -i "/gone/list (01020305)" walk

# Damage of the database is reported once, that of single profiles for each image.
both_db | make_db damaged
sqlite3 "$scratch/damaged.db" "UPDATE profile SET data = substr(data, 1, length(data) - 1)"
is "a line for each image whose profile is damaged" "$(calc damaged --all 2>&1 | sort)" \
	"$(printf "dcpicalc: skipped: '$scratch/damaged.db' is damaged: a profile of image %s\n" \
		"1 (95.5% of the samples)" "2 (4.5% of the samples)")"
both_db | make_db malformed
sqlite3 "$scratch/malformed.db" "PRAGMA wal_checkpoint(TRUNCATE)" > /dev/null
page=$(sqlite3 "$scratch/malformed.db" "SELECT rootpage FROM sqlite_master
	WHERE name = 'edge_image'")
bytes=$(sqlite3 "$scratch/malformed.db" "PRAGMA page_size")
printf '\0%.0s' {1..100} | dd of="$scratch/malformed.db" bs=1 seek=$(((page - 1) * bytes)) \
	conv=notrunc status=none
refused 2 'malformed' malformed --all
refused 2 'malformed' malformed --all --json

# Files that cannot be used are reported in one line each.
cp "$scratch/list" "$scratch/good"
cp "$scratch/copy" "$scratch/list"
refused 2 "list' is not the file that was profiled" list walk
refused 2 "list' is not the file that was profiled" list --all -i list
head -c 4200 "$scratch/good" > "$scratch/list"
refused 2 "list' is truncated" list walk
head -c 40 "$scratch/good" > "$scratch/list"
refused 2 'list' list walk
head -c 8000 /dev/zero | tr '\0' x > "$scratch/list"
refused 2 "list' is not an ELF file|not the file" list walk
rm "$scratch/list"
refused 2 "cannot open .*list': No such file" list walk
python3 - "$scratch/good" "$scratch/list" << 'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[18] = 243 # RISC-V
open(sys.argv[2], "wb").write(data)
END
refused 2 'architecture|machine|decoder' list walk

# For a procedure of a large image, only the samples of its own code are read, here of two parts.
many_c()
{
	echo '#include <stdlib.h>'
	for i in $(seq 300); do
		echo "int f$i(int *p, int n) { if (n < 0) { p[n] = $i; abort(); } return p[n] * n + $i; }"
	done
	echo 'int another_name(int *p, int n) __attribute__((alias("f200")));'
	echo 'int main(int argc, char **argv) { int a[9] = {0}; return f7(a, argc); }'
}
many_c > "$scratch/many.c"
gcc -O2 -falign-functions=1 -o "$scratch/many" "$scratch/many.c"
objdump -d --no-show-raw-insn --section=.text "$scratch/many" |
	awk '/^[0-9a-f]+ <.*>:$/ { name = $2 } /^ / { print $1, name }' | tr -d ':<>' > "$scratch/many.insns"
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	echo "image file - $scratch/many"
	awk '{ printf "sample 0 0x%s %d\n", $1, NR }' "$scratch/many.insns"
	echo end
} | make_db many
for name in f1 f77 f150 f300; do
	is "samples of $name in a large image" "$(json many 'sum(i["samples"] for i in p[0]["instructions"])' $name)" \
		"$(awk -v name=$name '$2 == name || $2 == name ".cold" { n += NR } END { print n }' \
			"$scratch/many.insns")"
done
is "a procedure by a name that reports do not use" "$(procedure many another_name)" \
	"$(procedure many f200)"
is "which has two parts, and more instructions than are always read" \
	"$(awk '$2 == "f150.cold" { parts = 1 } END { print (NR > 2000), parts }' "$scratch/many.insns")" "1 1"

# A stripped program: all of its code is inside "[.text]", which has none of the samples.
gzip=$(command -v gzip)
"$bin/dcpirun" -q --db "$scratch/gzip.db" -- "$gzip" -9 -c "$bin/dcpicalc" > /dev/null
is "samples of an image are in its procedures, each once" \
	"$("$bin/dcpicalc" --db "$scratch/gzip.db" --all --json -i gzip |
		jq -s '[.[].instructions[].samples] | add')" \
	"$("$bin/dcpiprof" --db "$scratch/gzip.db" --by image --json |
		jq '.rows[] | select(.image | endswith("/gzip")) | .cycles // ."cpu-clock"')"
is "no procedure is listed for the samples of others" \
	"$("$bin/dcpicalc" --db "$scratch/gzip.db" --all --json -i gzip |
		jq -s 'map(select(([.instructions[].samples] | add) == 0)) | length')" 0

tap_done
