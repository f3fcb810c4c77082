// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/footprint_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

/* A stride belongs to the code if at least three quarters of the executions have it. */
#define STRIDES_MIN 8
#define EQUAL_PART 2

static void row_put(uint64_t *row, const struct footprint *footprint)
{
	uint64_t stride = profile_signed_encode(footprint->stride);

	memset(row, 0, PROFILE_ACCESS_COLUMNS * sizeof(*row));
	row[PROFILE_ACCESS_OFFSET] = footprint->offset;
	row[PROFILE_ACCESS_SAMPLES] = footprint->samples;
	row[PROFILE_ACCESS_STACK] = footprint->stack;
	row[PROFILE_ACCESS_STRIDES] = footprint->strides;
	if (footprint->strides >= STRIDES_MIN &&
	    footprint->equal * EQUAL_PART >= footprint->strides &&
	    stride <= PROFILE_RECORDING_VALUE_MAX) {
		row[PROFILE_ACCESS_EQUAL] = footprint->equal;
		row[PROFILE_ACCESS_STRIDE] = stride;
	}
	row[PROFILE_ACCESS_SHARED] = footprint->shared;
	if (footprint->partner_votes > 0) {
		row[PROFILE_ACCESS_PARTNER] = footprint->partner.offset + 1;
		row[PROFILE_ACCESS_PARTNER_BYTE] = footprint->partner.byte;
		row[PROFILE_ACCESS_OWN_BYTE] = footprint->partner.own_byte;
	}
	distinct_sketch_row(&footprint->lines, &row[PROFILE_ACCESS_LINES]);
	distinct_sketch_row(&footprint->pages, &row[PROFILE_ACCESS_PAGES]);
}

int footprint_recording_make(struct footprint_recording *ret,
			     const struct footprint *const *footprints, size_t count,
			     const uint64_t cache_bytes[3])
{
	ret->count = 0;
	if (array_reserve(&ret->rows, &ret->capacity, count * PROFILE_ACCESS_COLUMNS,
			  sizeof(*ret->rows)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (footprints[i]->samples >= FOOTPRINT_RECORDING_SAMPLES_MIN)
			row_put(&ret->rows[ret->count++ * PROFILE_ACCESS_COLUMNS], footprints[i]);
	}
	memset(ret->head, 0, sizeof(ret->head));
	ret->head[PROFILE_FOOTPRINTS_L1_BYTES] = cache_bytes[0];
	ret->head[PROFILE_FOOTPRINTS_L2_BYTES] = cache_bytes[1];
	ret->head[PROFILE_FOOTPRINTS_L3_BYTES] = cache_bytes[2];
	ret->head[PROFILE_FOOTPRINTS_LINE_BYTES] = FOOTPRINT_LINE_BYTES;
	ret->head[PROFILE_FOOTPRINTS_PAGE_BYTES] = FOOTPRINT_PAGE_BYTES;
	ret->recording = (struct profile_recording){
		.mode = PROFILE_RECORDING_FOOTPRINTS,
		.metric = "",
		.tables = {{PROFILE_FOOTPRINTS_HEAD_COLUMNS, 1, ret->head},
			   {PROFILE_ACCESS_COLUMNS, ret->count, ret->rows}},
		.table_count = PROFILE_FOOTPRINTS_TABLES,
	};
	return 0;
}

void footprint_recording_deinit(struct footprint_recording *recording)
{
	free(recording->rows);
	*recording = (struct footprint_recording){.count = 0};
}
