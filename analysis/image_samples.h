/* SPDX-License-Identifier: GPL-2.0-only */
/* All that was collected of an image, and what of it belongs to a procedure. */
#ifndef DCPI_IMAGE_SAMPLES_H
#define DCPI_IMAGE_SAMPLES_H

#include "analysis/frequency/procedure_profile.h"
#include "analysis/image/image_code.h"

/**
 * struct image_event_samples - samples of an event in an image
 * @counts: by address (ELF virtual addresses), ascending, each address once
 * @count:  how many
 * @period: what a sample stands for, on average: cycles for time, else events;
 *          0: the event was not collected
 */
struct image_event_samples {
	const struct address_count *counts;
	size_t count;
	double period;
};

/**
 * struct image_samples - all that was collected of an image; zeros where nothing was
 * @image:        which image it is, among those that edges lead to
 * @time:         samples of time; its period is procedure_profile.period_cycles
 * @period_error: see struct procedure_profile
 * @clock, @clock_ns, @all: likewise
 * @roles:        other events
 * @branches:     edges that were seen, by (from, to, to_image, to_offset), ascending
 * @branch_count: how many
 * @branches_sampled: edges were collected, though perhaps none was seen
 * @exact:        executions, where they were counted
 *
 * The arrays are the caller's and must not change while an analysis runs.
 */
struct image_samples {
	int64_t image;
	struct image_event_samples time;
	double period_error;
	bool clock;
	double clock_ns;
	double all;
	struct image_event_samples roles[PROFILE_ROLES];
	const struct branch_count *branches;
	size_t branch_count;
	bool branches_sampled;
	struct exact_counts exact;
};

/**
 * image_samples_parts() - a procedure's parts, ascending, for the functions below
 *
 * Return: how many; 0: it is a part of another procedure (@parent: out: which).
 */
size_t image_samples_parts(const struct image_code *code, size_t index,
			   struct image_range parts[PROCEDURE_PARTS_MAX], size_t *parent);

/** image_samples_time() - samples of time in ascending parts. */
double image_samples_time(const struct image_samples *samples, const struct image_range *parts,
			  size_t count);

/** image_samples_counted() - whether there are exact counts in parts. */
bool image_samples_counted(const struct image_samples *samples, const struct image_range *parts,
			   size_t count);

/** image_samples_branch() - the first of the edges from an address or from behind it. */
size_t image_samples_branch(const struct image_samples *samples, uint64_t from);

/**
 * struct image_evidence - of a procedure, for cfg_create()
 * @evidence: the rest of this structure, as cfg_create() takes it
 */
struct image_evidence {
	struct cfg_evidence evidence;
	uint64_t *sampled;
	uint64_t (*branches)[2];
};

/**
 * image_evidence_init() - what samples prove of the code in ascending parts
 * @ret: out; freed by image_evidence_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int image_evidence_init(struct image_evidence *ret, const struct image_samples *samples,
			const struct image_range *parts, size_t count);

void image_evidence_deinit(struct image_evidence *evidence);

/**
 * image_samples_profile() - lay all samples in ascending parts over their graph
 * @ret: out; freed by procedure_profile_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int image_samples_profile(struct procedure_profile *ret, const struct cfg *cfg,
			  const struct image_samples *samples, const struct image_range *parts,
			  size_t count);

#endif
