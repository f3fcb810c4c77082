# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For scripts in test machines that profile (/lib/profile.sh there): run dcpid with the database
# $db and the configuration file $config, and check its reports. Source it after /lib/tap.sh.
#
# - daemon_start OPTION...: start dcpid and wait until it listens; status in /tmp/status
# - daemon_stop: stop it and return its exit status
# - query SQL: query the database, with dcpi_samples
# - accounted PREFIX: three tests that every interrupt is in the database
# - split_shares PREFIX [EVENT]: three tests that tests/fixtures/programs/split has its shares
# - split_sampled: run split until its procedures have enough samples for that
# - pmu_unlimited: remove the kernel's limits on emulated interrupts
db=/tmp/dcpi.db
dcpid_socket=/run/dcpid.sock
# Minimum for a deviation of two percentage points not to be due to chance.
split_samples=5000

daemon_start()
{
	rm -rf "$db" "$db"-*
	dcpid --config "${config:-/dev/null}" --db "$db" --socket "$dcpid_socket" "$@" >/dev/null 2>/tmp/dcpid.log &
	daemon=$!
	eventually daemon_answers
}

daemon_answers()
{
	dcpictl --socket "$dcpid_socket" status >/tmp/status 2>&1
}

daemon_stop()
{
	kill "$daemon"
	wait "$daemon"
}

query()
{
	sqlite3 -readonly -cmd ".load /lib/dcpi_sqlite" "$db" "$1"
}

accounted()
{
	like "$1the report says that all is accounted for" "$(dcpiprof --db "$db")" \
		'^accounting .*: exact$'
	is "$1interrupts = samples + losses, by the rows themselves" "$(query '
		SELECT sum(interrupts) > 3000 AND sum(interrupts) =
			(SELECT sum(count) FROM dcpi_samples) +
			(SELECT sum(count) FROM counter WHERE counter_group = '"'loss'"') FROM epoch')" 1
	is "$1nothing was lost" \
		"$(query "SELECT sum(count) FROM counter WHERE counter_group = 'loss'")" 0
}

# share PROCEDURE [EVENT]: print its share of the samples of split's three procedures, in percent
share()
{
	dcpiprof --db "$db" ${2:+-e "$2"} --csv --image '*/split' | awk -F, -v name="$1" '
		$4 ~ /^split_/ { total += $1 }
		$4 == name { got = $1 }
		END { printf "%.2f of %d", total ? 100 * got / total : 0, total }'
}

near()
{
	echo "$1" | awk -v want="$2" -v least="$split_samples" '
		{ d = $1 - want; exit !($3 >= least && d * d <= 4) }'
}

# split_sampled: run split until the comparison of its shares has enough samples. A busy host has
# few interrupts. The process ends and its samples are matched before the next periodic drain.
split_sampled()
{
	for _ in 1 2 3 4 5 6 7 8; do
		split 4000
		dcpictl --socket "$dcpid_socket" flush
		[ "$(share split_seventy | awk '{ print $3 }')" -lt $((2 * split_samples)) ] || break
	done
}

split_shares()
{
	for want in seventy:70 twenty:20 ten:10; do
		got=$(share "split_${want%:*}" "${2:-}")
		name="$1split_${want%:*} has ${want#*:} percent within two points"
		if near "$got" "${want#*:}"; then
			ok "$name ($got)"
		else
			not_ok "$name" "$got"
		fi
	done
}

# The interrupts take so long that the kernel would lower its limit, and dcpid the rate.
pmu_unlimited()
{
	echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
}
