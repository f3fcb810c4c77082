// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/calls/context_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "instrument/calls/call_map.h"
#include "instrument/calls/call_profile.h"
#include "instrument/calls/call_thread.h"
#include "instrument/calls/call_paths.h"
#include "lib/array.h"
#include "lib/cleanup.h"

/* Marks the keys of @index that have the number of a call site, not that of the parent. */
#define KEY_OF_SITE (UINT64_C(1) << 63)

static uint32_t add_record(struct context_tree *tree, uint32_t parent, uint32_t procedure,
			   uint64_t site)
{
	if (array_reserve(&tree->records, &tree->capacity, tree->count + 1,
			  sizeof(*tree->records)) < 0)
		return UINT32_MAX;
	tree->records[tree->count] = (struct context_record){
		.parent = parent,
		.procedure = procedure,
		.site = site,
		.depth = tree->count > 0 ? tree->records[parent].depth + 1 : 0,
	};
	return (uint32_t)tree->count++;
}

int context_tree_init(struct context_tree *tree, uint32_t procedures)
{
	*tree = (struct context_tree){.procedures = procedures};
	return add_record(tree, 0, procedures + CALL_PROFILE_ROOT, 0) == UINT32_MAX ? -ENOMEM : 0;
}

void context_tree_deinit(struct context_tree *tree)
{
	free(tree->records);
	free(tree->sites);
	u64_map_deinit(&tree->index);
	u64_map_deinit(&tree->addresses);
	u64_map_deinit(&tree->site_index);
	free(tree->paths);
	u64_map_deinit(&tree->path_index);
	*tree = (struct context_tree){0};
}

uint32_t context_tree_site(struct context_tree *tree, uint32_t record, uint64_t address)
{
	uint64_t *number = u64_map_insert(&tree->addresses, address), *at;

	if (number == NULL)
		return UINT32_MAX;
	if (*number == 0)
		*number = u64_map_count(&tree->addresses);
	at = u64_map_insert(&tree->site_index, (uint64_t)record << 32 | *number);
	if (at == NULL)
		return UINT32_MAX;
	if (*at == 0) {
		if (array_reserve(&tree->sites, &tree->site_capacity, tree->site_count + 1,
				  sizeof(*tree->sites)) < 0)
			return UINT32_MAX;
		tree->sites[tree->site_count++] =
			(struct context_site){.record = record, .address = address};
		*at = tree->site_count;
	}
	return (uint32_t)(*at - 1);
}

uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, uint32_t procedure,
			    uint64_t site)
{
	uint64_t from = parent;
	uint64_t *at;
	uint32_t record;

	if (site != 0)
		from = context_tree_site(tree, parent, site);
	if (from == UINT32_MAX)
		return UINT32_MAX;
	at = u64_map_insert(&tree->index, from << 32 | procedure | (site != 0 ? KEY_OF_SITE : 0));
	if (at == NULL)
		return UINT32_MAX;
	if (*at != 0)
		return (uint32_t)*at;
	record = add_record(tree, parent, procedure, site);
	if (record != UINT32_MAX)
		*at = record;
	return record;
}

static bool has_sites(const struct call_map *map, const struct call_thread *thread)
{
	for (size_t i = 0; i < thread->state_count; i++) {
		if (thread->states[i].site > map->site_count)
			return false;
	}
	for (size_t i = 0; i < thread->transition_count; i++) {
		if (thread->transitions[i].site > map->site_count)
			return false;
	}
	return true;
}

static uint64_t context_tree_address_of(const struct call_map *map, uint32_t site)
{
	return site > 0 ? map->sites[site - 1] : 0;
}

/* Find or add the records of a thread's states. */
static int place_states(struct context_tree *tree, const struct call_map *map,
			const struct call_thread *thread, uint32_t *records)
{
	for (size_t i = CALL_LAYOUT_OTHER; i < thread->state_count; i++) {
		const struct call_state *state = &thread->states[i];
		uint32_t parent = i == CALL_LAYOUT_OTHER ? 0 : records[state->first];
		uint32_t procedure = state->procedure;

		if (i == CALL_LAYOUT_OTHER && state->metric == 0)
			continue;
		if (i == CALL_LAYOUT_OTHER)
			procedure = tree->procedures + CALL_PROFILE_OTHER;
		else if (procedure == CALL_LAYOUT_SIGNAL)
			procedure = tree->procedures + CALL_PROFILE_SIGNAL;
		records[i] = context_tree_child(tree, parent, procedure,
						context_tree_address_of(map, state->site));
		if (records[i] == UINT32_MAX)
			return -ENOMEM;
		tree->records[records[i]].exclusive += state->metric;
	}
	tree->records[0].exclusive += thread->states[CALL_LAYOUT_ROOT].metric;
	return 0;
}

