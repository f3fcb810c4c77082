/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Building blocks and edges from the flow of each instruction. Internal to cfg_create.c.
 */
#ifndef DCPI_CFG_BUILD_H
#define DCPI_CFG_BUILD_H

#include "analysis/graph/cfg.h"
#include "analysis/graph/cfg_flow.h"

/**
 * cfg_build() - build the graph
 * @ret:  out; freed by cfg_clear(). The instructions still belong to the code
 * @flow: after cfg_flow_reach()
 *
 * Return: 0 or -ENOMEM.
 */
int cfg_build(struct cfg *ret, const struct cfg_flow *flow);

/**
 * cfg_build_tables() - add the jump tables after the last change of @flow. Return: 0 or -ENOMEM.
 */
int cfg_build_tables(struct cfg *cfg, const struct cfg_flow *flow);

#endif
