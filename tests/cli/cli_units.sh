#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Samples by systemd unit and container, from control groups of this test to dcpiprof, and profiles
# by unit and process that are requested while the daemon runs.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
: > "$work/empty.conf"
id=3f2a9c0d51e7b86420fedcba98765432100123456789abcdef0123456789abcd
socket=$work/sock
db=$work/units.db
daemon=("$bin/dcpid" -q --config "$work/empty.conf" --socket "$socket" --source perf -e cpu-clock
	--merge-interval 1 --db "$db")

# groups_find: print a directory of control groups in which this test may create groups: the group
# of this process, or the root of any hierarchy.
groups_find()
{
	local path

	for path in /sys/fs/cgroup /sys/fs/cgroup/*; do
		if [ -e "$path/cgroup.procs" ] && mkdir "$path/dcpi-test.slice" 2> /dev/null; then
			groups=$path/dcpi-test.slice
			return 0
		fi
	done
	return 1
}

# spin GROUP: a new process in a control group uses two seconds of CPU time
spin()
{
	local pid

	mkdir -p "$groups/$1"
	sh -c 'echo $$ > "$1/cgroup.procs" && exec sh -c "while :; do :; done"' sh "$groups/$1" &
	pid=$!
	eventually cpu_used "$pid" 200
	kill "$pid"
	wait "$pid" 2> /dev/null
}

# samples_of WHAT NAME: print the samples from a listing by unit or container
samples_of()
{
	"$bin/dcpiprof" --db "$db" --by "$1" --csv | tr -d '\r' |
		awk -F , -v name="$2" '$NF == name { print $1 }'
}

if [ "$(id -u)" -ne 0 ] || ! groups_find; then
	skip "samples by unit" "no control group can be made"
	tap_done
	exit
fi

starts "the daemon starts"
spin web.service
spin "docker-$id.scope" &
spinner=$!
# Short processes of a unit; each process is rarely sampled itself.
mkdir -p "$groups/storm.service"
sh -c 'echo $$ > "$1/cgroup.procs"; for i in $(seq 150); do
	sh -c "i=0; while [ \$i -lt 5000 ]; do i=\$((i + 1)); done"; done' sh "$groups/storm.service"
wait $spinner
check "what was before is stored" ctl flush
check "profiles by process are asked for" ctl per-process '*/dash */bash */busybox*'
check "and by unit" ctl per-unit '*libc.so*  vmlinux*'
like "both are told" "$(ctl per-process) $(ctl per-unit)" 'per_process +\*/dash.*per_unit +\*libc'
refused "not more than a line of them" 'too long' "$bin/dcpictl" --socket "$socket" per-unit \
	"$(printf '%600s' x)"
spin later.service
check "stored" ctl flush
stats=$(ctl stats)
daemon_stop TERM
is "the daemon ends in good order" $daemon_status 0
is "every sample is accounted for" "$(identity "$db")" ""
like "control groups were read, not for each sample" \
	"$(awk '$1 == "interrupts" { samples = $2 }
		$1 == "stat.label_reads" { print ($2 > 3 && $2 * 4 < samples) }' <<< "$stats")" 1

for unit in web.service later.service storm.service "docker-$id.scope"; do
	if [ "$(samples_of unit "$unit")" -ge 20 ] 2> /dev/null; then
		ok "$unit has its samples"
	else
		not_ok "$unit has its samples" "$("$bin/dcpiprof" --db "$db" --by unit)"
	fi
done
is "the container's are its unit's" "$(samples_of container $id)" "$(samples_of unit docker-$id.scope)"
is "units add up to all" \
	"$("$bin/dcpiprof" --db "$db" --by unit --csv --include-profiler --idle | tail -n +2 |
		awk -F , '{ sum += $1 } END { print sum }')" \
	"$(sql "$db" "SELECT sum(count) FROM dcpi_samples")"
is "shares are no more than profiles" "$(sqlite3 "$db" "SELECT count(*) FROM
	(SELECT epoch, image, event, sum(samples) AS part FROM share GROUP BY 1, 2, 3) AS s
	WHERE part > (SELECT sum(samples) FROM profile p WHERE p.epoch = s.epoch
		AND p.image = s.image AND p.event = s.event)")" 0
is "profiles by unit began with the request" "$(sqlite3 "$db" "SELECT group_concat(DISTINCT unit)
	FROM profile JOIN label ON label.epoch = profile.epoch AND number = -1 - pid
	WHERE pid < -1 AND unit LIKE '%.service' AND unit NOT LIKE '%/%' AND unit IN
		('web.service', 'later.service', 'storm.service')")" later.service
is "--unit has what was kept for it, and for its processes" \
	"$("$bin/dcpiprof" --db "$db" --unit 'later*' --by image --csv | tail -n +2 |
		awk -F , '{ sum += $1 } END { print sum }')" \
	"$(sqlite3 "$db" "SELECT sum(samples) FROM profile p JOIN label l ON l.epoch = p.epoch AND
		l.number = CASE WHEN p.pid < -1 THEN -1 - p.pid ELSE (SELECT label FROM process
			WHERE epoch = p.epoch AND pid = p.pid) END WHERE unit = 'later.service'")"
like "processes have units" "$("$bin/dcpiprof" --db "$db" --by process --csv)" ',sh,later.service,'
# The process ends before its control group can be read, but its parent dcpirun is in the same
# group.
sh -c 'echo $$ > "$1/web.service/cgroup.procs" && shift && exec "$@"' sh "$groups" \
	"$bin/dcpirun" -q -e cpu-clock:u --db "$work/run.db" \
	sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
is "dcpirun's command has a unit" \
	"$("$bin/dcpiprof" --db "$work/run.db" --by unit --csv | tr -d '\r' | awk -F , 'NR == 2 { print $NF }')" \
	web.service

rmdir "$groups"/*/ "$groups"
tap_done
