# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Common code of the tests of dcpistats and dcpidiff, which set $tool: sample sets as users compare
# them. With UPDATE=1 golden output is written, not compared.
. "$(dirname "${BASH_SOURCE[0]}")/tool_cli.sh"
# shellcheck disable=SC2034 # used by the scripts that source this
db=$scratch/figure.db
# shellcheck disable=SC2034
sets=$scratch/sets.db

# run DATABASE ARGUMENT...: run the tool on a database
run()
{
	"$bin/$tool" --db "$@"
}

# golden NAME DATABASE ARGUMENT...: test that the output equals tests/golden/TOOL_NAME
golden()
{
	tool_golden "${tool}_$1" "$tool ${*:3}" run "${@:2}"
}

# refused STATUS PATTERN DATABASE ARGUMENT...: test that it fails
refused()
{
	tool_refused "$tool" "$1" "$2" "$bin/$tool" --db "${@:3}"
}

make_db()
{
	"$helpers/make_profile_db" "$1" < "tests/fixtures/data/$2"
}

# escapes ARGUMENT...: test a copy of $sets whose event, hosts and labels have control characters
escapes()
{
	local form

	rm -f "$scratch/escape.db"
	sqlite3 -readonly "$sets" "VACUUM INTO '$scratch/escape.db'"
	sqlite3 "$scratch/escape.db" "UPDATE event SET name = name || char(27, 155);
		UPDATE host SET name = name || char(27, 155);
		UPDATE epoch SET label = label || char(27, 155)"
	for form in "" --csv --json; do
		# shellcheck disable=SC2086 # none, or one
		run "$scratch/escape.db" "$@" $form > "$scratch/out" 2> "$scratch/err"
		is "nothing that a terminal obeys: $form" "$? $(
			cat "$scratch/out" "$scratch/err" | grep -cP '\x1b|\xc2[\x80-\x9f]')" "0 0"
	done
}
