/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All data collected for an image, and the part that belongs to a procedure.
 */
#ifndef DCPI_IMAGE_SAMPLES_H
#define DCPI_IMAGE_SAMPLES_H

#include "analysis/frequency/procedure_profile.h"
#include "analysis/image/image_code.h"

struct kernel_counts;

/**
 * struct image_event_samples - samples of an event in an image
 * @counts: by address (ELF virtual addresses), ascending, each address once
 * @count:  number of elements
 * @period: average number of cycles (for time) or events per sample; 0: the event was not collected
 */
struct image_event_samples {
	const struct address_count *counts;
	size_t count;
	double period;
};

/* Callers of a frame that are kept. */
#define IMAGE_STACK_CALLERS 4

/**
 * struct image_caller - the return address of a frame; all 0: none
 * @address: in the same image; else 0
 * @image, @offset: in another one
 */
struct image_caller {
	uint64_t address;
	int64_t image;
	uint64_t offset;
};

/**
 * struct image_stack - call stacks with a frame at an address, and the same callers
 * @address: of the sampled instruction, or of the last byte of the frame's call
 * @stacks:  their number
 * @calls:   those of @stacks with the frame's call
 * @callers: the innermost first
 */
struct image_stack {
	uint64_t address;
	double stacks;
	double calls;
	struct image_caller callers[IMAGE_STACK_CALLERS];
};

/**
 * struct image_samples - all data collected for an image; zero where nothing was collected
 * @image:        identifies the image among the targets of edges
 * @time:         samples of time; its period is procedure_profile.period_cycles
 * @period_error, @clock, @clock_ns, @maskable, @all: see struct procedure_profile
 * @roles:        other events
 * @branches:     observed edges, by (from, to, to_image, to_offset), ascending
 * @branch_count: number of edges
 * @pairs:        @pair_count pairs of samples with changes of registers, by the address of the
 *                earlier sample, ascending; their @changes are in one array
 * @footprints:   @footprint_count accesses to data, by the address of the instruction, ascending
 * @caches:       of the machine
 * @faults:       @fault_count page faults, by the address of the instruction, ascending
 * @stacks:       of the kernel and its modules: @stack_count call stacks, by address, ascending
 * @counted:      of the kernel: counts of the profiled processes; NULL: not known
 * @ranges:       @range_count branch records, by start, ascending, each range once
 * @branches_sampled: edges were collected, even if none was observed
 * @exact:        executions, where they were counted
 *
 * The caller owns the arrays and must not change them while an analysis runs.
 */
struct image_samples {
	int64_t image;
	struct image_event_samples time;
	double period_error;
	bool clock;
	double clock_ns;
	bool maskable;
	double all;
	struct image_event_samples roles[PROFILE_ROLES];
	const struct branch_count *branches;
	size_t branch_count;
	const struct image_pair *pairs;
	size_t pair_count;
	const struct register_change *changes;
	const struct data_footprint *footprints;
	size_t footprint_count;
	struct data_caches caches;
	const struct image_fault *faults;
	size_t fault_count;
	const struct image_stack *stacks;
	size_t stack_count;
	const struct kernel_counts *counted;
	const struct record_range *ranges;
	size_t range_count;
	bool branches_sampled;
	struct exact_counts exact;
};

/**
 * image_samples_parts() - find a procedure's parts, ascending, for the functions below
 *
 * Return: the number of parts; 0: it is a part of another procedure (@parent: out).
 */
size_t image_samples_parts(const struct image_code *code, size_t index,
			   struct image_range parts[PROCEDURE_PARTS_MAX], size_t *parent);

/** image_samples_time() - return the samples of time in ascending parts. */
double image_samples_time(const struct image_samples *samples, const struct image_range *parts,
			  size_t count);

/** image_samples_counted() - return true if there are exact counts in parts. */
bool image_samples_counted(const struct image_samples *samples, const struct image_range *parts,
			   size_t count);

/** image_samples_stacks() - return the call stacks in calls in ascending parts */
double image_samples_stacks(const struct image_samples *samples, const struct image_range *parts,
			    size_t count);

/** image_samples_branch() - return the index of the first edge from an address or a later one. */
size_t image_samples_branch(const struct image_samples *samples, uint64_t from);

/**
 * struct image_evidence - evidence about a procedure's code, for cfg_create()
 * @evidence: refers to the other members, as input of cfg_create()
 */
struct image_evidence {
	struct cfg_evidence evidence;
	uint64_t *sampled;
	uint64_t (*branches)[2];
};

/**
 * image_evidence_init() - collect the evidence about the code in ascending parts
 * @ret: out; freed by image_evidence_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int image_evidence_init(struct image_evidence *ret, const struct image_samples *samples,
			const struct image_range *parts, size_t count);

void image_evidence_deinit(struct image_evidence *evidence);

/**
 * image_samples_profile() - map all samples in ascending parts onto their graph
 * @ret: out; freed by procedure_profile_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int image_samples_profile(struct procedure_profile *ret, const struct cfg *cfg,
			  const struct image_samples *samples, const struct image_range *parts,
			  size_t count);

#endif
