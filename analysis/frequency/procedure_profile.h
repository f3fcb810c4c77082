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
 * struct profile_round - two branches, and how often they were executed in the same time: from
 * one execution of either to another (PROFILE_EDGE_ROUND)
 * @insns:      instructions
 * @executions: > 0
 */
struct profile_round {
	uint32_t insns[2];
	double executions[2];
};

/**
 * profile_round_variance() - of the logarithm of a ratio of executions
 *
 * Fitted on programs of tests/accuracy/x86_programs.txt: how unlike each other rounds are.
 */
double profile_round_variance(const struct profile_round *round);

/**
 * struct profile_told - executions of a call, by what the called procedure's samples say
 * @call:       cfg.calls[@call]
 * @executions: > 0, as struct frequency_estimate has them
 * @weight:     their relative variance is 1 / @weight
 */
struct profile_told {
	uint32_t call;
	double executions;
	double weight;
};

/**
 * struct procedure_profile - arrays are parallel to the graph's
 * @samples:      of time, for each instruction (DCPI's S_i)
 * @taken:        where these fell, if they were moved (skid.h); else NULL
 * @unsure:       likewise, of each instruction: its samples are no evidence
 * @total:        their sum
 * @period_cycles: cycles that a sample of time stands for, on average (P)
 * @period_error: relative uncertainty of @period_cycles: 0 if cycles were counted; of
 *                clocks, what is not known of the core's frequency
 * @clock:        time was sampled by a clock, not by the cycle counter
 * @clock_ns:     of a clock: time between two samples, on average; 0: not known
 * @all:          samples of time, of all procedures and images, no less than @total
 * @unmatched:    samples at addresses where no instruction begins
 * @edge_samples: how often an edge was seen, for each edge; NULL: edges were not sampled
 * @edge_probes:  likewise by probes, which see all executions of a branch for a while: as many
 *                as they are worth (probe_worth.h). NULL likewise
 * @gaps:         of each instruction, how many times it was measured what time passes from one
 *                execution of that branch to the next; NULL: of none. @gap_samples: all of it,
 *                as samples that are taken meanwhile. @gap_variance: see struct branch_count
 * @rounds:       branches whose executions were counted against each other, @round_count
 * @branch_total: how often each instruction's branch was seen at all, to any target;
 *                NULL likewise
 * @roles:        other events
 * @exact:        executions of each instruction, from instrumentation; NULL: not counted
 * @exact_edges:  likewise of each edge; NaN: not known; NULL with @exact
 * @exact_low, @exact_high: relative to @exact, an interval as in struct frequency_estimate:
 *                both 1 unless it is not known how much of what was counted was sampled
 * @calls_in:     executions of the procedure that its callers' estimates add up to, as
 *                struct frequency_estimate has them; < 0: not known. @calls_in_weight: how
 *                far that is to be trusted: its relative variance is 1 / @calls_in_weight
 * @told:         executions of calls, in order of the calls, @told_count; NULL: nothing is known
 * @slowness:     out of order: how much longer than usual its instructions take, by what
 *                calls between procedures say; 0: not known
 */
struct procedure_profile {
	double *samples;
	double *taken;
	bool *unsure;
	double total;
	double period_cycles;
	double period_error;
	bool clock;
	double clock_ns;
	double all;
	double unmatched;
	double *edge_samples;
	double *edge_probes;
	double *gaps;
	double *gap_samples;
	double *gap_variance;
	struct profile_round *rounds;
	size_t round_count;
	double *branch_total;
	struct profile_role_samples roles[PROFILE_ROLES];
	double *exact;
	double *exact_edges;
	double exact_low;
	double exact_high;
	double calls_in;
	double calls_in_weight;
	struct profile_told *told;
	size_t told_count;
	double slowness;
};

/** procedure_profile_tells() - whether there is anything to estimate from. */
static inline bool procedure_profile_tells(const struct procedure_profile *profile)
{
	return profile->total > 0 || profile->calls_in > 0;
}

/** struct address_count - samples at an address. */
struct address_count {
	uint64_t address;
	double count;
};

/**
 * struct branch_count - how often control was seen to go from a branch to a target
 * @to:       address; UINT64_MAX: in another image
 * @count:    behind samples
 * @probes:   by probes (see procedure_profile.edge_probes), as a window is weighed
 * @beside:   no edge: executions of @from while @to was probed, too; where both are the
 *            same, windows in which it was probed
 * @moment:   no edge: see PROFILE_EDGE_MOMENT; of executions
 * @hits:     no edge: where both are the same, all executions in those windows
 * @gaps:     no edge: where both are the same, how many times it was measured what time passes
 *            from one execution to the next; @gap_ns: in all; @gap_variance: relative variance of
 *            @gaps / @gap_ns (gap_pool.h)
 * @rounds:   no edge: executions of @from in whole rounds of one of both branches, of which the
 *            other direction has how many there were, or these (PROFILE_EDGE_ROUND)
 * @to_image: which one, as image_samples.image has it, and @to_offset in its file
 */
struct branch_count {
	uint64_t from;
	uint64_t to;
	double count;
	double probes;
	double beside;
	double moment;
	double hits;
	double gaps;
	double gap_ns;
	double gap_variance;
	double rounds;
	int64_t to_image;
	uint64_t to_offset;
};

/**
 * struct exact_range - instructions that were executed equally often, by instrumentation
 * @start, @end: addresses; @end is behind the last one
 */
struct exact_range {
	uint64_t start;
	uint64_t end;
	double count;
};

/**
 * struct exact_counts - executions of an image's code, counted by instrumentation
 * @ranges:  of what ran, ascending, disjoint
 * @edges:   of edges that were counted and taken, by (from, to); to_image is not looked at
 * @scale:   executions in the profiled period for each one that was counted
 * @scale_low, @scale_high: an interval as in struct frequency_estimate
 *
 * Procedures in which nothing ran are as if they had not been counted.
 */
struct exact_counts {
	const struct exact_range *ranges;
	size_t range_count;
	const struct branch_count *edges;
	size_t edge_count;
	double scale;
	double scale_low;
	double scale_high;
};

/** exact_counts_of() - how often an instruction was executed, not scaled; 0 if none is listed. */
double exact_counts_of(const struct exact_counts *exact, uint64_t address);

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

/** procedure_profile_add_exact() - add exact counts, scaled. Return: 0 or -ENOMEM. */
int procedure_profile_add_exact(struct procedure_profile *profile, const struct cfg *cfg,
				const struct exact_counts *exact);

void procedure_profile_deinit(struct procedure_profile *profile);

#endif
