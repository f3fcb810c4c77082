# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The whole way, in a machine with the module: dcpid drains it, dcpiprof
# reports. A program with a known division of time must come out within two
# points, user and kernel procedures must have names, and every interrupt must
# be accounted for.
. /lib/tap.sh

db=/tmp/dcpi.db

# query SQL
query()
{
	sqlite3 -readonly -cmd ".load /lib/dcpi_sqlite" "$db" "$1"
}

start_daemon()
{
	dcpid --config /dev/null --db "$db" --socket /run/dcpid.sock "$@" > /dev/null 2> /tmp/dcpid.log &
	daemon=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		dcpictl --socket /run/dcpid.sock status > /tmp/status 2>&1 && return 0
		sleep 0.5
	done
	return 1
}

stop_daemon()
{
	kill "$daemon"
	wait "$daemon"
}

# share PROCEDURE: percent of the samples of the three procedures
share()
{
	dcpiprof --db "$db" --csv --image '*/split' | awk -F, -v name="$1" '
		$4 ~ /^split_/ { total += $1 }
		$4 == name { got = $1 }
		END { printf "%.2f of %d", total ? 100 * got / total : 0, total }'
}

near()
{
	echo "$1" | awk -v want="$2" '{ d = $1 - want; exit !($3 >= 5000 && d * d <= 4) }'
}

check "without the module, kmod is refused in one line" sh -c "
	dcpid --source kmod --config /dev/null --db /tmp/none.db 2> /tmp/err
	[ \$? -eq 2 ] && [ \$(wc -l < /tmp/err) -eq 1 ] && grep -q dcpi.ko /tmp/err"
check "the module loads" insmod /lib/dcpi.ko
# Faster than the default, so that two points are far more than chance.
start_daemon -e cpu-clock:180000-200000
is "the daemon starts" $? 0
like "it chose the module by itself" "$(cat /tmp/status)" '^source +kmod'
check "a second daemon is refused in one line" sh -c "
	dcpid -e cpu-clock --config /dev/null --db $db --socket /run/other.sock 2> /tmp/err
	[ \$? -eq 2 ] && [ \$(wc -l < /tmp/err) -eq 1 ]"
split 12000
# Kernel work of a well-known kind.
dd if=/dev/urandom of=/dev/null bs=64k count=400 2> /dev/null
# Processes that are gone before anything is drained.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sh -c 'true; busybox true'
done
check "the daemon stores everything when asked" dcpictl --socket /run/dcpid.sock flush
dcpictl --socket /run/dcpid.sock stats > /tmp/stats
like "its counters add up while it runs" "$(cat /tmp/stats)" '^identity +exact'
stop_daemon
is "the daemon ends with 0" $? 0

for want in seventy:70 twenty:20 ten:10; do
	got=$(share "split_${want%:*}")
	if near "$got" "${want#*:}"; then
		ok "split_${want%:*} has ${want#*:} percent within two points ($got)"
	else
		not_ok "split_${want%:*} has ${want#*:} percent within two points" "$got"
	fi
done
dcpiprof --db "$db" --csv --image 'vmlinux*' > /tmp/kernel.csv
check "kernel procedures have names" sh -c "
	[ \$(grep -vc proc_0x /tmp/kernel.csv) -gt 20 ] && grep -q 'chacha\|blake\|random' /tmp/kernel.csv"
like "the report says that all is accounted for" "$(dcpiprof --db $db)" '^accounting .*: exact$'
is "interrupts = samples + losses, by the rows themselves" "$(query '
	SELECT sum(interrupts) > 10000 AND sum(interrupts) =
		(SELECT sum(count) FROM dcpi_samples) +
		(SELECT sum(count) FROM counter WHERE counter_group = '"'loss'"') FROM epoch')" 1
is "nothing was lost" "$(query "SELECT sum(count) FROM counter WHERE counter_group = 'loss'")" 0
unknown=$(query "SELECT 10000 * sum(count * (path = 'unknown')) / sum(count) FROM dcpi_samples")
check "at most 0.05% match no image (${unknown:-?} in 10,000)" [ "${unknown:-9999}" -le 5 ]
check "the module unloads" rmmod dcpi

dcpiprof --db "$db" -n 12 | sed 's/^/# /'
sed 's/^/# /' /tmp/stats /tmp/dcpid.log
tap_done
