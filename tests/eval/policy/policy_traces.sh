#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Record the traces that tests/eval/policy/policy_simulator.c replays: one for each workload below, and one of
# the whole machine. Needs root: the kernel's limits on sampling are raised while this runs, and
# restored.
#
#	tests/eval/policy/policy_traces.sh FOLDER [WORKLOAD]...
#
#	POLICY_SECONDS	length of each recording (60)
#	POLICY_EVENT	event to sample (cpu-clock:95000-105000)
set -u
cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/perf_limits.sh
. tests/lib/perf_limits.sh

folder=${1:?usage: policy_traces.sh FOLDER [WORKLOAD]...}
shift
seconds=${POLICY_SECONDS:-60}
event=${POLICY_EVENT:-cpu-clock:95000-105000}

[ "$(id -u)" -eq 0 ] || { echo "policy_traces: only root may sample the whole machine" >&2; exit 2; }
mkdir -p "$folder" || exit 2
perf_limits_raise 40000
work=$(mktemp -d) || exit 2
remove_work()
{
	rm -rf "$work"
}
perf_limits_cleanup=remove_work

# Each workload runs until it is killed.

# A build: many short processes of one large program.
compile()
{
	while :; do
		find daemon db analysis lib loader-hook -name '*.c' |
			xargs -P 2 -I {} "${CC:-gcc}" -std=gnu17 -O2 -I. -Ibuild/obj/gen -D_GNU_SOURCE \
				'-DDCPI_VERSION="0"' -c -o /dev/null {}
	done
}

# again FILE: print its contents repeatedly, forever
again()
{
	while cat "$1"; do :; done
}

# Few hot loops, long-lived processes.
compress()
{
	again "$work/text" | gzip -c > /dev/null &
	again "$work/text" | xz -T1 -3 -c > /dev/null &
	again "$work/text" | bzip2 -c > /dev/null
}

# Inserts, joins, sorts and updates in one process.
database()
{
	again "$work/sql" | sqlite3 -cmd "PRAGMA synchronous = OFF" "$work/db.$$" > /dev/null
}

# Interpreters.
script()
{
	again "$work/text" | perl -ne '$h{$_}++ for split /\W+/;
		if ($. % 20000 == 0) {
			my @k = sort { $h{$b} <=> $h{$a} || $a cmp $b } keys %h;
			print join(" ", map { sprintf "%s=%d", $_, $h{$_} } @k); %h = ();
		}' > /dev/null &
	python3 -c 'import json, re, sys
while True:
    text = open(sys.argv[1], errors="replace").read()
    words = {}
    for w in re.findall(r"\w+", text):
        words[w] = words.get(w, 0) + 1
    data = json.loads(json.dumps(words))
    print(sorted(data.items(), key=lambda p: (-p[1], p[0]))[:9])' "$work/text" > /dev/null
}

# Processes of a few milliseconds: each has different addresses.
forks()
{
	local i

	while :; do
		for i in 1 2 3 4; do
			(echo "$i" | sed s/1/2/ | tr 2 3 | cat) &
		done
		wait
		/bin/true
		env printf %s "$i"
		basename /usr/bin/env
		dash -c 'date | cut -c 1-9'
	done > /dev/null
}

# A server and 24 clients that wake each other, each with another kind of work: from outside, this
# looks like a window system and its programs.
clients()
{
	perl -MIO::Select -MSocket -e '
		my @work = (
			sub { join "", sort split //, $_[0] x 20 }, sub { sprintf "%f", sin length $_[0] },
			sub { my $s = $_[0]; $s =~ s/(\w)(\w)/$2$1/g; $s },
			sub { unpack "H*", pack "w*", map { ord } split //, $_[0] },
			sub { my %h = map { $_ => 1 } 1 .. 200; scalar keys %h },
			sub { my @a = map { [ $_, rand ] } 1 .. 90; (sort { $$a[1] <=> $$b[1] } @a)[0][0] });
		my $select = IO::Select->new;
		for my $n (0 .. 23) {
			socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0;
			if (fork) { $select->add($a); next }
			close $a;
			for (my $i = 0;; $i++) {
				my $r = $work[$n % @work]->("message $i of $n " x 9);
				syswrite $b, substr("$r" . " " x 64, 0, 64);
				sysread $b, my $reply, 64 or exit;
				select undef, undef, undef, 0.001 * ($n % 4);
			}
		}
		while (my @ready = $select->can_read) {
			for (@ready) { sysread $_, my $m, 64 or exit; syswrite $_, scalar reverse $m }
		}'
}

# All workloads at once on too few CPUs.
timeshared()
{
	compile &
	compress &
	database &
	script &
	forks &
	clients
}

# record NAME: record this workload alone, independent of other load on the machine
record()
{
	local load status

	# In a separate session, so that all of it can be ended together.
	setsid nice -n 10 build/bin/dcpirun -q -e "$event" --db "$work/$1.db" \
		--record-trace "$folder/$1.trace" \
		"$BASH" -c ". '$work/functions'; work='$work'; $1" 2> "$work/$1.errors" 9>&- &
	load=$!
	perf_limits_end $load
	sleep "$seconds" 9>&- &
	wait $!
	kill -TERM -- "-$load"
	wait "$load"
	status=$?
	perf_limits_ended
	# 128 + SIGTERM: the expected end of the workload.
	if [ $status -ne 143 ]; then
		tail -n 3 "$work/$1.errors" >&2
		echo "policy_traces: $1 could not be recorded" >&2
		rm -f "$folder/$1.trace"
		exit 2
	fi
	echo "$folder/$1.trace: $(wc -c < "$folder/$1.trace") bytes"
}

# The whole machine, including idle loops, with all workloads at once.
machine()
{
	local load

	setsid nice -n 10 "$BASH" -c ". '$work/functions'; work='$work'; timeshared" 2> /dev/null 9>&- &
	load=$!
	perf_limits_end $load
	setsid timeout --preserve-status -s TERM "$seconds" build/bin/dcpid -q --source perf -e "$event" \
		--config /dev/null --socket "" --db "$work/machine.db" \
		--record-trace "$folder/machine.trace" 9>&- &
	perf_limits_end $!
	wait $! || exit 2
	kill -TERM -- "-$load"
	perf_limits_ended
	echo "$folder/machine.trace: $(wc -c < "$folder/machine.trace") bytes"
}

workloads='compile compress database script forks clients timeshared'
# shellcheck disable=SC2086
declare -f again $workloads > "$work/functions"
cat > "$work/sql" << 'END'
CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, k INT, v TEXT);
CREATE INDEX IF NOT EXISTS tk ON t (k);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
	INSERT INTO t (k, v) SELECT abs(random()) % 5000, hex(randomblob(20)) FROM n;
COMMIT;
SELECT count(*), max(b.v) FROM t a JOIN t b USING (k) WHERE a.id % 7 = 0;
SELECT k, count(*), group_concat(substr(v, 1, 4)) FROM t GROUP BY k ORDER BY 2;
UPDATE t SET v = lower(v) WHERE k % 3 = 0;
DELETE FROM t WHERE id % 20 <> 0;
END
cat daemon/*.[ch] db/*.[ch] docs/*.md build/bin/dcpid > "$work/text"
# shellcheck disable=SC2048,SC2086
for workload in ${*:-$workloads machine}; do
	if [ "$workload" = machine ]; then
		machine
	else
		record "$workload"
	fi
done
