// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/calls/call_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/profile/recording_builder.h"
#include "lib/cleanup.h"

#define HEAD_COLUMNS (PROFILE_CALLS_LOSSES + CALL_LOSSES)
/* A column that recordings of earlier versions do not have. */
#define SWITCHES_STACKS HEAD_COLUMNS

static const char *const metrics[] = {
	[CALL_METRIC_NONE] = "",
	[CALL_METRIC_CYCLES] = "cycles",
	[CALL_METRIC_INSTRUCTIONS] = "instructions",
};

const char *call_recording_metric(enum call_metric metric)
{
	return metrics[metric];
}

/* --- to a recording ------------------------------------------------------- */

struct head {
	size_t processes;
	uint64_t threads;
	uint64_t shared;
	uint64_t contexts;
	const uint64_t *losses;
	bool switches_stacks;
};

static void call_recording_put_head(struct recording_builder *builder, const struct head *head)
{
	uint64_t row[HEAD_COLUMNS + 1] = {
		[PROFILE_HEAD_PROCESSES] = head->processes,
		[PROFILE_HEAD_THREADS] = head->threads,
		[PROFILE_HEAD_SHARED] = head->shared,
		[PROFILE_CALLS_CONTEXTS] = head->contexts,
		[SWITCHES_STACKS] = head->switches_stacks,
	};

	for (size_t i = 0; i < CALL_LOSSES; i++)
		row[PROFILE_CALLS_LOSSES + i] = head->losses[i];
	recording_builder_table(builder, HEAD_COLUMNS + 1);
	recording_builder_row(builder, row);
}

/*
 * @row: its other columns are filled in. Callers that are not procedures have neither name nor
 *       address.
 */
static void put_procedure(struct recording_builder *builder, const struct call_map *map,
			  size_t index, uint64_t *row, call_offset_fn offset_of,
			  const void *context)
{
	bool is_one = index < map->procedure_count;

	row[PROFILE_PROCEDURE_NAME] =
		recording_builder_text(builder, is_one ? map->procedures[index].name : "");
	row[PROFILE_PROCEDURE_ADDRESS] = is_one ? map->procedures[index].address : 0;
	row[PROFILE_PROCEDURE_OFFSET] = 0;
	if (is_one)
		offset_of(context, map->procedures[index].address, &row[PROFILE_PROCEDURE_OFFSET]);
	recording_builder_row(builder, row);
}

void call_recording_make(struct recording_builder *builder, const struct call_map *map,
			 const struct call_profile *profile, size_t processes,
			 call_offset_fn offset_of, const void *context)
{
	call_recording_put_head(builder, &(struct head){processes, profile->threads,
							profile->shared, profile->contexts,
							profile->losses, map->switches_stacks});
	recording_builder_table(builder, PROFILE_CALLS_PROCEDURE_COLUMNS);
	for (size_t i = 0; i < map->procedure_count + CALL_PROFILE_NODES; i++) {
		const struct call_node *node = &profile->nodes[i];
		uint64_t row[PROFILE_CALLS_PROCEDURE_COLUMNS] = {
			[PROFILE_CALLS_CALLS] = node->calls,
			[PROFILE_CALLS_RECURSIVE] = node->recursive,
			[PROFILE_CALLS_SELF] = node->self,
			[PROFILE_CALLS_CHILDREN] = node->children,
		};

		put_procedure(builder, map, i, row, offset_of, context);
	}
	recording_builder_table(builder, PROFILE_ARC_COLUMNS);
	for (size_t i = 0; i < profile->arc_count; i++) {
		const struct call_arc *arc = &profile->arcs[i];

		recording_builder_row(builder,
				      (uint64_t[PROFILE_ARC_COLUMNS]){
					      [PROFILE_ARC_CALLER] = arc->caller,
					      [PROFILE_ARC_CALLEE] = arc->callee,
					      [PROFILE_ARC_CALLS] = arc->calls,
					      [PROFILE_ARC_CALLEE_SELF] = arc->callee_self,
					      [PROFILE_ARC_CALLEE_CHILDREN] = arc->callee_children,
					      [PROFILE_ARC_CALLER_SELF] = arc->caller_self,
					      [PROFILE_ARC_CALLER_CHILDREN] = arc->caller_children,
				      });
	}
}

