#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# A hostile user forges build-ids: the build-id of the superuser's program, before and after that
# runs and before and after the daemon starts, and the build-id of libc. The user also runs the
# superuser's file under another path. The victim's samples and procedures must stay those of the
# victim's image and path.
#
#	DCPI_BUILD	where the build is (default: build)
# shellcheck disable=SC2119 # daemon_stop takes a signal or nothing
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip "a hostile user" "needs the superuser and another user"
	tap_done
	exit
fi

attacker=65534
evil=$work/evil
public=$work/public
socket=$work/dcpid.sock
: > "$work/empty.conf"
mkdir "$evil" && chown $attacker "$evil" && mkdir -m 1777 "$public" || exit 1

# program FILE PROCEDURE BUILD-ID [CFLAG...]: make a program that spins in one procedure
program()
{
	cat > "$work/program.c" <<-C
		#include <unistd.h>
		__attribute__((noinline, noclone)) void $2(void)
		{
			volatile unsigned long x = 0;
			for (;;)
				x = (x + 0x1234) * 3;
		}
		#ifndef LIBRARY
		int main(void)
		{
			$2();
		}
		#endif
	C
	${CC:-gcc} -O1 -g -Wl,--build-id="0x$3" "${@:4}" -o "$work/program.out" "$work/program.c" &&
		mv "$work/program.out" "$1" || exit 1
}

as_attacker=(setpriv --reuid "$attacker" --regid "$attacker" --clear-groups)

# evil_program NAME PROCEDURE BUILD-ID [CFLAG...]: make a file that belongs to the attacker
evil_program()
{
	program "$evil/$1" "${@:2}"
	chown $attacker:$attacker "$evil/$1"
}

build_id()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

random_id()
{
	od -An -N20 -tx1 /dev/urandom | tr -d ' \n'
}

id=$(random_id) public_id=$(random_id)
program "$work/victim" victim_spin "$id"
program "$public/tool" tool_spin "$public_id"
evil_program forged evil_spin "$id"
evil_program after evil_late "$id"
evil_program tool evil_tool "$public_id"
libc=$(ldd "$work/victim" | awk '$1 ~ /^libc\.so/ { print $3 }')
libc=$(readlink -f "$libc")
evil_program libforged.so evil_libc "$(build_id "$libc")" -shared -fPIC -DLIBRARY
cat > "$work/caller.c" <<-C
	void evil_libc(void);
	int main(void)
	{
		evil_libc();
	}
C
${CC:-gcc} -o "$evil/caller" "$work/caller.c" -L"$evil" -Wl,-rpath,"$evil" -lforged || exit 1
cp "$work/victim" "$evil/copied"
chown $attacker:$attacker "$evil/caller" "$evil/copied"

# run VARIABLE CMD...: start the command in the background; sets VARIABLE to the process
run()
{
	local -n run_pid=$1

	shift
	"${environment[@]}" "$@" > /dev/null 2>&1 &
	run_pid=$!
	pids+=("$run_pid")
}

# sampled PID: wait until it has used enough CPU time for hundreds of samples
sampled()
{
	eventually cpu_used "$1" 150
}

# stored PID: the daemon has stored more than 100 samples of the process. It stores those of other
# users' files when their contents are known.
stored()
{
	"$bin/dcpictl" --socket "$socket" flush > /dev/null
	[ "$(sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile WHERE pid = $1")" -gt 100 ]
}

finish()
{
	kill "$@" 2> /dev/null
	wait "$@" 2> /dev/null
}

# in_files PID [CONDITION]: print the number of a process's samples in files of this test for which
# the columns of image satisfy the condition
in_files()
{
	sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile JOIN image ON image.id = profile.image
		WHERE pid = $1 AND (path LIKE '$work/%' OR ${2:-0} OR path LIKE '/private/%') AND ${2:-1}"
}

# Selects the row of the superuser's program: its path, and its build-id without a content digest.
row="(path = '$work/victim' AND lower(hex(identity)) = '$id')"

# credited NAME PID: test that at least 99.9 % of a victim's samples are in its own row
credited()
{
	local all good

	all=$(in_files "$2")
	good=$(in_files "$2" "$row")
	if [ "$all" -gt 100 ] && [ $((good * 1000)) -ge $((all * 999)) ]; then
		ok "$1"
	else
		not_ok "$1" "$good of $all samples: $(sql "$db" "SELECT path, lower(hex(identity)),
			samples FROM profile JOIN image ON image.id = image WHERE pid = $2")"
	fi
}

