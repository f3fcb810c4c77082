#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# disk_boot.sh MODULES OUTPUT: an initramfs that mounts /dev/vda and goes on
# there. MODULES: folder with the kernel's modules (lib/modules/RELEASE).
set -eu

modules=$1 output=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/mnt" "$root/modules"
cp /bin/busybox "$root/bin/busybox"
number=10
for name in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk \
	crc16 crc32c_generic libcrc32c mbcache jbd2 ext4; do
	file=$(find "$modules" -name "$name.ko" | head -n 1)
	[ -n "$file" ] || continue # built in
	cp "$file" "$root/modules/$number-$name.ko"
	number=$((number + 1))
done
cp "$here/disk_init" "$root/init"
chmod 755 "$root/init"
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$output"
