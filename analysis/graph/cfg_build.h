/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks and edges out of what is known of each instruction. Internal to cfg_create.c. */
#ifndef DCPI_CFG_BUILD_H
#define DCPI_CFG_BUILD_H

#include "analysis/graph/cfg.h"
#include "analysis/graph/cfg_flow.h"

/**
 * cfg_build() - make the graph
 * @ret:  out: all but the instructions, which stay the code's; freed by cfg_clear()
 * @flow: after cfg_flow_reach()
 *
 * Return: 0 or -ENOMEM.
 */
int cfg_build(struct cfg *ret, const struct cfg_flow *flow);

/** cfg_build_tables() - add what the jumps' tables are, once that is settled. Return: as above. */
int cfg_build_tables(struct cfg *cfg, const struct cfg_flow *flow);

#endif
