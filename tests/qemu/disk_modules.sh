#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# disk_modules.sh MODULES OUTPUT: copy the modules that a kernel needs for /dev/vda with ext4 into
# the folder OUTPUT, named in the order in which insmod must load them. MODULES: folder with the
# kernel's modules (lib/modules/RELEASE).
set -eu

modules=$1 output=$2
mkdir -p "$output"
number=10
for name in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk \
	crc16 crc32c_generic libcrc32c mbcache jbd2 ext4; do
	file=$(find "$modules" -name "$name.ko" | head -n 1)
	[ -n "$file" ] || continue # built into the kernel
	cp "$file" "$output/$number-$name.ko"
	number=$((number + 1))
done
