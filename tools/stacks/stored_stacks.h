/* SPDX-License-Identifier: GPL-2.0-only */
/* The nodes of the trees of call stacks or off-CPU time in a database (db/profile_recording.h). */
#ifndef DCPI_STORED_STACKS_H
#define DCPI_STORED_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile_read.h"

struct error;
struct profile_filter;
struct profile_reader;

/**
 * struct stored_stack - a node: the stacks that end there, and the parts that others share
 * @number, @parent: in its epoch; parent 0: outermost frame
 * @offset:          in @image
 * @stacks:          that end here
 * @every:           of call stacks: samples that each represents; of off-CPU time: the longest
 *                   interval that was sampled, in nanoseconds
 * @ns:              off-CPU time of the stacks
 * @procedure, @own, @inlined, @inlined_count: of the caller
 */
struct stored_stack {
	int64_t epoch;
	int64_t image;
	uint64_t number;
	uint64_t parent;
	uint64_t offset;
	uint64_t stacks;
	uint64_t every;
	uint64_t ns;
	uint32_t procedure;
	uint32_t inlined;
	uint32_t inlined_count;
	bool own;
};

/** struct stored_stacks - zero-initialised: empty */
struct stored_stacks {
	struct stored_stack *rows;
	size_t count;
	size_t capacity;
};

/**
 * stored_stacks_read() - read the nodes of the epochs that a filter selects
 * @mode: PROFILE_RECORDING_STACKS or PROFILE_RECORDING_OFF_CPU
 * @ret: out: by image, epoch and number; freed by stored_stacks_deinit(), also after a failure
 *
 * Return: 0; -EBADMSG: damaged; -ENOMEM; the reader's errors.
 */
int stored_stacks_read(struct stored_stacks *ret, struct profile_reader *reader,
		       const struct profile_filter *filter, enum profile_recording_mode mode,
		       struct error *err);
void stored_stacks_deinit(struct stored_stacks *stacks);

/** stored_stacks_sort() - sort by epoch and number, so that parents precede their children */
void stored_stacks_sort(struct stored_stacks *stacks);

/* The parent of an outermost frame in struct stored_totals. */
#define STORED_NO_PARENT SIZE_MAX

/**
 * struct stored_totals - by row of sorted stacks
 * @parents: row of the parent, or STORED_NO_PARENT
 * @samples: that the row's stacks and those of its descendants represent
 * @stacks:  their number
 */
struct stored_totals {
	size_t *parents;
	uint64_t *samples;
	uint64_t *stacks;
};

/**
 * stored_stacks_totals() - find the parents of sorted stacks, and add up the stacks below each row
 * @ret: out, zero-initialised; freed by stored_totals_deinit(), also after a failure
 *
 * Return: 0; -EBADMSG: damaged; -ENOMEM.
 */
int stored_stacks_totals(struct stored_totals *ret, const struct stored_stacks *stacks,
			 struct error *err);
void stored_totals_deinit(struct stored_totals *totals);

#endif
