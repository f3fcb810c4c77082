#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# image.sh ARCH RELEASE: fetch Debian's kernel package of that release into
# build/cache (once), unpack it below build/qemu (once) and print the folder.
#
# apt gets lists, state and cache of its own: neither the host's package lists
# nor its architectures change. Its sources are the host's, plus the lines of
# QEMU_APT_SOURCES, if set (a file in sources.list syntax).
set -eu

[ $# = 2 ] || { echo "usage: image.sh ARCH RELEASE" >&2; exit 2; }
arch=$1 release=$2
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/qemu/arch/x86_64.sh
. "$here/arch/$arch.sh"

cache=$top/build/cache/deb
root=$top/build/qemu/$arch/$release
package=$(kernel_package "$release")

private_apt() {
	mkdir -p "$top/build/cache/apt/lists/partial" "$top/build/cache/apt/archives/partial"
	: >"$top/build/cache/apt/status"
	tool=$1
	shift
	"$tool" -qq -o "APT::Architecture=$DEB_ARCH" -o "APT::Architectures=$DEB_ARCH" \
		-o "APT::Sandbox::User=$(id -un)" \
		-o "Dir::State::Lists=$top/build/cache/apt/lists" \
		-o "Dir::State::status=$top/build/cache/apt/status" \
		-o "Dir::Cache=$top/build/cache/apt" \
		${QEMU_APT_SOURCES:+-o "Dir::Etc::SourceList=$QEMU_APT_SOURCES"} "$@"
}

cached_deb() {
	find "$cache" -name "${package}_*_$DEB_ARCH.deb" 2>/dev/null | sort | tail -n 1
}

deb=$(cached_deb)
if [ -z "$deb" ]; then
	mkdir -p "$cache"
	{
		private_apt apt-get update
		cd "$cache" && private_apt apt-get download "$package"
	} >&2
	deb=$(cached_deb)
	[ -n "$deb" ] || { echo "image.sh: no package $package" >&2; exit 2; }
fi
if [ ! -e "$root/.complete" ]; then
	rm -rf "$root"
	mkdir -p "$root"
	dpkg-deb -x "$deb" "$root"
	touch "$root/.complete"
fi
echo "$root"
