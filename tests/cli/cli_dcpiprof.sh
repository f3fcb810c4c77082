#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpiprof as users run it. With UPDATE=1 golden output is written, not compared.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"
db=$scratch/golden.db

prof()
{
	"$bin/dcpiprof" --db "$db" "$@"
}

# golden NAME ARGUMENT...: test that the output equals tests/golden/dcpiprof_NAME, without errors
golden()
{
	tool_golden "dcpiprof_$1" "dcpiprof ${*:2}" prof "${@:2}"
}

# refused STATUS PATTERN ARGUMENT...: test that it fails, with one line on stderr and no output
refused()
{
	tool_refused dcpiprof "$1" "$2" "$bin/dcpiprof" "${@:3}"
}

check "a database is made" "$helpers/make_golden_db" "$db"

golden figure_1.txt --epoch 1
golden images.txt --by-image --epoch 1
golden images_limit.json --by image --json -n 2 --epoch 1
golden one_event.txt -e imiss --epoch 1 -n 3
golden two_events.csv -e imiss,cycles --csv --epoch 1
golden second.txt --epoch last --until '2023-11-15 12:00'
golden second.json --json --epoch 2
golden second.csv --csv --epoch 2
golden second_mangled.txt --no-demangle --host beta
golden pid.txt --pid 42
golden all.txt
golden sort_procedure.csv --sort procedure --csv --epoch 1
golden sort_image.csv --sort image --csv --epoch 1
golden sort_event.txt --sort imiss --epoch 1 -n 4
golden image.txt --image 'lib[mo]*.so' --epoch 1 -n 3
golden image_path.csv -i '/usr/shlib/X11/*' --by image --csv --epoch 1
cp "$db" "$scratch/brackets.db"
sqlite3 "$scratch/brackets.db" "UPDATE image SET path = '[bpf]' WHERE path LIKE '%libmi.so'"
is "a path with brackets is a pattern for itself" \
	"$("$bin/dcpiprof" --db "$scratch/brackets.db" -i '[bpf]' --by image --csv | grep -c ',\[bpf\]')" 1
golden instruction.txt --by instruction --epoch 1 -n 12
golden instruction.json --by instruction --json --epoch 2
golden instruction_address.csv --by instruction --sort address --csv --epoch 1 --image 'libmi.so'
golden address.csv --sort address --csv --epoch 1
golden turns.txt --epoch 3-4
golden turns_one.txt --epoch 3
golden turns_raw.txt --raw --epoch 3-4
golden turns.csv --csv --epoch 3-4
golden turns.json --json --by image --epoch 4
golden turns_instruction.txt --by instruction --epoch 3-4
golden unit.txt --by unit --epoch 2-3
golden unit_image.csv --by unit --epoch 2 --csv -i 'server*'
golden container.json --by container --epoch 2 --json
golden process.txt --by process --epoch 2
golden command.txt --by command
golden epoch.txt --by epoch
golden epoch.json --by epoch --json --sort label --epoch 2-3
golden host.csv --by host --csv --sort host
golden diff.txt --diff -e cycles 3 1
golden diff_image.csv --diff --by image --csv 4 3
is "--diff says what dcpidiff says" "$(prof --diff --by instruction --json 3 4)" \
	"$("$bin/dcpidiff" --db "$db" --by-instruction --json 3 4)"
golden edge.txt --by edge --epoch 3-4
golden edge.csv --by edge --csv --epoch 4 --sort address
golden edge_procedure.csv --by edge --csv --sort procedure -n 3
golden edge.json --by edge --json --epoch 3 -n 2 --image 'lib_dec*'
cp tests/fixtures/data/profile_v3.db "$scratch/v3.db"
chmod 444 "$scratch/v3.db"
is "a file of schema version 3 is read as it is" \
	"$("$bin/dcpiprof" --db "$scratch/v3.db" --epoch 1)" "$(cat tests/golden/dcpiprof_figure_1.txt)"
