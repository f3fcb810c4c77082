#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The database is removed, moved, replaced, overwritten or hidden while dcpid writes to it: all
# samples are in a database or recorded as lost, and no file of another program is harmed. Needs
# perf_event_open for the machine; as root also a mount in a namespace.
#
#	DCPI_BUILD	where the build is (default: build)
# shellcheck disable=SC2119 # daemon_stop takes a signal or nothing
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
: > "$work/empty.conf"
split_build
# Merges happen only on request, so that none comes between two commands of this test.
daemon=("$bin/dcpid" --source perf -e cpu-clock:1000000 --config "$work/empty.conf" --image-store none
	--merge-interval 3600 --drain-interval 100)

# Make a database of another host, with another number of samples; it is complete without its log.
foreign_make()
{
	"$bin/dcpirun" -q -e cpu-clock:100000 --db "$work/foreign.db" "$work/split" 300 &&
		sqlite3 "$work/foreign.db" "PRAGMA wal_checkpoint(TRUNCATE)" > /dev/null &&
		touch -d '1 hour ago' "$work/foreign.db"
}

# begin NAME: start a daemon with a separate database that has samples; sets $dir and $db
begin()
{
	dir=$work/$1
	db=$dir/dcpi.db
	socket=$work/$1.sock
	mkdir -p "$dir"
	if ! daemon_start --socket "$socket" --db "${2:-$db}"; then
		not_ok "$1: a daemon starts" "$(cat "$work/log")"
		return 1
	fi
	eventually stores_samples "${2:-$db}"
}

stores_samples()
{
	"$work/split" 100
	ctl flush && [ "$(accounted "$1")" -gt 100 ]
}

# accounted DB: print samples and losses in all epochs, without those that wait in memory
accounted()
{
	sql "$1" "SELECT ifnull(sum(interrupts), 0) - (SELECT ifnull(sum(count), 0) FROM counter
		WHERE counter_group = 'loss' AND name = 'pending') FROM epoch"
}

# taken: print the number of samples that the daemon's source has taken
taken()
{
	ctl_status | awk '$1 == "taken" { print $2 }'
}

goes_on()
{
	"$work/split" 100
	ctl flush > "$work/flush" 2>&1
}

# finish NAME: let the daemon continue and stop it; sets $total, a lower bound of all samples. A flush
# may fail while the new database is locked.
finish()
{
	goes_on || echo "# $1: $(cat "$work/flush")"
	check "$1: the daemon goes on" eventually ctl flush
	total=$(taken)
	daemon_stop
	is "$1: it stops in good order" "$daemon_status" 0
	is "$1: one message" "$(grep -c "database '$dir" "$work/log")" 1
}

# sound NAME DB: test that the database is sound
sound()
{
	is "$1: $(basename "$2") is sound" \
		"$(sqlite3 "$2" "PRAGMA integrity_check" 2>&1)$(identity "$2" 2>&1)" ok
}

# all_in NAME DB...: test that all samples are in these databases, as samples or as losses
all_in()
{
	local name=$1 sum=0 file

	shift
	for file in "$@"; do
		sum=$((sum + $(accounted "$file")))
	done
	check "$name: all $total samples are accounted for ($sum)" [ "$sum" -ge "$total" ]
}

if ! begin probe; then
	skip "a database that is moved" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi
daemon_stop

begin removed
stored=$(accounted "$db")
rm "$db"
finish removed
sound removed "$db"
all_in removed "$db"
is "removed: what it held is lost by name" "$(loss "$db" database_replaced)" "$stored"
like "removed: the message" "$(cat "$work/log")" "database '$db' was removed; .* $stored stored samples are lost"
is "removed: nothing waits" "$(loss "$db" pending)" 0

begin removed_all
stored=$(accounted "$db")
rm "$db"*
finish removed_all
sound removed_all "$db"
all_in removed_all "$db"
is "removed_all: what it held is lost by name" "$(loss "$db" database_replaced)" "$stored"

# Periodic merges, without a request.
daemon+=(--merge-interval 1)
begin timer
rm "$db"
timer_logged()
{
	logged "database '$db' was removed"
}
check "timer: a merge notices it" eventually timer_logged
finish timer
sound timer "$db"
all_in timer "$db"
unset 'daemon[-1]' 'daemon[-1]'

