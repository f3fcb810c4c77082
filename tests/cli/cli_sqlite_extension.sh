#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test the SQLite extension in a plain sqlite3 shell, on a database made from the schema and blobs
# in this file: the meaning of version 1 of the formats must not change.
#
#	DCPI_BUILD	where the build is (default: build)

set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${DCPI_BUILD:-build}
case $build in
/*) ;;
*) build=$top/$build ;;
esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
db=$dir/profile.db
. "$top/tests/lib/tap.sh"

# expect NAME SQL: test that its output equals standard input
expect() {
	cat > "$dir/expected"
	sqlite3 -cmd ".load $build/lib/dcpi_sqlite" "$db" "$2" > "$dir/actual" 2>&1
	is "$1" "$(cat "$dir/actual")" "$(cat "$dir/expected")"
}

# expect_error NAME PATTERN SQL: test that it fails, with a message that matches
expect_error() {
	if sqlite3 -cmd ".load $build/lib/dcpi_sqlite" "$db" "$3" > "$dir/actual" 2>&1; then
		not_ok "$1" "no error"
	else
		like "$1" "$(cat "$dir/actual")" "$2"
	fi
}

if ! command -v sqlite3 > /dev/null; then
	skip "the SQLite extension" "no sqlite3 shell"
	tap_done
	exit
fi

sqlite3 "$db" < "$top/db/schema.sql" || exit 1
sqlite3 "$db" << 'SQL' || exit 1
PRAGMA foreign_keys = ON;
INSERT INTO host VALUES (1, 'alpha', '');
INSERT INTO epoch VALUES (1, 1, 0, 1000000000, 0, '', 1, '', 'replay', '', '', 330),
	(2, 1, 2000000000, 3000000000, 0, '', 1, '', 'replay', '', '', 10);
INSERT INTO event (epoch, number, name, unit, period_min, period_max) VALUES
	(1, 0, 'cycles', 'cycles', 60000, 64000),
	(1, 1, 'imiss', 'events', 1000, 1000), (2, 0, 'cycles', 'cycles', 60000, 64000);
INSERT INTO counter VALUES (1, 'loss', 'buffers_full', 5);
INSERT INTO image (id, kind, identity_kind, identity, path) VALUES
	(1, 0, 1, x'AB01', '/bin/one'), (2, 5, 0, x'', 'unknown');
INSERT INTO profile VALUES
	(1, 1, 0, -1, 310, 4, x'010204B602800820100B6809A0FF014430B171'),
	(1, 2, 0, -1, 5, 1, x'0104010501602441E98400'),
	(1, 1, 1, -1, 10, 2, x'0100020A8120022C062CAD650D'),
	(2, 1, 0, 1234, 10, 2, x'0100020A8120022C069ED6AA7D');
INSERT INTO edge VALUES
	(1, 1, 1, 0, 3, 309, x'010203B502800820A8617DFFA3413379569253'),
	(2, 1, 2, 1, 1, 5, x'010001058120A08131FC276D48571E');
INSERT INTO symbol VALUES (1, 3, x'0103181C789C6B50E06060CB4DCD4D2EA8043258E373F2F3D27FC83B30322766E601006B1C07EF7A56D077');
SQL

expect "all samples" "SELECT * FROM dcpi_samples ORDER BY epoch, image, event, offset" << 'END'
1|1|/bin/one|cycles|-1|4096|7
1|1|/bin/one|cycles|-1|4100|1
1|1|/bin/one|cycles|-1|4104|300
1|1|/bin/one|cycles|-1|8192|2
1|1|/bin/one|imiss|-1|4097|1
1|1|/bin/one|imiss|-1|4100|9
1|2|unknown|cycles|-1|16|5
2|1|/bin/one|cycles|1234|4097|1
2|1|/bin/one|cycles|1234|4100|9
END

expect "by epoch" "SELECT image, offset, count FROM dcpi_samples WHERE epoch = 2" << 'END'
1|4097|1
1|4100|9
END

expect "by image and event" \
	"SELECT offset, count FROM dcpi_samples WHERE image = 1 AND event = 'imiss'" << 'END'
4097|1
4100|9
END

expect "by pid" "SELECT sum(count) FROM dcpi_samples WHERE pid = 1234" << 'END'
10
END

expect "comparisons are SQL's" "SELECT count(*) FROM dcpi_samples WHERE epoch = '2';
SELECT count(*) FROM dcpi_samples WHERE epoch = 2.5;
SELECT count(*) FROM dcpi_samples WHERE event = NULL;
SELECT count(*) FROM dcpi_samples WHERE event = 'IMISS';
SELECT count(*) FROM dcpi_samples WHERE event = 'IMISS' COLLATE NOCASE;
SELECT count(*) FROM dcpi_samples WHERE image IN (1, 2) AND epoch = 1" << 'END'
2
0
0
0
2
7
END

expect "joined with symbols" "SELECT name, sum(count) FROM dcpi_symbols AS s
	JOIN dcpi_samples AS p ON p.image = s.image AND p.offset >= s.offset
		AND p.offset < s.offset + s.bytes
	WHERE s.image = 1 AND p.epoch = 1 AND p.event = 'cycles' GROUP BY name ORDER BY name" << 'END'
main|2
memcpy|8
END

expect "all edges" "SELECT * FROM dcpi_edges ORDER BY epoch, from_offset, to_offset" << 'END'
1|1|/bin/one|1|/bin/one|branch|4096|4104|7
1|1|/bin/one|1|/bin/one|branch|4096|8192|2
1|1|/bin/one|1|/bin/one|branch|4100|4096|300
2|1|/bin/one|2|unknown|double|4097|16|5
END

expect "edges by kind and image" "SELECT count FROM dcpi_edges WHERE kind = 'double' AND to_image = 2;
SELECT count(*) FROM dcpi_edges WHERE kind = 'double' AND to_image = 1;
SELECT sum(count) FROM dcpi_edges WHERE image = 1 AND epoch = 1" << 'END'
5
0
309
END

is "a file of schema version 3 has edges, and no later tables are needed" "$(sqlite3 -readonly \
	-cmd ".load $build/lib/dcpi_sqlite" \
	"file:$top/tests/fixtures/data/profile_v3.db?immutable=1" \
	"SELECT sum(count) FROM dcpi_edges" 2>&1)" 230
sqlite3 "$dir/other.db" "PRAGMA user_version = 3; CREATE TABLE x (y)"
like "one that is no profile database is an error" "$(sqlite3 -cmd ".load $build/lib/dcpi_sqlite" \
	"$dir/other.db" "SELECT count(*) FROM dcpi_edges" 2>&1)" 'not a profile database'

expect "symbols" "SELECT * FROM dcpi_symbols" << 'END'
1|4096|8|memcpy
1|4104|0|memcpy_long
1|8192|64|main
END

expect "selectors reach the profiles" "EXPLAIN QUERY PLAN
	SELECT * FROM dcpi_samples WHERE epoch = 1 AND event = 'cycles'" << 'END'
QUERY PLAN
`--SCAN dcpi_samples VIRTUAL TABLE INDEX 5:
END

expect "view of epochs" "SELECT epoch, start_utc, seconds, host, events, interrupts, samples, lost
	FROM dcpi_epochs" << 'END'
1|1970-01-01 00:00:00|1|alpha|cycles imiss|330|325|5
2|1970-01-01 00:00:02|1|alpha|cycles|10|10|0
END

expect "view of images" "SELECT image, kind, path, identity, event, samples, epochs
	FROM dcpi_images" << 'END'
1|file|/bin/one|ab01|cycles|320|2
1|file|/bin/one|ab01|imiss|10|1
2|unknown|unknown||cycles|5|1
END

sqlite3 "$db" "UPDATE profile SET samples = 309 WHERE samples = 310"
expect_error "totals that differ" "does not have its totals" "SELECT * FROM dcpi_samples"
sqlite3 "$db" "UPDATE profile SET samples = 310, data = x'010204B602800820100B6809A0FF014430B172'
	WHERE samples = 309"
expect_error "a damaged profile" "image 1 is damaged" "SELECT * FROM dcpi_samples"
expect "others are still there" "SELECT count FROM dcpi_samples WHERE image = 2" << 'END'
5
END
sqlite3 "$db" "UPDATE edge SET total = 310 WHERE epoch = 1"
expect_error "edges whose total differs" "do not have their totals" "SELECT * FROM dcpi_edges"
sqlite3 "$db" "UPDATE edge SET total = 309, kind = 1 WHERE epoch = 1"
expect_error "edges of another kind" "image 1 is damaged" "SELECT * FROM dcpi_edges"
sqlite3 "$db" "UPDATE symbol SET data = x'01'"
expect_error "damaged symbols" "image 1 is damaged" "SELECT * FROM dcpi_symbols"
db=$dir/other.db
expect_error "another database" "not a profile database" "SELECT * FROM dcpi_samples"
expect_error "another database, edges" "not a profile database" "SELECT * FROM dcpi_edges"
expect_error "another database, symbols" "not a profile database" "SELECT * FROM dcpi_symbols"

tap_done