is "and stays as it was" "$(sha256sum < "$scratch/v3.db")" "$(sha256sum < tests/fixtures/data/profile_v3.db)"
refused 1 'known unit' --db "$scratch/v3.db" --epoch 1 --by unit
refused 1 'by process' --db "$db" --by process --epoch 1
refused 1 'by process' --db "$db" --by command --epoch 1
refused 2 'not stored by process' --by unit --pid 7
refused 2 'not stored by process' --by container --unit web.service
refused 2 'process or unit' --by edge --container 0123
refused 1 'for this unit or container' --db "$db" --unit 'no*such'
refused 1 'for this unit or container' --db "$db" --unit web.service --container 0123
refused 1 'for this unit or container' --db "$scratch/v3.db" --epoch 1 --unit '*'
is "--unit: what was kept for its processes" \
	"$(prof --unit 'web*' --by image --csv | tail -n +2)" \
	"$(prof --pid 42 --by image --csv | tail -n +2)"
refused 2 'no such column' --db "$db" --epoch 2 --by container --sort image
refused 1 'no edges' --db "$scratch/v3.db" --epoch 1 --by edge
is "--by says what --by-image says" "$(prof --by image --epoch 1)" "$(prof --by-image --epoch 1)"
is "--by procedure is the default" "$(prof --by procedure)" "$(prof)"
is "instructions add up to procedures" "$(prof --by instruction --csv | tail -n +2 |
	awk -F , '{ sum += $1 } END { print sum }')" "$(prof --csv | tail -n +2 |
	awk -F , '{ sum += $1 } END { print sum }')"

is "epochs by time: since" "$(prof --csv --since '2023-11-15 00:00' | head -n 1 | cut -d, -f1)" cpu-clock
is "epochs by time: until" "$(prof --csv --until 2023-11-15 | head -n 1 | cut -d, -f1)" cycles
is "the database is named by DCPI_DB too" \
	"$(DCPI_DB=$db "$bin/dcpiprof" --csv --epoch 1 | wc -l)" 13
check "JSON is valid" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' \
	tests/golden/dcpiprof_second.json
is "no control characters reach the terminal" \
	"$(prof --epoch 2 | LC_ALL=C tr -d '\n' | LC_ALL=C grep -c '[[:cntrl:]]')" 0
like "help" "$("$bin/dcpiprof" --help)" '^Usage: dcpiprof '
like "version" "$("$bin/dcpiprof" --version)" '^dcpiprof .* [0-9]+\.[0-9]+'
before=$(sha256sum "$db")
prof > /dev/null
is "the database is not changed" "$(sha256sum "$db")" "$before"

# Source lines.
check "a program with lines is made" tests/fixtures/calc_fixtures.sh "$scratch"
list_db | make_db list
db=$scratch/list.db
golden line.csv --by line --csv --sort source
golden file.json --by file --json
golden diff_line.csv --diff --by line --csv
is "lines add up to procedures" "$(prof --by line --csv -i list | tail -n +2 |
	awk -F , '{ sum += $1 } END { print sum }')" "$(prof --csv -i list | tail -n +2 |
	awk -F , '{ sum += $1 } END { print sum }')"
refused 2 'no such column' --db "$db" --by line --sort address
valid "JSON by line" dcpiprof prof --by line
valid "JSON by file" dcpiprof prof --by file
valid "JSON of what differs" dcpidiff prof --diff --by line
rm "$scratch/list"
is "no file: no lines, and why" "$(prof --by line --csv -i list | tail -n +2 | cut -d, -f7-8 | tr -d '\r')" \
	"<image missing>,"
db=$scratch/golden.db
valid "JSON by procedure" dcpiprof prof
valid "JSON by image" dcpiprof prof --by image
valid "JSON by instruction" dcpiprof prof --by instruction
valid "JSON by edge" dcpiprof prof --by edge
valid "JSON by unit" dcpiprof prof --by unit --epoch 2
valid "JSON by container" dcpiprof prof --by container --epoch 2
valid "JSON by process" dcpiprof prof --by process --epoch 2
valid "JSON by host" dcpiprof prof --by host
valid "JSON by epoch" dcpiprof prof --by epoch

