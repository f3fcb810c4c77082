#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how fast dcpiprof lists an epoch with samples in 500 images of this machine, and prints
# lines of tests/eval/bench/bench.h: without the index of symbols, while it is made, and with it. Figures are
# seconds, and instructions, which valgrind counts. Files are in the page cache.
#
# usage: bench_dcpiprof.sh [IMAGES]
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/lib/images_of_machine.sh
make --no-print-directory -s build/tests/make_profile_db >&2 || exit 2
count=${1:-500}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C XDG_CACHE_HOME=$scratch/cache

# samples PATH: print samples at 40 places of its code
samples()
{
	machine_text "$1" | awk '{ srand(1)
		for (i = 0; i < 40; i++)
			printf "sample 0 %d 1\n", $1 + int(rand() * $2) }'
}

{
	echo "event cycles cycles 60000 64000"
	echo "epoch $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	machine_images "$count" | while read -r path id; do
		echo "image file $id $path"
		samples "$path"
		cat "$path" > /dev/null
	done
	echo end
} | build/tests/make_profile_db "$scratch/db" || exit 2

prof()
{
	build/bin/dcpiprof --db "$scratch/db" --csv > "$scratch/out"
}

# figure NAME WORKLOAD VALUE UNIT: print a line of tests/eval/bench/bench.h
figure()
{
	printf '{"name": "%s", "subject": "dcpiprof", "workload": "%s", "value": %s, "unit": "%s"}\n' "$@"
}

# measure WORKLOAD: print the seconds
measure()
{
	local start

	start=$(date +%s.%N)
	prof || exit 1
	figure report_seconds "$1" "$(awk -v a="$start" -v b="$(date +%s.%N)" \
		'BEGIN { printf "%.3f", b - a }')" s
}

# instructions WORKLOAD: print the instructions
instructions()
{
	figure report_instructions "$1" "$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		build/bin/dcpiprof --db "$scratch/db" --csv 2>&1 > /dev/null |
		sed -n 's/.*Collected : //p')" instructions
}

n=$(sqlite3 -readonly "$scratch/db" 'SELECT count(*) FROM image')
DCPI_SYMBOL_CACHE=off measure "$n images, no index"
mv "$scratch/out" "$scratch/want"
measure "$n images, the index is made"
measure "$n images, with the index"
cmp "$scratch/out" "$scratch/want" >&2 || exit 1
figure index_bytes "$n images" "$(du -sb "$scratch/cache" | cut -f1)" bytes
DCPI_SYMBOL_CACHE=off instructions "$n images, no index"
instructions "$n images, with the index"
