/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording (enum profile_pairs_table) of an image's register pairs.
 *
 * A difference of two register values may reveal a secret or the layout of memory. So only
 * registers and words of memory that behave like counters are recorded: in pairs around the same
 * code, the value changes in the same direction and at about the same rate in time. With many pairs
 * the rate may vary more, if nearly all of them have the same direction.
 */
#ifndef DCPI_PAIR_RECORDING_H
#define DCPI_PAIR_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/collect/pair_store.h"
#include "db/profile_write.h"

/** struct pair_recording - zero-initialised is empty; its arrays are kept for the next use */
struct pair_recording {
	struct profile_recording recording;
	uint64_t head[PROFILE_PAIRS_HEAD_COLUMNS];
	uint64_t *pairs;
	size_t pair_count;
	size_t pair_capacity;
	uint64_t *values;
	size_t value_count;
	size_t value_capacity;
};

/**
 * pair_recording_make() - make a recording of the counters in pairs
 * @ret:   its recording is replaced; valid until the next call
 * @pairs: in any order
 * @seen:  pairs that they were selected from
 *
 * O(@count log @count). Return: 0 or -ENOMEM.
 */
int pair_recording_make(struct pair_recording *ret, const struct stored_pair *pairs, size_t count,
			uint64_t seen);

void pair_recording_deinit(struct pair_recording *recording);

#endif
