#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Test the errors where the bpf source cannot run, and that it ends.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
: > "$work/empty.conf"
# Other users can access the program, and have a folder for a database.
install -m 755 "$bin/dcpid" "$work/dcpid"
install -d -m 777 "$work/db"
daemon=("$work/dcpid" -q --config "$work/empty.conf" --socket "" --source bpf)

if [ "$(id -u)" -ne 0 ]; then
	refused "no user without privileges" "not permitted|may not|Operation not" \
		"${daemon[@]}" -e cpu-clock --db "$work/db/user.db"
	tap_done
	exit
fi

if [ -r /sys/kernel/btf/vmlinux ]; then
	if unshare --pid --fork --mount-proc true 2> /dev/null; then
		refused "another PID namespace" "initial PID namespace" \
			unshare --pid --fork --mount-proc \
			"${daemon[@]}" -e cpu-clock --db "$work/db/namespace.db"
	else
		skip "another PID namespace" "unshare is not permitted"
	fi
	refused "no user without privileges" "not permitted: run as root, or grant" \
		setpriv --reuid=65534 --regid=65534 --clear-groups \
		"${daemon[@]}" -e cpu-clock --db "$work/db/user.db"
else
	refused "a kernel without BTF" "has no BTF" "${daemon[@]}" -e cpu-clock --db "$work/db/btf.db"
fi

# A counter that this machine may have or not: refused at once, or sampled until stopped. The
# process must never hang (137: it had to be killed).
socket=$work/sock
daemon+=(--socket "$socket")
daemon_ended()
{
	! kill -0 "$daemon_pid" 2> /dev/null
}
for event in cpu-clock instructions; do
	if daemon_start -e $event --db "$work/db/$event.db"; then
		sleep 1
		kill "$daemon_pid"
		eventually daemon_ended || kill -KILL "$daemon_pid"
	fi
	wait "$daemon_pid"
	status=$?
	case $status in
	0)
		ok "SIGTERM ends it in good order ($event)"
		is "with every sample accounted for ($event)" "$(identity "$work/db/$event.db")" ""
		;;
	2) is "refused in one line ($event)" "$(wc -l < "$work/log")" 1 ;;
	*) not_ok "SIGTERM ends it in good order ($event)" "exit $status: $(cat "$work/log")" ;;
	esac
done

tap_done
