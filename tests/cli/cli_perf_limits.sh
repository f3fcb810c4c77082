#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
# The kernel's limits on sampling are restored after a script that raised them, no matter how it
# ends (tests/lib/perf_limits.sh). Tested on files in place of the limits.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

PERF_LIMITS_FOLDER=$(mktemp -d) || exit 2
PERF_LIMITS_LOCK=$PERF_LIMITS_FOLDER/lock
export PERF_LIMITS_FOLDER PERF_LIMITS_LOCK
trap 'rm -rf "$PERF_LIMITS_FOLDER"' EXIT

cat > "$PERF_LIMITS_FOLDER/script" << 'END'
. tests/lib/perf_limits.sh
perf_limits_raise 40000
setsid sleep 1000 9>&- &
perf_limits_end $!
echo $! > "$PERF_LIMITS_FOLDER/session"
case $1 in
stay) : > "$PERF_LIMITS_FOLDER/ready"; wait ;;
fail) exit 3 ;;
esac
END

limits()
{
	echo "$(cat "$PERF_LIMITS_FOLDER/perf_event_max_sample_rate")" \
		"$(cat "$PERF_LIMITS_FOLDER/perf_cpu_time_max_percent")"
}

script()
{
	"$BASH" "$PERF_LIMITS_FOLDER/script" "$1" 9>&-
}

# start: the script runs, as $pid, and has raised the limits
start()
{
	rm -f "$PERF_LIMITS_FOLDER/ready"
	# A shell cannot trap a signal that was ignored at its start, for example by nohup.
	env --default-signal=HUP "$BASH" "$PERF_LIMITS_FOLDER/script" stay &
	pid=$!
	while [ ! -e "$PERF_LIMITS_FOLDER/ready" ] && kill -0 $pid; do
		sleep 0.05
	done
}

echo 12345 > "$PERF_LIMITS_FOLDER/perf_event_max_sample_rate"
echo 25 > "$PERF_LIMITS_FOLDER/perf_cpu_time_max_percent"

script fail
is "a script that fails keeps its status" $? 3
is "and puts the limits back" "$(limits)" "12345 25"
for signal in TERM HUP; do
	start
	is "they are raised meanwhile" "$(limits)" "40000 100"
	refused=$(script fail 2>&1)
	is "a second script is refused" $? 2
	like "in one line" "$refused" '^script: .*by another script$'
	is "and changes nothing" "$(limits)" "40000 100"
	kill -$signal $pid
	wait $pid
	is "SIG$signal puts them back" "$(limits)" "12345 25"
	check "and ends what it had begun" test ! -e "/proc/$(cat "$PERF_LIMITS_FOLDER/session")"
done
start
kill -KILL $pid
wait $pid 2> /dev/null
is "SIGKILL leaves them" "$(limits)" "40000 100"
kill "$(cat "$PERF_LIMITS_FOLDER/session")"
script fail
is "the next script puts them back" "$(limits)" "12345 25"
tap_done
