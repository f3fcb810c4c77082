/* SPDX-License-Identifier: GPL-2.0-only */
/* Invariants of every control-flow graph, for any code. */
#ifndef DCPI_TESTS_CFG_CHECK_H
#define DCPI_TESTS_CFG_CHECK_H

#include "analysis/graph/cfg.h"

/** cfg_check() - Return: NULL, or a description of the violated invariant. */
const char *cfg_check(const struct cfg *cfg);

#endif
