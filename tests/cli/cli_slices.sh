#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Slices of time: reports select samples by their time, exactly, while the daemon runs, after slices
# were merged to minutes, and in a copy. Needs perf_event_open for the machine.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
socket=$work/dcpid.sock
db=$work/dcpi.db
printf '%s\n' 'slice_s = 1' "per_process = $work/*" > "$work/slices.conf"
${CC:-gcc} -O2 -shared -fPIC -o "$work/shifted_clock.so" "$top/tests/fixtures/programs/shifted_clock.c" || exit 1
echo 0 0 > "$work/clock"
for load in first second; do
	split_build
	mv "$work/split" "$work/$load"
done
daemon=(env "LD_PRELOAD=$work/shifted_clock.so" "SHIFTED_CLOCK=$work/clock" "$bin/dcpid"
	--source perf --socket "$socket" --config "$work/slices.conf" --db "$db"
	--merge-interval 1 --drain-interval 50 --image-store none -e cpu-clock:1000000)

# report DB ARGUMENT...: print the report by image as JSON
report()
{
	local from=$1

	shift
	"$bin/dcpiprof" --db "$from" --by image -n 1000000 --include-profiler --json "$@"
}

# samples_of LOAD: print the number of its samples in a report on stdin
samples_of()
{
	jq --arg path "$work/$1" '[.rows[] | select(.image == $path) | .["cpu-clock"]] | add // 0'
}

# sample_sum DB SINCE UNTIL LOAD: print the samples of slices that begin in this time, in seconds
sample_sum()
{
	sql "$1" "SELECT ifnull(sum(samples), 0) FROM slice s JOIN slice_profile p ON p.slice = s.id
		JOIN image i ON i.id = p.image WHERE s.start_ns >= $2 * 1000000000
		AND s.start_ns < $3 * 1000000000 AND i.path = '$work/$4'"
}

# run_until DB LOAD SAMPLES: run a load until the daemon has stored this number of its samples
run_until()
{
	eventually load_has "$@"
}

load_has()
{
	"$work/$2" 1000
	ctl flush
	[ "$(report "$1" | samples_of "$2")" -ge "$3" ]
}

if ! daemon_start; then
	skip "slices" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi

# The load changes. A slice begins only when the previous one has ended.
run_until "$db" first 100
sleep 2.5
changed=$(date +%s)
sleep 1.5
run_until "$db" second 100
report "$db" --since "@$changed" > "$work/since.json"
report "$db" --until "@$changed" > "$work/until.json"
check "after the change there are samples of the second load" \
	[ "$(samples_of second < "$work/since.json")" -ge 100 ]
is "and none of the first" "$(samples_of first < "$work/since.json")" 0
check "before it there are samples of the first load" \
	[ "$(samples_of first < "$work/until.json")" -ge 100 ]
is "and none of the second" "$(samples_of second < "$work/until.json")" 0
report "$db" --since "$(($(date +%s) - changed))s" > "$work/last.json"
is "times before now select the same" "$(samples_of first < "$work/last.json")" 0
end=$(sql "$db" "SELECT max(end_ns) / 1000000000 FROM epoch")
report "$db" --last "$((end - changed))s" > "$work/last.json"
is "so does --last" "$(samples_of first < "$work/last.json")" 0
report "$db" > "$work/all.json"
for part in since until all; do
	is "the accounting of \"$part\" is exact" "$(jq .exact "$work/$part.json")" true
done
daemon_stop TERM
is "all slices add up" "$(identity "$db")" ""

# Any range has the samples of its slices; ranges that follow one another have all samples.
ranges()
{
	local from=$1 first last at since=1 sum=0 interrupts=0

	first=$(sql "$from" "SELECT min(start_ns) / 1000000000 FROM slice")
	last=$(sql "$from" "SELECT max(start_ns) / 1000000000 FROM slice")
	report "$from" > "$work/all.json"
	for at in $((first + 2)) $changed $((changed + 1)) $((last + 1)); do
		report "$from" --since "@$since" --until "@$at" > "$work/part.json"
		sum=$((sum + $(jq .samples "$work/part.json")))
		interrupts=$((interrupts + $(jq .interrupts "$work/part.json")))
		[ "$(jq .exact "$work/part.json")" = true ] || echo "$since to $at is not exact"
		for load in first second; do
			[ "$(samples_of $load < "$work/part.json")" = "$(sample_sum "$from" "$since" "$at" $load)" ] ||
				echo "$since to $at has other samples of $load"
		done
		since=$at
	done
	[ "$sum" = "$(jq .samples "$work/all.json")" ] || echo "$sum samples in ranges"
	[ "$interrupts" = "$(jq .interrupts "$work/all.json")" ] || echo "$interrupts interrupts"
	echo "$((sum > 100)) compared"
}
is "reports of any range are exact" "$(ranges "$db")" "1 compared"
for by in process procedure epoch; do
	is "by $by, too" "$("$bin/dcpiprof" --db "$db" --by $by --since "@$changed" --json | jq .exact)" true
done
like "a report tells the range" "$("$bin/dcpiprof" --db "$db" --since "@$changed")" \
	'^range +[0-9]+ slices of 1 epoch; edges, stacks and register pairs are of whole epochs'
is "the report of all samples does not" "$("$bin/dcpiprof" --db "$db" | grep '^range')" ""
is "its range is that of its slices" \
	"$(report "$db" --since "@$changed" | jq -r '.epochs[0].start[:19] + "Z" | fromdateiso8601')" \
	"$(sql "$db" "SELECT min(start_ns) / 1000000000 FROM slice WHERE start_ns >= $changed * 1000000000")"
is "there is no report of a time before all samples" \
	"$("$bin/dcpiprof" --db "$db" --until @1 2>&1; echo "status $?")" "dcpiprof: no epoch matches
status 1"

# A copy has the same slices.
"$bin/dcpictl" --db "$work/copy.db" merge "$db" > "$work/merge.log" 2>&1 || cat "$work/merge.log"
is "a copy adds up" "$(identity "$work/copy.db")" ""
is "and reports the same" "$(ranges "$work/copy.db")" "1 compared"

# Two hours later slices are minutes.
slices=$(sql "$db" "SELECT count(*) FROM slice")
truth=$(sql "$db" "SELECT start_ns / 60000000000, sum(samples) FROM slice JOIN slice_profile
	ON slice = id GROUP BY 1")
if daemon_start; then
	echo 7300 7300 > "$work/clock"
	merged()
	{
		[ "$(sql "$db" "SELECT count(*) = count(DISTINCT start_ns / 60000000000)
			FROM slice WHERE epoch = 1")" = 1 ]
	}
	check "slices are merged to minutes" eventually merged
	daemon_stop TERM
	is "they are fewer" "$(sql "$db" "SELECT count(*) < $slices / 2 FROM slice WHERE epoch = 1")" 1
	is "with the same samples" "$(sql "$db" "SELECT start_ns / 60000000000, sum(samples) FROM slice
		JOIN slice_profile ON slice = id WHERE epoch = 1 GROUP BY 1")" "$truth"
	is "and add up" "$(identity "$db")" ""
	is "reports of them are exact" "$(report "$db" --until "@$changed" | jq .exact)" true
else
	not_ok "slices are merged to minutes" "$(cat "$work/log")"
fi
tap_done
