#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Reports about samples in an engine (--from) are those about the databases that dcpiship has
# delivered. The engine is tests/lib/clickhouse_peer.py; make check-fleet does the same with ClickHouse.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$top/tests/lib/ship_cli.sh"
db=$work/dcpi.db
golden=$work/golden.db
export TZ=UTC TMPDIR=$work

"$bin/dcpiship" --schema single > "$work/schema.sql"
shipped_db "$db" 4 40
"$build/tests/make_golden_db" "$golden"
# The epoch with units has two interrupts too many, so it would be delivered as damaged.
sqlite3 "$golden" 'UPDATE epoch SET interrupts = 73 WHERE interrupts = 75'
# Each request arrives twice.
seq 2000 | sed 's/.*/twice/' > "$work/faults"
python3 "$top/tests/lib/clickhouse_peer.py" serve "$work/schema.sql" "$work/store" \
	--faults "$work/faults" > "$work/port" 2> "$work/peer.err" &
pids+=("$!")
eventually grep -qs . "$work/port" || { cat "$work/peer.err"; exit 1; }
url=http://127.0.0.1:$(cat "$work/port")/
from=clickhouse://127.0.0.1:$(cat "$work/port")/dcpi
deliver()
{
	ship_config "$1" "db = $work/$1.db"
	check "database '$1' is delivered" within "$bin/dcpiship" --config "$work/$1.conf" --once
}

# same NAME PROGRAM DATABASE OPTION...: a report has the same rows from the engine as from a database
same()
{
	"$bin/$2" --db "$3" "${@:4}" | sort > "$work/want"
	"$bin/$2" --from "$from" "${@:4}" 2> "$work/err" | sort > "$work/got"
	check "$1: there are rows" [ "$(wc -l < "$work/want")" -ge 2 ]
	check "$1" diff "$work/want" "$work/got"
}

# accounting OPTION...: print interrupts, samples and losses
accounting()
{
	"$bin/dcpiprof" --header "$@" | grep '^accounting\|^lost'
}

# Hosts are kept apart where the report compares them.
deliver dcpi
same "samples by host" dcpiprof "$db" --csv --by host
is "a host that has several epochs is one set" "$("$bin/dcpistats" --from "$from" --json |
	jq -c '[.sets[].samples] | sort')" "$(sql "$db" "SELECT
	json_group_array(n) FROM (SELECT sum(count) AS n FROM dcpi_samples s JOIN epoch e ON e.id = s.epoch
		WHERE event = 'cycles' GROUP BY host ORDER BY n)")"
check "dcpidiff compares two hosts" "$bin/dcpidiff" --from "$from"

# Another host.
deliver golden
same "procedures of a host" dcpiprof "$db" --csv --host host1
same "images" dcpiprof "$db" --csv --by image --host host0
same "instructions" dcpiprof "$db" --csv --by instruction --host host0
same "a pattern of images" dcpiprof "$db" --csv --host host1 -i 'p[12]'
same "events with different periods" dcpiprof "$golden" --csv --host alpha
same "names with control characters" dcpiprof "$golden" --csv --host beta --by image
same "units" dcpiprof "$golden" --csv --host beta --by unit
"$build/tests/make_profile_db" "$work/profiler.db" << END
host own
event cycles cycles 60000 64000
epoch Test CPU
image file 02 /usr/lib/libown.so
sample 0 16 30
process -4294967296
sample 0 16 5
sample 0 32 6
end
END
deliver profiler
same "samples of the profiler's processes" dcpiprof "$work/profiler.db" --csv --host own --by instruction
is "are excluded" "$("$bin/dcpiprof" --from "$from" --host own --json | jq .profiler_samples)" 11
start=$(sql "$db" 'SELECT min(start_ns) / 1000000000 FROM epoch')
same "a time in an epoch" dcpiprof "$db" --csv --host host1 --since "@$((start + 100))" \
	--until "@$((start + 200))"
is "interrupts, samples and losses" "$(accounting --from "$from" --host host0)" \
	"$(accounting --db "$db" --host host0)"

check "dcpireport makes a page" "$bin/dcpireport" --from "$from" --host host1 -o "$work/page.html"
like "the page has the procedures" "$(cat "$work/page.html")" second

# A configuration of dcpiship instead of an address; a database that is kept.
check "a configuration" "$bin/dcpiprof" --from "$work/dcpi.conf" --host host1
check "dcpifetch writes a database" "$bin/dcpifetch" --from "$from" --by epoch -o "$work/own.db"
is "that keeps epochs apart" "$(sql "$work/own.db" 'SELECT start_ns, interrupts FROM epoch' | sort)" \
	"$(for f in "$db" "$golden" "$work/profiler.db"; do sql "$f" 'SELECT start_ns, interrupts FROM epoch'; done | sort)"
like "and is intact" "$(accounting --db "$work/own.db")" exact
refused "a file that exists" "own.db' exists already" "$bin/dcpifetch" --from "$from" -o "$work/own.db"

# Errors.
"$bin/dcpiprof" --from "$from" --host nobody > "$work/got" 2>&1
is "nothing is selected" "$?,$(cat "$work/got")" \
	"1,dcpifetch: the engine has no samples that are selected"
refused "no engine" "does not answer: " "$bin/dcpiprof" --from clickhouse://127.0.0.1:1/dcpi
refused "no such address" "'ftp://x' is neither clickhouse://HOST:PORT/DATABASE nor" \
	"$bin/dcpiprof" --from ftp://x
refused "a time" "'x' is not a valid" "$bin/dcpifetch" --from "$from" -o "$work/x.db" --since-ns x
refused "no such folder" "/no/such/x.db" "$bin/dcpifetch" --from "$from" -o /no/such/x.db
refused "--from and --db" "--from and --db are mutually exclusive" "$bin/dcpiprof" --from "$from" \
	--db "$db"
refused "--from and --epoch" "--from and --epoch are mutually exclusive" "$bin/dcpiprof" --from \
	"$from" --epoch 1
echo garbage > "$work/faults"
python3 "$top/tests/lib/profile_peer.py" "$work/other" --faults "$work/faults" > "$work/port" 2> /dev/null &
pids+=("$!")
eventually grep -qs . "$work/port"
refused "another server" "is not a table from ClickHouse" "$bin/dcpiprof" \
	--from "clickhouse://127.0.0.1:$(cat "$work/port")/"
none_left()
{
	! ls -d "$work"/dcpi-fleet-* 2> /dev/null
}
check "no temporary database is left" eventually none_left

tap_done
