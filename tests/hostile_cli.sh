# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # variables that others read, or set
#
# Common parts of the tests of attacks by other users of the machine. An attack runs as uid 65534
# together with a victim, uid 65533, which starts its own programs. Then the limits of the daemon
# are checked. Needs root.
#
#	HOSTILE_SECONDS	minimum length of each attack (default: 5)

. "$(dirname "${BASH_SOURCE[0]}")/daemon_cli.sh"
socket=$work/dcpid.sock
attack_uid=65534
victim_uid=65533
victims=4
seconds=${HOSTILE_SECONDS:-5}

# Samples of the victim that may be credited wrongly or not at all, of 1,000.
UNCREDITED_PERMILLE=1
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

# daemon_cpu_ms: print the CPU time that the daemon has used
daemon_cpu_ms()
{
	sed 's/.*) //' "/proc/$daemon_pid/stat" |
		awk -v hz="$(getconf CLK_TCK)" '{ print int(($12 + $13) * 1000 / hz) }'
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
	echo "# CPU time of the daemon without attack, permille: $baseline"
}

# cpu_limit ATTACK: print the limit of CPU time
cpu_limit()
{
	case $1 in
	mappings | remap) echo "$FLOOD_CPU_PERMILLE" ;;
	*) echo "$CPU_PERMILLE" ;;
	esac
}

# hostile_case NAME FEED ATTACK ARGUMENT...: run an attack and check the limits
hostile_case()
{
	local name="$1, image events by $2" feed=$2 begin cpu elapsed gap rss credited uncredited

	shift 2
	if ! hostile_start "$feed"; then
		not_started "$name"
		return
	fi
	bound "$name: milliseconds to the start" "$start_ms" "$((START_MS * $(patience) / 60))"
	begin=$(milliseconds)
	cpu=$(daemon_cpu_ms)
	attack_begin "$@"
	victim_until "$begin"
	attack_end
	victim_runs 1
	ctl flush > /dev/null
	elapsed=$(($(milliseconds) - begin))
	bound "$name: CPU time of the daemon for the attack, permille" \
		"$(((1000 * ($(daemon_cpu_ms) - cpu)) / elapsed - baseline))" "$(cpu_limit "$1")"
	gap=$(ctl --json stats | jq '."stat.drain_gap_ms"')
	rss=$(ctl_status | awk '$1 == "rss_bytes" { print $2 }')
	bound "$name: memory" "$rss" "$RSS_BYTES"
	if [ "$gap" -gt "$GAP_MS" ] && cpu_is_busy; then
		not_measured "$name: longest time between two drains" "$gap ms on a busy machine"
	else
		bound "$name: milliseconds between two drains" "$gap" "$GAP_MS"
	fi
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