static void put_sites(struct recording_builder *builder, const struct context_tree *tree)
{
	recording_builder_table(builder, PROFILE_SITE_COLUMNS);
	for (size_t i = 0; i < tree->site_count; i++) {
		const struct context_site *site = &tree->sites[i];

		recording_builder_row(builder, (uint64_t[PROFILE_SITE_COLUMNS]){
						       [PROFILE_SITE_NODE] = site->record,
						       [PROFILE_SITE_ADDRESS] = site->address,
						       [PROFILE_SITE_CALLS] = site->calls,
					       });
	}
}

void call_recording_make_tree(struct recording_builder *builder, const struct call_map *map,
			      const struct context_tree *tree, size_t processes,
			      call_offset_fn offset_of, const void *context)
{
	call_recording_put_head(builder, &(struct head){processes, tree->threads, tree->shared,
							tree->count - 1, tree->losses,
							map->switches_stacks});
	recording_builder_table(builder, PROFILE_CONTEXT_PROCEDURE_COLUMNS);
	for (size_t i = 0; i < map->procedure_count + CALL_PROFILE_NODES; i++) {
		uint64_t row[PROFILE_CONTEXT_PROCEDURE_COLUMNS] = {0};

		if (i < map->procedure_count)
			row[PROFILE_CONTEXT_CALL_SITES] = map->procedures[i].sites;
		put_procedure(builder, map, i, row, offset_of, context);
	}
	recording_builder_table(builder, PROFILE_NODE_COLUMNS);
	for (size_t i = 0; i < tree->count; i++) {
		const struct context_record *record = &tree->records[i];

		recording_builder_row(builder, (uint64_t[PROFILE_NODE_COLUMNS]){
						       [PROFILE_NODE_PARENT] = record->parent,
						       [PROFILE_NODE_PROCEDURE] = record->procedure,
						       [PROFILE_NODE_SITE] = record->site,
						       [PROFILE_NODE_CALLS] = record->calls,
						       [PROFILE_NODE_RECURSIVE] = record->recursive,
						       [PROFILE_NODE_METRIC] = record->exclusive,
					       });
	}
	if (map->sites_distinguished)
		put_sites(builder, tree);
}

/* --- from a recording ----------------------------------------------------- */

void call_recorded_deinit(struct call_recorded *recorded)
{
	call_map_deinit(&recorded->map);
	u64_map_deinit(&recorded->index);
}

static bool has_sites(const struct profile_recording *recording)
{
	return recording->mode == PROFILE_RECORDING_CONTEXT &&
	       profile_recording_has(recording, PROFILE_CONTEXT_SITES, PROFILE_SITE_COLUMNS);
}

static int call_recording_set_heading(struct call_map *map,
				      const struct profile_recording *recording, const char *path,
				      const char *build_id)
{
	enum call_metric metric = CALL_METRIC_NONE;

	while (strcmp(metrics[metric], recording->metric) != 0) {
		if (metric == CALL_METRIC_INSTRUCTIONS)
			return -EBADMSG;
		metric++;
	}
	if (map->path != NULL)
		return map->metric == metric && map->sites_distinguished == has_sites(recording)
			       ? 0
			       : -EINVAL;
	map->metric = metric;
	map->sites_distinguished = has_sites(recording);
	map->policy = recording->mode == PROFILE_RECORDING_CONTEXT ? CALL_POLICY_CONTEXT
								   : CALL_POLICY_CALLS;
	map->path = strdup(path);
	map->build_id = strdup(build_id);
	return map->path != NULL && map->build_id != NULL ? 0 : -ENOMEM;
}

static bool call_recording_is_complete(const struct profile_recording *recording,
				       unsigned int procedure_columns, unsigned int columns)
{
	return profile_recording_has(recording, PROFILE_CALLS_HEAD, HEAD_COLUMNS) &&
	       recording->tables[PROFILE_CALLS_HEAD].rows == 1 &&
	       profile_recording_has(recording, PROFILE_CALLS_PROCEDURES, procedure_columns) &&
	       recording->tables[PROFILE_CALLS_PROCEDURES].rows >= CALL_PROFILE_NODES &&
	       recording->tables[PROFILE_CALLS_PROCEDURES].rows < CALL_LAYOUT_SIGNAL &&
	       profile_recording_has(recording, PROFILE_CALLS_ARCS, columns);
}

