#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# initramfs.sh OUTPUT PAYLOAD SCRIPT...: pack a root file system.
#
# It holds a static busybox, init, tests/tap.sh, everything in the folder PAYLOAD at
# the same place below /, the shared libraries that programs in it need (as ldd
# finds them), and the scripts in /tests, run in the order given.
set -eu

[ $# -ge 3 ] || { echo "usage: initramfs.sh OUTPUT PAYLOAD SCRIPT..." >&2; exit 2; }
output=$1 payload=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
busybox=${QEMU_BUSYBOX:-$(command -v busybox)}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mkdir -p "$root/bin" "$root/dev" "$root/etc" "$root/lib" "$root/proc" "$root/run" \
	"$root/sys" "$root/tests" "$root/tmp"
cp -rL "$payload/." "$root/"
cp "$busybox" "$root/bin/busybox"
cp "$here/init" "$root/init"
cp "$here/../tap.sh" "$root/lib/tap.sh"

# The libraries of dynamic programs, at the paths the loader looks for.
find "$payload" -type f -perm /111 | while read -r program; do
	ldd "$program" 2>/dev/null | grep -o '/[^ ]*' || true
done | sort -u | while read -r library; do
	[ -e "$library" ] || continue
	mkdir -p "$root/$(dirname "$library")"
	cp -L "$library" "$root/$library"
done

number=10
for script in "$@"; do
	cp "$script" "$root/tests/$number-$(basename "$script")"
	number=$((number + 1))
done
chmod 755 "$root/init"
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$output.new"
mv "$output.new" "$output"
