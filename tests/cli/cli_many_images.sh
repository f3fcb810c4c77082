#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# A machine on which new programs run all the time: their images must not fill the daemon's table
# permanently. Images that stay mapped or have samples do. Needs perf_event_open for the machine.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
split_build
socket=$work/dcpid.sock
db=$work/many.db
# In memory, because ext4 takes long to find an inode that was not deleted recently.
files=$(mktemp -d -p /dev/shm 2> /dev/null || echo "$work")
trap 'cleanup; rm -rf "$files"' EXIT
daemon=("$bin/dcpid" --source perf --image-events perf --socket "$socket"
	--config "$work/empty.conf" --image-store none)
: > "$work/empty.conf"
${CC:-gcc} -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -o "$work/many_images" \
	"$top/tests/fixtures/programs/many_images.c" || exit 1

if ! daemon_start --db "$db" --merge-interval 1 --drain-interval 100 --label first; then
	skip "many images" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi

# value KEY: print a value of the status
value()
{
	ctl_status 2> /dev/null | awk -v key="$1" '$1 == key { print $2 }'
}

# times_logged TEXT: print how often the text was logged, after waiting for the first time
times_logged()
{
	eventually logged "$1"
	grep -cF "$1" "$work/log"
}

# images_map FIRST: map 16,000 new images; their files stay until the daemon has seen them all
images_map()
{
	local before now

	mkdir "$files/images"
	"$work/many_images" "$files/images" "$1" 16000
	now=$(value images)
	until [ "$now" = "${before:-}" ]; do
		before=$now
		sleep 0.3
		now=$(value images)
	done
	rm -r "$files/images"
}

next=1
check "another label is asked for" ctl epoch second
epoch=$(value epoch)
is "that is the second epoch" "$epoch" 2
"$work/split" 500

# Images that are no longer mapped and have no samples release their numbers.
while [ $next -lt 160000 ]; do
	images_map $next
	next=$((next + 16000))
done
check "numbers are reused ($(value images) in use)" [ "$(value images)" -lt 131072 ]
is "no image is refused" "$(ctl --json stats | jq '."stat.images_refused"')" 0
is "the epoch goes on" "$(value epoch)" 2

# hold COUNT: map new images and keep them mapped, until let_go
hold()
{
	mkdir "$files/held"
	rm -f "$work/end"
	mkfifo "$work/end"
	"$work/many_images" "$files/held" "$next" "$1" hold < "$work/end" > /dev/null &
	holder=$!
	exec 7> "$work/end"
	next=$((next + $1))
}

let_go()
{
	exec 7>&-
	wait "$holder"
	rm -r "$files/held"
}

hold 120000
is "the daemon begins anew" "$(times_logged 'too many images')" 1
eventually status_is epoch 3
is "with another epoch" "$(value epoch)" 3
let_go
# Some kernels permit only few samples.
split_until "$db" 3 101
check "it goes on" ctl flush
is "without anything lost" "$(ctl stats | awk '/^loss/ { sum += $2 } END { print sum }')" 0
check "the new epoch has samples of the program" [ "$(split_samples "$db" 3)" -gt 100 ]
unknown=$(sql "$db" "SELECT ifnull(sum(count), 0) FROM counter
	WHERE epoch = 3 AND counter_group = 'unknown' AND name IN ('process', 'address')")
check "far more than are of no image that it knows ($unknown)" \
	[ "$(split_samples "$db" 3)" -gt $((4 * unknown)) ]

# This has a limit: the table fills up when more images stay mapped.
epoch=3
hold 140000
is "a full table is told of" "$(times_logged 'samples in the others are unknown')" 1
check "and counted" [ "$(ctl --json stats | jq '."stat.images_refused"')" -gt 0 ]
is "but the daemon does not begin anew again" "$(grep -c 'too many images' "$work/log")" 1
let_go
# shellcheck disable=SC2119 # with the usual signal
daemon_stop
is "the daemon stops with 0" "$daemon_status" 0
is "each epoch adds up" "$(identity "$db")" ""
is "labels go on" "$(sql "$db" 'SELECT label FROM epoch ORDER BY id')" "first
second
second"
tap_done