/* Add the calls of a thread to the records, and to the call sites of the callers. */
static int add_calls(struct context_tree *tree, const struct call_map *map,
		     const struct call_thread *thread, const uint32_t *records)
{
	for (size_t i = 0; i < thread->transition_count; i++) {
		const struct call_transition *at = &thread->transitions[i];
		struct context_record *record = &tree->records[records[at->to]];
		uint32_t site;

		if (thread->states[at->to].first == at->from)
			record->calls += at->calls;
		else
			record->recursive += at->calls;
		if (at->site == 0 || at->from == CALL_LAYOUT_ROOT)
			continue;
		site = context_tree_site(tree, records[at->from],
					 context_tree_address_of(map, at->site));
		if (site == UINT32_MAX)
			return -ENOMEM;
		tree->sites[site].calls += at->calls;
	}
	return 0;
}

/* Find or add a path. Return: NULL: no memory. */
static struct context_path *context_tree_path_of(struct context_tree *tree, uint32_t record,
						 uint32_t number)
{
	uint64_t *at = u64_map_insert(&tree->path_index, (uint64_t)record << 32 | number);

	if (at == NULL)
		return NULL;
	if (*at == 0) {
		if (array_reserve(&tree->paths, &tree->path_capacity, tree->path_count + 1,
				  sizeof(*tree->paths)) < 0)
			return NULL;
		tree->paths[tree->path_count++] =
			(struct context_path){.record = record, .number = number};
		*at = tree->path_count;
	}
	return &tree->paths[*at - 1];
}

/*
 * Add the paths of a thread. If the last frame was not that of the path's procedure, the context is
 * not known: there was no room for a frame or a state, or the frame is left over.
 */
static int add_paths(struct context_tree *tree, const struct call_thread *thread,
		     const uint32_t *records)
{
	for (size_t i = 0; i < thread->path_count; i++) {
		const struct call_path *entry = &thread->paths[i];
		uint32_t state = call_paths_state(entry->key);
		struct context_path *path;

		if (state <= CALL_LAYOUT_OTHER || state >= thread->state_count ||
		    thread->states[state].procedure != call_paths_procedure(entry->key) - 1) {
			tree->misplaced += entry->count;
			continue;
		}
		path = context_tree_path_of(tree, records[state], call_paths_number(entry->key));
		if (path == NULL)
			return -ENOMEM;
		path->count += entry->count;
	}
	return 0;
}

int context_tree_add(struct context_tree *tree, const struct call_map *map,
		     const struct call_thread *thread)
{
	_cleanup_free_ uint32_t *records = calloc(thread->state_count + 1, sizeof(*records));
	int r;

	if (records == NULL)
		return -ENOMEM;
	if (thread->state_count == 0)
		return 0;
	if (thread->policy != CALL_POLICY_CONTEXT ||
	    (tree->threads > 0 && thread->metric != tree->metric) || !has_sites(map, thread))
		return -EBADMSG;
	tree->metric = thread->metric;
	tree->threads++;
	for (size_t i = 0; i < CALL_LOSSES; i++)
		tree->losses[i] += thread->losses[i];
	r = place_states(tree, map, thread, records);
	if (r == 0)
		r = add_calls(tree, map, thread, records);
	return r == 0 ? add_paths(tree, thread, records) : r;
}

void context_tree_sum(struct context_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		tree->records[i].inclusive = tree->records[i].exclusive;
		tree->records[i].children = 0;
	}
	for (size_t i = tree->count; i-- > 1;) {
		struct context_record *parent = &tree->records[tree->records[i].parent];

		parent->inclusive += tree->records[i].inclusive;
		parent->children++;
	}
}

int context_tree_statistics(const struct context_tree *tree, const struct call_map *map,
			    struct context_statistics *ret)
{
	_cleanup_free_ uint32_t *of =
		calloc(tree->procedures + (size_t)CALL_PROFILE_NODES, sizeof(*of));
	size_t leaves = 0, height = 0, children = 0;

	if (of == NULL)
		return -ENOMEM;
	*ret = (struct context_statistics){
		.records = tree->count - 1,
		.bytes = sizeof(struct call_state),
		.reached = tree->site_count,
	};
	for (size_t i = 1; i < tree->count; i++) {
		const struct context_record *record = &tree->records[i];

		if (record->children == 0) {
			leaves++;
			height += record->depth;
		} else {
			ret->interior++;
			children += record->children;
		}
		if (record->procedure < map->procedure_count)
			ret->sites += map->procedures[record->procedure].sites;
		if (record->depth > ret->height_max)
			ret->height_max = record->depth;
		if (++of[record->procedure] > ret->replication) {
			ret->replication = of[record->procedure];
			ret->replicated = record->procedure;
		}
	}
	ret->degree = ret->interior > 0 ? (double)children / (double)ret->interior : 0;
	ret->height = leaves > 0 ? (double)height / (double)leaves : 0;
	return 0;
}
