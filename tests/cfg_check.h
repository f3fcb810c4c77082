/* SPDX-License-Identifier: GPL-2.0-only */
/* What must hold of every graph, whatever code it was made of. */
#ifndef DCPI_TESTS_CFG_CHECK_H
#define DCPI_TESTS_CFG_CHECK_H

#include "analysis/graph/cfg.h"

/** cfg_check() - Return: NULL, or what is wrong. */
const char *cfg_check(const struct cfg *cfg);

#endif
