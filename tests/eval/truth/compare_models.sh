#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# compare_models.sh PROGRAMS: compare the machine models with llvm-mca and with the simulator. The
# comparison with llvm-mca uses code that exists on every machine that can run the tests. The one
# with the simulator uses the programs that it has run ("make accuracy" leaves them in build/truth).
# PROGRAMS is the folder of block_cycles and schedule_check. Prints a JSON object per line.
set -eu
cd "$(dirname "$0")/../../.."
arm64=/usr/aarch64-linux-gnu/lib/libc.so.6
truth=build/truth

tests/eval/truth/mca.py "$1/block_cycles" cortex-a53 cortex-a53 aarch64-linux-gnu $arm64 40
tests/eval/truth/mca.py "$1/block_cycles" cortex-a55 cortex-a55 aarch64-linux-gnu $arm64 40
while read -r model cpu; do
	tests/eval/truth/mca.py "$1/block_cycles" "$model" "$cpu" x86_64-linux-gnu /bin/bash 40
done << END
skylake skylake
ice-lake icelake-server
zen2 znver2
zen3 znver3
END

simulated()
{
	for sim in "$truth/$2"/*.sim; do
		program=$(basename "$sim" .sim)
		[ -e "$truth/bin/$program.$3" ] || continue
		"$1/schedule_check" "$2" "$truth/bin/$program.$3" "$sim" "$truth/$2/$program.edges"
	done
}

simulated "$1" alpha21164 alpha
simulated "$1" cortex-a53 arm64
