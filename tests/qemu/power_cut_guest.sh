# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043 # ash has "local"
#
# Runs in a machine whose power is cut repeatedly (check_power_cut.sh). Checks the database that the
# last cut left, then continues to write it until the next cut, with all operations that a daemon
# performs on its files. It prints these lines:
#
# - ready: the guest waits for a line; it has not accessed the disk yet
# - wrong MESSAGE: an error in the database that was found
# - epoch NUMBER SAMPLES END PENDING: an epoch in the database; END in ms
# - armed: the power may fail from now on
# - stored EPOCH SAMPLES NOW: the daemon reports these as stored on the disk; NOW in ms
db=/disk/dcpi.db
socket=/run/dcpid.sock

# tell(): print the line at once (the sed of ./init holds a line back until the next one)
tell()
{
	echo "@tap power_cut_guest $*" > /dev/console
}

# now_ms: print the time of the clock that the daemon uses
now_ms()
{
	local seconds rest

	read -r seconds rest < /proc/uptime
	echo $((booted_ms + ${seconds%.*} * 1000 + 1${seconds#*.} * 10 - 1000))
}

query()
{
	sqlite3 -readonly -cmd ".load /lib/dcpi_sqlite" "$db" "$1" 2>&1
}

# Print errors: from SQLite's integrity checks, and from sums of samples that do not agree.
wrong()
{
	query "PRAGMA integrity_check" | grep -vx ok
	query "PRAGMA foreign_key_check"
	query "SELECT 'epochs overlap' FROM epoch a JOIN epoch b ON a.id < b.id
		WHERE a.end_ns > b.start_ns LIMIT 1"
	query "SELECT 'epoch ' || e.id || ' does not add up' FROM epoch e WHERE e.interrupts <>
			(SELECT ifnull(sum(count), 0) FROM dcpi_samples WHERE epoch = e.id) +
			(SELECT ifnull(sum(count), 0) FROM counter c
				WHERE c.epoch = e.id AND counter_group = 'loss')"
	query "SELECT 'epoch ' || e.id || ': samples and profiles differ' FROM epoch e WHERE
			(SELECT ifnull(sum(count), 0) FROM dcpi_samples WHERE epoch = e.id) <>
			(SELECT ifnull(sum(samples), 0) FROM profile WHERE epoch = e.id)"
	dcpiprof --db "$db" > /dev/null 2> /run/errors
	[ $? -le 1 ] || cat /run/errors # 1: no samples
}

look()
{
	# Return if the power was cut before the database was created or set up.
	[ -e "$db" ] && [ "$(query "SELECT count(*) FROM sqlite_schema")" != 0 ] || return
	wrong | sed 's/^/wrong /'
	query "SELECT 'epoch ' || e.id || ' ' ||
			(SELECT ifnull(sum(samples), 0) FROM profile WHERE epoch = e.id) || ' ' ||
			(end_ns / 1000000) || ' ' ||
			(SELECT ifnull(sum(count), 0) FROM counter c WHERE c.epoch = e.id AND
				counter_group = 'loss' AND name = 'pending') FROM epoch e"
}

# Processes that start and end, and one that stays.
load()
{
	while :; do
		split 200
		for image in /lib/image_?; do
			"$image" run 1 1 1000 "$image" > /dev/null 2>&1
			sleep 0.1
		done
		dd if=/dev/urandom bs=64k count=5 2> /dev/null | sha1sum > /dev/null
	done
}

stty -echo < /dev/console
tell ready
read -r _ < /dev/console
tell awake
hwclock -s -u # seen from the machine, no time has passed since it was stopped
for module in /lib/disk/*.ko; do
	insmod "$module"
done
until [ -b /dev/vda ]; do sleep 0.1; done
mkdir -p /disk
mount -t ext4 /dev/vda /disk || {
	tell "wrong: the file system does not mount"
	exit 1
}
booted_ms=0
booted_ms=$(($(sqlite3 :memory: "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)") -
	$(now_ms)))
insmod /lib/dcpi.ko
look | while read -r line; do tell "$line"; done
load &
tell armed
dcpid --source kmod --config /dev/null --db "$db" --socket "$socket" -e cpu-clock:1000000 \
	--drain-interval 100 --merge-interval 1 --image-store all --image-store-mb 8 \
	> /dev/null 2> /run/log &
daemon=$!
turn=0
while kill -0 $daemon 2> /dev/null; do
	sleep 0.1
	dcpictl --socket "$socket" --json status > /run/status 2> /dev/null || continue
	tell "stored $(sed -n 's/^ *"epoch":\([0-9]*\).*/\1/p' /run/status)" \
		"$(sed -n 's/^ *"stored":\([0-9]*\).*/\1/p' /run/status) $(now_ms)"
	turn=$((turn + 1))
	[ $((turn % 40)) -ne 0 ] || dcpictl --socket "$socket" epoch "turn $turn" > /dev/null
	[ $((turn % 15)) -ne 0 ] || dcpictl --socket "$socket" flush > /dev/null
done
tell "wrong: the daemon ended: $(cat /run/log)"
