#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Make line programs of several versions, some of them for functions that were removed, for
# tests/fuzz_dead_lines.c: line_fixtures.sh DIRECTORY
set -eu
cd "$1"

cat > lines.c << 'END'
int left_out(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i * n ^ sum;
	return sum;
}
int main(int argc, char **argv)
{
	return argv[argc - 1][0] == argc;
}
END
for compiler in gcc clang; do
	for version in 2 4 5; do
		$compiler -O1 -g -gdwarf-$version -ffunction-sections -Wl,--gc-sections lines.c -o program
		objcopy -O binary --only-section=.debug_line --set-section-flags .debug_line=alloc \
			program "$compiler-$version"
	done
done
rm -f lines.c program
