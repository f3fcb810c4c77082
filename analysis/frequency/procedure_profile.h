/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples and counts of a procedure, mapped onto its control-flow graph: the input of all
 * estimators.
 */
#ifndef DCPI_PROCEDURE_PROFILE_H
#define DCPI_PROCEDURE_PROFILE_H

#include "analysis/frequency/branch_records.h"
#include "analysis/graph/cfg.h"
#include "analysis/machine/data_footprint.h"

/** enum profile_event_role - microarchitectural event that an event's samples are evidence of. */
enum profile_event_role {
	PROFILE_ROLE_IMISS,
	PROFILE_ROLE_DMISS,
	PROFILE_ROLE_BRANCH_MISS,
	PROFILE_ROLE_DTB_MISS,
	PROFILE_ROLE_ITB_MISS,
	PROFILE_ROLES,
};

/**
 * struct profile_role_samples - samples of an event other than time
 * @samples: one for each instruction; NULL: not collected
 * @period:  average number of events per sample
 */
struct profile_role_samples {
	double *samples;
	double period;
};

/**
 * struct profile_reference - two branches and their executions in the same period, which begins and
 * ends with an execution of one of the two (PROFILE_EDGE_REFERENCE_INTERVAL)
 * @insns:      instructions
 * @executions: > 0
 */
struct profile_reference {
	uint32_t insns[2];
	double executions[2];
};

/**
 * profile_reference_variance() - return the variance of the logarithm of the ratio of executions
 *
 * Fitted on programs of tests/eval/accuracy/x86_programs.txt, to the variation between reference
 * iterations.
 */
double profile_reference_variance(const struct profile_reference *reference);

/**
 * struct profile_derived - executions of a call, derived from the called procedure's samples
 * @call:       cfg.calls[@call]
 * @executions: > 0, in the unit of struct frequency_estimate
 * @weight:     1 / their relative variance
 */
struct profile_derived {
	uint32_t call;
	double executions;
	double weight;
};

/**
 * struct register_change - a register that changed from one sample to another
 * @reg:   number in the encoding of instructions, below 32, or of a word of the frame, from 32 on
 *         (induction_map_word())
 * @delta: new value - old value
 */
struct register_change {
	uint8_t reg;
	int64_t delta;
};

/**
 * struct image_pair - two samples of a thread in one frame (daemon/source/register_pairs.h)
 * @from, @to: addresses of the earlier and the later sample
 * @samples:   sampling periods of the thread's time between them; for words of the frame, those of
 *             the frame itself
 * @weight:    number of pairs that it stands for, because it was selected from them at random
 * @changes:   registers that behave like counters, @change_count
 */
struct image_pair {
	uint64_t from;
	uint64_t to;
	double samples;
	double weight;
	const struct register_change *changes;
	size_t change_count;
};

/**
 * struct profile_remaining - samples of a loop by the remaining executions of its branch
 * @insn:  the branch
 * @class: of remaining executions (PROFILE_EDGE_REMAINING)
 * @count: samples
 */
struct profile_remaining {
	uint32_t insn;
	uint32_t class;
	double count;
};

/**
 * struct image_fault - page faults of an instruction
 * @address: of the instruction
 * @samples: of time that the kernel spent on its faults; not among those of the procedure
 * @stacks:  sampled call stacks that show it
 */
struct image_fault {
	uint64_t address;
	double samples;
	double stacks;
};

/**
 * struct profile_pair - an image_pair whose samples are both in the procedure
 * @insns: these samples
 * @words: @changes are those of words of the frame, which were read some time after the samples
 */
struct profile_pair {
	uint32_t insns[2];
	double samples;
	double weight;
	const struct register_change *changes;
	size_t change_count;
	bool words;
};

