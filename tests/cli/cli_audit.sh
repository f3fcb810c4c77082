#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The LD_AUDIT library: its hosts behave as without it, even if no daemon listens. The daemon knows
# all mappings through it alone.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"

library=$work/libdcpi-audit.so
cp "$build/lib/libdcpi-audit.so" "$library" || exit 1
images=$work/images.sock
loads=$work/loads
${CC:-gcc} -O2 -g -D_GNU_SOURCE -o "$loads" "$top/tests/fixtures/programs/loads.c" -ldl -lpthread || exit 1
for name in one two brief another; do
	${CC:-gcc} -O2 -g -shared -fPIC -DKINDS_LIBRARY \
		-Wl,--build-id="0x$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" \
		-o "$work/lib$name.so" "$top/tests/fixtures/programs/kinds.c" || exit 1
done
${CC:-gcc} -O2 -g -shared -fPIC -DKINDS_LIBRARY -Wl,--build-id=none -o "$work/libnone.so" \
	"$top/tests/fixtures/programs/kinds.c" || exit 1
one=$work/libone.so two=$work/libtwo.so

# The library has no dependencies: no C library, no thread-local memory, no symbols that clash.
is "it needs the loader alone" "$(readelf -dW "$library" | awk '/NEEDED/ { print $NF }')" \
	"$(readelf -lW /bin/sh | sed -n 's,.*interpreter: .*/\(.*\)],[\1],p')"
is "it has from there where the stack is" \
	"$(nm -D --undefined-only "$library" | awk '{ sub("@.*", "", $2); print $2 }')" __libc_stack_end
is "it gives the loader's hooks" "$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | xargs)" \
	"la_activity la_objclose la_objopen la_version"
is "it has no thread-local memory" "$(readelf -lW "$library" | grep -c TLS)" 0

audited()
{
	DCPI_AUDIT_SOCKET=$images LD_AUDIT=$library timeout --foreground "$(patience)" "$@"
}

# same NAME MODE...: test that a host prints and returns the same as without the library
same()
{
	local name=$1 want got

	shift
	want=$("$loads" "$@" 2>&1; echo "status $?")
	got=$(audited "$loads" "$@" 2>&1; echo "status $?")
	is "$name: $1" "$got" "$want"
}

all_same()
{
	same "$1" state "$one"
	same "$1" loop "$one" 300
	same "$1" threads "$one" 100
	same "$1" fork "$one"
	same "$1" seccomp "$one"
	same "$1" loop "$work/libnone.so" 10
	is "$1: a static program" "$(audited "$work/static" 2>&1)" "$("$work/static" 2>&1)"
}
echo 'int main(void) { return 0; }' > "$work/static.c"
${CC:-gcc} -static -o "$work/static" "$work/static.c" || exit 1

# listen [READ]: open a socket, without or with a reader
listen()
{
	rm -f "$images" "$images.full"
	python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while len(sys.argv) > 2:
    s.recv(65536)
c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
c.setblocking(False)
try:
    while True:
        c.sendto(b"full", sys.argv[1])
except BlockingIOError:
    open(sys.argv[1] + ".full", "w")
time.sleep(600)' "$images" "$@" &
	pids+=($!)
	if [ $# -gt 0 ]; then
		eventually test -S "$images"
	else
		eventually test -e "$images.full"
	fi
}

listen_end()
{
	kill "${pids[-1]}" && wait "${pids[-1]}" 2> /dev/null
	unset 'pids[-1]'
}

all_same "nobody listens"
listen
all_same "who listens has stopped"
listen_end
all_same "who listened is dead"
listen read
all_same "somebody reads"

# calls N AUDIT: print the number of system calls of a host, with that value of LD_AUDIT
calls()
{
	strace -f -qq -o "$work/calls" -E "LD_AUDIT=$2" -E "DCPI_AUDIT_SOCKET=$images" \
		"$loads" loop "$one" "$1" > /dev/null 2>&1
	wc -l < "$work/calls"
}

# Print the additional system calls of a dlopen and a dlclose.
added_calls()
{
	echo $((($(calls 20 "$library") - $(calls 10 "$library") - $(calls 20 "") + $(calls 10 "")) / 10))
}

if command -v strace > /dev/null && strace -o /dev/null true 2> /dev/null; then
	told=$(added_calls)
	echo "# somebody listens: $told system calls for a dlopen and a dlclose"
	if [ "$told" -gt 2 ] && [ "$told" -le 30 ]; then
		ok "somebody listens: at most 30 system calls for a dlopen and a dlclose"
	else
		not_ok "somebody listens: at most 30 system calls for a dlopen and a dlclose" "$told"
	fi
	listen_end
	rm "$images"
	is "nobody listens: one for each" "$(added_calls)" 2
else
	skip "system calls" "no strace, or it is not allowed"
	listen_end
fi

# A daemon that gets image events only from the library.
: > "$work/empty.conf"
socket=$work/sock db=$work/audit.db
daemon=("$bin/dcpid" --source perf --image-events audit --audit-socket "$images"
	--socket "$socket" --config "$work/empty.conf" --image-store none --drain-interval 100)
starts "the daemon listens" --db "$db" -e cpu-clock:1000000
like "its status says so" "$(ctl status)" 'image events: audit'
all_same "the daemon listens"

# image_samples PATH: print the samples of an image of the last program
image_samples()
{
	sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile p JOIN image i ON i.id = p.image
		WHERE i.path = '$1'"
}

sleep 1.5
is "two libraries: the program" "$(audited "$loads" swap 40 "$one" "$two")" "at the same address"
ctl flush > /dev/null
first=$(image_samples "$one") second=$(image_samples "$two")
if awk -v a="$first" -v b="$second" 'BEGIN {
	exit !(a + b > 300 && a > 0.4 * (a + b) && a < 0.6 * (a + b)) }'; then
	ok "two libraries at one address: each has half of the samples"
else
	not_ok "two libraries at one address: each has half of the samples" "$first and $second"
fi

# Programs that live for less than a tenth of a second.
for _ in $(seq 20); do
	audited "$loads" swap 1 "$work/libbrief.so" "$work/libbrief.so" > /dev/null
done
if [ "$(id -u)" -eq 0 ]; then
	audited setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		"$loads" swap 10 "$work/libanother.so" "$work/libanother.so" > /dev/null
fi
daemon_stop TERM
is "the daemon ends" "$daemon_status" 0
check "it takes its socket away" test ! -e "$images"
is "every sample is accounted for" "$(identity "$db")" ""
is "the epoch says who told" "$(sql "$db" "SELECT DISTINCT instr(source_reason, 'image events: audit') > 0
	FROM epoch")" 1

# known NAME FILE: test that the file has samples, under the reported build-id
known()
{
	is "$1" "$(sql "$db" "SELECT lower(hex(identity)) FROM image WHERE path = '$2'")" \
		"$(readelf -n "$2" | awk '/Build ID/ { print $3 }')"
}

known "brief programs are known" "$work/libbrief.so"
[ "$(id -u)" -ne 0 ] || known "so are other users'" "$work/libanother.so"
refused "without a socket nobody can tell" 'audit_socket' "$bin/dcpid" --source perf \
	--image-events audit --audit-socket "" --socket "" --config "$work/empty.conf" --db "$work/none.db"
tap_done
