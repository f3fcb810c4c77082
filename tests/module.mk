# SPDX-License-Identifier: GPL-2.0-only
UNIT_TESTS += unit_util
unit_util-src := tests/unit_util.c
unit_util-archives := util
