#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Test dcpitop as users run it: logs of a small database, and a screen (in tmux) with a daemon that
# samples. With UPDATE=1 golden output is written, not compared.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
db=$scratch/golden.db
socket=$scratch/socket
daemon_pid=
screens=0

clean_up()
{
	tmux -S "$scratch/tmux$screens" kill-server 2> /dev/null
	# shellcheck disable=SC2086 # none, or a number
	kill $daemon_pid $load_pid 2> /dev/null
	wait
	rm -rf "$scratch"
}
load_pid=
trap clean_up EXIT

top()
{
	"$bin/dcpitop" --db "$db" --no-flush "$@"
}

golden()
{
	tool_golden "dcpitop_$1" "dcpitop ${*:2}" top "${@:2}"
}

refused()
{
	tool_refused dcpitop "$1" "$2" "$bin/dcpitop" "${@:3}"
}

check "a database is made" "$helpers/make_golden_db" "$db"
golden images.txt --batch -n 1
golden procedures.txt --batch -n 1 --by procedure --rows 4
golden event.txt --batch -n 1 -e imiss
golden host.json --json -n 1 --host alpha
golden refreshes.txt --batch -n 2 -d 0.5 --rows 2 --since-start
golden image.txt --batch -n 1 --by procedure -i 'no*such'
check "JSON is as the schema has it" tests/lib/validate_json.py dcpitop < tests/golden/dcpitop_host.json
is "totals are dcpiprof's" \
	"$(top --json -n 1 --by procedure --rows 100000 | jq '[.rows[].total] | add')" \
	"$(top --json -n 1 | jq '.total_samples')"
for name in event.name host.name epoch.source; do
	rm -f "$scratch/escape.db"
	sqlite3 -readonly "$db" "VACUUM INTO '$scratch/escape.db'"
	sqlite3 "$scratch/escape.db" "UPDATE ${name%.*} SET ${name#*.} = ${name#*.} || char(27, 155)"
	"$bin/dcpitop" --db "$scratch/escape.db" --no-flush -n 1 --batch > "$scratch/out"
	"$bin/dcpitop" --db "$scratch/escape.db" --no-flush -n 1 --json >> "$scratch/out"
	is "nothing that a terminal obeys: $name" \
		"$(grep -cP '\x1b|\xc2\x9b' "$scratch/out") $(grep -oF '??' "$scratch/out" | sort -u)" \
		'0 ??'
done
is "without a terminal there is no screen" "$(top 2>&1 < /dev/null)" \
	"dcpitop: standard output is not a terminal: use --batch"
is "SIGPIPE is quiet" "$(top --batch -n 3 -d 0.5 2>&1 > >(head -n 1 > /dev/null))" ""
before=$(sha256sum "$db")
top --batch -n 1 > /dev/null
is "the database is not changed" "$(sha256sum "$db")" "$before"
refused 2 'interval' --batch -d 0
refused 2 'number of refreshes' --batch -n 0
refused 2 'number of rows' --batch --rows x
refused 2 "unknown kind of row 'line'" --by line
refused 2 'no such column' --db "$db" --no-flush --sort color
refused 2 "unknown event 'cylces' \\(did you mean 'cycles'\\?\\); known: cycles, imiss" --db "$db" --no-flush --batch -e cylces
refused 2 'No such file' --db "$scratch/none.db" --batch
sqlite3 "$scratch/empty.db" < db/schema.sql
refused 1 'no epoch yet' --db "$scratch/empty.db" --no-flush --batch

# A daemon, and a program that it samples.
: > "$scratch/empty.conf"
"$bin/dcpid" --source perf --socket "$socket" --config "$scratch/empty.conf" --image-store none \
	--db "$scratch/live.db" > "$scratch/log" 2>&1 &
daemon_pid=$!
"$helpers/spin_pieces" 0 600 > /dev/null 2>&1 &
load_pid=$!
eventually "$bin/dcpictl" --socket "$socket" flush > /dev/null 2>&1
"$bin/dcpitop" --db "$scratch/live.db" --socket "$socket" --json -n 3 -d 1 --rows 1000000 \
	--by procedure --since-start > "$scratch/json" 2> "$scratch/err"
is "a log of live data" "$(wc -l < "$scratch/json") $(cat "$scratch/err")" "3 "
is "each line is as the schema has it" "$(while read -r line; do
	tests/lib/validate_json.py dcpitop <<< "$line" 2>&1
