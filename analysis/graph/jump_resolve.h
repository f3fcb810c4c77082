/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resolution of the targets of indirect jumps. Internal to cfg_create.c.
 */
#ifndef DCPI_JUMP_RESOLVE_H
#define DCPI_JUMP_RESOLVE_H

#include "analysis/graph/cfg.h"
#include "analysis/graph/cfg_flow.h"

/**
 * jump_resolve() - resolve all reached indirect jumps
 * @flow: updated
 * @cfg:  its graph
 *
 * The length of a table follows from comparisons. Without them, a table ends at the next table of
 * the procedure or at the first entry that is not the address of one of its instructions. A jump
 * that takes its target from elsewhere while the stack is as on entry is a tail call. New targets
 * change the graph, so the jumps must then be resolved again.
 *
 * Return: 1 if something has changed; 0; -ENOMEM.
 */
int jump_resolve(struct cfg_flow *flow, const struct cfg *cfg);

#endif
