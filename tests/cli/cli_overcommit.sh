#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# No sample is lost where a hundred busy processes compete for the CPUs, with each source. This
# holds for an unprivileged user too, with no more locked memory than perf_event_mlock_kb. The
# number of samples agrees with the CPU time that the processes consumed.
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"

period_ns=1000000
event=cpu-clock:990000-1010000

# load: a hundred processes for five seconds
cat > "$work/load" << 'END'
#!/bin/sh
busy=
for i in 1 2 3 4 5 6 7 8 9 10; do
	for j in 1 2 3 4 5 6 7 8 9 10; do
		(while :; do :; done) &
		busy="$busy $!"
	done
done
sleep 2
kill $busy
wait
exit 0
END
# forks: fewer processes, which start short-lived processes all the time
cat > "$work/forks" << 'END'
#!/bin/sh
busy=
for i in 1 2 3 4 5 6 7 8 9 10; do
	for j in 1 2 3 4 5 6; do
		(while :; do /bin/true; done) &
		busy="$busy $!"
	done
done
sleep 2
kill $busy
wait
exit 0
END
chmod 755 "$work/load" "$work/forks"

# timed COMMAND...: sets $user_ms and $system_ms, of the command and its children
timed()
{
	local TIMEFORMAT='%3U %3S' times

	{ time "$@" > "$work/output" 2>&1; } 2> "$work/times"
	times=$(tr -d . < "$work/times")
	user_ms=$((10#${times% *})) system_ms=$((10#${times#* }))
}

# plausible LABEL DB CPU_MS [MOST]: test that the samples amount to at least 50 and at most MOST
# (120) per cent of the time
plausible()
{
	local samples sampled_ms

	samples=$(sql "$2" "SELECT ifnull(sum(count), 0) FROM dcpi_samples")
	sampled_ms=$((samples * (period_ns / 1000) / 1000))
	if [ "$3" -gt 0 ] && [ $((100 * sampled_ms)) -ge $((50 * $3)) ] &&
		[ $((100 * sampled_ms)) -le $((${4:-120} * $3)) ]; then
		ok "$1: there are about as many samples as CPU time"
	elif [ "$(sql "$2" "SELECT ifnull(sum(count), 0) FROM counter WHERE name = 'throttled'")" -gt 0 ]
	then
		not_measured "$1: there are about as many samples as CPU time" \
			"the kernel limited the rate of samples"
	else
		not_ok "$1: there are about as many samples as CPU time" "$samples samples of $3 ms"
	fi
}

# judge LABEL DB: test that no sample was lost
judge()
{
	is "$1: no sample is lost" "$(sql "$2" "SELECT group_concat(name || ' ' || count) FROM counter
		WHERE counter_group = 'loss' AND count > 0")" ""
	is "$1: all is accounted for" "$(identity "$2")" ""
}

run="$bin/dcpirun"
timed "$run" -q -e "$event" --db "$work/root.db" "$work/load"
judge "dcpirun" "$work/root.db"
plausible "dcpirun" "$work/root.db" $((user_ms + system_ms))

timed "$run" -q -e "$event" --db "$work/forks.db" "$work/forks"
judge "dcpirun, short-lived processes" "$work/forks.db"
wrong=$(sql "$work/forks.db" "SELECT ifnull(sum(count), 0) FROM counter WHERE
	counter_group = 'unknown' AND name IN ('process', 'address', 'replaced', 'lost')")
dropped=$(sql "$work/forks.db" "SELECT ifnull(sum(count), 0) FROM counter WHERE name = 'image_events_lost'")
if [ "$wrong" -gt 0 ] && [ "$dropped" -gt 0 ]; then
	not_measured "dcpirun, short-lived processes: the image of each sample is known" \
		"the kernel dropped $dropped events, because it did not run dcpirun: $wrong samples are unknown"
else
	is "dcpirun, short-lived processes: the image of each sample is known" "$wrong" 0
fi

if [ "$(id -u)" -eq 0 ]; then
	# A program that every user may read, in a folder of the unprivileged user.
	mkdir "$work/nobody"
	cp "$run" "$work/nobody/dcpirun"
	chown -R 65534:65534 "$work/nobody"
	nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
else
	mkdir "$work/nobody"
	ln -s "$run" "$work/nobody/dcpirun"
	nobody=()
fi
if output=$("${nobody[@]}" "$work/nobody/dcpirun" -q --db "$work/nobody/probe.db" true 2>&1); then
	# shellcheck disable=SC2016 # of the inner shell
	timed "${nobody[@]}" sh -c 'ulimit -l 0; exec "$@"' sh "$work/nobody/dcpirun" -q --user \
		-e "$event" --db "$work/nobody/load.db" "$work/load"
	judge "dcpirun, unprivileged" "$work/nobody/load.db"
	plausible "dcpirun, unprivileged" "$work/nobody/load.db" "$user_ms"
else
	skip "dcpirun, unprivileged" "$output"
fi

socket=$work/socket
for source in perf bpf; do
	daemon=("$bin/dcpid" -q --config /dev/null --socket "$socket" --audit-socket "$work/audit"
		--image-store none -e "$event" --db "$work/$source.db" --source "$source")
	if ! daemon_start; then
		skip "dcpid, $source source" "$(tail -n 1 "$work/log")"
		continue
	fi
	timed "$work/load"
	daemon_stop TERM
	is "dcpid, $source source: ends well" "$daemon_status" 0
	judge "dcpid, $source source" "$work/$source.db"
	# Other processes of the machine run as well.
	plausible "dcpid, $source source" "$work/$source.db" $((user_ms + system_ms)) 1000000
done
tap_done