# Different periods: a sample with the longer period has more weight.
periods_db | make_db periods
db=$scratch/periods.db
# shares ARGUMENT...: print the samples of each row, and their share
shares()
{
	prof --json "$@" | jq -r '.rows[] | "\(.cycles) \(.cycles_percent | round)"'
}
is "periods differ: shares are of time" "$(shares --by epoch)" $'9000 50\n9000 50'
is "by image, too" "$(shares --by image)" $'9000 50\n9000 50'
is "by instruction, too" "$(shares --by instruction)" $'9000 50\n9000 50'
is "periods differ: and are said to" "$(prof | grep -A 1 ^events)" \
	"events      cycles every 1000 cycles; cycles every 4000 cycles
periods     differ: samples are scaled to the shortest"
like "accounting is of samples as taken" "$(prof)" "= 11250 samples \+"
is "JSON says which are scaled" "$(prof --json | jq -c '[.events[].scaled]')" '[false,true]'
like "--raw: as taken" "$(shares --raw --by epoch)" $'^9000 80\n2250 20'
is "--raw: nothing is said" "$(prof --raw | grep -c ^periods)" 0
is "the total is dcpistats'" "$("$bin/dcpistats" --db "$db" | grep TOTAL:)" "TOTAL: 18000"
valid "JSON of periods that differ" dcpiprof prof

# An epoch without any data yet.
printf 'event cycles cycles 1000 1000\nepoch Some CPU\nend\n' | make_db fresh
for tool in dcpiprof dcpilist dcpicalc dcpiexport dcpisumm; do
	tool_refused "$tool" 1 'no samples$' "$bin/$tool" --db "$scratch/fresh.db"
done
sqlite3 "$scratch/fresh.db" 'UPDATE epoch SET open = 1'
for tool in dcpiprof dcpilist dcpicalc dcpiexport dcpisumm; do
	tool_refused "$tool" 1 'no samples: the program that took them ended' \
		"$bin/$tool" --db "$scratch/fresh.db"
done
exec 8> "$scratch/fresh.db-lock"
flock 8
for tool in dcpiprof dcpilist dcpicalc dcpiexport dcpisumm; do
	tool_refused "$tool" 1 'no samples yet: .*.dcpictl flush.' "$bin/$tool" --db "$scratch/fresh.db"
done
exec 8>&-

# Real files: names come from the profiled file, never from another one.
if tests/fixtures/procedure_fixtures.sh "$scratch" > "$scratch/log" 2>&1; then
	ok "programs are made"
else
	not_ok "programs are made" "$(cat "$scratch/log")"
fi
id=$(readelf -n "$scratch/exec" 2> /dev/null | sed -n 's/.*Build ID: //p')
offsets=$(for name in hidden visible bare; do
	nm "$scratch/exec" | awk -v n="$name" '$3 == n { print "0x" $1 }'
done | sort | while read -r address; do printf '%d ' $((address - 0x400000)); done)
cp "$scratch/exec" "$scratch/image"
db=$scratch/files.db
# shellcheck disable=SC2086
check "a database of a real file is made" \
	"$helpers/make_golden_db" "$db" "$scratch/image" "$id" $offsets
