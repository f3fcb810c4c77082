#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# A database of several years: opening it, merging into it and reporting one epoch read only the
# parts that they need, not the whole file. Bytes read are compared, not times.
#
#	DCPI_BUILD	where the build is (default: build)
#	SIZE_MB		size of the database (default: 64; make check-huge: 10240)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
size_mb=${SIZE_MB:-64}
small=$work/small.db
huge=$work/huge.db
split_build

# bytes_read CMD...: print the bytes that the process itself reads
bytes_read()
{
	python3 - "$@" <<-'PYTHON'
		import os, sys
		pid = os.fork()
		if pid == 0:
		    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
		    os.execvp(sys.argv[1], sys.argv[1:])
		os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
		with open(f"/proc/{pid}/io") as io:
		    print(next(line.split()[1] for line in io if line.startswith("rchar")))
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	PYTHON
}

if ! command -v python3 > /dev/null || ! "$bin/dcpirun" -q --db "$small" "$work/split" 300; then
	skip "a huge database" "no python3, or nothing can be sampled"
	tap_done
	exit
fi
"$bin/dcpirun" -q --db "$small" "$work/split" 300

# Epochs with the rows of a week: 480 images, two events, 2 MB. (Nothing reads these rows.)
cp "$small" "$huge"
sqlite3 "$huge" > /dev/null <<-SQL
	PRAGMA synchronous = OFF;
	PRAGMA cache_size = -65536;
	PRAGMA journal_mode = MEMORY;
	BEGIN;
	INSERT INTO image (kind, identity_kind, identity, path)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 480)
		SELECT 0, 1, randomblob(20), '/usr/lib/' || i FROM n;
	INSERT INTO epoch (host, start_ns, end_ns, open, cpu_model, cpus, kernel, source,
			source_reason, label, interrupts)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
			WHERE i < $size_mb / 2)
		SELECT 1, i * 1000, i * 1000 + 999, 0, 'x', 1, 'x', 'perf', '', '', 960000 FROM n;
	INSERT INTO event (epoch, number, name, unit, period_min, period_max)
		SELECT id, column1, 'event' || column1, 'events', 1000, 1000
		FROM epoch, (VALUES (0), (1)) WHERE cpu_model = 'x';
	INSERT INTO profile (epoch, image, event, pid, samples, offsets, data)
		SELECT epoch.id, image.id, column1, -1, 1000, 1000, randomblob(2100)
		FROM epoch CROSS JOIN image CROSS JOIN (VALUES (0), (1))
		WHERE cpu_model = 'x' AND path LIKE '/usr/lib/%';
	COMMIT;
SQL
is "the database has $size_mb MB" \
	"$(($(stat -c %s "$huge") / 1048576 > size_mb * 9 / 10))" 1

# least_read CMD...: print the minimum of three runs, as the kernel's symbols are read again if
# another process loads code
least_read()
{
	for _ in 1 2 3; do
		bytes_read "$@"
	done | sort -n | head -n 1
}

# compare NAME CMD...: test a command, with DB for the database: it may read a megabyte more, and a
# thousandth
compare()
{
	local name=$1 few many

	shift
	few=$(least_read "${@/#DB/$small}")
	many=$(least_read "${@/#DB/$huge}")
	if [ "$many" -le $((few + 1048576 + size_mb * 1049)) ]; then
		ok "$name"
	else
		not_ok "$name" "read $many bytes of $size_mb MB, where a small one takes $few"
	fi
	echo "# $many bytes read of $size_mb MB, $few of a small one"
}

last=$(sql "$small" "SELECT max(id) FROM epoch")
compare "opening and merging" "$bin/dcpirun" -q --db DB "$work/split" 100
compare "a report of an epoch" "$bin/dcpiprof" --db DB --epoch "$last"
compare "a listing of an epoch" "$bin/dcpicalc" --db DB --epoch "$last" --image '*/split' split_seventy
compare "a report of the last epoch" "$bin/dcpiprof" --db DB --epoch last
tap_done
