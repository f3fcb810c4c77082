#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs shell commands on freshly installed Debian 12 systems: the commands of README.md, or the
# arguments. Each command runs in a separate system, in a clone of HEAD.
#
#   tests/check_fresh.sh [COMMAND]...
#
# mmdebstrap installs a system (variant minbase) from the Debian mirrors of this machine. The
# command enters it with a mount namespace and pivot_root rather than chroot, so that mount,
# unshare, perf, BPF and QEMU work as on a machine. /proc, /sys and /dev are the machine's, so a
# command sees the machine's other processes.
#
#   FRESH_DIR   folder of the systems, about 10 GB each; default build/fresh
#   FRESH_KEEP  yes: do not remove a system after its command
#
# Logs are kept in build/fresh-logs: COMMAND.log, and the logs of the tests in COMMAND/. A command
# fails if its exit status is not zero or if it leaves a process running. The last line adds up the
# test totals of commands that print some, and counts one for every other command.
set -u
PATH=$PATH:/usr/sbin:/sbin

# enter SYSTEM COMMAND: called again by run_command, in the mount namespace
enter()
{
	local system=$1 command=$2

	mount --bind "$system" "$system" &&
		mount --rbind /dev "$system/dev" &&
		mount --rbind /sys "$system/sys" &&
		mount -t proc proc "$system/proc" &&
		mount -t tmpfs -o mode=755 run "$system/run" && mkdir -m 1777 "$system/run/lock" &&
		cd "$system" && pivot_root . mnt && cd / && umount -l /mnt && cd /root/dcpi || exit 125
	exec env -i --default-signal ${CI:+CI="$CI"} HOME=/root TERM=linux \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		bash -c "$command" < /dev/null
}

if [ "${1:-}" = --enter ]; then
	enter "$2" "$3"
fi

cd "$(dirname "$0")/.." || exit 2
work=$(realpath -m "${FRESH_DIR:-build/fresh}")
base=$work/base.tar
logs=build/fresh-logs
system=
passed=0 failed=0 skipped=0

die()
{
	echo "check_fresh: $1" >&2
	exit 2
}

# Print the processes whose root folder is the system's.
processes()
{
	stat -Lc '%d:%i %n' /proc/[0-9]*/root 2> /dev/null |
		sed -n "s|^$(stat -c %d:%i "$system") /proc/\([0-9]*\)/root\$|\1|p"
}

# Kill the processes of the system; its mounts vanish with the last of them.
end_processes()
{
	local list _

	for _ in $(seq 100); do
		list=$(processes)
		[ -n "$list" ] || return 0
		# shellcheck disable=SC2086 # process IDs
		kill -KILL $list 2> /dev/null
		sleep 0.1
	done
	die "cannot end the processes of '$system': ${list//$'\n'/ }"
}

remove_system()
{
	[ -n "$system" ] || return 0
	end_processes
	[ "${FRESH_KEEP:-}" = yes ] || rm -rf --one-file-system "$system"
	system=
}

cleanup()
{
	remove_system
	rm -f "$base" "$base.log" "$base.conf"
	rmdir "$work" 2> /dev/null
}

# Print the lines of sources.list for Debian 12 that apt of this machine knows. Without such lines,
# mmdebstrap uses its defaults.
debian_sources()
{
	# shellcheck disable=SC2016 # names that apt expands
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' 2> /dev/null |
		grep -E ' bookworm(-updates|-security)? ' | sort -u
}

# Print the machine's settings of how apt reaches the mirrors (proxies, for instance).
apt_settings()
{
	apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries|Check-)'
}

make_base()
{
	local sources

	sources=$(debian_sources)
	apt_settings > "$base.conf"
	mmdebstrap --quiet --variant=minbase --aptopt="$base.conf" bookworm "$base" \
		${sources:+- } > "$base.log" 2>&1 <<< "$sources" || {
		tail -n 20 "$base.log" >&2
		die "mmdebstrap cannot make the system"
	}
	rm "$base.conf"
}

# make_system NAME: make a system; sets $system
make_system()
{
	system=$work/$1
	rm -rf --one-file-system "$system"
	mkdir -p "$system"
	tar -C "$system" --numeric-owner -xf "$base" || die "cannot unpack '$base'"
	cp -L /etc/resolv.conf /etc/hosts "$system/etc/"
	git clone --quiet --no-local . "$system/root/dcpi" || die "cannot clone the repository"
}

# count LOG STATUS: add the sums in the log of a command to the totals
count()
{
	local p f s

	read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' \
		"$1" | tail -n 1)
	if [ -z "${p:-}" ]; then
		p=1 f=0 s=0
		[ "$2" -eq 0 ] || p=0
	fi
	[ "$2" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# run_command COMMAND: run a command on a new system
run_command()
{
	local name status=0 left log start=$SECONDS

	name=$(tr -sc 'A-Za-z0-9\n' - <<< "${1##*&& }" | cut -c 1-60)
	log=$logs/$name.log
	make_system "$name"
	printf '%s ... ' "$1"
	unshare --mount --propagation private tests/check_fresh.sh --enter "$system" "$1" > "$log" 2>&1 &
	wait $! || status=$?
	for left in $(processes); do
		echo "left running: $left $(tr '\0' ' ' < "/proc/$left/cmdline")" >> "$log"
		status=1
	done
	end_processes
	rm -rf "${logs:?}/$name"
	[ ! -d "$system/root/dcpi/build/test-logs" ] ||
		cp -r "$system/root/dcpi/build/test-logs" "$logs/$name"
	count "$log" $status
	echo "exit status $status, $((SECONDS - start)) s, $log"
	[ $status -eq 0 ] || tail -n 60 "$log" | sed 's/^/  /'
	remove_system
}

[ "$(id -u)" -eq 0 ] || die "needs root"
[ $# -gt 0 ] || {
	mapfile -t commands < <(sed -n 's/^    \(apt-get .*make [a-z-]*\)$/\1/p' README.md)
	set -- "${commands[@]}"
}
[ $# -gt 0 ] || die "README.md has no commands"
[ -z "$(git status --porcelain)" ] ||
	echo "check_fresh: changes that are not committed are not tested" >&2
mkdir -p "$work" "$logs"
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
make_base
for command; do
	run_command "$command"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
