#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# image_counts.sh FILE PATH: print the instructions of one image from FILE, which count_plugin.c
# wrote, as "OFFSET COUNT".
set -eu
awk -v wanted="image $2" '
	/^image / { inside = $0 == wanted; next }
	inside { print $1, $4; found = 1 }
	END { exit !found }' "$1"