done < "$scratch/json")" ""
is "of each refresh, the rows are all samples of the interval" "$(jq -c 'select(.interval_ns > 0) |
	(([.rows[].samples_per_second // 0] | add) * .interval_ns / 1e9 - .interval_samples) |
	. < 0.5 and . > -0.5' "$scratch/json" | sort -u)" true
is "totals since the start are the intervals' sums" \
	"$(jq -s 'map(.interval_samples) | add' "$scratch/json")" \
	"$(jq -s 'last.total_samples' "$scratch/json")"
like "the interval is what was asked for" "$(jq -s 'last.interval_ns / 1e9' "$scratch/json")" '^[1-9]'
is "another database than the daemon's is read as it is" \
	"$("$bin/dcpitop" --db "$db" --socket "$socket" --batch -n 1)" "$(top --batch -n 1)"

if ! command -v tmux > /dev/null; then
	skip "the screen" "no tmux"
	tap_done
	exit
fi

# screen COLUMNS LINES ARGUMENT...: run dcpitop in a terminal of that size; its exit is reported
screen()
{
	tmux -S "$scratch/tmux$screens" kill-server 2> /dev/null
	screens=$((screens + 1)) # a server that is about to end accepts no new session
	tmux -S "$scratch/tmux$screens" -f /dev/null new-session -d -x "$1" -y "$2" \
		"stty -g > $scratch/before; '$bin/dcpitop' --db '$scratch/live.db' --socket '$socket' ${*:3}
		status=\$?; stty -g > $scratch/after; echo ended \$status; sleep 100"
}
keys()
{
	tmux -S "$scratch/tmux$screens" send-keys "$@"
}
lines()
{
	tmux -S "$scratch/tmux$screens" capture-pane -p
}

lines_match()
{
	lines | grep -qE -- "$1"
}

# shows NAME RE: test that the screen matches after a while
shows()
{
	if eventually lines_match "$2"; then
		ok "$1"
	else
		not_ok "$1" "want /$2/ in
$(lines)"
	fi
}

screen 80 24 -d 1
shows "images of the system" '^images of the system, by now%'
shows "with rates after a refresh" 'cpu-clock: [0-9]+/s for|cycles: [0-9]+/s for'
is "no more than the screen has" "$(lines | awk 'length > 80' | wc -l)" 0
keys / spin_pieces Enter
shows "a filter" "with 'spin_pieces'"
shows "finds the program" '^ *[0-9.]+%.*/spin_pieces$'
keys Enter
shows "its procedures" '^procedures of .*/spin_pieces, by now%'
shows "the hottest one" '^ *[0-9.]+% +[0-9.]+ +[0-9.]+% +[0-9]+  [a-z]'
keys Enter
shows "its code" '^ *address +% +now  ran +cycles +why +instruction'
shows "with instructions" '^ *0x[0-9a-f]+ +[0-9.]+%'
shows "and what dcpicalc says of it" '([Ww]orst stall|significant stall|Static stall)'
tmux -S "$scratch/tmux$screens" resize-window -x 40 -y 8
shows "smaller, the code is still there" '^ *0x[0-9a-f]+ +[0-9.]+%'
is "within the screen" "$(lines | awk 'length > 40' | wc -l)" 0
tmux -S "$scratch/tmux$screens" resize-window -x 20 -y 3
sleep 0.5
tmux -S "$scratch/tmux$screens" resize-window -x 120 -y 30
shows "larger again" '^q quit +enter open'
keys Escape
shows "back to the procedures" '^procedures of .*/spin_pieces'
keys Escape
shows "and to the images" '^images of the system'
keys p s
shows "procedures of the system, by another column" '^procedures of the system, by per s'
keys t
shows "totals since the start" '[0-9]+ since [0-9:]+; lost'
keys ' '
shows "stopped" 'STOPPED'
keys ' ' +
shows "less often" 'every 2 s'
keys h
shows "help" '^q +quit'
keys q
shows "the end" '^ended 0'
is "the terminal is as it was" "$(cat "$scratch/after")" "$(cat "$scratch/before")"

for signal in INT TERM HUP; do
	screen 80 24 -d 1
	shows "a screen for SIG$signal" '^images of the system'
	pid=$(pgrep -f "^$bin/dcpitop --db $scratch/live.db" | head -n 1)
	kill "-$signal" "$pid"
	shows "SIG$signal ends it" '^ended 0'
	is "SIG$signal leaves the terminal as it was" "$(cat "$scratch/after")" \
		"$(cat "$scratch/before")"
done

screen 80 24 -d 1 -n 2
shows "so many refreshes, and the end" '^ended 0'

screen 80 24 -d 1
shows "a screen beside a daemon" '/s for'
kill "$daemon_pid"
shows "a daemon that has gone is told of" "updated only by merges"
keys q
shows "and harms nobody" '^ended 0'

tap_done
