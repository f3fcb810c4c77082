# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # variables that others read, or set
#
# Common parts of the tests of attacks by other users of the machine. An attack runs as uid 64534
# together with a victim, uid 64533, which starts its own programs. Then the limits of the daemon
# are checked. Other tests run programs as uid 65534 at the same time, and need its quota.
# Needs root.
#
#	HOSTILE_SECONDS	minimum length of each attack (default: 5)
#	ALL		not empty: also check times, which need an otherwise idle machine

. "$(dirname "${BASH_SOURCE[0]}")/daemon_cli.sh"
socket=$work/dcpid.sock
attack_uid=64534
victim_uid=64533
victims=4
seconds=${HOSTILE_SECONDS:-5}

# Samples of the victim that may be credited wrongly or not at all, of 1,000.
UNCREDITED_PERMILLE=1
# Work of the daemon for each user except root: daemon/image/quota.h. A point pays for about a
# microsecond of CPU time. One process may be read beyond the limit.
POINTS_AT_ONCE=100000
POINTS_PER_MS=20
POINTS_BEYOND=150000
# Points for opening a file.
POINTS_OF_FILE=40
# The same for files of JIT code: daemon/jit/jit_reading.h. The files of one process may exceed it.
JIT_POINTS_AT_ONCE=300000
JIT_BEYOND_MS=200
# CPU time for the tables of one file may exceed the limit by this, if the daemon is not run.
TABLE_BEYOND_MS=300
# Users that have processes: attacker and victim.
USERS=2
# CPU time of the daemon during the attack, of 1,000 of a CPU, beyond the CPU time without attack.
CPU_PERMILLE=50
# The same for endless image events: the daemon has to read each event.
FLOOD_CPU_PERMILLE=150
GAP_MS=2000
START_MS=5000
RSS_BYTES=$((160 << 20))

hostile_needs()
{
	if [ "$(id -u)" -ne 0 ] || ! command -v setpriv > /dev/null; then
		skip "attacks by other users" "needs root and setpriv"
		tap_done
		exit
	fi
}

# hostile_build: make the attack, and programs of the victim that the daemon has never seen
hostile_build()
{
	local i

	mkdir "$work/a"
	chown "$attack_uid" "$work/a"
	head -c 16384 /dev/zero > "$work/a/file"
	chmod 644 "$work/a/file"
	${CC:-gcc} -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -o "$work/attack" \
		"$top/tests/hostile/attack.c" || exit 1
	for i in $(seq "$victims"); do
		${CC:-gcc} -O2 -D_GNU_SOURCE \
			-Wl,--build-id="0x$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" \
			-o "$work/victim$i" "$top/tests/hostile/attack.c" || exit 1
	done
	: > "$work/empty.conf"
}

# milliseconds: print the time of a clock that cannot be set
milliseconds()
{
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

# daemon_cpu_ms: print the CPU time that the daemon and the processes that it has started have used
daemon_cpu_ms()
{
	local pid

	for pid in "$daemon_pid" $(cat "/proc/$daemon_pid/task/"*/children 2> /dev/null); do
		cat "/proc/$pid/stat" 2> /dev/null
	done | sed 's/.*) //' | awk -v hz="$(getconf CLK_TCK)" '
		{ ticks += $12 + $13; if (NR == 1) ticks += $14 + $15 }
		END { print int(ticks * 1000 / hz) }'
}

# hostile_start FEED: start a daemon that records the process of unknown samples
hostile_start()
{
	local begin

	daemon=("$bin/dcpid" --source perf --image-events "$1" --socket "$socket"
		--event cpu-clock:4000000-4400000 --config "$work/empty.conf" --image-store none
		--per-process "$work/* unknown")
	rm -f "$work/hostile.db" "$work/victims"
	begin=$(milliseconds)
	daemon_launch --db "$work/hostile.db" || return 1
	start_ms=$(($(milliseconds) - begin))
	daemon_await_sampling
}

attack_begin()
{
	rm -f "$work/end"
	mkfifo "$work/end"
	setpriv --reuid "$attack_uid" --clear-groups "$work/attack" "$@" \
		< "$work/end" > /dev/null 2> "$work/attack.log" &
	attacker=$!
	exec 7> "$work/end"
}

attack_end()
{
	exec 7>&-
	wait "$attacker"
}

# victim_runs ROUNDS: run each of the victim's programs ROUNDS times, one after the other, and list
# their processes in $work/victims
victim_runs()
{
	local round i

	for round in $(seq "$1"); do
		for i in $(seq "$victims"); do
			setpriv --reuid "$victim_uid" --clear-groups "$work/victim$i" spin 100 &
			echo "($!)" >> "$work/victims"
			wait $!
		done
	done
}

# victim_samples: print "CREDITED UNCREDITED": samples of the victim's programs, and samples of its
# processes without an image
victim_samples()
{
	sql "$work/hostile.db" "CREATE TEMP TABLE victim (pid INTEGER);
		INSERT INTO victim VALUES $(paste -s -d , "$work/victims");
		SELECT (SELECT ifnull(sum(samples), 0) FROM profile JOIN image ON image.id = image
			WHERE path LIKE '$work/victim%'),
		(SELECT ifnull(sum(samples), 0) FROM profile JOIN image ON image.id = image
			WHERE path = 'unknown' AND pid IN victim)" | tr '|' ' '
}

# bound NAME GOT LIMIT: test that GOT is at most LIMIT
bound()
{
	check "$1 ($2, at most $3)" [ "$2" -le "$3" ]
}

# cpu_is_busy: return true if there are more runnable threads than those of the attack and the
# victim
cpu_is_busy()
{
	local load _

	read -r load _ < /proc/loadavg
	[ "${load%.*}" -gt "$(nproc)" ]
}

# victim_until BEGIN: start the victim's programs for $seconds
victim_until()
{
	until [ $(($(milliseconds) - $1)) -ge $((seconds * 1000)) ]; do
		victim_runs 1
	done
}

# hostile_baseline FEED: set $baseline, the CPU time without attack, of 1,000 of a CPU
hostile_baseline()
{
	local begin cpu

	baseline=0
	hostile_start "$1" || return
	begin=$(milliseconds)
	cpu=$(daemon_cpu_ms)
	victim_until "$begin"
	ctl flush > /dev/null
	baseline=$(((1000 * ($(daemon_cpu_ms) - cpu)) / ($(milliseconds) - begin)))
	# shellcheck disable=SC2119 # with the usual signal
	daemon_stop
	echo "# CPU time of the daemon without attack, permille: $baseline" >&2
}

# cpu_limit ATTACK: print the limit of CPU time
cpu_limit()
{
	case $1 in
	mappings | remap) echo "$FLOOD_CPU_PERMILLE" ;;
	*) echo "$CPU_PERMILLE" ;;
	esac
}

