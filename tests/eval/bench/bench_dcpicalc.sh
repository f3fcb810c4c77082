#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the speed of dcpicalc on large images, and print lines of tests/eval/bench/bench.h. The images are
# gcc's cc1, with samples in all procedures, and the largest library that clang is linked with, with
# one procedure. Files are in the page cache. Needs the build's packages only.
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/lib/images_of_machine.sh
make --no-print-directory -s build/tests/make_profile_db >&2 || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C

# make_db NAME IMAGE: make a database with two samples in every 64 bytes of code
make_db()
{
	local id

	id=$(readelf -n "$2" 2> /dev/null | sed -n 's/.*Build ID: //p')
	{
		echo "event cycles cycles 60000 64000"
		echo "epoch $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
		echo "image file ${id:--} $2"
		machine_text "$2" | awk '{ srand(1)
			for (i = 0; i < $2 / 32; i++)
				printf "sample 0 %d 1\n", $1 + int(rand() * $2) }'
		echo end
	} | build/tests/make_profile_db "$scratch/$1.db"
}

# seconds ARGUMENT...: print the wall time of dcpicalc
seconds()
{
	local start

	start=$(date +%s.%N)
	build/bin/dcpicalc "$@" > /dev/null || return 1
	awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.3f\n", b - a }'
}

fail()
{
	echo "bench_dcpicalc: $1" >&2
	exit 1
}

# figure NAME WORKLOAD VALUE UNIT: print a line of tests/eval/bench/bench.h
figure()
{
	printf '{"name": "%s", "subject": "dcpicalc", "workload": "%s", "value": %s, "unit": "%s"}\n' "$@"
}

image=$(${CC:-gcc} -print-prog-name=cc1)
[ -f "$image" ] || fail "gcc has no cc1"
make_db all "$image" || fail "cannot make the database of '$image'"
megabytes=$(machine_text "$image" | awk '{ printf "%.1f", $2 / 1e6 }')
cat "$image" > /dev/null
took=$(seconds --db "$scratch/all.db" --all --json) || fail "dcpicalc fails on '$image'"
figure analysis_all "cc1, $megabytes MB of code, $(nproc) CPUs" "$took" s

image=$(ldd "$(command -v clang || echo /bin/true)" 2> /dev/null | sed -n 's/.*libLLVM.* => \([^ ]*\).*/\1/p')
[ -f "$image" ] || fail "clang is not linked with libLLVM, or is not here"
make_db one "$(readlink -f "$image")" || fail "cannot make the database of '$image'"
megabytes=$(stat -L -c %s "$image" | awk '{ printf "%.0f", $1 / 1e6 }')
cat "$image" > /dev/null
for _ in 1 2 3 4 5; do
	seconds --db "$scratch/one.db" -n 5 'libLLVM*:llvm::LegalityQuery::print' ||
		fail "dcpicalc fails on '$image'"
done > "$scratch/seconds"
figure analysis_one "one procedure of libLLVM, $megabytes MB" \
	"$(sort -g "$scratch/seconds" | head -n 1)" s
