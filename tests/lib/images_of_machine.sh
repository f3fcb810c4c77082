# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Lines of tests/fixtures/make_profile_db.c for ELF files of this machine, for benchmarks.

# machine_images COUNT: print path and build-id of COUNT ELF files, or of all if there are fewer
machine_images()
{
	find -L /usr/bin /usr/sbin /usr/lib /usr/libexec -type f \( -name '*.so*' -o -perm -u+x \) \
		-size +8k -exec readlink -f {} + 2> /dev/null | sort -u |
		xargs -d '\n' readelf -n 2> /dev/null |
		awk '/^File: / { path = $2 } /Build ID:/ && !seen[$3]++ { print path, $3 }' |
		shuf -n "$1" --random-source=<(yes)
}

# machine_text PATH: print file offset and length of its code, in decimal
machine_text()
{
	readelf -SW "$1" 2> /dev/null | sed -n 's/^ *\[[ 0-9]*\] \.text  *PROGBITS //p' |
		while read -r _ offset bytes _; do
			echo $((16#$offset)) $((16#$bytes))
		done
}
