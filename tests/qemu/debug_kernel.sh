#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# debug_kernel.sh CHECKER: build Debian's kernel source with debug_kernel.config and
# debug_kernel_CHECKER.config below build/debug-kernel (once) and print the folder. The folder is a
# KDIR for modules and holds arch/x86/boot/bzImage. CHECKER nmi uses nmi_kernel.config alone, for
# arm64; that folder holds arch/arm64/boot/Image.
#
#   CHECKER                kasan, kcsan or nmi
#   DEBUG_KERNEL_SERIES    the version in linux-source-VERSION, default 6.1
#   DEBUG_KERNEL_JOBS      jobs of make, default the number of CPUs
set -eu

[ $# = 1 ] || { echo "usage: debug_kernel.sh kasan|kcsan|nmi" >&2; exit 2; }
checker=$1
series=${DEBUG_KERNEL_SERIES:-6.1}
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/qemu/apt.sh
. "$here/apt.sh"
base=$top/build/debug-kernel
source=$base/linux-source-$series
out=$base/$checker

# Unpack the source tree once.
unpack() {
	[ ! -e "$source/.complete" ] || return 0
	deb=$(apt_deb amd64 "linux-source-$series")
	[ -n "$deb" ] || { echo "no package linux-source-$series"; return 1; }
	rm -rf "$source" "$base/unpack"
	mkdir -p "$base/unpack"
	dpkg-deb -x "$deb" "$base/unpack" &&
		tar -C "$base" -xf "$base/unpack/usr/src/linux-source-$series.tar.xz" &&
		rm -rf "$base/unpack" &&
		touch "$source/.complete"
}

# kconfig silently drops an option that it does not know, or that another option forbids. Check that
# every requested option is in the result.
config_took() {
	missing=$(grep '^CONFIG_.*=[^n]' "$out/wanted" | grep -vxFf "$out/.config") || return 0
	echo "debug_kernel.sh: not in the configuration: $missing" >&2
	return 1
}

configure() {
	mkdir -p "$out"
	cp "$out.wanted" "$out/wanted"
	(cd "$source" && scripts/kconfig/merge_config.sh -n -O "$out" "$out/wanted") && config_took
}

configs="$here/debug_kernel.config $here/debug_kernel_$checker.config" image=bzImage
if [ "$checker" = nmi ]; then
	configs=$here/nmi_kernel.config image=Image
	export ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-
fi
mkdir -p "$base"
# shellcheck disable=SC2086 # a list of files
cat $configs >"$out.wanted"
if [ ! -e "$out/.complete" ] || ! cmp -s "$out.wanted" "$out/wanted"; then
	echo "# building the $checker kernel: takes many minutes, once" >&2
	{
		unpack &&
			rm -f "$out/.complete" &&
			configure &&
			nice -n 15 make -C "$source" O="$out" -s -j"${DEBUG_KERNEL_JOBS:-$(nproc)}" \
				$image modules
	} >"$out.log" 2>&1 || { tail -n 20 "$out.log" >&2; exit 2; }
	touch "$out/.complete"
fi
echo "$out"
