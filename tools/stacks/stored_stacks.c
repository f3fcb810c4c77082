// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stacks/stored_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"

struct stored_stacks_reading {
	struct stored_stacks *ret;
	struct error *err;
};

static int stored_stacks_take(void *context, const struct profile_recording *recording)
{
	const struct stored_stacks_reading *reading = context;
	const struct profile_recording_table *table = &recording->tables[PROFILE_STACKS_NODES];
	struct stored_stacks *ret = reading->ret;
	bool is_off_cpu = recording->mode == PROFILE_RECORDING_OFF_CPU;
	unsigned int columns = is_off_cpu ? (unsigned int)PROFILE_OFF_CPU_COLUMNS
					  : (unsigned int)PROFILE_STACK_COLUMNS;
	uint64_t every;

	if (!profile_recording_has(recording, PROFILE_STACKS_HEAD, PROFILE_STACKS_HEAD_COLUMNS) ||
	    !profile_recording_has(recording, PROFILE_STACKS_NODES, columns) ||
	    recording->tables[PROFILE_STACKS_HEAD].rows != 1)
		return error_set(reading->err, EBADMSG, ERROR_DATABASE_STACKS);
	every = profile_recording_row(&recording->tables[PROFILE_STACKS_HEAD],
				      0)[PROFILE_STACKS_EVERY];
	if (array_reserve(&ret->rows, &ret->capacity, ret->count + table->rows,
			  sizeof(*ret->rows)) < 0)
		return error_set(reading->err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);

		ret->rows[ret->count++] = (struct stored_stack){
			.epoch = recording->epoch,
			.image = recording->image,
			.number = row[PROFILE_STACK_NODE],
			.parent = row[PROFILE_STACK_PARENT],
			.offset = row[PROFILE_STACK_OFFSET],
			.stacks = row[PROFILE_STACK_STACKS],
			.every = every,
			.ns = is_off_cpu ? row[PROFILE_STACK_NS] : 0,
		};
	}
	return 0;
}

int stored_stacks_read(struct stored_stacks *ret, struct profile_reader *reader,
		       const struct profile_filter *filter, enum profile_recording_mode mode,
		       struct error *err)
{
	struct stored_stacks_reading reading = {ret, err};

	return profile_reader_recordings(reader, filter, mode, stored_stacks_take, &reading, err);
}

void stored_stacks_deinit(struct stored_stacks *stacks)
{
	free(stacks->rows);
	*stacks = (struct stored_stacks){.count = 0};
}

static int stored_stack_compare(const void *a, const void *b)
{
	const struct stored_stack *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

void stored_stacks_sort(struct stored_stacks *stacks)
{
	if (stacks->count > 0)
		qsort(stacks->rows, stacks->count, sizeof(*stacks->rows), stored_stack_compare);
}

/* Rows of an epoch begin at @first; @i: one of them */
static size_t parent_find(const struct stored_stacks *stored, size_t first, size_t i)
{
	uint64_t wanted = stored->rows[i].parent;
	size_t at =
		first + partition_point(0, i - first, k, stored->rows[first + k].number < wanted);

	return at < i && stored->rows[at].number == wanted ? at : STORED_NO_PARENT;
}

static int totals_add_up(struct stored_totals *totals, const struct stored_stacks *stored,
			 struct error *err)
{
	for (size_t i = stored->count; i-- > 0;) {
		size_t parent = totals->parents[i];

		if (parent == STORED_NO_PARENT)
			continue;
		if (__builtin_add_overflow(totals->samples[parent], totals->samples[i],
					   &totals->samples[parent]) ||
		    totals->samples[parent] > INT64_MAX / 2)
			return error_set(err, EBADMSG, ERROR_DATABASE_STACKS);
		totals->stacks[parent] += totals->stacks[i];
	}
	return 0;
}

int stored_stacks_totals(struct stored_totals *ret, const struct stored_stacks *stored,
			 struct error *err)
{
	size_t first = 0;

	ret->parents = calloc(stored->count + 1, sizeof(*ret->parents));
	ret->samples = calloc(stored->count + 1, sizeof(*ret->samples));
	ret->stacks = calloc(stored->count + 1, sizeof(*ret->stacks));
	if (ret->parents == NULL || ret->samples == NULL || ret->stacks == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < stored->count; i++) {
		const struct stored_stack *row = &stored->rows[i];

		if (i > 0 && row->epoch != stored->rows[i - 1].epoch)
			first = i;
		ret->parents[i] =
			row->parent != 0 ? parent_find(stored, first, i) : STORED_NO_PARENT;
		if ((row->parent != 0 && ret->parents[i] == STORED_NO_PARENT) ||
		    __builtin_mul_overflow(row->stacks, row->every, &ret->samples[i]) ||
		    ret->samples[i] > INT64_MAX / 2)
			return error_set(err, EBADMSG, ERROR_DATABASE_STACKS);
		ret->stacks[i] = row->stacks;
	}
	return totals_add_up(ret, stored, err);
}

void stored_totals_deinit(struct stored_totals *totals)
{
	free(totals->parents);
	free(totals->samples);
	free(totals->stacks);
	*totals = (struct stored_totals){.parents = NULL};
}
