# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034
# A 64-bit ARM machine whose CPUs have a PMU (PMUv3) with overflow interrupts; see x86_64.sh for the
# variables. Its cycle counter counts nanoseconds of the machine's time; instructions are counted
# with --icount.

DEB_ARCH=arm64
GNU_TYPE=aarch64-linux-gnu
CONSOLE=ttyAMA0
kernel_package() { echo "linux-image-$1"; }
kernel_file() { echo "$1/boot/vmlinuz-$2"; }

QEMU='qemu-system-aarch64 -machine virt,gic-version=3 -cpu cortex-a53 -nic none'
# With --icount: no seeds or times from the host.
QEMU_EXACT='-machine dtb-randomness=off -seed 1 -rtc base=2026-01-01,clock=vm'
