/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was sampled in a procedure, laid over its control-flow graph: the input of
 * everything that estimates.
 */
#ifndef DCPI_PROCEDURE_PROFILE_H
#define DCPI_PROCEDURE_PROFILE_H

#include "analysis/graph/cfg.h"

/** enum profile_event_role - what an event's samples are evidence of. */
enum profile_event_role {
	PROFILE_ROLE_IMISS,
	PROFILE_ROLE_DMISS,
	PROFILE_ROLE_BRANCH_MISS,
	PROFILE_ROLE_DTB_MISS,
	PROFILE_ROLE_ITB_MISS,
	PROFILE_ROLES,
};

/**
 * struct profile_role_samples - samples of an event beside time
 * @samples: one for each instruction; NULL: not collected
 * @period:  events a sample stands for, on average
 */
struct profile_role_samples {
	double *samples;
	double period;
};

/**
 * struct procedure_profile - arrays are parallel to the graph's
 * @samples:      of time, for each instruction (DCPI's S_i)
 * @total:        their sum
 * @period_cycles: cycles that a sample of time stands for, on average (P)
 * @period_error: relative uncertainty of @period_cycles: 0 if cycles were counted; of
 *                clocks, what is not known of the core's frequency
 * @clock:        time was sampled by a clock, not by the cycle counter
 * @unmatched:    samples at addresses where no instruction begins
 * @edge_samples: how often an edge was seen, for each edge; NULL: edges were not sampled
 * @branch_total: how often each instruction's branch was seen at all, to any target;
 *                NULL likewise
 * @roles:        other events
 * @exact:        executions of each instruction, from instrumentation; NULL
 * @calls_in:     executions of the procedure that its callers' estimates add up to, as
 *                struct frequency_estimate has them; < 0: not known. @calls_in_weight: how
 *                far that is to be trusted: its relative variance is 1 / @calls_in_weight
 * @slowness:     out of order: how much longer than usual its instructions take, by what
 *                calls between procedures say; 0: not known
 */
struct procedure_profile {
	double *samples;
	double total;
	double period_cycles;
	double period_error;
	bool clock;
	double unmatched;
	double *edge_samples;
	double *branch_total;
	struct profile_role_samples roles[PROFILE_ROLES];
	double *exact;
	double calls_in;
	double calls_in_weight;
	double slowness;
};

/** struct address_count - samples at an address. */
struct address_count {
	uint64_t address;
	double count;
};

/**
 * struct branch_count - how often control was seen to go from a branch to a target
 * @to:       address; UINT64_MAX: in another image
 * @to_image: which one, as image_samples.image has it, and @to_offset in its file
 */
struct branch_count {
	uint64_t from;
	uint64_t to;
	double count;
	int64_t to_image;
	uint64_t to_offset;
};

/**
 * procedure_profile_create() - lay samples over a graph
 * @ret:     out; freed by procedure_profile_deinit()
 * @samples: of time, by address, ascending; those outside the procedure are passed over
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_profile_create(struct procedure_profile *ret, const struct cfg *cfg,
			     const struct address_count *samples, size_t count,
			     double period_cycles);

/** procedure_profile_add_role() - add the samples of another event. Return: 0 or -ENOMEM. */
int procedure_profile_add_role(struct procedure_profile *profile, const struct cfg *cfg,
			       enum profile_event_role role, const struct address_count *samples,
			       size_t count, double period);

/** procedure_profile_add_branches() - add sampled edges, by (from, to). Return: 0 or -ENOMEM. */
int procedure_profile_add_branches(struct procedure_profile *profile, const struct cfg *cfg,
				   const struct branch_count *branches, size_t count);

void procedure_profile_deinit(struct procedure_profile *profile);

#endif
