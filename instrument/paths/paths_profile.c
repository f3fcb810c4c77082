// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/profile/profile_file.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define TABLE_ENTRIES ((size_t)PATHS_TABLE_ENTRIES + PATHS_TABLE_PROBES)

static int add_to(struct u64_map *map, uint64_t key, uint64_t value)
{
	uint64_t *sum = u64_map_insert(map, key);

	if (sum == NULL)
		return -ENOMEM;
	*sum += value;
	return 0;
}

static int add_table(struct paths_profile *profile, const struct paths_entry *entries)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < TABLE_ENTRIES; i++) {
		if (entries[i].key == 0)
			continue;
		r = add_to(&profile->counts, entries[i].key, entries[i].count);
		if (r == 0)
			r = add_to(&profile->metrics, entries[i].key, entries[i].metric);
	}
	return r;
}

#define PIECE 8192 /* words read at a time */

/* Most of a block is a hole. */
static int add_words(struct paths_profile *profile, const struct paths_map *map,
		     const struct profile_file *file, uint64_t block)
{
	uint64_t piece[PIECE], at, hole, count;
	int r = 0;

	for (uint64_t word = 0; r == 0 && word < map->words; word += count) {
		at = file->header.area_bytes + word * sizeof(*piece);
		hole = profile_file_hole(file, block, at) / sizeof(*piece);
		count = hole > 0 ? hole : PIECE;
		if (count > map->words - word)
			count = map->words - word;
		if (hole > 0)
			continue;
		r = profile_file_read(file, block, at, piece, count * sizeof(*piece));
		for (uint64_t k = 0; r == 0 && k < count; k++) {
			if (piece[k] != 0)
				profile->words[word + k] += piece[k];
		}
	}
	return r;
}

static int add_blocks(struct paths_profile *profile, const struct paths_map *map,
		      const struct profile_file *file)
{
	_cleanup_free_ struct paths_entry *entries = malloc(TABLE_ENTRIES * sizeof(*entries));
	int r = entries != NULL ? 0 : -ENOMEM;

	for (uint64_t i = 0; r == 0 && i < file->blocks; i++) {
		r = add_words(profile, map, file, i);
		if (map->contexts != 0)
			continue;
		if (r == 0)
			r = profile_file_read(file, i, paths_map_table(map), entries,
					      TABLE_ENTRIES * sizeof(*entries));
		if (r == 0)
			r = add_table(profile, entries);
		if (r == 0 && map->burst != 0)
			r = paths_cost_add(&profile->cost, map, file, i, entries);
	}
	return r;
}

int paths_profile_add(struct paths_profile *profile, const struct paths_map *map, const char *path,
		      struct error *err)
{
	struct profile_file file;
	int r = profile_file_open(&file, path, map->image, map->words, err);

	if (r < 0)
		return r;
	if (profile->words == NULL)
		profile->words = calloc(map->words + 1, sizeof(*profile->words));
	r = profile->words != NULL ? add_blocks(profile, map, &file) : -ENOMEM;
	if (r == 0) {
		profile->files++;
		profile->threads += file.header.blocks;
		profile->shared += file.header.shared;
	}
	profile_file_close(&file);
	return r < 0 ? error_set(err, -r, ERROR_READ, path) : 0;
}

/* --- sums ----------------------------------------------------------------- */

int paths_profile_sum(struct paths_profile *profile, struct paths_sum sum)
{
	if (array_reserve(&profile->sums, &profile->sum_capacity, profile->sum_count + 1,
			  sizeof(*profile->sums)) < 0)
		return -ENOMEM;
	profile->sums[profile->sum_count++] = sum;
	return 0;
}

static int add_sum(struct paths_profile *profile, const struct paths_map *map, struct paths_sum sum)
{
	double cycles = 0;

	if (sum.count == 0)
		return 0;
	if (map->burst == 0)
		sum.timed = *map->metric != '\0' ? sum.count : 0;
	else
		sum.timed = paths_cost_find(&profile->cost,
					    paths_cost_key(sum.procedure, sum.number), &cycles);
	if (map->burst != 0)
		sum.metric = (uint64_t)(cycles * (double)sum.timed);
	return paths_profile_sum(profile, sum);
}

/* Counts of numbers that no path has are lost paths. */
static int add_array(struct paths_profile *profile, const struct paths_map *map, uint32_t index,
		     enum paths_array array)
{
	const struct paths_procedure *procedure = &map->procedures[index];
	const struct path_range *range = &procedure->graph.range;
	struct paths_loss *loss = &profile->losses[index];
	const uint64_t *counts = profile->words + procedure->first_array +
				 paths_map_array(&procedure->graph, array) - range->below;
	const uint64_t *sums = counts + (uint64_t)PATHS_METRIC * range->room;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < range->room; i++) {
		uint32_t number = i - range->below;

		if (counts[i] != 0 && number >= procedure->graph.count) {
			loss->lost += counts[i];
			loss->unfinished -= array == PATHS_ENDED ? counts[i] : 0;
			continue;
		}
		r = add_sum(profile, map,
			    (struct paths_sum){
				    .procedure = index,
				    .number = number,
				    .count = counts[i],
				    .metric = *map->metric != '\0' && map->burst == 0 ? sums[i] : 0,
			    });
	}
	return r;
}