/**
 * struct procedure_profile - arrays are parallel to the graph's
 * @samples:       of time, for each instruction (DCPI's S_i)
 * @taken:         where the samples originally fell, if they were moved (skid.h); else NULL
 * @unsure:        if samples were moved, for each instruction: its samples are no evidence; else
 *                 NULL
 * @total:         sum of @samples
 * @period_cycles: cycles that a sample of time stands for, on average (P)
 * @period_error:  relative uncertainty of @period_cycles: 0 if cycles were counted; for clocks, the
 *                 uncertainty of the core's frequency
 * @clock:         time was sampled by a clock, not by the cycle counter
 * @clock_ns:      for a clock: average time between two samples; 0: unknown
 * @maskable:      the samples' interrupt waits while interrupts are disabled, and the code may
 *                 disable them
 * @all:           samples of time in all procedures and images, no less than @total
 * @unmatched:     samples at addresses where no instruction begins
 * @edge_samples:  sampled executions of each edge; NULL: edges were not sampled
 * @edge_probes:   executions of each edge seen by probes, which see all executions of a branch for
 *                 a while, scaled to their statistical weight (probe_worth.h); NULL: no probes
 * @records:       branch records of the processor; NULL: none. They also count as probes
 * @gaps:          for each instruction that is a branch, the number of measured times from one
 *                 execution to the next. NULL: none
 * @gap_samples:   sum of these times, as samples taken in them; @gap_variance: see struct
 *                 branch_count
 * @references:    @reference_count pairs of branches with executions counted relative to each other
 * @pairs:         @pair_count pairs of samples with changes of registers, see loop_clock.h
 * @footprints:    for each instruction, its accesses to data, or NULL if they are not known; NULL:
 *                 none are. @caches: of the machine
 * @faults:        for each instruction, its page faults, or NULL if none is known; NULL: none are
 * @call_stacks:   for each instruction that is a call, the sampled call stacks in it; NULL: none.
 *                 Only of the kernel
 * @remaining:     @remaining_count, by branch, ascending; see flow_trips.h
 * @code_bytes, @code_pages: upper bounds of the code that takes the time, see analysis/image_use.h;
 *                 0: not known
 * @entry_varied:  share of the branches to the procedure's entry that would be mispredicted if the
 *                 targets of these branches were random; 0: not known
 * @branch_varied: the same for the targets of each instruction's branch; NULL: not sampled
 * @branch_total:  sampled executions of each instruction's branch, to any target; NULL: not sampled
 * @roles:         other events
 * @exact:         executions of each instruction, from instrumentation; NULL: not counted
 * @exact_edges:   executions of each edge, from instrumentation; NaN: unknown; NULL if @exact is
 *                 NULL.
 * @exact_low, @exact_high: relative to @exact, an interval as in struct frequency_estimate: both 1
 *                 unless the ratio of counted to sampled executions is uncertain
 * @calls_in:      executions of the procedure, the sum of its callers' estimates, in the unit of
 *                 struct frequency_estimate; < 0: unknown. @calls_in_weight: 1 / its relative
 *                 variance. @calls_measured: the clock of a caller's loop counted them
 *                 (caller_clock.h)
 * @derived:       @derived_count executions of calls, in the order of the calls; NULL: none known
 * @slowness:      out of order: factor by which the procedure's instructions take longer than
 *                 modelled, derived from calls between procedures; 0: unknown
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
	bool maskable;
	double all;
	double unmatched;
	double *edge_samples;
	double *edge_probes;
	struct branch_records *records;
	double *gaps;
	double *gap_samples;
	double *gap_variance;
	struct profile_reference *references;
	size_t reference_count;
	struct profile_pair *pairs;
	size_t pair_count;
	const struct data_footprint **footprints;
	struct data_caches caches;
	const struct image_fault **faults;
	double *call_stacks;
	struct profile_remaining *remaining;
	size_t remaining_count;
	double code_bytes;
	double code_pages;
	double entry_varied;
	double *branch_varied;
	double *branch_total;
	struct profile_role_samples roles[PROFILE_ROLES];
	double *exact;
	double *exact_edges;
	double exact_low;
	double exact_high;
	double calls_in;
	double calls_in_weight;
	bool calls_measured;
	struct profile_derived *derived;
	size_t derived_count;
	double slowness;
};

/** procedure_profile_tells() - return true if the profile has evidence for an estimate. */
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
 * struct branch_count - observed executions of a branch to one target
 *
 * The members after @probes are not counts of an edge.
 *
 * @to:       address; UINT64_MAX: in another image
 * @count:    executions in sampled branch records
 * @probes:   executions seen by probes (see procedure_profile.edge_probes), weighted by window
 * @recorded: executions in branch records of the processor
 * @beside:   executions of @from while @to was probed, too; if @from equals @to, the number of
 *            windows in which it was probed
 * @moment:   moment of executions, see PROFILE_EDGE_SECOND_MOMENT
 * @hits:     if @from equals @to: all executions in those windows
 * @gaps:     if @from equals @to: number of measured times from one execution to the next;
 * @gap_ns:   their sum; @gap_variance: relative variance of @gaps / @gap_ns (gap_pool.h)
 * @reference_executions: executions of @from in complete reference iterations of one of the two
 *            branches. The entry of the opposite direction has the number of these iterations, or
 *            the other branch's executions (PROFILE_EDGE_REFERENCE_INTERVAL)
 * @remaining: samples of the loop, if @to is @from + a class (PROFILE_EDGE_REMAINING)
 * @to_image: image of the target, as in image_samples.image; @to_offset: offset in its file
 */
