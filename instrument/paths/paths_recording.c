// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/paths/paths_listing.h"
#include "instrument/profile/recording_builder.h"
#include "lib/array.h"
#include "lib/cleanup.h"

/* --- to a recording ------------------------------------------------------- */

static void put_procedures(struct recording_builder *builder, const struct paths_listing *listing,
			   paths_offset_fn offset_of, const void *context)
{
	const struct paths_map *map = listing->map;

	recording_builder_table(builder, PROFILE_PATHS_PROCEDURE_COLUMNS);
	for (size_t p = 0; p < map->procedure_count; p++) {
		const struct paths_procedure *procedure = &map->procedures[p];
		const struct paths_loss *losses = listing->profile->losses;
		const struct paths_loss loss = losses != NULL ? losses[p] : (struct paths_loss){0};
		uint64_t offset = 0;

		offset_of(context, procedure->address, &offset);
		recording_builder_row(
			builder, (uint64_t[PROFILE_PATHS_PROCEDURE_COLUMNS]){
					 [PROFILE_PROCEDURE_NAME] =
						 recording_builder_text(builder, procedure->name),
					 [PROFILE_PROCEDURE_ADDRESS] = procedure->address,
					 [PROFILE_PROCEDURE_OFFSET] = offset,
					 [PROFILE_PATHS_POSSIBLE] = procedure->graph.count,
					 [PROFILE_PATHS_UNFINISHED] = loss.unfinished,
					 [PROFILE_PATHS_LOST] = loss.lost,
					 [PROFILE_PATHS_OVERFLOW] = loss.overflow,
				 });
	}
}

static void put_path(struct recording_builder *builder, const struct paths_row *row)
{
	recording_builder_row(builder, (uint64_t[PROFILE_PATH_COLUMNS]){
					       [PROFILE_PATH_PROCEDURE] = row->sum->procedure,
					       [PROFILE_PATH_NUMBER] = row->sum->number,
					       [PROFILE_PATH_COUNT] = row->sum->count,
					       [PROFILE_PATH_METRIC] = row->sum->metric,
					       [PROFILE_PATH_STEPS] = row->node_count,
					       [PROFILE_PATH_NEXT] = row->next,
					       [PROFILE_PATH_TIMED] = row->sum->timed,
				       });
}

static void put_steps(struct recording_builder *builder, const struct paths_row *row,
		      paths_offset_fn offset_of, const void *context)
{
	for (size_t i = 0; i < row->node_count; i++) {
		const struct counts_node *node = row->nodes[i];
		uint64_t offset = 0;

		offset_of(context, node->address, &offset);
		recording_builder_row(builder, (uint64_t[PROFILE_STEP_COLUMNS]){
						       [PROFILE_STEP_ADDRESS] = node->address,
						       [PROFILE_STEP_OFFSET] = offset,
						       [PROFILE_STEP_BYTES] = node->bytes,
						       [PROFILE_STEP_INSNS] = node->insns,
					       });
	}
}

/* The order of sums: by procedure, then by number. */
static int by_sum(const void *a, const void *b)
{
	const struct paths_row *const *x = a, *const *y = b;

	return ((*x)->sum > (*y)->sum) - ((*x)->sum < (*y)->sum);
}

void paths_recording_tables(struct recording_builder *builder, const struct paths_listing *listing,
			    paths_offset_fn offset_of, const void *context)
{
	_cleanup_free_ const struct paths_row **rows =
		calloc(listing->path_count + 1, sizeof(struct paths_row *));

	if (rows == NULL) {
		builder->failed = true;
		return;
	}
	for (size_t i = 0; i < listing->path_count; i++)
		rows[i] = &listing->paths[i];
	qsort(rows, listing->path_count, sizeof(*rows), by_sum);
	put_procedures(builder, listing, offset_of, context);
	recording_builder_table(builder, PROFILE_PATH_COLUMNS);
	for (size_t i = 0; i < listing->path_count; i++)
		put_path(builder, rows[i]);
	recording_builder_table(builder, PROFILE_STEP_COLUMNS);
	for (size_t i = 0; i < listing->path_count; i++)
		put_steps(builder, rows[i], offset_of, context);
}

void paths_recording_make(struct recording_builder *builder, const struct paths_listing *listing,
			  paths_offset_fn offset_of, const void *context)
{
	const struct paths_profile *profile = listing->profile;

	recording_builder_table(builder, PROFILE_HEAD_OWN);
	recording_builder_row(builder, (uint64_t[PROFILE_HEAD_OWN]){
					       [PROFILE_HEAD_PROCESSES] = profile->files,
					       [PROFILE_HEAD_THREADS] = profile->threads,
					       [PROFILE_HEAD_SHARED] = profile->shared,
				       });
	paths_recording_tables(builder, listing, offset_of, context);
}

/* --- from a recording ----------------------------------------------------- */