# stat_of NAME: print a counter of the daemon
stat_of()
{
	ctl --json stats | jq -r ".\"stat.$1\" // 0"
}

# work_bound NAME MILLISECONDS: test that the daemon has done as much work as its users are
# permitted in this time, which does not depend on other load of the machine
work_bound()
{
	local points=$((USERS * (POINTS_AT_ONCE + POINTS_PER_MS * $2) + POINTS_BEYOND))

	bound "$1: work for users, points" "$(stat_of quota_points)" "$points"
	bound "$1: files opened for users" "$(stat_of quota_files)" "$((points / POINTS_OF_FILE))"
	bound "$1: milliseconds of CPU time for unwind tables of users" \
		"$(stat_of unwind_build_user_ms)" \
		"$((USERS * (POINTS_AT_ONCE + POINTS_PER_MS * $2) / 1000 + TABLE_BEYOND_MS))"
	bound "$1: milliseconds of CPU time for JIT files of users" "$(stat_of jit_user_ms)" \
		"$((USERS * (JIT_POINTS_AT_ONCE + POINTS_PER_MS * $2) / 1000 + JIT_BEYOND_MS))"
}

# time_bound NAME GOT LIMIT: test a time, if all attacks are run on an otherwise idle machine
time_bound()
{
	if [ -z "${ALL:-}" ]; then
		echo "# $1: $2"
	elif [ "$2" -gt "$3" ] && cpu_is_busy; then
		not_measured "$1" "$2 on a busy machine"
	else
		bound "$1" "$2" "$3"
	fi
}

# hostile_attack FEED ATTACK ARGUMENT...: start a daemon and run an attack on it. Sets $elapsed, since
# the start of the daemon, and $permille, CPU time for the attack of 1,000 of a CPU. The daemon runs on.
hostile_attack()
{
	local feed=$1 begin cpu started

	shift
	started=$(milliseconds)
	hostile_start "$feed" || return 1
	begin=$(milliseconds)
	cpu=$(daemon_cpu_ms)
	attack_begin "$@"
	victim_until "$begin"
	attack_end
	victim_runs 1
	ctl flush > /dev/null
	elapsed=$(($(milliseconds) - begin))
	permille=$(((1000 * ($(daemon_cpu_ms) - cpu)) / elapsed - baseline))
	elapsed=$(($(milliseconds) - started))
}

# hostile_case NAME FEED ATTACK ARGUMENT...: run an attack and check the limits
hostile_case()
{
	local name="$1, image events by $2" attack=$3 credited uncredited

	shift
	if ! hostile_attack "$@"; then
		not_started "$name"
		return
	fi
	time_bound "$name: milliseconds to the start" "$start_ms" "$START_MS"
	time_bound "$name: CPU time of the daemon for the attack, permille" "$permille" \
		"$(cpu_limit "$attack")"
	work_bound "$name" "$elapsed"
	bound "$name: memory" "$(ctl_status | awk '$1 == "rss_bytes" { print $2 }')" "$RSS_BYTES"
	time_bound "$name: milliseconds between two drains" "$(stat_of drain_gap_ms)" "$GAP_MS"
	ctl --json status | jq -r 'to_entries[] | select(.key | startswith("limit")) |
		"# \(.key) \(.value)"'
	# shellcheck disable=SC2119 # with the usual signal
	daemon_stop
	is "$name: accounts for every sample" "$(identity "$work/hostile.db")" ""
	read -r credited uncredited < <(victim_samples)
	check "$name: the victim has samples ($credited)" [ "$credited" -gt 0 ]
	bound "$name: samples of the victim without an image, of $credited" "$uncredited" \
		"$((1 + credited * UNCREDITED_PERMILLE / 1000))"
}
