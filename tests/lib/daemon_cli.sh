# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # variables that others read, or set
#
# Common code of the tests of dcpid and dcpirun. Sets $top, $bin, $work (removed at the end) and
# $events, the names of the events that this machine can sample.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${DCPI_BUILD:-build}
case $build in
/*) ;;
*) build=$top/$build ;;
esac
bin=$build/bin
. "$top/tests/lib/tap.sh"

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

# sql DB QUERY: query the database, with the samples as a table
sql()
{
	sqlite3 -readonly -cmd ".timeout 60000" -cmd ".load $build/lib/dcpi_sqlite" "$1" "$2"
}

# identity DB: print the epochs and slices that violate interrupts = samples in the blobs + losses,
# samples of the unknown image = its reasons, or the epoch's rows = sums over its slices.
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
	slices_identity "$1"
}

# slices_identity DB: as identity, for slices
slices_identity()
{
	sql "$1" "SELECT 'slice ' || s.id || ' of epoch ' || epoch || ' does not add up' FROM slice s
		WHERE interrupts <> (SELECT ifnull(sum(samples), 0) FROM slice_profile WHERE slice = s.id) +
			(SELECT ifnull(sum(count), 0) FROM slice_counter
				WHERE slice = s.id AND counter_group = 'loss')"
	sql "$1" "SELECT 'epoch ' || e.id || ': interrupts of slices' FROM epoch e JOIN slice s
		ON s.epoch = e.id GROUP BY e.id HAVING sum(s.interrupts) <> e.interrupts"
	sql "$1" "SELECT 'epoch ' || epoch || ': slices have ' || samples || ' of ' || whole ||
			' samples of image ' || image
		FROM (SELECT s.epoch, p.image, p.event, p.pid, sum(p.samples) AS samples,
			(SELECT samples FROM profile w WHERE w.epoch = s.epoch AND w.image = p.image
				AND w.event = p.event AND w.pid = p.pid) AS whole
			FROM slice s JOIN slice_profile p ON p.slice = s.id GROUP BY 1, 2, 3, 4)
		WHERE samples IS NOT whole"
	sql "$1" "SELECT 'epoch ' || epoch || ': slices have ' || samples || ' of ' || whole ||
			' samples of label ' || label || ', image ' || image
		FROM (SELECT s.epoch, p.image, p.event, p.label, sum(p.samples) AS samples,
			(SELECT samples FROM share w WHERE w.epoch = s.epoch AND w.image = p.image
				AND w.event = p.event AND w.label = p.label) AS whole
			FROM slice s JOIN slice_share p ON p.slice = s.id GROUP BY 1, 2, 3, 4)
		WHERE samples IS NOT whole"
	sql "$1" "SELECT 'epoch ' || epoch || ': slices have ' || count || ' of ' || whole || ' ' || name
		FROM (SELECT s.epoch, c.counter_group || ' ' || c.name AS name, sum(c.count) AS count,
			(SELECT count FROM counter w WHERE w.epoch = s.epoch AND w.name = c.name
				AND w.counter_group = c.counter_group) AS whole
			FROM slice s JOIN slice_counter c ON c.slice = s.id GROUP BY 1, 2)
		WHERE count IS NOT whole"
}

loss()
{
	sql "$1" "SELECT ifnull(sum(count), 0) FROM counter
		WHERE counter_group = 'loss' AND name = '$2'"
}

# refused NAME RE CMD...: test for one line on stderr that matches, no output, and exit status 2
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

# The following functions need $daemon, an array with the daemon's command line, and $socket:

# daemon_start ARGUMENT...: start the daemon and wait until it samples; sets $daemon_pid
daemon_start()
{
	daemon_launch "$@" && daemon_await_sampling
}

# daemon_launch ARGUMENT...: start the daemon and wait until it answers; sets $daemon_pid
daemon_launch()
{
	# (The shell makes background commands ignore interrupts.)
	env --default-signal=INT "${daemon[@]}" "$@" > /dev/null 2> "$work/log" &
	daemon_pid=$!
	pids+=("$daemon_pid")
	eventually daemon_decided && daemon_answers
}

# The daemon answers before it samples: it scans all processes first, for 3 s at most.
daemon_await_sampling()
{
	eventually status_is sampling 1
}

daemon_answers()
{
	"$bin/dcpictl" --socket "$socket" status > /dev/null 2>&1
}

# daemon_decided: the daemon answers, or has ended.
daemon_decided()
{
	daemon_answers || ! kill -0 "$daemon_pid" 2> /dev/null
}

# starts NAME ARGUMENT...: test that the daemon starts
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

# not_started NAME: report a test that depends on a daemon that did not start
not_started()
{
	local why

	why=$(tail -n 1 "$work/log")
	# Some virtual machines refuse all BPF programs, even the superuser's.
	case $why in
	*"rejects the BPF program: Operation not permitted"*) not_measured "$1" "$why" ;;
	*) skip "$1" "$why" ;;
	esac
}

# daemon_stop [SIGNAL]: stop the daemon; sets $daemon_status
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

# ctl_status: print the status as "KEY VALUE" lines.
ctl_status()
{
	ctl --json status | jq -r 'to_entries[] | "\(.key) \(.value)"'
}

# status_is KEY VALUE: return true if the status has this value
status_is()
{
	[ "$(ctl_status 2> /dev/null | awk -v key="$1" '$1 == key { print $2 }')" = "$2" ]
}

# logged TEXT: return true if the daemon's messages have this text
logged()
{
	grep -qF "$1" "$work/log"
}

# share DB EPOCH PROCEDURE: print the percentage of the samples of the program split
share()
{
	local start size

	read -r start size < <(nm -S "$work/split" | awk -v n="$3" '$4 == n { print $1, $2 }')
	sql "$1" "SELECT round(100.0 * sum(CASE WHEN offset >= $((16#$start - split_bias)) AND
			offset < $((16#$start - split_bias + 16#$size)) THEN count ELSE 0 END) / sum(count), 2)
		FROM dcpi_samples WHERE epoch = $2 AND path = '$work/split'"
}

# split_build: make the program with a known distribution of time; addresses less $split_bias are
# offsets in its file
split_build()
{
	local offset address

	# A unique image, even if other runs of these tests go on at the same time.
	${CC:-gcc} -O2 -g -Wl,--build-id="0x$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" \
		-o "$work/split" "$top/tests/fixtures/programs/split.c" || exit 1
	read -r offset address < <(readelf -lW "$work/split" |
		awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	split_bias=$((address - offset))
}

# split_samples DB EPOCH: print the samples of the program split
split_samples()
{
	sql "$1" "SELECT ifnull(sum(count), 0) FROM dcpi_samples
		WHERE epoch = $2 AND path = '$work/split'"
}

# split_until DB EPOCH SAMPLES: run split until the daemon has stored this number of its samples
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

# shares_are_right LABEL DB EPOCH: test that the shares are within two points of 70, 20 and 10, plus
# three standard deviations for the number of samples: some kernels permit only few.
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
