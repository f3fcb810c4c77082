#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the Debian packages in a machine with systemd: see tests/qemu/systemd/. The machine's disk is made
# once and cached in build/cache; each run uses a copy.
set -eu
cd "$(dirname "$0")/../.."
release=$(make -s --no-print-directory qemu-release)
system=build/cache/systemd-$release.ext4
work=build/qemu/systemd
debs=$work/payload/debs

rm -rf "$work"
mkdir -p "$work/payload/tests" "$debs/old" "$debs/new"
# package VERSION FOLDER: build the packages with that version number
package()
{
	make -s --no-print-directory deb DEB_VERSION="$1" > "$work/deb.log" 2>&1 || {
		cat "$work/deb.log" >&2
		exit 2
	}
	cp build/deb/dcpi_"$1"_*.deb build/deb/dcpi-dkms_"$1"_*.deb "$debs/$2"
}
package "$(make -s --no-print-directory version)" old
package 9.9 new
# The dependencies of the built packages, without versions.
mapfile -t depends < <(dpkg-deb -f "$debs"/old/dcpi_*.deb Depends Pre-Depends |
	sed 's/^[A-Za-z-]*: //; s/([^)]*)//g; s/|[^,]*//g' | tr -d ' ' | tr ',' '\n' | sort -u)
tests/qemu/disk.sh "$release" "$system" "${depends[@]}"
cp tests/lib/tap.sh "$work/payload/"
cp tests/qemu/systemd/package.sh "$work/payload/tests/"
tar -C "$work/payload" -cf "$work/payload.tar" .
truncate -s %512 "$work/payload.tar"
cp --sparse=always "$system" "$work/system.ext4"
tests/qemu/disk_boot.sh "$(tests/qemu/image.sh x86_64 "$release")/lib/modules" "$work/initramfs"
QEMU_MORE="-drive file=$work/system.ext4,format=raw,if=virtio \
	-drive file=$work/payload.tar,format=raw,if=virtio,readonly=on" \
	exec tests/qemu/run.sh --release "$release" --payload "$work/payload" \
	--initramfs "$work/initramfs" --memory 2048 --timeout "${QEMU_TIMEOUT:-2400}" \
	--log "$work/console.log" --script tests/qemu/systemd/package.sh
