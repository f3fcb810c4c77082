#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the time of dcpisumm and dcpitopstalls for a machine that ran 1,500 images. Print lines of
# tests/eval/bench/bench.h: wall time, CPU time, and CPU time divided by that of an analysis of every
# procedure. The hottest image has 60,000 samples, the n-th one 1/n of that. Files are in the page
# cache.
#
# usage: bench_dcpisumm.sh [IMAGES]
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/lib/images_of_machine.sh
make --no-print-directory -s build/tests/make_profile_db >&2 || exit 2
count=${1:-1500}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C XDG_CACHE_HOME=$scratch/cache

# samples PATH NUMBER: print samples, most of them at few places
samples()
{
	machine_text "$1" | awk -v samples=$((60000 / $2 + 2)) -v number="$2" '{ srand(number)
		places = int(samples ^ 0.8)
		for (i = 0; i < samples; i++) {
			place = int(places * rand() ^ 3)
			seen[(place * 7919 * 64) % $2 + int(8 * rand()) * 4]++
		}
		for (place in seen)
			if (place < $2)
				printf "sample 0 %d %d\n", $1 + place, seen[place] }'
}

{
	echo "event cpu-clock ns 1000000 1100000"
	echo "epoch $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	number=0
	machine_images "$count" | while read -r path id; do
		number=$((number + 1))
		echo "image file $id $path"
		samples "$path" $number
		cat "$path" > /dev/null
	done
	echo end
} | build/tests/make_profile_db "$scratch/db" || exit 2

# figure NAME SUBJECT VALUE UNIT: print a line of tests/eval/bench/bench.h
figure()
{
	printf '{"name": "%s", "subject": "%s", "workload": "%s images, %s CPUs", "value": %s, "unit": "%s"}\n' \
		"$1" "$2" "$images" "$(nproc)" "$3" "$4"
}

# times TOOL ARGUMENT...: print wall time, and CPU time of user and kernel, in seconds
times()
{
	local TIMEFORMAT='%R %U %S'

	{ time "build/bin/$1" --db "$scratch/db" --json "${@:2}" > "$scratch/out" \
		2> "$scratch/err"; } 2>&1 | awk '{ print $1, $2 + $3 }'
	[ -s "$scratch/out" ] || { cat "$scratch/err" >&2; return 1; }
}

images=$(sqlite3 -readonly "$scratch/db" 'SELECT count(*) FROM image')
all=$(times dcpisumm --min-samples 1) || exit 1
for tool in dcpisumm dcpitopstalls; do
	own=$(times $tool) || exit 1
	figure summary_seconds $tool "${own% *}" s
	figure summary_cpu_seconds $tool "${own#* }" s
	figure summary_cpu_vs_all_procedures $tool "$(awk -v a="${own#* }" -v b="${all#* }" \
		'BEGIN { printf "%.3f", a / b }')" ratio
done
exit 0