void paths_recorded_deinit(struct paths_recorded *recorded)
{
	paths_map_deinit(&recorded->map);
	paths_profile_deinit(&recorded->profile);
	free(recorded->gone);
	free(recorded->steps);
	free(recorded->places);
	u64_map_deinit(&recorded->procedures);
	*recorded = (struct paths_recorded){0};
}

/* Return: index of the procedure, or UINT32_MAX: no memory. */
static uint32_t procedure_of(struct paths_recorded *recorded, uint64_t address, const char *name)
{
	struct paths_map *map = &recorded->map;
	uint64_t *at = u64_map_insert(&recorded->procedures, address);
	char *copy;

	if (at == NULL)
		return UINT32_MAX;
	if (*at != 0)
		return (uint32_t)(*at - 1);
	copy = strdup(name);
	if (copy == NULL ||
	    array_reserve(&map->procedures, &map->procedure_capacity, map->procedure_count + 1,
			  sizeof(*map->procedures)) < 0 ||
	    array_reserve(&recorded->profile.losses, &recorded->loss_capacity,
			  map->procedure_count + 1, sizeof(*recorded->profile.losses)) < 0) {
		free(copy);
		u64_map_remove(&recorded->procedures, address);
		return UINT32_MAX;
	}
	map->procedures[map->procedure_count] =
		(struct paths_procedure){.address = address, .name = copy};
	recorded->profile.losses[map->procedure_count] = (struct paths_loss){0};
	*at = ++map->procedure_count;
	return (uint32_t)(map->procedure_count - 1);
}

static int add_procedures(struct paths_recorded *recorded,
			  const struct profile_recording *recording, uint32_t *procedures)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_PATHS_PROCEDURES];

	for (size_t i = 0; i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);
		struct paths_loss *loss;

		if (row[PROFILE_PROCEDURE_NAME] >= recording->text_count ||
		    row[PROFILE_PATHS_POSSIBLE] > UINT32_MAX)
			return -EBADMSG;
		procedures[i] = procedure_of(recorded, row[PROFILE_PROCEDURE_ADDRESS],
					     recording->texts[row[PROFILE_PROCEDURE_NAME]]);
		if (procedures[i] == UINT32_MAX)
			return -ENOMEM;
		recorded->map.procedures[procedures[i]].graph.count =
			(uint32_t)row[PROFILE_PATHS_POSSIBLE];
		loss = &recorded->profile.losses[procedures[i]];
		loss->unfinished += row[PROFILE_PATHS_UNFINISHED];
		loss->lost += row[PROFILE_PATHS_LOST];
		loss->overflow += row[PROFILE_PATHS_OVERFLOW];
	}
	return 0;
}

static int add_steps(struct paths_recorded *recorded, const struct profile_recording *recording)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_PATHS_STEPS];

	if (array_reserve(&recorded->steps, &recorded->step_capacity,
			  recorded->step_count + table->rows, sizeof(*recorded->steps)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);

		if (row[PROFILE_STEP_INSNS] > UINT32_MAX)
			return -EBADMSG;
		recorded->steps[recorded->step_count + i] =
			(struct counts_node){.address = row[PROFILE_STEP_ADDRESS],
					     .bytes = row[PROFILE_STEP_BYTES],
					     .insns = (uint32_t)row[PROFILE_STEP_INSNS]};
	}
	return 0;
}

static int add_path(struct paths_recorded *recorded, struct paths_sum sum, struct paths_gone gone)
{
	struct paths_profile *profile = &recorded->profile;

	if (array_reserve(&profile->sums, &profile->sum_capacity, profile->sum_count + 1,
			  sizeof(*profile->sums)) < 0 ||
	    array_reserve(&recorded->gone, &recorded->gone_capacity, profile->sum_count + 1,
			  sizeof(*recorded->gone)) < 0)
		return -ENOMEM;
	recorded->gone[profile->sum_count] = gone;
	profile->sums[profile->sum_count++] = sum;
	return 0;
}

static int add_paths(struct paths_recorded *recorded, const struct profile_recording *recording,
		     const uint32_t *procedures)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_PATHS_PATHS];
	size_t left = recording->tables[PROFILE_PATHS_STEPS].rows, first = recorded->step_count;
	int r = 0;

	for (size_t i = 0; r == 0 && i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);
		uint64_t steps = row[PROFILE_PATH_STEPS];
		uint64_t timed = *recording->metric != '\0' ? row[PROFILE_PATH_COUNT] : 0;

		if (table->columns > PROFILE_PATH_TIMED)
			timed = row[PROFILE_PATH_TIMED];

		if (row[PROFILE_PATH_PROCEDURE] >=
			    recording->tables[PROFILE_PATHS_PROCEDURES].rows ||
		    row[PROFILE_PATH_NUMBER] > UINT32_MAX || steps > left)
			return -EBADMSG;
		r = add_path(recorded,
			     (struct paths_sum){
				     .procedure = procedures[row[PROFILE_PATH_PROCEDURE]],
				     .number = (uint32_t)row[PROFILE_PATH_NUMBER],
				     .count = row[PROFILE_PATH_COUNT],
				     .metric = row[PROFILE_PATH_METRIC],
				     .timed = timed,
			     },
			     (struct paths_gone){first, steps, row[PROFILE_PATH_NEXT]});
		first += steps;
		left -= steps;
	}
	recorded->step_count += recording->tables[PROFILE_PATHS_STEPS].rows;
	return r == 0 && left > 0 ? -EBADMSG : r;
}

