#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# headers.sh ARCH RELEASE: fetch what building modules for that kernel needs
# (Debian's headers, and kbuild's programs for this host), unpack it below
# build/qemu (once) and print the folder for KDIR=.
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

# unpack ARCH PACKAGE
unpack() {
	deb=$(apt_deb "$1" "$2")
	[ -n "$deb" ] || { echo "headers.sh: no package $2 for $1" >&2; exit 2; }
	dpkg-deb -x "$deb" "$root"
}

# depends PATTERN: the package that the headers need and that matches
depends() {
	dpkg-deb -f "$(apt_deb "$DEB_ARCH" "linux-headers-$release")" Depends | grep -oE "$1"
}

if [ ! -e "$root/.complete" ]; then
	rm -rf "$root"
	mkdir -p "$root"
	unpack "$DEB_ARCH" "linux-headers-$release"
	unpack "$DEB_ARCH" "$(depends 'linux-headers-[^ ,]*-common[^ ,]*')"
	unpack "$(dpkg --print-architecture)" "$(depends 'linux-kbuild-[^ ,]*')"
	# They expect to lie in the host's /usr.
	sed -i "s#/usr/\(src\|lib\)/linux-#$root&#g" "$root"/usr/src/*/Makefile
	# For BTF in modules, which takes a pahole as new as the kernel's.
	rm -f "$kdir/vmlinux"
	touch "$root/.complete"
fi
echo "$kdir"