begin moved
mv "$db" "$work/moved.db"
finish moved
sound moved "$db"
sound moved "$work/moved.db"
all_in moved "$db" "$work/moved.db"
is "moved: nothing is lost" "$(loss "$db" database_replaced) $(loss "$work/moved.db" pending)" "0 0"
is "moved: its epoch has ended" "$(sql "$work/moved.db" "SELECT sum(open) FROM epoch")" 0
is "moved: epochs do not overlap" "$(sqlite3 "$db" "ATTACH '$work/moved.db' AS old; SELECT
	(SELECT min(start_ns) FROM epoch) >= (SELECT max(end_ns) FROM old.epoch)")" 1

begin moved_read
cp "$db" "$work/before.db"
printf '.timeout 60000\nBEGIN; SELECT count(*) FROM epoch;\n' > "$work/reader.sql"
mkfifo "$work/reader"
sqlite3 "$db" < "$work/reader" > "$work/reader.out" &
reader=$!
exec 7> "$work/reader"
cat "$work/reader.sql" >&7
eventually test -s "$work/reader.out"
mv "$db" "$work/moved_read.db"
goes_on
like "moved_read: a reader of the moved database is waited for" "$(cat "$work/flush")" "locked"
exec 7>&-
wait "$reader"
check "moved_read: the daemon goes on" eventually goes_on
total=$(taken)
daemon_stop
sound moved_read "$db"
sound moved_read "$work/moved_read.db"
all_in moved_read "$db" "$work/moved_read.db"

foreign_make || not_ok "a database of another program"
foreign_epochs=$(sql "$work/foreign.db" "SELECT count(*), sum(interrupts) FROM epoch")

# foreign_kept NAME DB: test that the epochs of the foreign database are in this one, unchanged
foreign_kept()
{
	is "$1: the other database's epochs are kept" \
		"$(sql "$2" "SELECT count(*), sum(interrupts) FROM epoch WHERE source_reason IN
		(SELECT source_reason FROM epoch ORDER BY id LIMIT 1)")" "$foreign_epochs"
}