names()
{
	prof --csv --epoch last | tail -n +2 | cut -d, -f4 | sort | paste -sd ' '
}
is "names from the file" "$(names)" "bare hidden visible"
is "instructions have the addresses of the file" "$(prof --by instruction --csv --epoch last |
	tail -n +2 | cut -d, -f4,5,8 | sort)" "$(for name in bare hidden visible; do
	nm "$scratch/exec" | awk -v n="$name" '$3 == n { sub(/^0+/, "", $1); print n ",0x0,0x" $1 }'
done)"
is "edges from the file" "$(prof --by edge --csv --epoch last --sort address | tail -n +2 |
	cut -d, -f1-4)" "$(for name in hidden visible bare; do
	nm "$scratch/exec" | awk -v n="$name" '$3 == n { print $1, n }'
done | sort | awk 'NR > 1 { print "10,branch," last "+0x0," $2 "+0x0" } { last = $2 }')"
# The symbol index.
index=$scratch/cache/dcpi/symbols/${id:0:2}/${id:2}
check "symbols are kept, for us alone" [ "$(stat -c %a "$index")" = 600 ]
is "and used: they are the same" "$(prof --csv --epoch last)" \
	"$(DCPI_SYMBOL_CACHE=off prof --csv --epoch last)"
# opened: print how often the image is opened
opened()
{
	strace -e trace=openat,open "$bin/dcpiprof" --db "$db" --csv --epoch last 2>&1 |
		grep -c "^open.*$scratch/image\""
}
strace=$(command -v strace)
if [ -n "$strace" ] && strace -o /dev/null true 2> /dev/null; then
	is "reading them opens no image" "$(opened)" 0
else
	skip "reading them opens no image" "no strace, or it is not allowed"
fi
is "lines are still found" "$(prof --by line --csv --epoch last | md5sum)" \
	"$(DCPI_SYMBOL_CACHE=off prof --by line --csv --epoch last | md5sum)"
strip -o "$scratch/stripped" "$scratch/image"
# shellcheck disable=SC2086
"$helpers/make_golden_db" "$scratch/stripped.db" "$scratch/stripped" "$id" $offsets
stripped()
{
	"$bin/dcpiprof" --db "$scratch/stripped.db" --csv --epoch last
}
is "a stripped file of the same build-id has its own names" "$(stripped)" \
	"$(DCPI_SYMBOL_CACHE=off stripped)"
is "and the other its own" "$(names)" "bare hidden visible"
bytes=$(stat -c %s "$index")
printf x | dd of="$index" bs=1 seek=200 conv=notrunc 2> /dev/null
is "a damaged index is made again" "$(names)" "bare hidden visible"
is "and is whole then" "$(stat -c %s "$index")" "$bytes"
: > "$index"
is "an empty one likewise" "$(names)" "bare hidden visible"
rm "$index"
mkfifo "$index"
is "what is no file there is none" "$(names) $(stat -c %F "$index")" \
	"bare hidden visible regular file"
rm "$index"
chmod 500 "$(dirname "$index")"
is "a cache that cannot be written is no error" "$(names)" "bare hidden visible"
chmod 700 "$(dirname "$index")"
is "nor is one that is no directory" "$(XDG_CACHE_HOME=/dev/null names)" "bare hidden visible"
touch -d '40 days ago' "$(dirname "$index")/old"
rm -f "$index"
names > /dev/null
check "what was not used for long goes" [ ! -e "$(dirname "$index")/old" ]
mkdir -p "$scratch/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$scratch/exec" "$scratch/debug/.build-id/${id:0:2}/${id:2}.debug"
strip -o "$scratch/image" "$scratch/exec"
is "a debug file that appears is not missed: before" \
	"$(prof --csv --epoch last --debug-dir "$scratch/none" | grep -c 'hidden')" 0
mkdir -p "$scratch/none/.build-id"
cp -r "$scratch/debug/.build-id/${id:0:2}" "$scratch/none/.build-id"
is "a debug file that appears is not missed: after" \
	"$(prof --csv --epoch last --debug-dir "$scratch/none" | grep -c 'hidden')" 1
cp "$scratch/exec" "$scratch/image"
is "names of the file again" "$(names)" "bare hidden visible"
cp "$scratch/pie" "$scratch/image"
is "another file at its place" "$(names)" "<image changed>"
head -c 3000 "$scratch/exec" > "$scratch/image"
like "a truncated file" "$(names)" '^<image damaged>$'
rm "$scratch/image"
is "no file at its place" "$(names)" "<image missing>"
db=$scratch/golden.db

