# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The commands that `make demo-vm` runs inside the virtual machine: the module, the daemon,
# and a compile, a compression and a database query to profile.
db=/tmp/dcpi.db

work()
{
	end=$(($(cut -d. -f1 /proc/uptime) + $1))
	while [ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ]; do
		"$2"
	done
}

compile()
{
	cc1 -quiet -fpreprocessed -O2 /lib/demo.i -o /dev/null
}

compress()
{
	/bin/xz -6 < /bin/busybox > /dev/null
}

query()
{
	sqlite3 :memory: > /dev/null "create table t(id integer primary key, k int, s text);
		insert into t with recursive c(x) as (select 1 union all select x + 1 from c limit 20000)
			select x, (x * 7919) % 1007, 'row ' || x from c;
		select k, count(*), max(s) from t group by k order by 2 desc, 3 limit 10;"
}

echo "== insmod dcpi.ko; dcpid"
insmod /lib/dcpi.ko || exit 1
dcpid --config /dev/null --db $db --socket /run/dcpid.sock > /dev/null 2> /tmp/dcpid.log &
daemon=$!
until dcpictl --socket /run/dcpid.sock status > /dev/null 2>&1; do
	kill -0 $daemon 2> /dev/null || { cat /tmp/dcpid.log; exit 1; }
	sleep 0.2
done
work 15 compile &
job=$!
work 12 compress
work 3 query
wait $job
dcpictl --socket /run/dcpid.sock flush
kill $daemon
wait $daemon
rmmod dcpi
cat /tmp/dcpid.log
echo
echo "== dcpiprof -n 25"
dcpiprof --db $db --brief -n 25
echo
echo "== dcpiprof --by image -n 10"
dcpiprof --db $db --brief --by image -n 10 | sed -n '/cum%/,$p'
