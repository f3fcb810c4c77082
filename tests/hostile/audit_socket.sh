#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Any user may send to the audit socket. A hostile user sends datagrams that are truncated, too large,
# random, or carry descriptors, and as many as possible. The daemon must ignore them at a limited cost,
# keep no descriptor, and credit the samples of another user's program.
#
#	DCPI_BUILD	where the build is (default: build)
#	ALL		not empty: all attacks
#	HOSTILE_SECONDS	length of each attack (default: 0.5)
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
socket=$work/dcpid.sock
seconds=${HOSTILE_SECONDS:-0.5}
: > "$work/empty.conf"
chmod 755 "$work"
cat > "$work/victim.c" <<'C'
#include <time.h>
int main(void)
{
	volatile unsigned int x = 0;
	while (clock() < CLOCKS_PER_SEC / 2)
		for (int i = 0; i < 100000; i++)
			x = x * 3 + 1;
	return 0;
}
C
${CC:-gcc} -O1 -o "$work/victim" "$work/victim.c" || exit 1

# A message as of loader-hook/audit/audit_message.h, whose numbers and bytes are then changed.
cat > "$work/send.py" <<'PY'
import array, os, random, socket, sys, time

path, mode, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sender.setblocking(False)
good = open(sys.argv[4], "rb").read()
random.seed(1)
null = os.open("/dev/zero", os.O_RDONLY)
os.setgroups([])
os.setgid(int(sys.argv[5]))
os.setuid(int(sys.argv[5]))
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [null] * 200))]
sent, end = 0, time.monotonic() + seconds


def send(data, control=()):
    global sent
    while time.monotonic() < end:
        try:
            sender.sendmsg([data], list(control), 0, path)
            sent += 1
            return
        except BlockingIOError:
            time.sleep(0.001)
        except OSError:
            return


def changed():
    data = bytearray(good)
    for _ in range(random.randrange(1, 4)):
        data[random.randrange(len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, 10, 27))
    return bytes(data)


while time.monotonic() < end:
    if mode == "lengths":
        send(good[: random.randrange(len(good) + 1)])
        send(good + bytes(random.randrange(1, 200000)))
        send(b"")
    elif mode == "changes":
        send(changed())
    elif mode == "descriptors":
        send(good, rights)
    else:
        send(good)
print(sent)
PY
cat > "$work/message.c" <<'C'
#include <stdio.h>
#include <string.h>
#include "loader-hook/audit/audit_message.h"
int main(void)
{
	static _Alignas(8) unsigned char data[1024];
	struct audit_message *head = (void *)data;
	struct audit_record *record = (void *)(head + 1);
	const char *path = "/usr/bin/evil\n\033[31m";

	record->type = AUDIT_RECORD_MAP;
	record->path_bytes = (unsigned int)strlen(path) + 1;
	record->bytes = (unsigned short)((sizeof(*record) + record->path_bytes + 7) / 8 * 8);
	record->start = 0x400000;
	record->length = 0x1000;
	memcpy(record->path, path, record->path_bytes);
	*head = (struct audit_message){.magic = AUDIT_MESSAGE_MAGIC,
		.flags = AUDIT_MESSAGE_BEGINS, .bytes = sizeof(*head) + record->bytes};
	return fwrite(data, head->bytes, 1, stdout) != 1;
}
C
${CC:-gcc} -I"$top" -o "$work/message" "$work/message.c" && "$work/message" > "$work/good" || exit 1

db=$work/audit.db
daemon=("$bin/dcpid" --source perf -e cpu-clock:1000000 --config "$work/empty.conf"
	--socket "$socket" --image-events audit --audit-socket "$work/images.sock"
	--image-store none --drain-interval 100 --db "$db")
daemon_start || {
	not_started "image events by audit"
	tap_done
	exit
}

# descriptors: print the number of the daemon's descriptors that a sender has passed
descriptors()
{
	find "/proc/$daemon_pid/fd" -lname /dev/zero 2> /dev/null | wc -l
}

# cpu_ms: print the CPU time of the daemon
cpu_ms()
{
	sed 's/.*) //' "/proc/$daemon_pid/stat" |
		awk -v hz="$(getconf CLK_TCK)" '{ print int(($12 + $13) * 1000 / hz) }'
}

victim=("env" "LD_AUDIT=$build/lib/libdcpi-audit.so" "DCPI_AUDIT_SOCKET=$work/images.sock"
	"$work/victim")
"${victim[@]}"
modes="lengths descriptors"
[ -z "${ALL:-}" ] || modes="$modes changes flood"
for mode in $modes; do
	cpu=$(cpu_ms)
	python3 "$work/send.py" "$work/images.sock" "$mode" "$seconds" "$work/good" $attacker \
		> "$work/sent" 2>&1 &
	pid=$!
	[ "$mode" != flood ] || "${victim[@]}"
	wait $pid
	check "$mode: the daemon answers" "$bin/dcpictl" --socket "$socket" flush
	check "$mode: datagrams were sent ($(cat "$work/sent")), at CPU time $(($(cpu_ms) - cpu)) ms" \
		[ "$(cat "$work/sent")" -gt 10 ]
	is "$mode: no descriptor is left" "$(descriptors)" 0
done
"${victim[@]}"
"$bin/dcpictl" --socket "$socket" flush > /dev/null
daemon_stop
is "the daemon stops in good order" "$daemon_status" 0
is "it accounts for every sample" "$(identity "$db")" ""
samples=$(sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile JOIN image ON image.id = image
	WHERE path = '$work/victim'")
check "the victim's samples are credited ($samples)" [ "$samples" -gt 600 ]
is "the log has no control characters" "$(LC_ALL=C grep -c '[[:cntrl:]]' "$work/log")" 0
tap_done
