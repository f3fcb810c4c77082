#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Files of the programs are not accessible to every user, with any umask of the user that starts
# them.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
socket=$work/run/dcpid.sock
db=$work/made/dcpi.db
: > "$work/empty.conf"
daemon=("$bin/dcpid" --source perf --socket "$socket" --config "$work/empty.conf" --db "$db"
	--merge-interval 1 --drain-interval 100 --image-store "$work/*")

# modes PATH...: print each name with its mode
modes()
{
	stat -c '%n %a' "$@" | sed "s|^$work/||"
}

# loose: print paths below $work/made that users other than owner and group can access, or that the
# group can write.
loose()
{
	find "$work/made" -perm /027 ! -type d ! -type s -print
	find "$work/made" -type d -perm /027 -print
}

cat > "$work/hot.c" <<'C'
int main(void)
{
	for (volatile unsigned long x = 0;; x++)
		;
}
C
${CC:-gcc} -O1 -Wl,--build-id=sha1 -o "$work/hot" "$work/hot.c" || exit 1
umask 000
if ! daemon_start; then
	skip "modes of the daemon's files" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi
"$work/hot" &
pids+=("$!")
has_copy()
{
	[ -n "$(find "$db-images" -type f 2> /dev/null)" ]
}
check "an image is copied" eventually has_copy
is "database files" "$(modes "$db" "$db-wal" "$db-shm")" "made/dcpi.db 640
made/dcpi.db-wal 640
made/dcpi.db-shm 640"
is "folders" "$(modes "$work/made" "$db-images")" "made 750
made/dcpi.db-images 750"
is "nothing is for others" "$(loose)" ""
is "everybody may reach the sockets' folder" "$(stat -c %a "$work/run")" 755
is "the control socket is the group's" "$(stat -c %a "$socket")" 660
daemon_stop TERM
is "after the end, too" "$(loose)" ""

# Files of dcpirun belong to the caller, and the umask may restrict them further.
mkdir "$work/mine"
for mask in 000:640 022:640 077:600; do
	umask "${mask%:*}"
	file=$work/mine/${mask%:*}.db
	"$bin/dcpirun" -q --db "$file" true
	is "dcpirun with umask ${mask%:*}" "$(stat -c %a "$file")" "${mask#*:}"
done
tap_done
