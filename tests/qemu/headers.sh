#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# headers.sh ARCH RELEASE: fetch the packages that are needed to build modules for that kernel
# (Debian's headers, and kbuild's programs for this host), unpack them below build/qemu (once) and
# print the folder for KDIR=.
set -eu

[ $# = 2 ] || { echo "usage: headers.sh ARCH RELEASE" >&2; exit 2; }
arch=$1 release=$2
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/qemu/arch/x86_64.sh
. "$here/arch/$arch.sh"
# shellcheck source=tests/qemu/apt.sh
. "$here/apt.sh"

root=$top/build/qemu/$arch/headers-$release
kdir=$root/usr/src/linux-headers-$release

# unpack ARCH PACKAGE: unpack the package into the folder
unpack() {
	deb=$(apt_deb "$1" "$2")
	[ -n "$deb" ] || { echo "headers.sh: no package $2 for $1" >&2; exit 2; }
	dpkg-deb -x "$deb" "$root"
}

# depends PATTERN: print the package that the headers depend on and that matches PATTERN
depends() {
	dpkg-deb -f "$(apt_deb "$DEB_ARCH" "linux-headers-$release")" Depends | grep -oE "$1"
}

if [ ! -e "$root/.complete" ]; then
	rm -rf "$root"
	mkdir -p "$root"
	unpack "$DEB_ARCH" "linux-headers-$release"
	unpack "$DEB_ARCH" "$(depends 'linux-headers-[^ ,]*-common[^ ,]*')"
	unpack "$(dpkg --print-architecture)" "$(depends 'linux-kbuild-[^ ,]*')"
	# The packages expect to be installed in the host's /usr.
	sed -i "s#/usr/\(src\|lib\)/linux-#$root&#g" "$root"/usr/src/*/Makefile
	# Without vmlinux, modules are built without BTF, which would need a pahole as new as the
	# kernel's.
	rm -f "$kdir/vmlinux"
	touch "$root/.complete"
fi
echo "$kdir"
