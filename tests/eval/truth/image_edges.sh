#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# image_edges.sh PATH FILE...: print the exact edges within one image from files that count_plugin.c
# wrote, summed over the files: "KIND FROM TO COUNT WEIGHT".
set -eu
path=$1
shift
awk -F '\t' -v path="$path" '
	/^edges / { if ($1 !~ / exact$/) { bad = 1; exit } next }
	$2 == path && $3 == path {
		split($1, f, " ")
		key = f[1] " " f[2] " " f[3]
		count[key] += f[4]
		weight[key] += f[5]
	}
	END {
		for (key in count)
			printf "%s %.0f %.0f\n", key, count[key], weight[key]
		exit bad || length(count) == 0
	}' "$@" | LC_ALL=C sort
