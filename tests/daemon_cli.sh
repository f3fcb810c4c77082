# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # variables that others read, or set
#
# What tests of dcpid and dcpirun share. Sets $top, $bin, $work (removed at
# the end) and $events, the names that this machine can sample.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${DCPI_BUILD:-build}
case $build in
/*) ;;
*) build=$top/$build ;;
esac
bin=$build/bin
. "$top/tests/tap.sh"

work=$(mktemp -d) || exit 1
chmod 755 "$work"
pids=()

cleanup()
{
	local pid

	for pid in "${pids[@]}"; do
		kill "$pid" 2> /dev/null && wait "$pid" 2> /dev/null
	done
	mountpoint -q "$work/full" && umount "$work/full"
	rm -rf "$work"
}
trap cleanup EXIT

events=cpu-clock
if "$bin/dcpirun" -q -e cycles --db "$work/probe.db" true 2> /dev/null; then
	events="$events cycles"
fi

# sql DB QUERY: with the samples as a table
sql()
{
	sqlite3 -readonly -cmd ".load $build/lib/dcpi_sqlite" "$1" "$2"
}

# Every epoch: interrupts = samples in the blobs + losses; and the samples of
# the unknown image = its reasons.
identity()
{
	sql "$1" "SELECT 'epoch ' || e.id || ': interrupts ' || e.interrupts || ', samples ' ||
			(SELECT ifnull(sum(count), 0) FROM dcpi_samples WHERE epoch = e.id) ||
			', losses ' || (SELECT ifnull(sum(count), 0) FROM counter c
				WHERE c.epoch = e.id AND counter_group = 'loss')
		FROM epoch e WHERE e.interrupts <>
			(SELECT ifnull(sum(count), 0) FROM dcpi_samples WHERE epoch = e.id) +
			(SELECT ifnull(sum(count), 0) FROM counter c
				WHERE c.epoch = e.id AND counter_group = 'loss')"
	sql "$1" "SELECT 'epoch ' || e.id || ': unknown samples and reasons differ' FROM epoch e
		WHERE (SELECT ifnull(sum(samples), 0) FROM profile p JOIN image i ON i.id = p.image
				WHERE p.epoch = e.id AND i.kind = 5) <>
			(SELECT ifnull(sum(count), 0) FROM counter c
				WHERE c.epoch = e.id AND counter_group = 'unknown')"
}

loss()
{
	sql "$1" "SELECT ifnull(sum(count), 0) FROM counter
		WHERE counter_group = 'loss' AND name = '$2'"
}

# refused NAME RE CMD...: one line on stderr that matches, nothing on stdout, exit status 2
refused()
{
	local name=$1 re=$2 status=0 output errors

	shift 2
	output=$(within "$@" 2> "$work/stderr") || status=$?
	errors=$(cat "$work/stderr")
	if [ $status -eq 2 ] && [ -z "$output" ] && [ "$(wc -l < "$work/stderr")" -eq 1 ] &&
		printf '%s' "$errors" | grep -qE -- "$re"; then
		ok "$name"
	else
		not_ok "$name" "exit $status, stdout \"$output\", stderr:
$errors
want: one line /$re/"
	fi
}

# Of whoever sets $daemon, an array with its command line, and $socket:

# daemon_start ARGUMENT...: until it samples; sets $daemon_pid
daemon_start()
{
	daemon_launch "$@" && daemon_await_sampling
}

# daemon_launch ARGUMENT...: until it answers; sets $daemon_pid
daemon_launch()
{
	# (The shell has what it runs beside it ignore interrupts.)
	env --default-signal=INT "${daemon[@]}" "$@" > /dev/null 2> "$work/log" &
	daemon_pid=$!
	pids+=("$daemon_pid")
	eventually daemon_decided && daemon_answers
}

# The daemon is ready before it samples: it looks at all processes first, for 3 s at most.
daemon_await_sampling()
{
	eventually status_is sampling 1
}

daemon_answers()
{
	"$bin/dcpictl" --socket "$socket" status > /dev/null 2>&1
}

# The daemon answers, or has ended.
daemon_decided()
{
	daemon_answers || ! kill -0 "$daemon_pid" 2> /dev/null
}

# starts NAME ARGUMENT...
starts()
{
	local name=$1

	shift
	if daemon_start "$@"; then
		ok "$name"
	else
		not_ok "$name" "$(cat "$work/log")"
	fi
}

# not_started NAME: what depends on a daemon that did not start
not_started()
{
	local why

	why=$(tail -n 1 "$work/log")
	# Some virtual machines refuse all BPF programs, the superuser's too.
	case $why in
	*"does not take the BPF program: Operation not permitted"*) not_measured "$1" "$why" ;;
	*) skip "$1" "$why" ;;
	esac
}

# daemon_stop [SIGNAL]: sets $daemon_status
daemon_stop()
{
	kill "-${1:-TERM}" "$daemon_pid"
	wait "$daemon_pid"
	daemon_status=$?
}

ctl()
{
	"$bin/dcpictl" --socket "$socket" "$@"
}

# The status as "KEY VALUE" lines.
ctl_status()
{
	ctl --json status | jq -r 'to_entries[] | "\(.key) \(.value)"'
}

# status_is KEY VALUE
status_is()
{
	[ "$(ctl_status 2> /dev/null | awk -v key="$1" '$1 == key { print $2 }')" = "$2" ]
}

# logged TEXT: the daemon's messages have this text
logged()
{
	grep -qF "$1" "$work/log"
}

# share DB EPOCH PROCEDURE: percent of the samples of the program split
share()
{
	local start size

	read -r start size < <(nm -S "$work/split" | awk -v n="$3" '$4 == n { print $1, $2 }')
	sql "$1" "SELECT round(100.0 * sum(CASE WHEN offset >= $((16#$start - split_bias)) AND
			offset < $((16#$start - split_bias + 16#$size)) THEN count ELSE 0 END) / sum(count), 2)
		FROM dcpi_samples WHERE epoch = $2 AND path = '$work/split'"
}

# split_build: the program with a known division of time; addresses less
# $split_bias are offsets in its file
split_build()
{
	local offset address

	# An image of its own, even beside another run of these tests.
	${CC:-gcc} -O2 -g -Wl,--build-id="0x$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" \
		-o "$work/split" "$top/tests/programs/split.c" || exit 1
	read -r offset address < <(readelf -lW "$work/split" |
		awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	split_bias=$((address - offset))
}

# split_samples DB EPOCH: of the program split
split_samples()
{
	sql "$1" "SELECT ifnull(sum(count), 0) FROM dcpi_samples
		WHERE epoch = $2 AND path = '$work/split'"
}

# split_until DB EPOCH SAMPLES: runs split until the daemon has stored so many of it
split_until()
{
	eventually split_has "$@"
}

split_has()
{
	"$work/split" 1500
	ctl flush
	[ "$(split_samples "$1" "$2")" -ge "$3" ]
}

# shares_are_right LABEL DB EPOCH: within two points of 70, 20 and 10, and what
# chance may do (three standard deviations) with as many samples as there are:
# on some machines the kernel allows few.
shares_are_right()
{
	local name want got samples

	samples=$(split_samples "$2" "$3")
	for name in seventy:70 twenty:20 ten:10; do
		want=${name#*:}
		got=$(share "$2" "$3" "split_${name%:*}")
		if awk -v got="$got" -v want="$want" -v n="$samples" 'BEGIN {
			d = got > want ? got - want : want - got
			exit !(got != "" && n > 100 &&
				d < 2 + 3 * sqrt(want * (100 - want) / n)) }'; then
			ok "$1: split_${name%:*} has $want percent"
		else
			not_ok "$1: split_${name%:*} has $want percent" "got $got of $samples"
		fi
	done
}
