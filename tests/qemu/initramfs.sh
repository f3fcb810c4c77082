#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# initramfs.sh ARCH OUTPUT PAYLOAD SCRIPT...: pack a root file system.
#
# It holds a static busybox, init, tests/lib/tap.sh, storm.sh and profile.sh. Everything in the folder
# PAYLOAD is at the same place below /, with the shared libraries that its programs need. The
# scripts are in /tests, and are run in the given order. Libraries and busybox come from
# QEMU_SYSROOT, a folder with packages of that machine (default: /).
set -eu

[ $# -ge 4 ] || { echo "usage: initramfs.sh ARCH OUTPUT PAYLOAD SCRIPT..." >&2; exit 2; }
arch=$1 output=$2 payload=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/qemu/arch/x86_64.sh
. "$here/arch/$arch.sh"
sysroot=${QEMU_SYSROOT:-}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Print the first argument that is a file in the sysroot, without the sysroot's name.
first_file() {
	for place in "$@"; do
		[ -f "$sysroot$place" ] || continue
		echo "$place"
		return
	done
	echo "initramfs.sh: found no $1 below ${sysroot:-/}" >&2
	return 1
}

library_path() {
	case $1 in
	/*) first_file "$1" ;;
	*) first_file "/lib/$GNU_TYPE/$1" "/usr/lib/$GNU_TYPE/$1" "/lib64/$1" "/usr/lib64/$1" \
		"/lib/$1" "/usr/lib/$1" ;;
	esac
}

# Print the names that ELF files need, from "readelf -ld": loader and libraries.
needed() {
	sed -n 's/.*program interpreter: \(.*\)]$/\1/p; s/.*(NEEDED).*\[\(.*\)]$/\1/p' | sort -u
}

# Copy the libraries named on standard input, and their dependencies. (Not with ldd, which would run
# the programs.)
add_libraries() {
	while read -r name; do
		[ ! -e "$root/lib/$name" ] || continue
		path=$(library_path "$name") || return 1
		[ ! -e "$root$path" ] || continue
		mkdir -p "$root/$(dirname "$path")"
		cp -L "$sysroot$path" "$root$path"
		readelf -ld "$sysroot$path" | needed | add_libraries
	done
}

mkdir -p "$root/bin" "$root/dev" "$root/etc" "$root/lib" "$root/proc" "$root/run" \
	"$root/sys" "$root/tests" "$root/tmp"
cp -rL "$payload/." "$root/"
cp "${QEMU_BUSYBOX:-$sysroot$(first_file /bin/busybox /usr/bin/busybox)}" "$root/bin/busybox"
cp "$here/init" "$root/init"
cp "$here/../lib/tap.sh" "$here/../lib/storm.sh" "$here/profile.sh" "$root/lib/"
find "$payload" -type f -print0 | xargs -0 readelf -ld 2>/dev/null | needed | add_libraries

number=10
for script in "$@"; do
	cp "$script" "$root/tests/$number-$(basename "$script")"
	number=$((number + 1))
done
chmod 755 "$root/init"
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$output.new"
mv "$output.new" "$output"
