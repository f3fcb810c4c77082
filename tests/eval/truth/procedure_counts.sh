#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# procedure_counts.sh FILE PROGRAM: print the sum of each procedure named hot_* from FILE, which
# count_plugin.c wrote, as "NAME COUNT".
set -eu
program=$(realpath "$2")
symbols=$(mktemp)
trap 'rm -f "$symbols"' EXIT
readelf -sW "$program" | awk '$4 == "FUNC" && $8 ~ /^hot_/ { print $8, $2, $3 }' | sort -u >"$symbols"
awk -v wanted="image $program" '
	function hex(text, i, value) {
		text = tolower(text)
		for (i = 1; i <= length(text); i++)
			value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return value
	}
	NR == FNR { name[NR] = $1; first[NR] = hex($2); bytes[NR] = $3; total = NR; next }
	/^image / { inside = $0 == wanted; next }
	inside {
		at = hex($2)
		for (i = 1; i <= total; i++)
			if (at >= first[i] && at < first[i] + bytes[i])
				sum[i] += $4
	}
	END {
		for (i = 1; i <= total; i++)
			print name[i], sum[i] + 0
		exit !total
	}' "$symbols" "$1"
