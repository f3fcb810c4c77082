#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# image.sh ARCH RELEASE: fetch Debian's kernel package of that release into build/cache (once),
# unpack it below build/qemu (once) and print the folder.
set -eu

[ $# = 2 ] || { echo "usage: image.sh ARCH RELEASE" >&2; exit 2; }
arch=$1 release=$2
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/qemu/arch/x86_64.sh
. "$here/arch/$arch.sh"
# shellcheck source=tests/qemu/apt.sh
. "$here/apt.sh"

root=$top/build/qemu/$arch/$release
package=$(kernel_package "$release")

if [ ! -e "$root/.complete" ]; then
	deb=$(apt_deb "$DEB_ARCH" "$package")
	[ -n "$deb" ] || { echo "image.sh: no package $package" >&2; exit 2; }
	rm -rf "$root"
	mkdir -p "$root"
	dpkg-deb -x "$deb" "$root"
	touch "$root/.complete"
fi
echo "$root"
