#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Code and names of images that no longer exist: upgraded, deleted, without a name, in another mount
# namespace, or short-lived. Needs perf_event_open for the machine.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
socket=$work/dcpid.sock
db=$work/dcpi.db
: > "$work/empty.conf"
daemon=("$bin/dcpid" --source perf --socket "$socket" --config "$work/empty.conf" --db "$db"
	--merge-interval 1 --drain-interval 100 --image-store "$work/* /memfd:nameless*")

# program NAME VERSION [CFLAG...]: make a program with one hot procedure, NAME_VERSION, which adds
# its version, and a constant that distinguishes versions in a listing
program()
{
	local name=$1 version=$2

	shift 2
	cat > "$work/$name.c" <<-C
		#include <stdint.h>
		#include <stdlib.h>
		__attribute__((noinline, noclone)) uint64_t ${name}_$version(uint64_t n)
		{
			volatile uint64_t x = 0;
			while (n-- > 0)
				x = (x + 0x1230$version) * 3;
			return x;
		}
		int main(int argc, char **argv)
		{
			return ${name}_$version(strtoul(argv[argc - 1], 0, 0) * 1000000) == 7;
		}
	C
	${CC:-gcc} -O1 -g -Wl,--build-id=sha1 "$@" -o "$work/$name" "$work/$name.c" || exit 1
}

build_id()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# copy_of FILE [SUFFIX]: print its place in the store
copy_of()
{
	local id

	id=$(build_id "$1")
	echo "$db-images/${id:0:2}/${id:2}${2:-.elf}"
}

# content_copy_of FILE: print a pattern of copies of files with that build-id that other users can
# write: their names begin with a digest of the contents
content_copy_of()
{
	echo "$db-images/??/*$(build_id "$1").user.content"
}

# until_copied COPY CMD...: run a program that does not end, until its copy has been made; COPY may
# be a pattern
until_copied()
{
	local copy=$1 pid status

	shift
	"$@" &
	pid=$!
	pids+=("$pid")
	eventually compgen -G "$copy" > /dev/null
	status=$?
	kill "$pid"
	wait "$pid" 2> /dev/null
	return $status
}

procedures()
{
	"$bin/dcpiprof" --db "$db" --json "$@" 2> "$work/stderr" | jq -r '.rows[].procedure' |
		grep -vx '<.*>' | sort -u | paste -sd' '
}

store()
{
	ctl --json status | jq -r ".[\"store.$1\"]"
}

if ! daemon_start; then
	skip "the image store" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi

# An upgrade by rename, as package managers do it.
program upgraded 1
cp "$work/upgraded" "$work/v1"
until_copied "$(copy_of "$work/v1")" "$work/upgraded" 1000000
check "a hot image is copied" cmp "$work/v1" "$(copy_of "$work/v1")"
is "for its group only" "$(stat -c '%a' "$(copy_of "$work/v1")")" 640
is "in folders of theirs" "$(stat -c '%a' "$db-images" "$(dirname "$(copy_of "$work/v1")")" |
	sort -u)" 750
mv "$work/upgraded" "$work/old"
program upgraded 2
until_copied "$(copy_of "$work/upgraded")" "$work/upgraded" 1000000
rm "$work/old" "$work/v1"

# The file is deleted while it runs, before the daemon has seen it.
program deleted 1
copy=$(copy_of "$work/deleted")
# shellcheck disable=SC2016,SC2094
until_copied "$copy" sh -c 'rm "$0" && exec "/proc/self/fd/9" 1000000' "$work/deleted" \
	9< "$work/deleted"

# The file was never in a directory.
program nameless 1
cat > "$work/nameless.py" <<'PYTHON'
import os, sys
fd = os.memfd_create("nameless")
os.write(fd, open(sys.argv[1], "rb").read())
os.execv(f"/proc/self/fd/{fd}", ["nameless", "1000000"])
PYTHON
until_copied "$(content_copy_of "$work/nameless")" python3 "$work/nameless.py" "$work/nameless"
rm "$work/nameless"

