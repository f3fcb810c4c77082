// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/procedure_names.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"
#include "tools/report/event_scale.h"
#include "tools/report/image_symbols.h"

void *tally_state_own(struct tally *tally, void *memory)
{
	if (memory == NULL || array_reserve(&tally->owned, &tally->owned_capacity,
					    tally->owned_count + 1, sizeof(*tally->owned)) < 0) {
		free(memory);
		return NULL;
	}
	tally->owned[tally->owned_count++] = memory;
	return memory;
}

const struct procedure_names *tally_state_names(struct tally *tally, size_t procedure)
{
	_cleanup_free_ struct procedure_names *names = calloc(1, sizeof(*names));

	if (names == NULL ||
	    array_reserve(&tally->names, &tally->name_capacity, tally->name_count + 1,
			  sizeof(*tally->names)) < 0 ||
	    image_symbols_names(tally->symbols, procedure, tally->config.demangle, names) < 0)
		return NULL;
	return tally->names[tally->name_count++] = take_ptr(names);
}

double tally_state_factor(const struct tally *tally, const struct profile *profile)
{
	return event_scale_factor(tally->config.scale, profile->epoch, profile->event);
}

/* Return the column of time of a slice, or -1. */
static long time_column(const struct tally_config *config, int64_t start_ns)
{
	size_t low = partition_point(0, config->time_count, i, config->times[i] <= start_ns);

	return (long)low - 1;
}

/* Return the number of the set or the column of time of a profile; 0 without any; -1: none */
static long set_of(const struct tally_config *config, const struct profile *profile)
{
	const uint64_t *set;

	if (config->times != NULL)
		return profile->slice_ns != 0 ? time_column(config, profile->slice_ns) : -1;
	if (config->sets == NULL)
		return 0;
	set = u64_map_find(config->sets, (uint64_t)profile->epoch);
	return set != NULL ? (long)*set : -1;
}

long tally_state_wanted(const struct tally *tally, const struct profile *profile)
{
	long set = profile->chosen ? set_of(&tally->config, profile) : -1;

	if (set < 0)
		return -1;
	for (size_t i = 0; i < tally->config.event_count; i++) {
		if (strcmp(tally->config.events[i], profile->event_name) == 0)
			return (long)(i + (size_t)set * tally->config.event_count);
	}
	return -1;
}

int tally_state_add_row(struct tally *tally, const struct tally_row *row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < tally->columns; i++)
		sum |= row->counts[i].samples;
	if (sum == 0)
		return 0;
	if (array_reserve(&tally->rows, &tally->row_capacity, tally->row_count + 1, sizeof(*row)) <
	    0)
		return -ENOMEM;
	tally->rows[tally->row_count++] = *row;
	return 0;
}
