/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flow constraints of a graph, over its classes: at each node, what comes in goes out.
 * Constraints that hold for any frequencies (one class in, the same class out) are left out.
 */
#ifndef DCPI_FLOW_CONSTRAINTS_H
#define DCPI_FLOW_CONSTRAINTS_H

#include "analysis/graph/frequency_class.h"

/** struct flow_term - @sign (+1 in, -1 out) times the frequency of @class. */
struct flow_term {
	uint32_t class;
	int32_t sign;
};

/**
 * struct flow_constraints - sums of terms that are zero
 * @first: of each constraint, in @terms; @count + 1 of them
 * @loose: of each constraint: it holds as far as all targets of unresolved jumps are
 *         known: the one of CFG_UNKNOWN, and ways into blocks where there are such jumps
 */
struct flow_constraints {
	struct flow_term *terms;
	uint32_t *first;
	bool *loose;
	uint32_t count;
};

/**
 * flow_constraints_create() - O(blocks + edges)
 * @ret: out; freed by flow_constraints_deinit()
 *
 * Of a block: its class and its edges in; its class and its edges out, stops included.
 * A side of a block that has no edges has no constraint. CFG_ENTRY and CFG_EXIT have the
 * class of the procedure on their other side.
 *
 * Return: 0 or -ENOMEM.
 */
int flow_constraints_create(struct flow_constraints *ret, const struct cfg *cfg,
			    const struct frequency_classes *classes);

void flow_constraints_deinit(struct flow_constraints *constraints);

#endif
