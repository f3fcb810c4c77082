#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# No user can bring a file into the image store that this user may not read. The attacks: the path
# of a program in a root directory that the attacker controls, claims on the audit socket, and
# running a program that is execute-only. The store may never hold the secret, under any name.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip "file disclosure" "needs root"
	tap_done
	exit
fi
socket=$work/dcpid.sock
: > "$work/empty.conf"
marker=SECRET-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
# (The attacker must be faster than the daemon on a busy machine, too.)
nobody=(nice -n -20 setpriv --reuid=65534 --regid=65534 --clear-groups --)

# program FILE MARKER [CFLAG...]: make a program that contains a text. "FILE MILLISECONDS" computes,
# "FILE sleep MILLISECONDS" waits.
program()
{
	local file=$1 text=$2

	shift 2
	cat > "$work/program.c" <<-C
		#include <stdlib.h>
		#include <time.h>
		#include <unistd.h>
		__attribute__((used)) static const char text[] = "$text";
		int main(int argc, char **argv)
		{
			clock_t end = clock() + atol(argv[argc - 1]) * (CLOCKS_PER_SEC / 1000);
			volatile unsigned long x = 0;
			if (argc > 2)
				return usleep(atol(argv[2]) * 1000);
			while (clock() < end)
				for (int i = 0; i < 100000; i++)
					x = x * 3 + 1;
			return 0;
		}
	C
	${CC:-gcc} -O1 -static "$@" -o "$file" "$work/program.c" || exit 1
}

build_id()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

new_build_id()
{
	od -An -N20 -tx1 /dev/urandom | tr -d ' \n'
}

# copies_of FILE: print the files of the store with the same contents
copies_of()
{
	find "$db-images" -type f -exec cmp -s "$1" {} \; -print 2> /dev/null
}

is_copied()
{
	[ -n "$(copies_of "$1")" ]
}