static bool switches_stacks(const struct profile_recording *recording)
{
	return profile_recording_has(recording, PROFILE_CALLS_HEAD, SWITCHES_STACKS + 1) &&
	       profile_recording_row(&recording->tables[PROFILE_CALLS_HEAD], 0)[SWITCHES_STACKS] !=
		       0;
}

int call_recorded_procedures(struct call_recorded *recorded,
			     const struct profile_recording *recording, const char *path,
			     const char *build_id)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_CALLS_PROCEDURES];
	bool sites = has_sites(recording) && table->columns > PROFILE_CONTEXT_CALL_SITES;
	int r;

	if (!call_recording_is_complete(recording, PROFILE_PROCEDURE_OWN, 1))
		return -EBADMSG;
	r = call_recording_set_heading(&recorded->map, recording, path, build_id);
	recorded->map.switches_stacks |= switches_stacks(recording);
	for (size_t i = 0; r == 0 && i < table->rows - CALL_PROFILE_NODES; i++) {
		const uint64_t *row = profile_recording_row(table, i);
		uint64_t address = row[PROFILE_PROCEDURE_ADDRESS], *at;

		if (address == 0 || row[PROFILE_PROCEDURE_NAME] >= recording->text_count)
			return -EBADMSG;
		at = u64_map_insert(&recorded->index, address);
		if (at == NULL)
			return -ENOMEM;
		if (*at != 0)
			continue;
		r = call_map_add(&recorded->map, recording->texts[row[PROFILE_PROCEDURE_NAME]],
				 address);
		*at = recorded->map.procedure_count;
		if (r == 0 && sites)
			recorded->map.procedures[*at - 1].sites =
				(uint32_t)row[PROFILE_CONTEXT_CALL_SITES];
	}
	return r;
}

/* Map a recording's numbers of procedures to those of the map. Return: NULL: no memory. */
static uint32_t *translate(const struct call_recorded *recorded,
			   const struct profile_recording *recording)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_CALLS_PROCEDURES];
	size_t procedures = table->rows - CALL_PROFILE_NODES;
	uint32_t *to = calloc(table->rows, sizeof(*to));

	for (size_t i = 0; to != NULL && i < table->rows; i++) {
		const uint64_t *at =
			i < procedures ? u64_map_find(&recorded->index,
						      profile_recording_row(
							      table, i)[PROFILE_PROCEDURE_ADDRESS])
				       : NULL;

		to[i] = at != NULL ? (uint32_t)(*at - 1)
				   : (uint32_t)(recorded->map.procedure_count +
						(i < procedures ? CALL_PROFILE_OTHER
								: i - procedures));
	}
	return to;
}

static void add_losses(const struct profile_recording *recording, uint64_t losses[CALL_LOSSES])
{
	const uint64_t *head = profile_recording_row(&recording->tables[PROFILE_CALLS_HEAD], 0);

	for (size_t i = 0; i < CALL_LOSSES; i++)
		losses[i] += head[PROFILE_CALLS_LOSSES + i];
}

static void add_nodes(struct call_profile *profile, const struct profile_recording_table *table,
		      const uint32_t *to)
{
	for (size_t i = 0; i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);
		struct call_node *node = &profile->nodes[to[i]];

		node->calls += row[PROFILE_CALLS_CALLS];
		node->recursive += row[PROFILE_CALLS_RECURSIVE];
		node->self += row[PROFILE_CALLS_SELF];
		node->children += row[PROFILE_CALLS_CHILDREN];
		profile->total += row[PROFILE_CALLS_SELF];
	}
}

static int add_arcs(struct call_profile *profile, const struct profile_recording *recording,
		    const uint32_t *to)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_CALLS_ARCS];
	size_t procedures = recording->tables[PROFILE_CALLS_PROCEDURES].rows;
	int r = 0;

	for (size_t i = 0; r == 0 && i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);

		if (row[PROFILE_ARC_CALLER] >= procedures || row[PROFILE_ARC_CALLEE] >= procedures)
			return -EBADMSG;
		r = call_profile_add_arc(
			profile, &(struct call_arc){
					 .caller = to[row[PROFILE_ARC_CALLER]],
					 .callee = to[row[PROFILE_ARC_CALLEE]],
					 .calls = row[PROFILE_ARC_CALLS],
					 .callee_self = row[PROFILE_ARC_CALLEE_SELF],
					 .callee_children = row[PROFILE_ARC_CALLEE_CHILDREN],
					 .caller_self = row[PROFILE_ARC_CALLER_SELF],
					 .caller_children = row[PROFILE_ARC_CALLER_CHILDREN],
				 });
	}
	return r;
}

