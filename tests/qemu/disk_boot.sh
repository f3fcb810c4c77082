#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# disk_boot.sh MODULES OUTPUT: make an initramfs that mounts /dev/vda and switches to it. MODULES:
# folder with the kernel's modules (lib/modules/RELEASE).
set -eu

modules=$1 output=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/mnt"
cp /bin/busybox "$root/bin/busybox"
"$here/disk_modules.sh" "$modules" "$root/modules"
cp "$here/disk_init" "$root/init"
chmod 755 "$root/init"
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$output"