static bool paths_recording_is_complete(const struct profile_recording *recording)
{
	return profile_recording_has(recording, PROFILE_PATHS_HEAD, PROFILE_HEAD_OWN) &&
	       recording->tables[PROFILE_PATHS_HEAD].rows == 1 &&
	       profile_recording_has(recording, PROFILE_PATHS_PROCEDURES,
				     PROFILE_PATHS_PROCEDURE_COLUMNS) &&
	       recording->tables[PROFILE_PATHS_PROCEDURES].rows < UINT32_MAX &&
	       profile_recording_has(recording, PROFILE_PATHS_PATHS, PROFILE_PATH_OLD) &&
	       profile_recording_has(recording, PROFILE_PATHS_STEPS, PROFILE_STEP_COLUMNS);
}

static int paths_recording_set_heading(struct paths_recorded *recorded, const char *path,
				       const char *metric)
{
	struct paths_map *map = &recorded->map;

	if (map->path != NULL)
		return strcmp(map->metric, metric) == 0 ? 0 : -EINVAL;
	map->path = strdup(path);
	map->metric = strdup(metric);
	map->build_id = strdup("");
	return map->path != NULL && map->metric != NULL && map->build_id != NULL ? 0 : -ENOMEM;
}

int paths_recorded_add(struct paths_recorded *recorded, const struct profile_recording *recording,
		       const char *path)
{
	_cleanup_free_ uint32_t *procedures = NULL;
	const uint64_t *head;
	int r;

	if (!paths_recording_is_complete(recording))
		return -EBADMSG;
	procedures =
		calloc(recording->tables[PROFILE_PATHS_PROCEDURES].rows + 1, sizeof(*procedures));
	r = procedures != NULL ? paths_recording_set_heading(recorded, path, recording->metric)
			       : -ENOMEM;
	if (r == 0)
		r = add_procedures(recorded, recording, procedures);
	if (r == 0)
		r = add_steps(recorded, recording);
	if (r == 0)
		r = add_paths(recorded, recording, procedures);
	if (r < 0)
		return r;
	head = profile_recording_row(&recording->tables[PROFILE_PATHS_HEAD], 0);
	recorded->profile.files += head[PROFILE_HEAD_PROCESSES];
	recorded->profile.threads += head[PROFILE_HEAD_THREADS];
	recorded->profile.shared += head[PROFILE_HEAD_SHARED];
	return 0;
}

/* --- sums of recordings --------------------------------------------------- */

struct path_order {
	const struct paths_recorded *recorded;
	struct paths_sum sum;
	struct paths_gone gone;
	size_t place;
};

/* By procedure and number. Paths of another rewriting may have other blocks. */
static int paths_recording_by_path(const void *a, const void *b)
{
	const struct path_order *x = a, *y = b;
	const struct counts_node *steps = x->recorded->steps;

	if (x->sum.procedure != y->sum.procedure)
		return x->sum.procedure < y->sum.procedure ? -1 : 1;
	if (x->sum.number != y->sum.number)
		return x->sum.number < y->sum.number ? -1 : 1;
	if (x->gone.steps != y->gone.steps)
		return x->gone.steps < y->gone.steps ? -1 : 1;
	for (size_t i = 0; i < x->gone.steps; i++) {
		uint64_t one = steps[x->gone.first + i].address;
		uint64_t other = steps[y->gone.first + i].address;

		if (one != other)
			return one < other ? -1 : 1;
	}
	return 0;
}

int paths_recorded_end(struct paths_recorded *recorded)
{
	struct paths_profile *profile = &recorded->profile;
	_cleanup_free_ struct path_order *order = calloc(profile->sum_count + 1, sizeof(*order));
	size_t kept = 0;

	recorded->places = calloc(profile->sum_count + 1, sizeof(*recorded->places));
	if (order == NULL || recorded->places == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < profile->sum_count; i++)
		order[i] = (struct path_order){recorded, profile->sums[i], recorded->gone[i], i};
	if (profile->sum_count > 0)
		qsort(order, profile->sum_count, sizeof(*order), paths_recording_by_path);
	for (size_t i = 0; i < profile->sum_count; i++) {
		bool same = i > 0 && paths_recording_by_path(&order[i - 1], &order[i]) == 0;

		recorded->places[order[i].place] = same ? kept - 1 : kept;
		if (same) {
			profile->sums[kept - 1].count += order[i].sum.count;
			profile->sums[kept - 1].metric += order[i].sum.metric;
			profile->sums[kept - 1].timed += order[i].sum.timed;
			continue;
		}
		profile->sums[kept] = order[i].sum;
		recorded->gone[kept++] = order[i].gone;
	}
	profile->sum_count = kept;
	return 0;
}
