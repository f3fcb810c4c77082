# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
exec kmod_reload
