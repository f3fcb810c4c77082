#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Databases that earlier releases have written (schema versions 3 and 4): reports read them as they
# are, writers bring them up to date, and both give the values of the same database written today. A
# database of a later version is refused and stays as it was.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${DCPI_BUILD:-build}
[ "${build#/}" != "$build" ] || build=$top/$build
bin=$build/bin
. "$top/tests/lib/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
current=$(sed -n 's/#define DATABASE_VERSION //p' "$top/db/database.h")
"$top/build/tests/make_golden_db" "$work/now.db" || exit 1
"$top/build/tests/make_perfdata" "$work/perf.data" || exit 1

version()
{
	sqlite3 -readonly "$1" "PRAGMA user_version"
}

# values DB: print reports of the epochs that all these databases have
values()
{
	for by in image procedure epoch unit edge; do
		"$bin/dcpiprof" --csv --db "$1" --epoch 1-4 --by $by || echo "no report by $by"
	done
}

want=$(values "$work/now.db")
is "all reports are there" "$(grep 'no report' <<< "$want")" ""
check "there is something to compare" [ "$(grep -c , <<< "$want")" -gt 30 ]
for number in 3 4; do
	data=$top/tests/fixtures/data/profile_v$number.db
	is "version $number: the file is of this version" "$(version "$data")" $number
	cp "$data" "$work/$number.db"
	is "version $number: reports have the values of today's database" \
		"$(values "$work/$number.db")" "$want"
	check "version $number: they leave the file as it was" cmp "$data" "$work/$number.db"
	"$bin/dcpiimport" -q --db "$work/$number.db" "$work/perf.data"
	is "version $number: a writer brings it up to date" "$?, $(version "$work/$number.db")" \
		"0, $current"
	is "version $number: it is sound" \
		"$(sqlite3 -readonly "$work/$number.db" "PRAGMA integrity_check; PRAGMA foreign_key_check")" ok
	is "version $number: and has the same values" "$(values "$work/$number.db")" "$want"
	is "version $number: its schema is that of a new database" \
		"$(sqlite3 -readonly "$work/$number.db" "SELECT type, name FROM sqlite_schema ORDER BY 1, 2")" \
		"$(sqlite3 -readonly "$work/now.db" "SELECT type, name FROM sqlite_schema ORDER BY 1, 2")"
done

# Versions that were never released.
cp "$top/tests/fixtures/data/profile_v2.db" "$work/2.db"
refuses "a report of version 2" "unsupported version \(schema 2; supported: 3 to $current\)" \
	"$bin/dcpiprof" --db "$work/2.db"
refuses "a writer to version 2" "unsupported version" \
	"$bin/dcpiimport" --db "$work/2.db" "$work/perf.data"
check "it stays as it was" cmp "$top/tests/fixtures/data/profile_v2.db" "$work/2.db"

# Downgrade.
sqlite3 "$work/now.db" "PRAGMA user_version = $((current + 1)); PRAGMA wal_checkpoint(TRUNCATE)" > /dev/null
cp "$work/now.db" "$work/later.db"
refuses "a report of a later version" "was created by a newer version \(schema $((current + 1)); supported: up to $current\)" \
	"$bin/dcpiprof" --db "$work/later.db"
refuses "a writer to a later version" "was created by a newer version" \
	"$bin/dcpiimport" --db "$work/later.db" "$work/perf.data"
check "the file stays as it was" cmp "$work/now.db" "$work/later.db"
tap_done
