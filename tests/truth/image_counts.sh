#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# image_counts.sh FILE PATH: of what count_plugin.c wrote, the instructions of
# one image, as "OFFSET COUNT".
set -eu
awk -v wanted="image $2" '
	/^image / { inside = $0 == wanted; next }
	inside { print $1, $4; found = 1 }
	END { exit !found }' "$1"
