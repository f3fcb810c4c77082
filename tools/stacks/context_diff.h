/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares the call stacks of two sets by context: a procedure with all its callers. Values are
 * shares of all stacks of a set, so that sets of different lengths can be compared.
 */
#ifndef DCPI_CONTEXT_DIFF_H
#define DCPI_CONTEXT_DIFF_H

#include <stdbool.h>

#include "lib/u64_map.h"
#include "tools/report/report.h"
#include "tools/stacks/stack_profile.h"

/**
 * struct context_row - a context in which stacks end
 * @path:       procedures, outermost first
 * @shares:     of the stacks of each set, percent
 * @difference: of these; its 95% interval is @error to both sides
 */
struct context_row {
	char *path;
	double shares[2];
	double difference;
	double error;
};

/**
 * struct context_diff - zero-initialised: empty; freed by context_diff_deinit()
 * @nodes: of both sets
 * @known: parent and procedure to the number of a node
 */
struct context_diff {
	struct context_row *rows;
	size_t row_count;
	size_t limit;
	struct context_node *nodes;
	size_t node_count;
	size_t node_capacity;
	struct u64_map known;
	struct report_total totals[2];
};

/**
 * context_diff_make() - make the rows of all contexts whose difference is larger than its error
 * @profiles: of two sets, before and after; remain the caller's, and valid as long as the rows
 * @limit:    maximum number of rows; 0: all
 *
 * Rows are in descending order of the absolute difference. Return: 0 or -ENOMEM.
 */
int context_diff_make(struct context_diff *ret, const struct stack_profile profiles[2],
		      size_t limit);
void context_diff_deinit(struct context_diff *diff);

/** context_diff_report() - make a report without its header; it points to @diff */
struct report context_diff_report(struct context_diff *diff);

#endif
