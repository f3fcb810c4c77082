// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/culprit_data.h"

#include <math.h>
#include <stddef.h>

/*
 * Upper bounds for recent x86-64 cores, under contention: cycles of an access that the second or
 * the third cache serves, and of a translation in the second-level TLB. WALK_CYCLES is that of a
 * page walk with entries in the second cache. It includes the walk of a hypervisor's tables.
 */
#define SECOND_CYCLES 30.0
#define THIRD_CYCLES 250.0
#define DTB_SECOND_ENTRIES 1536.0
#define DTB_SECOND_CYCLES 12.0
#define WALK_CYCLES 150.0
#define ENTRY_BYTES 8.0

/* A miss may take longer than the model's, under contention and in a virtual machine. */
#define MEMORY_TIMES 4
#define UNSEEN_MOST 0.5

/* Part of a cache that a procedure's data can have, since code and other data need some, too. */
#define USABLE 0.75
/* Streams take the lines around their current position only. */
#define STREAM_SHARE 0.5
#define STREAM_LINES 32.0

struct culprit_working_set culprit_working_set_find(const struct culprit_input *input)
{
	const struct procedure_profile *profile = input->profile;
	const struct data_caches *caches = &profile->caches;
	struct culprit_working_set set = {0};

	for (uint32_t i = 0; profile->footprints != NULL && i < input->cfg->insn_count; i++) {
		const struct data_footprint *data = profile->footprints[i];

		if (data == NULL)
			continue;
		if (data->stride != 0 && data->stride_share > STREAM_SHARE) {
			set.bytes += fmin(data_footprint_bytes(data, caches),
					  STREAM_LINES * caches->line_bytes);
			set.pages += fmin(data->pages.likely, 2);
			set.pages_most += fmin(data->pages.most, 2);
		} else {
			set.bytes += data_footprint_bytes(data, caches);
			set.pages += data->pages.likely;
			set.pages_most += data->pages.most;
		}
		set.bytes_most += data->lines.most * caches->line_bytes;
	}
	return set;
}

/*
 * Return the average cycles of accesses. @unseen: share of accesses to data that no sample has
 * seen. If that is most of them, the size of the data is not known.
 */
static double cycles_most(double hit, double unseen, double memory)
{
	return unseen < UNSEEN_MOST ? hit + unseen * MEMORY_TIMES * memory : INFINITY;
}

static double miss_cycles_most(const struct culprit_input *input, const struct data_footprint *data,
			       double bytes)
{
	const double *caches = input->profile->caches.bytes;
	double memory = input->model->dcache.miss_cycles_max;

	if (bytes <= USABLE * caches[0])
		return cycles_most(0, data->lines.unseen, memory);
	if (bytes <= USABLE * caches[1])
		return cycles_most(SECOND_CYCLES, data->lines.unseen, memory);
	if (bytes <= USABLE * caches[2])
		return cycles_most(THIRD_CYCLES, data->lines.unseen, memory);
	return INFINITY;
}

static double dtb_cycles_most(const struct culprit_input *input, const struct data_footprint *data,
			      double pages)
{
	double memory = input->model->dtb.miss_cycles_max;

	if (pages <= USABLE * input->model->dtb.bytes)
		return cycles_most(0, data->pages.unseen, memory);
	if (pages <= USABLE * DTB_SECOND_ENTRIES)
		return cycles_most(DTB_SECOND_CYCLES, data->pages.unseen, memory);
	if (pages * ENTRY_BYTES <= USABLE * input->profile->caches.bytes[1])
		return cycles_most(WALK_CYCLES, data->pages.unseen, memory);
	return INFINITY;
}

/* A stream misses once in a line. */
static double stream_accesses(const struct data_footprint *data, const struct data_caches *caches)
{
	double stride = fabs((double)data->stride);

	if (stride == 0 || data->stride_share < STREAM_SHARE)
		return 1;
	return fmax(caches->line_bytes / stride, 1);
}

struct culprit_data culprit_data_of(const struct culprit_stall *stall)
{
	const struct culprit_input *input = stall->input;
	const struct culprit_working_set *set = stall->working_set;
	const struct procedure_profile *profile = input->profile;
	const struct data_footprint *data =
		profile->footprints != NULL ? profile->footprints[stall->insn] : NULL;

	if (data == NULL)
		return (struct culprit_data){.known = false, .accesses = 1};
	return (struct culprit_data){
		.known = true,
		.miss_cycles_most = miss_cycles_most(input, data, set->bytes),
		.misses_least =
			data_footprint_misses(data, &profile->caches, profile->caches.bytes[0]),
		.dtb_cycles_most = dtb_cycles_most(input, data, set->pages),
		.accesses = stream_accesses(data, &profile->caches),
		.resident = set->bytes_most <= USABLE * profile->caches.bytes[0],
		.mapped = set->pages_most <= USABLE * input->model->dtb.bytes,
		.far_pages = data->pages.even > input->model->dtb.bytes,
	};
}