# Print files of the store that contain the secret, and unpublished copies that other users than the
# owner may read. The daemon's descriptors lead to copies without a name.
watch_store()
{
	local fd

	while [ ! -e "$work/watched" ]; do
		grep -rlF "$marker" "$db-images" 2> /dev/null
		for fd in /proc/"$daemon_pid"/fd/*; do
			case $(readlink "$fd") in
			"$db-images"/*deleted*) stat -L -c '%a unpublished' "$fd" | grep -v '^600' ;;
			esac
		done 2> /dev/null
		sleep 0.02
	done > "$work/leaks"
}

watch_begin()
{
	rm -f "$work/watched"
	watch_store &
	watcher=$!
}

# watch_end NAME: end the watch, and test that it saw nothing
watch_end()
{
	touch "$work/watched"
	wait "$watcher"
	is "$1: the secret was never in the store" "$(sort -u "$work/leaks")" ""
}

refusals()
{
	local count=

	# A busy daemon may let a request time out.
	while [ -z "$count" ] && kill -0 "$daemon_pid"; do
		count=$(ctl --json status 2> /dev/null |
			jq -r '[."store.unreadable", ."store.ambiguous", ."store.lost"] | add')
	done
	echo "${count:-0}"
}

# attack_until_refused CMD...: run the attack until the daemon has refused a copy
attack_until_refused()
{
	local before

	before=$(refusals)
	# shellcheck disable=SC2317 # called by eventually
	attack()
	{
		"$@" > "$work/attack" 2>&1
		[ "$(refusals)" -gt "$before" ]
	}
	eventually attack "$@"
}

# copied_while_running PROGRAM USER-COMMAND...: test that the program is copied while the command
# runs
copied_while_running()
{
	local file=$1 pid status

	shift
	"$@" "$file" 3600000 &
	pid=$!
	pids+=("$pid")
	eventually is_copied "$file"
	status=$?
	kill "$pid"
	wait "$pid" 2> /dev/null
	return $status
}

mkdir -m 700 "$work/secret"
mkdir -m 755 "$work/open"
secret=$work/secret/program
program "$secret" "$marker" -Wl,--build-id="0x$(new_build_id)"
chmod 700 "$secret"
${CC:-gcc} -O1 -I"$top" -o "$work/open/audit_claim" "$top/tests/hostile/audit_claim.c" || exit 1

# In a root directory that the attacker controls, at the secret's path: a program with the secret's
# build-id, and one with another build-id; also a program that starts either of them.
jail=$work/jail
mkdir -p "$jail$work/secret"
program "$jail$secret" harmless -Wl,--build-id="0x$(build_id "$secret")"
program "$jail$secret-other" harmless -Wl,--build-id="0x$(new_build_id)"
cp "$secret" "$secret-other"
cat > "$work/starts.c" <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = atoi(argv[argc - 1]); i > 0; i--) {
		if (fork() == 0) {
			execl(argv[1], argv[1], argv[2], (char *)0);
			_exit(127);
		}
		wait(0);
	}
	return 0;
}
C
${CC:-gcc} -O1 -static -Wl,--build-id=sha1 -o "$jail/starts" "$work/starts.c" || exit 1
chmod -R a+rX "$jail"

in_jail()
{
	"${nobody[@]}" unshare -Ur chroot "$jail" "$@"
}

# has_refused COUNT: return true if the daemon has refused more copies than COUNT
has_refused()
{
	[ "$(refusals)" -gt "$1" ]
}

# The daemon sees a process of the program once, so that it knows the program's identity, and then
# closes the file (after two merge intervals). The next processes have ended before the daemon,
# which is stopped meanwhile, reads their events.
attack_from_jail()
{
	local program=$1 before

	before=$(refusals)
	in_jail "$program" sleep 1000
	sleep 2.5
	kill -STOP "$daemon_pid"
	in_jail /starts "$program" 8 40
	kill -CONT "$daemon_pid"
	for _ in $(seq 50); do
		has_refused "$before" && return
		sleep 0.2
	done
	return 1
}

attack_default_feed()
{
	local feed=$1

	if ! in_jail "$secret" 0 2> "$work/stderr"; then
		skip "$feed: a root directory of the attacker's own" "$(cat "$work/stderr")"
		return
	fi
	watch_begin
	check "$feed: the secret's path in another root is refused" eventually attack_from_jail \
		"$secret"
	check "$feed: with another build-id" eventually attack_from_jail "$secret-other"
	watch_end "$feed: another root"
}

# claimed_is_hot: claim until the image of that path has enough samples for a copy, and the daemon
# had the time to make one
claimed_is_hot()
{
	"${nobody[@]}" "$work/open/audit_claim" "$work/images.sock" "$secret" \
		"$(build_id "$secret")" 300
	ctl flush
	[ "$(sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile JOIN image ON image.id = image
		WHERE path = '$secret [unverified]'")" -ge 100 ]
}

# A process claims the secret's path and build-id. That file is never opened: dcpid copies files
# only if the kernel or their contents confirm the claim.
attack_audit_feed()
{
	watch_begin
	check "audit: a claimed path has samples, of a file that is not verified" \
		eventually claimed_is_hot
	watch_end "audit: a claimed path"
}

# execute_only FEED: another user runs a program that only root may read
execute_only()
{
	local file=$work/open/execute-only-$1 pid

	program "$file" "$marker" -Wl,--build-id="0x$(new_build_id)"
	chmod 711 "$file"
	watch_begin
	check "$1: an execute-only program is refused" attack_until_refused "${nobody[@]}" \
		"$file" 1000
	"${nobody[@]}" "$file" 3600000 &
	pid=$!
	pids+=("$pid")
	check "$1: also while it runs" attack_until_refused sleep 1
	kill "$pid"
	wait "$pid" 2> /dev/null
	chmod 4711 "$file"
	check "$1: also if it is set-user-ID" attack_until_refused "${nobody[@]}" "$file" 1000
	watch_end "$1: execute-only programs"
}

# Programs that their users may read are copied.
legitimate()
{
	local file=$work/open/legitimate-$1

	program "$file" legitimate -Wl,--build-id="0x$(new_build_id)"
	check "$1: a program that its user may read is copied" copied_while_running "$file" \
		"${nobody[@]}"
	is "$1: the copy is the group's" "$(stat -c %a "$(copies_of "$file" | head -n 1)")" 640
	program "$file-own" legitimate -Wl,--build-id="0x$(new_build_id)"
	chown 65534:65534 "$file-own"
	chmod 700 "$file-own"
	check "$1: and a user's private program" copied_while_running "$file-own" "${nobody[@]}"
}

for feed in ${FEEDS:-perf bpf audit}; do
	db=$work/$feed.db
	daemon=("$bin/dcpid" --source perf --socket "$socket" --config "$work/empty.conf" --db "$db"
		--merge-interval 1 --drain-interval 100 --image-store "$work/*"
		--image-events "$feed" --audit-socket "$work/images.sock")
	if ! daemon_start; then
		not_started "file disclosure, feed $feed"
		continue
	fi
	if [ "$feed" = audit ]; then
		attack_audit_feed
	else
		attack_default_feed "$feed"
	fi
	execute_only "$feed"
	legitimate "$feed"
	daemon_stop TERM
	is "$feed: the daemon ends with 0" "$daemon_status" 0
done
tap_done