refused 2 'No such file' --db "$scratch/none.db"
refused 2 'name of the database is empty' --db ''
mkdir "$scratch/empty" "$scratch/run"
cp "$db" "$scratch/run/dcpirun.db"
# in_folder FOLDER TOOL: run the tool without naming a database
in_folder()
{
	(tool=$(realpath "$bin/$2") && cd "$1" && "$tool")
}
if [ ! -e /var/lib/dcpi/dcpi.db ]; then
	for tool in dcpiprof dcpicalc dcpistats; do
		tool_refused "$tool" 2 "dcpi\.db': No such file or directory \(.* --db dcpirun\.db or" \
			in_folder "$scratch/run" "$tool"
	done
	tool_refused dcpiprof 2 "dcpi\.db': No such file or directory\$" \
		in_folder "$scratch/empty" dcpiprof
else
	skip "dcpirun's database is pointed out" "this machine has one of its own"
fi
refused 2 'directory|not a' --db "$scratch"
echo "no database" > "$scratch/text.db"
refused 2 . --db "$scratch/text.db"
: > "$scratch/empty.db"
refused 2 . --db "$scratch/empty.db"
python3 - "$db" "$scratch" << 'END'
import sqlite3, sys, shutil
source, scratch = sys.argv[1:]
shutil.copy(source, scratch + "/newer.db")
with sqlite3.connect(scratch + "/newer.db") as d:
    d.execute("pragma user_version = 9999")
with sqlite3.connect(scratch + "/foreign.db") as d:
    d.execute("create table t (a)")