int call_recorded_calls(const struct call_recorded *recorded,
			const struct profile_recording *recording, struct call_profile *profile)
{
	_cleanup_free_ uint32_t *to = NULL;
	const uint64_t *head;
	int r;

	if (!call_recording_is_complete(recording, PROFILE_CALLS_PROCEDURE_COLUMNS,
					PROFILE_ARC_COLUMNS))
		return -EBADMSG;
	to = translate(recorded, recording);
	if (to == NULL)
		return -ENOMEM;
	add_nodes(profile, &recording->tables[PROFILE_CALLS_PROCEDURES], to);
	r = add_arcs(profile, recording, to);
	head = profile_recording_row(&recording->tables[PROFILE_CALLS_HEAD], 0);
	profile->metric = recorded->map.metric;
	profile->threads += head[PROFILE_HEAD_THREADS];
	profile->shared += head[PROFILE_HEAD_SHARED];
	profile->contexts += head[PROFILE_CALLS_CONTEXTS];
	add_losses(recording, profile->losses);
	return r;
}

/* @records: number of the record of each node */
static int add_sites(struct context_tree *tree, const struct profile_recording *recording,
		     const uint32_t *records)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_CONTEXT_SITES];

	for (size_t i = 0; i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);
		uint32_t site;

		if (row[PROFILE_SITE_NODE] >= recording->tables[PROFILE_CONTEXT_NODES].rows ||
		    row[PROFILE_SITE_ADDRESS] == 0)
			return -EBADMSG;
		site = context_tree_site(tree, records[row[PROFILE_SITE_NODE]],
					 row[PROFILE_SITE_ADDRESS]);
		if (site == UINT32_MAX)
			return -ENOMEM;
		tree->sites[site].calls += row[PROFILE_SITE_CALLS];
	}
	return 0;
}

static int add_records(struct context_tree *tree, const struct profile_recording *recording,
		       const uint32_t *to)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_CONTEXT_NODES];
	size_t procedures = recording->tables[PROFILE_CONTEXT_PROCEDURES].rows;
	_cleanup_free_ uint32_t *records = calloc(table->rows + 1, sizeof(*records));

	if (records == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);
		struct context_record *record;

		if (row[PROFILE_NODE_PROCEDURE] >= procedures ||
		    (i > 0 && row[PROFILE_NODE_PARENT] >= i))
			return -EBADMSG;
		if (i > 0)
			records[i] = context_tree_child(tree, records[row[PROFILE_NODE_PARENT]],
							to[row[PROFILE_NODE_PROCEDURE]],
							row[PROFILE_NODE_SITE]);
		if (records[i] == UINT32_MAX)
			return -ENOMEM;
		record = &tree->records[records[i]];
		record->calls += row[PROFILE_NODE_CALLS];
		record->recursive += row[PROFILE_NODE_RECURSIVE];
		record->exclusive += row[PROFILE_NODE_METRIC];
	}
	return has_sites(recording) ? add_sites(tree, recording, records) : 0;
}

int call_recorded_contexts(const struct call_recorded *recorded,
			   const struct profile_recording *recording, struct context_tree *tree)
{
	_cleanup_free_ uint32_t *to = NULL;
	const uint64_t *head;
	int r;

	if (!call_recording_is_complete(recording, PROFILE_PROCEDURE_OWN, PROFILE_NODE_COLUMNS))
		return -EBADMSG;
	to = translate(recorded, recording);
	if (to == NULL)
		return -ENOMEM;
	r = add_records(tree, recording, to);
	head = profile_recording_row(&recording->tables[PROFILE_CONTEXT_HEAD], 0);
	tree->metric = recorded->map.metric;
	tree->threads += head[PROFILE_HEAD_THREADS];
	tree->shared += head[PROFILE_HEAD_SHARED];
	add_losses(recording, tree->losses);
	return r;
}
