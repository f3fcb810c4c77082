# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For scripts that sample faster than the kernel permits. The kernel's limits apply to the whole
# machine, so only one script at a time may raise them. They are restored no matter how the script
# ends. Source this file, then use:
#
# - perf_limits_raise RATE: raise the limit to RATE samples a second; ends the script on failure
# - perf_limits_end PID: register a session (setsid) to be ended with the script
# - perf_limits_ended: forget the registered sessions, which have ended
#
# The lock file holds the original limits: after a SIGKILL, the next script restores them. Tests can
# change the paths of the limits and of the lock.
perf_limits_folder=${PERF_LIMITS_FOLDER:-/proc/sys/kernel}
perf_limits_rate=$perf_limits_folder/perf_event_max_sample_rate
perf_limits_share=$perf_limits_folder/perf_cpu_time_max_percent
perf_limits_lock=${PERF_LIMITS_LOCK:-/run/lock/dcpi-perf-limits}
perf_limits_sessions=
# A script may set this to a function to call at its end.
perf_limits_cleanup=:

# perf_limits_set RATE SHARE: a rate can only be set while the share is neither 0 nor 100
perf_limits_set()
{
	echo 25 > "$perf_limits_share"
	echo "$1" > "$perf_limits_rate"
	echo "$2" > "$perf_limits_share"
}

# perf_limits_runs PID: return true if it exists and has not ended
perf_limits_runs()
{
	[ -e "/proc/$1/stat" ] && ! grep -qs '^[0-9]* (.*) Z' "/proc/$1/stat"
}

perf_limits_restore()
{
	local session

	# A child that is ended before it has called exec still has this script's traps.
	[ "$BASHPID" = "$perf_limits_owner" ] || return
	trap '' INT TERM HUP QUIT
	for session in $perf_limits_sessions; do
		# A process that has only just started is not a session yet, and may handle the
		# signal by this script's trap before it calls exec. So repeat the signal until it
		# ends.
		while perf_limits_runs "$session"; do
			kill -TERM -- "-$session" 2> /dev/null || kill -TERM "$session" 2> /dev/null
			sleep 0.02
		done
		wait "$session" 2> /dev/null
	done
	# shellcheck disable=SC2046 # two numbers
	perf_limits_set $(cat "$perf_limits_lock")
	: > "$perf_limits_lock"
	$perf_limits_cleanup
}

perf_limits_end()
{
	perf_limits_sessions="$perf_limits_sessions $1"
}

perf_limits_ended()
{
	perf_limits_sessions=
}

perf_limits_raise()
{
	if ! exec 9>> "$perf_limits_lock"; then
		echo "${0##*/}: cannot open '$perf_limits_lock'" >&2
		exit 2
	fi
	if ! flock -n 9; then
		echo "${0##*/}: the kernel's limits on sampling are being changed by another script" >&2
		exit 2
	fi
	[ -s "$perf_limits_lock" ] ||
		echo "$(cat "$perf_limits_rate") $(cat "$perf_limits_share")" > "$perf_limits_lock"
	perf_limits_owner=$BASHPID
	trap perf_limits_restore EXIT
	trap 'exit 130' INT TERM HUP QUIT
	# A share of 100 keeps the kernel from lowering the rate again.
	perf_limits_set "$1" 100
}