# In a separate mount namespace, at a path where this namespace has another file.
program contained 1
cp "$work/contained" "$work/image"
echo "not this" > "$work/contained"
chmod 755 "$work/contained"
if [ "$(id -u)" -eq 0 ] && unshare -m mount --bind "$work/image" "$work/contained"; then
	# shellcheck disable=SC2016
	check "an image of another mount namespace is copied" until_copied \
		"$db-images/??/*$(build_id "$work/image").content" unshare -m sh -c \
		'mount --bind "$0" "$1" && exec "$1" 1000000' "$work/image" "$work/contained"
	is "and is what has its samples" "$(procedures --image '*contained*')" contained_1
else
	skip "an image of another mount namespace" "cannot mount"
fi

# Each process ends before the daemon sees it; the file stays.
program brief 1
copy=$(copy_of "$work/brief")
brief_is_copied()
{
	"$work/brief" 4
	[ -e "$copy" ]
}
eventually brief_is_copied
check "an image of short-lived processes" test -e "$copy"

eventually status_is store.waiting 0
like "the store is told" "$(ctl_status)" '^store.images +[1-9][0-9]*$'
like "and its bytes, for monitors" "$(ctl metrics)" '^dcpi_image_store\{name="bytes"\} [1-9][0-9]+$'
is "nothing failed" "$(store failed), $(store lost)" "0, 0"

# A copy that another user made is not accepted as the superuser's.
if [ "$(id -u)" -eq 0 ]; then
	program mine 1
	program theirs 1 -Wl,--build-id="0x$(build_id "$work/mine")"
	chown 65534 "$work/theirs"
	until_copied "$(content_copy_of "$work/mine")" \
		setpriv --reuid=65534 --clear-groups -- "$work/theirs" 1000000
	check "somebody's file is somebody's copy" cmp "$work/theirs" \
		"$(compgen -G "$(content_copy_of "$work/mine")")"
	check "and not the superuser's" test ! -e "$(copy_of "$work/mine")"
	daemon_stop TERM
	daemon_start
	until_copied "$(copy_of "$work/mine")" "$work/mine" 1000000
	check "the superuser's is beside it" cmp "$work/mine" "$(copy_of "$work/mine")"
	rm "$work/mine"
	is "and is the one that is looked at" "$(procedures --image '*/mine')" mine_1
	rm "$work/theirs"
	is "the other one is somebody's" "$(procedures --image '*/theirs')" theirs_1
else
	skip "copies by owner" "needs the superuser"
fi
daemon_stop TERM

is "an upgraded program's procedures" "$(procedures --image '*/upgraded')" "upgraded_1 upgraded_2"
like "its first version's code" "$("$bin/dcpicalc" --db "$db" --image '*/upgraded' upgraded_1 2>&1)" \
	'lea 0x36903\('
like "its second version's code" "$("$bin/dcpicalc" --db "$db" --image '*/upgraded' upgraded_2 2>&1)" \
	'lea 0x36906\('
is "a deleted program's procedures" "$(procedures --image '*/deleted*')" deleted_1
is "a nameless program's procedures" "$(procedures --image '*nameless*')" nameless_1
rm -r "$db-images"
is "without the store they have no names" "$(procedures --image '*/deleted*')" ""
like "and the first version's code is not to be had" \
	"$("$bin/dcpicalc" --db "$db" --image '*/upgraded' upgraded_1 2>&1)" "upgraded_1"

# Only the requested images are copied.
rm -f "$db"*
daemon_start --image-store none
"$work/upgraded" 200
ctl flush
check "none are kept if none are asked for" test ! -e "$db-images"
daemon_stop TERM
rm -f "$db"*
daemon_start --image-store "$work/up*"
until_copied "$(copy_of "$work/upgraded")" "$work/upgraded" 1000000
daemon_stop TERM
is "images asked for are kept" "$(find "$db-images" -type f | wc -l)" 1
tap_done