struct branch_count {
	uint64_t from;
	uint64_t to;
	double count;
	double probes;
	double recorded;
	double beside;
	double moment;
	double hits;
	double gaps;
	double gap_ns;
	double gap_variance;
	double reference_executions;
	double remaining;
	int64_t to_image;
	uint64_t to_offset;
};

/**
 * struct exact_range - instructions with the same number of executions, by instrumentation
 * @start, @end: addresses; @end is the address after the last instruction
 */
struct exact_range {
	uint64_t start;
	uint64_t end;
	double count;
};

/**
 * struct exact_counts - executions of an image's code, counted by instrumentation
 * @ranges: executed code, ascending, disjoint
 * @edges:  counted edges that were taken, by (from, to); to_image is ignored
 * @scale:  executions in the profiled period per counted execution
 * @scale_low, @scale_high: an interval as in struct frequency_estimate
 *
 * Procedures without any counted execution are treated as not counted.
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

/**
 * exact_counts_of() - return the counted executions of an instruction, unscaled; 0 if not listed.
 */
double exact_counts_of(const struct exact_counts *exact, uint64_t address);

/**
 * procedure_profile_create() - map samples onto a graph
 * @ret:     out; freed by procedure_profile_deinit()
 * @samples: of time, by address, ascending; samples outside the procedure are skipped
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

/**
 * procedure_profile_add_records() - add branch records, after procedure_profile_add_branches()
 *
 * Parameters as of branch_records_create(). Return: 0 or -ENOMEM.
 */
int procedure_profile_add_records(struct procedure_profile *profile, const struct cfg *cfg,
				  const struct record_range *ranges, size_t range_count,
				  const struct branch_count *branches, size_t branch_count);

/**
 * procedure_profile_edge() - find the edge that leads from an instruction to an address
 *
 * Return: -1 if there is none.
 */
long procedure_profile_edge(const struct cfg *cfg, uint32_t insn, uint64_t target);

/**
 * procedure_profile_add_footprints() - add the footprints of instructions in the graph
 * @footprints: stay the caller's
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_profile_add_footprints(struct procedure_profile *profile, const struct cfg *cfg,
				     const struct data_footprint *footprints, size_t count);

/**
 * procedure_profile_add_faults() - add the page faults of instructions in the graph
 * @faults: stay the caller's
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_profile_add_faults(struct procedure_profile *profile, const struct cfg *cfg,
				 const struct image_fault *faults, size_t count);

/**
 * procedure_profile_add_call() - add call stacks in a call
 * @return_address: of the call; calls that are not in the graph are ignored
 * @stacks:         their number
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_profile_add_call(struct procedure_profile *profile, const struct cfg *cfg,
			       uint64_t return_address, double stacks);

/**
 * procedure_profile_add_pairs() - add those pairs that are within the graph
 * @pairs: their changes stay the caller's
 *
 * O(@count log instructions). Return: 0 or -ENOMEM.
 */
int procedure_profile_add_pairs(struct procedure_profile *profile, const struct cfg *cfg,
				const struct image_pair *pairs, size_t count);

/** procedure_profile_add_exact() - add exact counts, scaled. Return: 0 or -ENOMEM. */
int procedure_profile_add_exact(struct procedure_profile *profile, const struct cfg *cfg,
				const struct exact_counts *exact);

void procedure_profile_deinit(struct procedure_profile *profile);

#endif
