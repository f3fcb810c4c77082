#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpiexport -f archive: reports of the unpacked archive equal those before, although the files
# are gone. Test limits, permissions, and the list of missing files.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"
unpacked=$scratch/there/dcpi-archive

# export_of ARGUMENT...: export the database
export_of()
{
	"$bin/dcpiexport" --db "$scratch/files.db" -f archive "$@"
}

# kinds PATTERN: print the kinds of lines of CONTENTS that match a pattern
kinds()
{
	awk -F '\t' -v pattern="$1" '$3 ~ pattern { print $1 }' "$unpacked/CONTENTS" | xargs
}

# unpack ARGUMENT...: export and unpack
unpack()
{
	rm -rf "$scratch/there"
	mkdir "$scratch/there"
	(umask 022 && export_of -o "$scratch/archive.tar.gz" "$@" 2> "$scratch/summary") &&
		tar -xzf "$scratch/archive.tar.gz" -C "$scratch/there"
}

# reports DATABASE ARGUMENT...: print several reports of it
reports()
{
	local db=$1 command

	for command in "dcpiprof" "dcpilist --source walk" "dcpilist --asm walk" "dcpicalc walk" \
		"dcpicalc -i chain"; do
		read -ra words <<< "$command"
		"$bin/${words[0]}" --db "$db" "${words[@]:1}" "${@:2}" 2>&1 || echo "$command failed"
	done
}

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"
# The symbols and lines of one program are in a separate debug file, and the other one is large.
debug=$scratch/debug/.build-id/${list_id:0:2}/${list_id:2}.debug
mkdir -p "${debug%/*}"
objcopy --only-keep-debug "$scratch/list" "$debug"
objcopy --strip-all "$scratch/list"
truncate -s 3M "$scratch/chain"
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	list_samples
	chain_db | sed -n '/^image/p; /^sample/p'
	printf 'image kernel - vmlinux-6\nsymbols schedule\nsample 0 0x10 20\n'
	printf 'image file 0909090909090909090909090909090909090909 /nowhere/program\nsample 0 0x10 30\n'
	echo end
} | make_db files
# A change that is only in the log.
sqlite3 "$scratch/files.db" ".dbconfig no_ckpt_on_close on" "PRAGMA journal_mode = WAL" \
	"PRAGMA wal_autocheckpoint = 0" "UPDATE epoch SET label = 'in the log'" > "$scratch/pragma"
check "there is a log" [ -s "$scratch/files.db-wal" ]

reports "$scratch/files.db" --debug-dir "$scratch/debug" > "$scratch/before"
is "the reports are complete before" "$(grep -c 'failed$' "$scratch/before")" 0
check "the archive is made" unpack --debug-dir "$scratch/debug"
is "its files" "$(cd "$unpacked" && find . -type f | sort | xargs)" "$(printf './%s\n' CONTENTS dcpi.db \
	"dcpi.db-images/${list_id:0:2}/${list_id:2}.elf" "dcpi.db-images/${chain_id:0:2}/${chain_id:2}.elf" \
	"dcpi.db-images/.build-id/${list_id:0:2}/${list_id:2}.debug" | sort | xargs)"
is "only its owner may read it" "$(stat -c %a "$scratch/archive.tar.gz")" 600
is "the log is in the database" "$(sqlite3 "$unpacked/dcpi.db" "SELECT label FROM epoch")" "in the log"
is "CONTENTS has the program and its debug file" "$(kinds '/list$')" "image debug"
is "and the reason for missing files" "$(awk -F '\t' '$1 == "missing" { print $2, $3, $4 }' \
	"$unpacked/CONTENTS")" "30 /nowhere/program cannot open '/nowhere/program': No such file or directory"
is "the kernel is in the database" "$(kinds vmlinux)" "database"
like "the summary" "$(cat "$scratch/summary")" \
	'^dcpiexport: images: 2, debug files: 1, missing images: 1, with 0\.2% of the samples \(CONTENTS'

# Another machine: the programs are gone, and the directory cannot be written.
mkdir "$scratch/gone"
mv "$scratch/list" "$scratch/chain" "$scratch/debug" "$scratch/gone"
chmod -R a-w "$unpacked"
reports "$unpacked/dcpi.db" > "$scratch/after"
is "reports of the archive are the same" "$(diff "$scratch/before" "$scratch/after")" ""
check "without the archive they are not" [ "$(reports "$scratch/files.db" | grep -c 'failed$')" -gt 0 ]
chmod -R u+w "$unpacked"
mv "$scratch/gone"/* "$scratch"

check "with a limit, it is made" unpack --debug-dir "$scratch/debug" --max-size 1
is "a file beyond the limit is missing" "$(awk -F '\t' '$1 == "missing" && $3 ~ /chain/ { print $4 }' \
	"$unpacked/CONTENTS")" "the limit of the archive is exceeded"
is "the others are not" "$(kinds '/list$')" "image debug"
check "without names there is the program" unpack
is "but no debug file" "$(kinds '/list$')" "image"
is "stdout" "$(export_of 2> "$scratch/err" | tar -tz | sed -n 1p)" "dcpi-archive/dcpi.db"

# refused PATTERN ARGUMENT...: test that it fails, with one line on stderr
refused()
{
	tool_refused dcpiexport 2 "$1" export_of -o "$scratch/no.tar.gz" "${@:2}"
	check "and there is no file" [ ! -e "$scratch/no.tar.gz" ]
}
for option in "--epoch 1" "-i list" "--since 1h" "--host host" "--pid 1" "-e cycles"; do
	read -ra words <<< "$option"
	refused "has the whole database: samples cannot be selected" "${words[@]}"
done
refused "does not support stacks" --stacks
refused "'0' is not a valid number of MB" --max-size 0
export_of -o /dev/full 2> "$scratch/err"
is "a full disk is an error" "$? $(cut -d: -f1 "$scratch/err")" "2 dcpiexport"
tap_done
