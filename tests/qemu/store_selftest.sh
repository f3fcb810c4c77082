# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# 10^7 random operations on the sample store as the kernel's compiler built it.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh

check "the store follows its model in the kernel" insmod /lib/dcpi_selftest.ko
rmmod dcpi_selftest
tap_done
