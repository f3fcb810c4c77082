/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flow constraints of a graph in terms of its frequency classes: at each node, inflow equals
 * outflow. Constraints that hold for all frequencies (one class in, the same class out) are left
 * out.
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
 * @first: index in @terms of each constraint's first term; @count + 1 elements
 * @loose: for each constraint: it holds only if all targets of unresolved jumps are known. True for
 *         the constraint of CFG_UNKNOWN and, in graphs with unresolved jumps, for the inflow of
 *         blocks
 */
struct flow_constraints {
	struct flow_term *terms;
	uint32_t *first;
	bool *loose;
	uint32_t count;
};

/**
 * flow_constraints_create() - build the constraints of a graph, O(blocks + edges)
 * @ret: out; freed by flow_constraints_deinit()
 *
 * A block has two constraints: one between its class and its incoming edges, one between its class
 * and its outgoing edges, stops included. A side of a block without edges has no constraint.
 * CFG_ENTRY and CFG_EXIT have the class of the procedure on their other side.
 *
 * Return: 0 or -ENOMEM.
 */
int flow_constraints_create(struct flow_constraints *ret, const struct cfg *cfg,
			    const struct frequency_classes *classes);

void flow_constraints_deinit(struct flow_constraints *constraints);

#endif
