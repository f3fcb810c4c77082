/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists sampled call stacks or off-CPU time as the rows of a report.
 *
 * A stack counts once for a procedure, for a caller or for a callee, however often the procedure or
 * the call occurs in the stack. So no total exceeds that of all stacks.
 */
#ifndef DCPI_STACK_LISTING_H
#define DCPI_STACK_LISTING_H

#include "tools/report/report.h"
#include "tools/stacks/stack_profile.h"

/** enum stack_view - meaning of the rows */
enum stack_view {
	STACK_VIEW_INCLUSIVE, /* Procedures, with all that they call. */
	STACK_VIEW_CALLERS,   /* Callers of a procedure. */
	STACK_VIEW_CALLEES,   /* Procedures that a procedure calls. */
	STACK_VIEW_TREE,      /* Each procedure below its caller. */
};

/**
 * struct stack_row - a row
 * @name:    of the procedure; in a tree indented by @depth
 * @percent: of @total, in that of all stacks; callers, callees: of the procedure's stacks
 */
struct stack_row {
	char *name;
	const char *image;
	uint64_t self;
	uint64_t total;
	double self_percent;
	double percent;
	uint64_t depth;
};

/** struct stack_listing - freed by stack_listing_deinit(); @profile: the caller's */
struct stack_listing {
	const struct stack_profile *profile;
	enum stack_view view;
	struct stack_row *rows;
	size_t row_count;
	size_t row_capacity;
	size_t limit;
	uint64_t whole;
	struct report_total totals[4];
};

/**
 * stack_listing_make() - make the rows, in descending order of their totals
 * @procedure: of STACK_VIEW_CALLERS and STACK_VIEW_CALLEES: its name
 * @limit:     maximum number of rows; 0: all
 *
 * O(nodes * depth). Return: 0; -ENOENT: no stack has the procedure; -ENOMEM.
 */
int stack_listing_make(struct stack_listing *ret, const struct stack_profile *profile,
		       enum stack_view view, const char *procedure, size_t limit,
		       struct error *err);
void stack_listing_deinit(struct stack_listing *listing);

/** stack_listing_report() - make a report without its header; it points to @listing */
struct report stack_listing_report(struct stack_listing *listing);

#endif
