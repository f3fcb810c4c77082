# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034
# Properties of a machine; sourced by the scripts of this folder. To support another architecture,
# add another file like this one.

DEB_ARCH=amd64
GNU_TYPE=x86_64-linux-gnu
CONSOLE=ttyS0
# Debian's packages for a release such as 6.1.0-56-amd64.
kernel_package() { echo "linux-image-$1"; }
# The kernel inside the unpacked package, given its folder and the release.
kernel_file() { echo "$1/boot/vmlinuz-$2"; }

QEMU='qemu-system-x86_64 -cpu max'
QEMU_EXACT='-seed 1 -rtc base=2026-01-01,clock=vm'
