#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures the page of dcpireport: its size with 200 procedures of this machine's programs, the time
# to its first paint, and the time of an interaction until the next frame, in headless Chromium. An
# empty page is the reference. Prints lines of tests/eval/bench/bench.h.
#
# usage: bench_page.sh [PROCEDURES [ROUNDS]]
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/lib/images_of_machine.sh
make --no-print-directory -s build/tests/make_profile_db >&2 || exit 2
count=${1:-200} rounds=${2:-9}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C XDG_CACHE_HOME=$scratch/cache

# epoch SEED: print an epoch with samples at 400 places of each of 12 programs
epoch()
{
	echo "event cycles cycles 60000 64000"
	echo "epoch $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	machine_images 12 | while read -r path id; do
		echo "image file $id $path"
		machine_text "$path" | awk -v seed="$1" '{ srand(seed)
			for (i = 0; i < 400; i++) {
				at = $1 + int(rand() * rand() * rand() * $2)
				for (k = 0; k < 4; k++)
					printf "sample 0 %d %d\n", at + 4 * k, 1 + int(40 * rand())
			} }'
	done
	echo end
}

{
	epoch 1
	epoch 2
} | build/tests/make_profile_db "$scratch/db" || exit 2
build/bin/dcpireport --db "$scratch/db" -n "$count" -o "$scratch/page.html" >&2 || exit 2
/usr/bin/python3 tests/cli/page/page_bench.py "$scratch/page.html" "$rounds"
