#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the module on every kernel that it supports: Debian's newest 6.1 and 6.12 (from backports),
# x86-64 and arm64. On each it must build without a warning (warnings are errors), and sparse must
# report nothing. On x86-64 6.12 the tests of this folder run as well; "make check" runs them on
# 6.1.
#
#   KERNELS_RUN=no   build only
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

top=$PWD
export QEMU_APT_SOURCES=$top/tests/qemu/backports.list
# shellcheck source=tests/qemu/apt.sh
. tests/qemu/apt.sh

# newest DEB_ARCH [SUITE]: print the release of the newest kernel there
newest()
{
	apt_private "$1" apt-cache ${2:+-t "$2"} --no-all-versions show "linux-headers-$1" |
		sed -n 's/^Depends: linux-headers-\([^ ]*\).*/\1/p'
}

# build ARCH RELEASE: build with warnings as errors, then again under sparse
build()
{
	local kdir cross='' log

	kdir=$(tests/qemu/headers.sh "$1" "$2") || return 1
	[ "$1" = "$(uname -m)" ] || cross=CROSS=$1
	log=$(make --no-print-directory -s ${cross:+"$cross"} KDIR="$kdir" kmod sparse 2>&1) || {
		echo "$log"
		return 1
	}
	# make warns if the kernel was built by another compiler, or by another version of it.
	log=$(grep -iE 'warning' <<< "$log" | grep -vE 'compiler differs|jobserver')
	[ -z "$log" ] || {
		echo "$log"
		return 1
	}
}

# Print the machine's own TAP with "# " before each line.
run()
{
	local kdir status=0

	kdir=$(tests/qemu/headers.sh x86_64 "$1") || return 1
	make --no-print-directory -s KDIR="$kdir" QEMU_PAYLOAD=build/qemu/payload-"$1" \
		qemu-check > build/qemu/kernels.tap 2>&1 || status=$?
	sed 's/^/# /' build/qemu/kernels.tap
	return $status
}

for deb_arch in amd64 arm64; do
	arch=$deb_arch
	[ $arch = amd64 ] && arch=x86_64
	apt_alone apt_private $deb_arch apt-get update
	for suite in '' bookworm-backports; do
		release=$(newest $deb_arch $suite)
		check "$arch ${release:-(none)}: no warnings, sparse is content" build $arch "$release"
	done
done
if [ "${KERNELS_RUN:-yes}" = yes ]; then
	release=$(newest amd64 bookworm-backports)
	mkdir -p build/qemu
	run "$release"
	is "x86_64 $release: the module's tests pass" $? 0
fi
tap_done