# apart NAME PID CONDITION: test that no sample of an attacker's process is in these rows
apart()
{
	local all wrong

	all=$(sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile WHERE pid = $2")
	wrong=$(sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile JOIN image ON image.id = image
		WHERE pid = $2 AND $3")
	if [ "$all" -gt 100 ] && [ "$wrong" -eq 0 ]; then
		ok "$1"
	else
		not_ok "$1" "$wrong of $all samples: $(sql "$db" "SELECT path, lower(hex(identity)),
			samples FROM profile JOIN image ON image.id = image WHERE pid = $2")"
	fi
}

# procedures PATH: print the procedures of the images of a path
procedures()
{
	"$bin/dcpiprof" --db "$db" --image "$1" --csv 2> /dev/null | grep -oE '(victim|evil|tool)_[a-z]+' |
		sort -u | xargs
}

# run_bound VARIABLE: the attacker runs the victim's own file under another path, in a namespace
run_bound()
{
	run "$1" "${as_attacker[@]}" unshare --user --map-root-user --mount \
		bash -c "
			mount --bind '$work/victim' '$evil/copied' && exec '$evil/copied'"
}

# attack LABEL: attackers run before, during and after the victim's run
attack()
{
	local victim bound forged after caller pid

	run_bound bound
	run forged "${as_attacker[@]}" "$evil/forged"
	run caller "${as_attacker[@]}" "$evil/caller"
	sampled "$forged"
	sampled "$caller"
	run victim "$work/victim"
	run after "${as_attacker[@]}" "$evil/after"
	sampled "$victim"
	sampled "$after"
	finish "$victim" "$forged" "$caller" "$after"
	for pid in "$victim" "$forged" "$caller" "$after"; do
		eventually stored "$pid"
	done
	credited "$1: the victim's samples are in its own row" "$victim"
	apart "$1: a forged build-id, first" "$forged" "lower(hex(identity)) = '$id'"
	apart "$1: a forged build-id, last" "$after" "lower(hex(identity)) = '$id'"
	apart "$1: libc's build-id" "$caller" "path = '$libc' AND samples > 20"
	if kill -0 "$bound" 2> /dev/null; then
		ok "$1: the superuser's file ran under another path"
		finish "$bound"
	else
		skip "$1: the superuser's file under another path" "no user namespaces"
	fi
	is "$1: no path of the attacker's has the superuser's build-id alone" "$(sql "$db" "
		SELECT path FROM image WHERE lower(hex(identity)) = '$id'")" "$work/victim"
	is "$1: the victim's procedures" "$(procedures "$work/victim")" victim_spin
	is "$1: the attacker's procedures" "$(procedures "$evil/forged")" evil_spin
}

# feed NAME: run all attacks, with image events from this source
feed()
{
	local name=$1

	db=$work/$name.db
	daemon=("$bin/dcpid" --source perf --socket "$socket" --config "$work/empty.conf" --db "$db"
		--merge-interval 1 --drain-interval 100 --per-process all --image-events "$name"
		--image-store all)
	environment=()
	if [ "$name" = audit ]; then
		daemon+=(--audit-socket "$work/images.sock")
		environment=(env "LD_AUDIT=$build/lib/libdcpi-audit.so" "DCPI_AUDIT_SOCKET=$work/images.sock")
	fi
	if ! daemon_start || ! daemon_answers; then
		not_started "$name"
		return
	fi
	attack "$name"
	daemon_stop
	# The daemon finds processes that already run by a scan.
	run forged "${as_attacker[@]}" "$evil/forged"
	run victim "$work/victim"
	starts "$name: a daemon that finds an attacker's row and process" || return
	sampled "$forged" && sampled "$victim"
	finish "$forged" "$victim"
	eventually stored "$victim" && eventually stored "$forged"
	credited "$name, again: the victim's samples are in its own row" "$victim"
	apart "$name, again: a forged build-id" "$forged" "lower(hex(identity)) = '$id'"
	daemon_stop
	is "$name: accounting" "$(identity "$db")" ""
}

for name in perf bpf audit; do
	feed "$name"
done
tap_done
