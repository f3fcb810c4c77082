// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_footprints.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "tools/annotate/calc_profile.h"
#include "tools/report/stored_extent.h"

/* Positions in a line are below this. */
#define LINE_BYTES_MOST 64

struct read {
	struct calc_footprints *ret;
	const struct calc_profile_wanted *wanted;
};

/*
 * Each execution that differs from the majority has cancelled one that does not. Return: a lower
 * bound of the share with the majority's stride.
 */
static double stride_share(double strides, double more)
{
	return strides > 0 ? (strides + more) / 2 / strides : 0;
}

static void sharing_add(struct data_footprint *footprint, const struct read *read,
			const uint64_t *row)
{
	uint64_t partner = row[PROFILE_ACCESS_PARTNER];

	footprint->shared = fmin((double)row[PROFILE_ACCESS_SHARED] / footprint->samples, 1);
	if (partner == 0 ||
	    calc_profile_address(read->wanted, partner - 1, &footprint->partner) < 0) {
		footprint->partner = 0;
		return;
	}
	footprint->partner_byte = row[PROFILE_ACCESS_PARTNER_BYTE] % LINE_BYTES_MOST;
	footprint->own_byte = row[PROFILE_ACCESS_OWN_BYTE] % LINE_BYTES_MOST;
}

/* @sharing: the row has the columns of sharing */
static int row_add(struct read *read, const uint64_t *row, bool sharing)
{
	double samples = (double)row[PROFILE_ACCESS_SAMPLES];
	struct calc_footprints *ret = read->ret;
	struct data_footprint footprint = {
		.samples = samples,
		.stride = profile_signed_decode(row[PROFILE_ACCESS_STRIDE]),
	};

	if (row[PROFILE_ACCESS_SAMPLES] == 0 ||
	    calc_profile_address(read->wanted, row[PROFILE_ACCESS_OFFSET], &footprint.address) < 0)
		return 0;
	footprint.stack_share = (double)row[PROFILE_ACCESS_STACK] / samples;
	if (footprint.stride != 0)
		footprint.stride_share = stride_share((double)row[PROFILE_ACCESS_STRIDES],
						      (double)row[PROFILE_ACCESS_EQUAL]);
	if (sharing)
		sharing_add(&footprint, read, row);
	footprint.lines = stored_extent(&row[PROFILE_ACCESS_LINES], samples);
	footprint.pages = stored_extent(&row[PROFILE_ACCESS_PAGES], samples);
	if (array_reserve(&ret->list, &ret->capacity, ret->count + 1, sizeof(*ret->list)) < 0)
		return -ENOMEM;
	ret->list[ret->count++] = footprint;
	return 0;
}

static int take(void *context, const struct profile_recording *recording)
{
	const struct profile_recording_table *accesses =
		&recording->tables[PROFILE_FOOTPRINTS_ACCESSES];
	struct read *read = context;
	const uint64_t *head;
	int r = 0;

	if (!profile_recording_has(recording, PROFILE_FOOTPRINTS_HEAD,
				   PROFILE_FOOTPRINTS_HEAD_COLUMNS) ||
	    !profile_recording_has(recording, PROFILE_FOOTPRINTS_ACCESSES, PROFILE_ACCESS_SHARED) ||
	    recording->tables[PROFILE_FOOTPRINTS_HEAD].rows != 1)
		return 0;
	head = profile_recording_row(&recording->tables[PROFILE_FOOTPRINTS_HEAD], 0);
	read->ret->caches = (struct data_caches){
		.bytes = {(double)head[PROFILE_FOOTPRINTS_L1_BYTES],
			  (double)head[PROFILE_FOOTPRINTS_L2_BYTES],
			  (double)head[PROFILE_FOOTPRINTS_L3_BYTES]},
		.line_bytes = (double)head[PROFILE_FOOTPRINTS_LINE_BYTES],
		.page_bytes = (double)head[PROFILE_FOOTPRINTS_PAGE_BYTES],
	};
	for (size_t i = 0; i < accesses->rows && r == 0; i++)
		r = row_add(read, profile_recording_row(accesses, i),
			    accesses->columns >= PROFILE_ACCESS_COLUMNS);
	return r;
}

/* By address; of one address, the most samples first. */
static int by_address(const void *a, const void *b)
{
	const struct data_footprint *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->samples < y->samples) - (x->samples > y->samples);
}

int calc_footprints_read(struct calc_footprints *ret, const struct calc_profile_wanted *wanted,
			 const struct profile_filter *filter, struct error *err)
{
	struct read read = {ret, wanted};
	size_t count = 0;
	int r = profile_reader_recordings(wanted->reader, filter, PROFILE_RECORDING_FOOTPRINTS,
					  take, &read, err);

	if (r < 0)
		return r;
	if (ret->count > 0)
		qsort(ret->list, ret->count, sizeof(*ret->list), by_address);
	for (size_t i = 0; i < ret->count; i++) {
		if (count == 0 || ret->list[count - 1].address != ret->list[i].address)
			ret->list[count++] = ret->list[i];
	}
	ret->count = count;
	return 0;
}
