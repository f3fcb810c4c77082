#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Profile everything that runs on this machine for about 15 seconds, with the
# daemon's embedded defaults, and print where the cycles went. All processes that this
# script starts are stopped; all its files are in build/demo/. Branches are interpreted for
# more samples than by default, since a daemon that always runs has more time to collect them.
set -u
cd "$(dirname "$0")/.." || exit 2
bin=build/bin
demo=build/demo
db=$demo/dcpi.db
socket=$demo/dcpid.sock
daemon=

stop_daemon()
{
	[ -n "$daemon" ] || return 0
	kill -TERM "$daemon" 2> /dev/null
	wait "$daemon"
	daemon_status=$?
	daemon=
}
trap stop_daemon EXIT
trap 'exit 130' INT TERM

refused()
{
	sed 's/^/  /' "$demo/dcpid.log" >&2
	cat >&2 <<-'EOF'

	This machine does not let dcpid take samples: it needs CAP_PERFMON (root) and the
	perf_event_open system call, which many container sandboxes refuse. To see the
	same thing in a virtual machine of its own, with the kernel module, run:

	    make demo-vm
	EOF
	exit 2
}

rm -rf "$demo"
mkdir -p "$demo"
echo "== Profiling this machine for 15 s: a compile, a compression, a database query, text"
$bin/dcpid --config /dev/null --branch-every 2 --db "$db" --socket "$socket" 2> "$demo/dcpid.log" &
daemon=$!
for _ in $(seq 100); do
	$bin/dcpictl --socket "$socket" status > /dev/null 2>&1 && break
	kill -0 "$daemon" 2> /dev/null || { wait "$daemon"; daemon=; refused; }
	sleep 0.1
done
# Five epochs of three seconds each, for comparison.
for round in 1 2 3 4 5; do
	[ $round = 1 ] || $bin/dcpictl --socket "$socket" epoch "round $round" > /dev/null
	packaging/demo_workload.sh 3 "$demo/scratch"
done
$bin/dcpictl --socket "$socket" flush > /dev/null
stop_daemon
rm -rf "$demo/scratch"
if [ "$daemon_status" -ne 0 ]; then
	cat "$demo/dcpid.log" >&2
	exit 2
fi
packaging/demo_report.sh "$db" "$demo"
