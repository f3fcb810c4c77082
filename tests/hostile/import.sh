#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Recordings whose parser crashes, never ends, or is taken over: dcpiimport fails with one line, and
# the database is as before. The process that parses has no privileges.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/daemon_cli.sh

db=$work/import.db
import=$bin/dcpiimport
"$build/tests/make_perfdata" "$work/perf.data" || exit 2
"$build/tests/make_perfdata" "$work/stacks.data" stacks || exit 2

# The parser of a process with another id than that of the program runs an attack of $ATTACK.
cat > "$work/attack.c" << 'END'
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t program;
static char attack[16];

static __attribute__((constructor)) void note(void)
{
	const char *wanted = getenv("ATTACK");

	program = getpid();
	strncpy(attack, wanted ? wanted : "", sizeof(attack) - 1);
}

/* Each line succeeds only without a sandbox. */
static int escapes(void)
{
	return open("/etc/passwd", O_RDONLY) >= 0 || open("/tmp", O_TMPFILE | O_RDWR, 0600) >= 0 ||
	       socket(AF_INET, SOCK_STREAM, 0) >= 0 || kill(program, 0) == 0 || fork() >= 0 ||
	       syscall(SYS_ptrace, 0, 0, 0, 0) == 0 ||
	       mmap(0, 4096, PROT_EXEC | PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static void run(void)
{
	unsigned long long message[] = {0x1000000000000005, 0};

	if (getpid() == program)
		return;
	if (strcmp(attack, "crash") == 0)
		raise(SIGSEGV);
	for (volatile int on = strcmp(attack, "loop") == 0; on;)
		;
	if (strcmp(attack, "lie") == 0)
		for (int fd = 3; fd < 16; fd++)
			if (write(fd, message, sizeof(message)) < 0)
				continue;
	if (strcmp(attack, "escape") == 0)
		raise(escapes() ? SIGBUS : SIGILL);
	if (attack[0] != '\0')
		_exit(0);
}

ssize_t pread(int fd, void *data, size_t bytes, off_t offset)
{
	run();
	return syscall(SYS_pread64, fd, data, bytes, offset);
}

ssize_t pread64(int fd, void *data, size_t bytes, off64_t offset)
{
	run();
	return syscall(SYS_pread64, fd, data, bytes, offset);
}
END
gcc -w -O1 -shared -fPIC -D_GNU_SOURCE -o "$work/attack.so" "$work/attack.c" || exit 2

# attacked ATTACK [COMMAND...]: import with this attack
attacked()
{
	ATTACK=$1 LD_PRELOAD=$work/attack.so "${@:2}" "$import" --db "$db" "$work/perf.data" \
		> "$work/out" 2> "$work/err"
}

# contents: print the contents of the database
contents()
{
	sqlite3 -readonly "$db" 'PRAGMA integrity_check' .dump
}

# fails ATTACK REASON: the import fails with one line, and does not change the database
fails()
{
	attacked "$1"
	is "$1: the import fails" $? 2
	like "$1: with the reason" "$(cat "$work/err")" "^dcpiimport: $work/perf.data: $2$"
	is "$1: the database is as before" "$(contents | cksum)" "$before"
}

attacked ""
is "the attacking library itself changes nothing" $? 0
before=$(contents | cksum)
fails crash 'parsing crashed \(signal 11\)'
fails lie 'the process that parses it has sent an invalid message'
fails exit 'parsing ended early'
if [ -n "${DCPI_BUILD:-}" ]; then
	skip "a process that tries to escape" "sanitizers need further system calls"
else
	fails escape 'parsing crashed \(signal 4\)'
fi

# CPU time is limited, so that the test does not depend on the speed of the machine.
(ulimit -St 1; attacked loop)
is "loop: the import fails" $? 2
like "loop: with the reason" "$(cat "$work/err")" \
	"^dcpiimport: $work/perf.data: parsing exceeds the limit of CPU time$"
is "loop: the database is as before" "$(contents | cksum)" "$before"

# --- the same results without a filter ---------------------------------------

# imported NAME [COMMAND...]: import both recordings into a new database, and print its contents
imported()
{
	local file

	rm -f "$work/$1.db"*
	for file in perf stacks; do
		touch -d @1700000000 "$work/$file.data"
		"${@:2}" "$import" -q --db "$work/$1.db" "$work/$file.data" || return
	done
	sqlite3 -readonly "$work/$1.db" .dump
}

imported with > "$work/with" 2> "$work/err"
is "both recordings are imported" $? 0
is "without a message" "$(cat "$work/err")" ""
imported without "$build/tests/no_seccomp" > "$work/without" 2> "$work/err"
status=$?
if [ $status -eq 77 ]; then
	skip "without seccomp" "filters are not allowed here"
else
	is "without seccomp" "$status" 0
	like "a warning says so" "$(sort -u "$work/err")" \
		'^dcpiimport: warning: seccomp is not available; recordings are parsed without a sandbox$'
	check "the results are the same" cmp "$work/with" "$work/without"
fi

# --- privileges of the process ---------------------------------------------------

# field NAME: print a field of the status of the process that parses
field()
{
	awk -v name="$1:" '$1 == name { print $2 }' "/proc/$parser/status"
}

ATTACK=loop LD_PRELOAD=$work/attack.so "$import" --db "$db" "$work/perf.data" 2> /dev/null &
import_pid=$!
pids+=("$import_pid")
parses()
{
	parser=$(cat "/proc/$import_pid/task/$import_pid/children" 2> /dev/null)
	parser=${parser%% *}
	[ -n "$parser" ] && [ "$(field Seccomp)" = 2 ]
}
check "a process of its own parses, with a filter for system calls" eventually parses
parses
is "without new privileges" "$(field NoNewPrivs)" 1
is "without capabilities" "$(field CapEff)" 0000000000000000
if [ "$(id -u)" -eq 0 ] && [ -z "${DCPI_BUILD:-}" ]; then
	is "as nobody" "$(field Uid)" 65534
fi
gone()
{
	[ ! -e "/proc/$parser" ] || [ "$(field State)" = Z ]
}
kill -9 "$import_pid"
check "it ends with its parent" eventually gone

tap_done
