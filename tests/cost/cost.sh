#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# cost.sh RELEASE PAYLOAD LOG: run cost_guest.sh in the machine that counts
# instructions, and print what cost.awk makes of its figures. The console is
# left in LOG.
set -eu

[ $# = 3 ] || { echo "usage: cost.sh RELEASE PAYLOAD LOG" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp)
trap 'rm -f "$out"' EXIT

status=0
"$here/../qemu/run.sh" --arch arm64 --release "$1" --payload "$2" --cpus 1 --memory 2048 \
	--icount 0 --timeout "${COST_TIMEOUT:-3600}" --log "$3" --script "$here/cost_guest.sh" \
	>"$out" || status=$?
grep -E '^not ok|^#   ' "$out" >&2 || true
sed -n 's/\r$//; s/^@tap cost_guest //p' "$3" | awk -f "$here/cost.awk"
exit $status
