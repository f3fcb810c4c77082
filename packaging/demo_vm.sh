#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demonstration in a separate QEMU machine, with the kernel module: for
# machines whose kernel does not permit sampling. Needs no privileges.
set -u
cd "$(dirname "$0")/.." || exit 2
payload=build/qemu/demo-payload
log=build/qemu/demo.log

rm -rf "$payload"
make --no-print-directory -s qemu-payload || exit 2
mkdir -p "$payload/bin" "$payload/lib"
cp -r build/qemu/payload/. "$payload"
cp "$(gcc -print-prog-name=cc1)" "$(command -v xz)" "$payload/bin" || exit 2
gcc -E -O2 -I. -D_GNU_SOURCE kmod/core/sample_store.c -o "$payload/lib/demo.i" || exit 2
release=$(make --no-print-directory -s qemu-release) || exit 2

echo "== Booting Linux $release in QEMU (emulated, so give it a minute)"
status=0
tests/qemu/run.sh --release "$release" --payload "$payload" --timeout 300 --log "$log" \
	--script packaging/demo_guest.sh > build/qemu/demo.tap || status=$?
sed -n 's/\r$//; s/^@tap demo_guest //p' "$log"
if [ $status -ne 0 ] && ! grep -q '^@end demo_guest 0' "$log"; then
	grep -v '^ok' build/qemu/demo.tap >&2
	exit 2
fi