data = open(source, "rb").read()
open(scratch + "/cut.db", "wb").write(data[:len(data) // 2])
damaged = bytearray(data)
place = data.find(b"ffb8ZeroPolyArc")
for i in range(1024 * 4, len(damaged), 97):
    damaged[i] ^= 0x55
open(scratch + "/damaged.db", "wb").write(damaged)
END
refused 2 . --db "$scratch/newer.db"
refused 2 . --db "$scratch/foreign.db"
refused 2 . --db "$scratch/cut.db"
refused 2 . --db "$scratch/damaged.db"
refused 2 'unknown event .cylces. \(did you mean .cycles.\?\); known: cycles, imiss' --db "$db" --epoch 1 -e cylces
refused 2 'list of events' --db "$db" -e cycles,
refused 2 "'0' is not a valid number of rows" --db "$db" -n 0
refused 2 "'x' is not a valid number of rows" --db "$db" -n x
refused 2 'process ID' --db "$db" --pid -4
refused 2 'list of epochs' --db "$db" --epoch 3-1
refused 2 'is not a valid time' --db "$db" --since yesterday
refused 2 'no such column' --db "$db" --sort color
refused 2 'no samples in images that match' --db "$db" --image 'no*such'
refused 2 'no such column' --db "$db" --by image --sort procedure
refused 2 'are mutually exclusive' --db "$db" --json --csv
refused 2 'are mutually exclusive' --db "$db" --by-image --by instruction
refused 2 "unknown kind of row 'colour'; known: procedure, " --db "$db" --by colour
refused 2 '--diff and --by host are mutually exclusive' --db "$db" --diff --by host 3 4
refused 2 'are mutually exclusive' --db "$db" --diff --raw 3 4
refused 2 "unexpected argument '3'" --db "$db" 3 4
refused 2 'only one event can be compared' --db "$db" --diff -e cycles,imiss 3 4
refused 2 'not stored by event' --db "$db" --by edge -e cycles
refused 2 'not stored by event' --db "$db" --by edge --pid 42
refused 2 "unknown sort column of edges 'cycles'" --db "$db" --by edge --sort cycles
refused 2 'no such column' --db "$db" --by image --sort address
refused 1 'no edges' --db "$db" --by edge --epoch 1
refused 2 "that match 'LIBMI.so' \\(did you mean 'libmi.so'\\?\\)" --db "$db" --image LIBMI.so
# A program can be selected by the name of a symbolic link to it.
mkdir "$scratch/linked" "$scratch/elsewhere"
: > "$scratch/linked/program-1.2"
ln -s program-1.2 "$scratch/linked/program"
ln -s "$scratch/linked/program-1.2" "$scratch/elsewhere/other-name"
printf 'event cycles cycles 1 1\nepoch CPU\nimage file - %s\nsample 0 0x10 7\nend\n' \
	"$scratch/linked/program-1.2" | make_db linked
for name in program-1.2 program 'prog*' "$scratch/linked/program" "$scratch/elsewhere/other-name"; do
	like "an image by its name or a link's: ${name##*/}" \
		"$("$bin/dcpiprof" --db "$scratch/linked.db" -i "$name" --by image --csv 2>&1)" '^7,'
done
like "a link in PATH" "$(PATH=$scratch/elsewhere:$PATH "$bin/dcpiprof" --db "$scratch/linked.db" \
	-i other-name --by image --csv 2>&1)" '^7,'
refused 2 "no samples in images that match 'other-name'" --db "$scratch/linked.db" -i other-name
refused 2 'no edges in images that match' --db "$db" --by edge --image 'no*such'
refused 2 "unexpected argument 'cycles'" --db "$db" cycles
refused 2 'needs a value' --db "$db" --pid
refused 2 'needs a value' --db "$db" -e
refused 2 "unknown option '-z'" --db "$db" -z
refused 2 "unknown option '--colour'" --db "$db" --colour
refused 2 'no epoch matches: there are epochs 1 to 4' --db "$db" --epoch 7
refused 2 "no epoch matches: none is of host 'gamma'" --db "$db" --epoch last --host gamma
refused 1 'no epoch matches' --db "$db" --since @1900000000
refused 1 'process 4711' --db "$db" --pid 4711
"$bin/dcpiprof" --db "$db" > /dev/full 2> "$scratch/err"
is "a full disk is an error" "$? $(cut -d: -f1 "$scratch/err")" "2 dcpiprof"

# Live data: the lines of a program that exists on this machine.
"${CC:-gcc}" -O2 -g -o "$scratch/varies" tests/fixtures/programs/varies.c
check "a program is profiled" "$bin/dcpirun" -q -e cpu-clock --db "$scratch/live.db" \
	"$scratch/varies" 200
db=$scratch/live.db
like "live: its hottest line" "$(prof --by line --csv -i varies | sed -n 2p)" \
	"$PWD/tests/fixtures/programs/varies\.c,[0-9]+,$scratch/varies"
is "live: one host has all samples" "$(prof --by host --csv | cut -d, -f2 | sed -n 2p)" 100.0000
is "on a terminal of 80 columns, lines fit" "$(for by in procedure image line host epoch; do
	script -qec "stty cols 80; $bin/dcpiprof --no-color --db $scratch/golden.db --by $by" \
		/dev/null < /dev/null
done | tr -d '\r' | awk 'length > 80')" ""
is "in a pipe, too, if COLUMNS says so" \
	"$(COLUMNS=72 "$bin/dcpiprof" --db "$scratch/golden.db" --epoch 1 | awk 'length > 72')" ""
is "COLUMNS that is no number is none" "$(COLUMNS=wide prof | md5sum)" "$(prof | md5sum)"
# A long name in a pipe is not truncated, and does not make other rows longer.
name=$(printf 'x%.0s' $(seq 300))
printf 'event cycles cycles 1 1\nepoch CPU\nimage jit - [jit]\nsymbols %s short\n%s\nend\n' "$name" \
	$'sample 0 0x0 9\nsample 0 0x1000 1' | make_db long
is "a long name does not make other rows long" "$("$bin/dcpiprof" --db "$scratch/long.db" |
	sed -n '/^cycles /,$p' | grep -v "$name  \[jit\]\$" | awk 'length > 80 || !/jit|image/')" ""
no_reader "$bin/dcpiprof" --db "$db" --by instruction
tap_done
