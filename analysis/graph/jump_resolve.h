/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding out where indirect jumps lead. Internal to cfg_create.c. */
#ifndef DCPI_JUMP_RESOLVE_H
#define DCPI_JUMP_RESOLVE_H

#include "analysis/graph/cfg.h"
#include "analysis/graph/cfg_flow.h"

/**
 * jump_resolve() - look at all indirect jumps that are reached
 * @flow: updated
 * @cfg:  its graph
 *
 * Tables are read as far as comparisons say; where there are none, up to the next table
 * of the procedure or the first entry that leads to no instruction of it. A jump that
 * takes its target from elsewhere when the stack is as on entry is a tail call. New
 * targets change the graph, by which jumps must be looked at again.
 *
 * Return: 1 something has changed; 0; -ENOMEM.
 */
int jump_resolve(struct cfg_flow *flow, const struct cfg *cfg);

#endif