for how in renamed_over copied_over copied_slowly; do
	begin $how
	stored=$(accounted "$db")
	case $how in
	renamed_over)
		cp -p "$work/foreign.db" "$work/copy.db"
		mv "$work/copy.db" "$db"
		;;
	copied_over) cp "$work/foreign.db" "$db" ;;
	copied_slowly)
		# Half of the file is there when a merge comes.
		size=$(stat -c %s "$work/foreign.db")
		head -c $((size / 2)) "$work/foreign.db" > "$db"
		(
			for _ in 1 2 3 4 5 6 7 8; do
				sleep 0.3
				touch "$db"
			done
			tail -c +$((size / 2 + 1)) "$work/foreign.db" >> "$db"
		) &
		copier=$!
		sleep 0.5
		goes_on
		like "$how: a copy is waited for" "$(cat "$work/flush")" "is being copied"
		wait "$copier"
		;;
	esac
	finish $how
	sound $how "$db"
	foreign_kept $how "$db"
	is "$how: what the old one held is lost by name" "$(loss "$db" database_replaced)" "$stored"
	total=$((total + ${foreign_epochs#*|}))
	all_in $how "$db"
done

begin restored
cp "$db" "$work/backup.db"
cp "$db-wal" "$work/backup.db-wal"
kept=$(accounted "$work/backup.db")
stores_samples "$db"
stored=$(accounted "$db")
cp "$work/backup.db" "$db"
finish restored
sound restored "$db"
all_in restored "$db"
check "restored: its own copy ($kept, $stored): only what that has not is lost" \
	[ "$(loss "$db" database_replaced)" -le "$stored" ]

begin garbage
stored=$(accounted "$db")
head -c 100000 /dev/urandom > "$work/random"
cp "$work/random" "$db"
touch -d '1 hour ago' "$db"
finish garbage
sound garbage "$db"
all_in garbage "$db"
check "garbage: the file is set aside as it was" cmp "$work/random" "$db.replaced-1"
is "garbage: what the database held is lost by name" "$(loss "$db" database_replaced)" "$stored"

begin newer
sqlite3 "$work/newer.db" "PRAGMA application_id = 1145262153; PRAGMA user_version = 999;
	CREATE TABLE t (x)"
cp "$work/newer.db" "$work/newer.copy"
mv "$work/newer.copy" "$db"
finish newer
sound newer "$db"
check "newer: the database of a newer version is set aside" cmp "$work/newer.db" "$db.replaced-1"

begin log_removed
rm "$db-wal"
finish log_removed
sound log_removed "$db"
all_in log_removed "$db"
is "log_removed: nothing is lost" "$(loss "$db" database_replaced)" 0

begin log_replaced
head -c 50000 /dev/urandom > "$work/log.copy"
cp "$work/log.copy" "$work/log.copy2"
mv "$work/log.copy2" "$db-wal"
finish log_replaced
sound log_replaced "$db"
all_in log_replaced "$db"
check "log_replaced: the other log is set aside as it was" cmp "$work/log.copy" "$db.replaced-1-wal"

begin memory_removed
rm "$db-shm"
finish memory_removed
sound memory_removed "$db"
all_in memory_removed "$db"

begin directory_moved
mv "$dir" "$work/elsewhere"
goes_on
check "directory_moved: samples wait for a directory" [ "$(taken)" -gt 0 ]
mkdir "$dir"
check "directory_moved: a new database is made there" eventually goes_on
total=$(taken)
daemon_stop
is "directory_moved: it stops in good order" "$daemon_status" 0
sound directory_moved "$db"
sound directory_moved "$work/elsewhere/dcpi.db"
all_in directory_moved "$db" "$work/elsewhere/dcpi.db"
is "directory_moved: nothing is lost" "$(loss "$db" database_replaced)" 0

begin directory_removed
stored=$(accounted "$db")
rm -r "$dir"
goes_on
mkdir "$dir"
check "directory_removed: a new database is made" eventually goes_on
total=$(taken)
daemon_stop
sound directory_removed "$db"
all_in directory_removed "$db"
is "directory_removed: what it held is lost by name" "$(loss "$db" database_replaced)" "$stored"

mkdir "$work/first" "$work/second" "$work/linked"
ln -s ../first/dcpi.db "$work/linked/dcpi.db"
: > "$work/first/dcpi.db"
: > "$work/second/dcpi.db"
begin linked
ln -sfn ../second/dcpi.db "$db"
touch -d '1 hour ago' "$work/second/dcpi.db"
finish linked
is "linked: no log is left" "$(find "$work/first" "$work/second" -name '*-wal')" ""
sound linked "$work/first/dcpi.db"
sound linked "$work/second/dcpi.db"
all_in linked "$work/first/dcpi.db" "$work/second/dcpi.db"

# A file system is mounted over the directory, in a namespace that the daemon shares.
if unshare -m true 2> /dev/null; then
	mkdir "$work/mounted"
	cat > "$work/mount.sh" <<- 'END'
		"$@" &
		daemon=$!
		until [ -e "$WORK/mount" ] || ! kill -0 $daemon; do sleep 0.1; done
		mount -t tmpfs none "$WORK/mounted" && touch "$WORK/mount.done"
		trap 'kill $daemon' TERM
		wait $daemon
		cp "$WORK/mounted/dcpi.db"* "$WORK/mount.copy"
	END
	mkdir "$work/mount.copy"
	plain=("${daemon[@]}")
	daemon=(env "WORK=$work" unshare -m --propagation private bash "$work/mount.sh" "${daemon[@]}")
	begin mounted
	: > "$work/mount"
	eventually test -e "$work/mount.done"
	check "mounted: the daemon goes on" goes_on
	total=$(taken)
	ctl stop
	wait "$daemon_pid"
	sound mounted "$db"
	sound mounted "$work/mount.copy/dcpi.db"
	all_in mounted "$db" "$work/mount.copy/dcpi.db"
	is "mounted: nothing is lost" "$(loss "$work/mount.copy/dcpi.db" database_replaced)" 0
	daemon=("${plain[@]}")
else
	skip "mounted" "no mount namespace"
fi

# Other programs write to the database with SQLite: this is not a replacement.
begin shared
sqlite3 -cmd ".timeout 60000" "$db" \
	"UPDATE epoch SET label = 'written by another program'; PRAGMA wal_checkpoint(TRUNCATE)" \
	> /dev/null
check "shared: the daemon goes on" goes_on
sqlite3 "$db" "VACUUM"
check "shared: after a VACUUM, too" goes_on
is "shared: there is one epoch" "$(sql "$db" "SELECT count(*), max(label) FROM epoch")" \
	"1|written by another program"
total=$(taken)
daemon_stop
sound shared "$db"
all_in shared "$db"
is "shared: no message" "$(grep -c "database" "$work/log")" 0
tap_done
