# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh

check "the module that makes a mistake loads" insmod /lib/dcpi_mistakes.ko \
	mistake="$(cat /etc/mistake)"
rmmod dcpi_mistakes
tap_done
