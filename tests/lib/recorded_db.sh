# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compare reports of recordings in a database with reports of the files. Source this file.
#
# same_in_database TOOL REWRITTEN FILE FILE: test that the reports of TOOL are the same for the
# files, for an epoch with both, for two epochs, and for these after a merge. Uses $WORK.
# shellcheck disable=SC2154 # the caller sets bin
same_in_database()
{
	local tool=$1 program=$2 first=$3 second=$4 got

	rm -f "$WORK"/{one,two,merged}.db
	got=$("$bin/dcpix" --db "$WORK/one.db" counts "$program" "$first" "$second")
	like "--db: says where it is" "$got" "^[a-z]+ of 2 processes of .*: epoch 1 of $WORK/one.db$"
	"$bin/dcpix" -q --db "$WORK/two.db" counts "$program" "$first"
	"$bin/dcpix" -q --db "$WORK/two.db" counts "$program" "$second"
	"$bin/dcpictl" --db "$WORK/merged.db" merge "$WORK/two.db" > /dev/null
	got=$("$bin/$tool" --csv "$program" "$first" "$second" | sort)
	check "there is something to compare" [ "$(wc -l <<< "$got")" -gt 5 ]
	for db in one two merged; do
		is "$tool: in the database as in the files ($db)" \
			"$("$bin/$tool" --csv --db "$WORK/$db.db" | sort)" "$got"
	done
	is "$tool: text, too" "$("$bin/$tool" --db "$WORK/one.db")" \
		"$("$bin/$tool" "$program" "$first" "$second")"
	is "$tool: of one epoch" "$("$bin/$tool" --csv --db "$WORK/two.db" --epoch last)" \
		"$("$bin/$tool" --csv "$program" "$second")"
	got=$("$bin/$tool" --db "$WORK/two.db" --since "$(date -d '1 hour' '+%F %H:%M')" 2>&1)
	is "$tool: of no epoch" "$?" 1
	like "$tool: says so" "$got" "^$tool: no ([a-z]+s|variation|epoch)"
	got=$("$bin/$tool" --db "$WORK/two.db" --image 'another*' 2>&1)
	is "$tool: of no such program" "$?" 1
	cp "$WORK/one.db" "$WORK/damaged.db"
	sqlite3 "$WORK/damaged.db" "UPDATE recording SET data = zeroblob(length(data))"
	got=$("$bin/$tool" --db "$WORK/damaged.db" 2>&1)
	is "$tool: damage" "$?" 2
	like "$tool: says that it is" "$got" "^$tool: .*(corrupt|damaged)"
}
