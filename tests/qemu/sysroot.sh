#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# sysroot.sh ARCH FOLDER PACKAGE...: unpack Debian's packages for that machine and all their
# dependencies into the folder, and print it. Link against it with gcc --sysroot, and take programs
# from it. No package is installed or configured. The folder is rebuilt only if the list of packages
# has changed.
set -eu

[ $# -ge 3 ] || { echo "usage: sysroot.sh ARCH FOLDER PACKAGE..." >&2; exit 2; }
arch=$1 root=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/qemu/arch/x86_64.sh
. "$here/arch/$arch.sh"
# shellcheck source=tests/qemu/apt.sh
. "$here/apt.sh"

if [ "$(cat "$root/.complete" 2>/dev/null)" != "$*" ]; then
	rm -rf "$root" "$root.debs"
	mkdir -p "$root"
	apt_with_dependencies "$DEB_ARCH" "$(realpath -m "$root.debs")" "$@"
	for deb in "$root.debs"/*.deb; do
		dpkg-deb -x "$deb" "$root"
	done
	# Absolute links refer to the machine's root; make them relative, so that they do not lead
	# to the host's.
	find "$root" -type l -lname '/*' | while read -r link; do
		ln -sfnr "$root$(readlink "$link")" "$link"
	done
	rm -rf "$root.debs"
	echo "$*" >"$root/.complete"
fi
echo "$root"