/* Add the separate words to one of the arrays: for existing paths it does not matter which one. */
static void add_own(struct paths_profile *profile, const struct paths_map *map,
		    const struct paths_procedure *procedure)
{
	const uint64_t *own =
		profile->words + procedure->first_word + paths_map_fixed(map, &procedure->graph);
	uint64_t *counts = profile->words + procedure->first_array +
			   paths_map_array(&procedure->graph, PATHS_ENDED);

	for (uint32_t i = 0; i < procedure->own_count; i++)
		counts[procedure->own[i]] += own[i];
}

static int add_arrays(struct paths_profile *profile, const struct paths_map *map)
{
	int r = 0;

	for (size_t p = 0; r == 0 && p < map->procedure_count; p++) {
		if (!paths_map_is_array(map, &map->procedures[p].graph))
			continue;
		add_own(profile, map, &map->procedures[p]);
		r = add_array(profile, map, (uint32_t)p, PATHS_ENDED);
		if (r == 0)
			r = add_array(profile, map, (uint32_t)p, PATHS_CUT);
	}
	return r;
}

/* Keys of procedures or paths that do not exist are damage, and are left out. */
static int add_entries(struct paths_profile *profile, const struct paths_map *map)
{
	uint64_t key, count;
	size_t cursor = 0;
	int r = 0;

	while (r == 0 && u64_map_next(&profile->counts, &cursor, &key, &count)) {
		const uint64_t *metric = u64_map_find(&profile->metrics, key);
		uint64_t procedure = (key >> 32) - 1;

		if (procedure >= map->procedure_count ||
		    (uint32_t)key >= map->procedures[procedure].graph.count)
			continue;
		r = add_sum(profile, map,
			    (struct paths_sum){.procedure = (uint32_t)procedure,
					       .number = (uint32_t)key,
					       .count = count,
					       .metric = metric != NULL ? *metric : 0});
	}
	return r;
}

static int paths_profile_by_path(const void *a, const void *b)
{
	const struct paths_sum *x = a, *y = b;

	if (x->procedure != y->procedure)
		return x->procedure < y->procedure ? -1 : 1;
	if (x->number == y->number)
		return (x->context > y->context) - (x->context < y->context);
	return (x->number > y->number) - (x->number < y->number);
}

/* Return true if another path began where this one ended. */
static bool goes_on(const struct path_graph *graph, uint32_t number)
{
	uint32_t rest, node = path_graph_begin(graph, number, &rest);

	for (uint32_t i = 0; node != PATH_NONE && i < graph->node_count; i++) {
		uint32_t path_edge = path_graph_next(graph, node, &rest);

		if (path_edge == PATH_NONE || graph->path_edges[path_edge].kind == PATH_END)
			return false;
		if (graph->path_edges[path_edge].kind == PATH_CUT)
			return true;
		node = graph->path_edges[path_edge].to;
	}
	return false;
}

/*
 * The number of paths that ended without the beginning of another one should equal the number of
 * paths that began without the end of another one.
 */
static void find_losses(struct paths_profile *profile, const struct paths_map *map)
{
	for (size_t p = 0; p < map->procedure_count; p++) {
		const uint64_t *words = profile->words + map->procedures[p].first_word;
		struct paths_loss *loss = &profile->losses[p];

		loss->unfinished += words[PATHS_ENTERED];
		if (!paths_map_is_array(map, &map->procedures[p].graph)) {
			loss->lost = words[PATHS_LOST_END] + words[PATHS_LOST_CUT];
			loss->overflow = words[PATHS_OVERFLOW];
			loss->unfinished -= words[PATHS_LOST_END];
		}
		if (!map->procedures[p].calls || loss->overflow != 0)
			loss->unfinished = 0;
	}
	for (size_t i = 0; i < profile->sum_count; i++) {
		const struct paths_sum *sum = &profile->sums[i];
		struct paths_loss *loss = &profile->losses[sum->procedure];

		if (map->procedures[sum->procedure].calls && loss->overflow == 0 &&
		    !goes_on(&map->procedures[sum->procedure].graph, sum->number))
			loss->unfinished -= sum->count;
	}
	/* The program is still running, or the data is damaged. */
	for (size_t p = 0; p < map->procedure_count; p++) {
		if ((int64_t)profile->losses[p].unfinished < 0)
			profile->losses[p].unfinished = 0;
	}
}

int paths_profile_end(struct paths_profile *profile, const struct paths_map *map)
{
	int r;

	profile->losses = calloc(map->procedure_count + 1, sizeof(*profile->losses));
	if (profile->losses == NULL)
		return -ENOMEM;
	if (profile->words == NULL)
		return 0;
	paths_cost_solve(&profile->cost, map);
	r = add_arrays(profile, map);
	if (r == 0)
		r = add_entries(profile, map);
	if (r < 0)
		return r;
	if (profile->sum_count > 0)
		qsort(profile->sums, profile->sum_count, sizeof(*profile->sums),
		      paths_profile_by_path);
	find_losses(profile, map);
	return 0;
}

void paths_profile_deinit(struct paths_profile *profile)
{
	free(profile->words);
	free(profile->sums);
	free(profile->losses);
	u64_map_deinit(&profile->counts);
	u64_map_deinit(&profile->metrics);
	paths_cost_deinit(&profile->cost);
	*profile = (struct paths_profile){0};
}
