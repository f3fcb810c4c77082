// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/counts/counts_store.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Counts of one kind, to be stored. */
struct count_list {
	struct profile_edge *list;
	size_t count;
	size_t capacity;
};

struct store {
	const struct counts_map *map;
	const struct counts_profile *profile;
	const struct epoch_store *epoch;
	struct count_list lists[PROFILE_COUNT_KINDS];
	struct count_list nodes; /* of a procedure: all, executed or not */
};

static void store_deinit(struct store *store)
{
	for (unsigned int i = 0; i < PROFILE_COUNT_KINDS; i++)
		free(store->lists[i].list);
	free(store->nodes.list);
}

static int counts_store_add(struct count_list *list, uint64_t from, uint64_t to, uint64_t count)
{
	if (array_reserve(&list->list, &list->capacity, list->count + 1, sizeof(*list->list)) < 0)
		return -ENOMEM;
	list->list[list->count++] = (struct profile_edge){from, to, count};
	return 0;
}

static int by_ends(const void *a, const void *b)
{
	return profile_edge_compare(a, b);
}

/* Sort, and add up equal ranges: procedures may share code, and each has a clone of it. */
static void counts_store_settle(struct count_list *list)
{
	size_t kept = 0;

	if (list->count > 0)
		qsort(list->list, list->count, sizeof(*list->list), by_ends);
	for (size_t i = 0; i < list->count; i++) {
		if (kept > 0 && by_ends(&list->list[kept - 1], &list->list[i]) == 0)
			list->list[kept - 1].count += list->list[i].count;
		else
			list->list[kept++] = list->list[i];
	}
	list->count = kept;
}

static int add_node(struct store *store, const struct counts_node *node, uint64_t count)
{
	uint64_t from;
	int r;

	if (node->bytes == 0 || !epoch_store_offset(store->epoch, node->address, &from) ||
	    node->bytes > PROFILE_EDGE_OFFSET_MAX - from)
		return 0;
	r = counts_store_add(&store->nodes, from, from + node->bytes, 1);
	if (r == 0 && count > 0)
		r = counts_store_add(&store->lists[PROFILE_COUNT_RUN], from, from + node->bytes,
				     count);
	return r;
}

static int counts_store_add_edge(struct store *store, const struct counts_edge *edge,
				 uint64_t count)
{
	uint64_t from, to;

	if (count == 0 || edge->source == 0 || edge->target == 0 ||
	    !epoch_store_offset(store->epoch, edge->source, &from) ||
	    !epoch_store_offset(store->epoch, edge->target, &to))
		return 0;
	return counts_store_add(&store->lists[PROFILE_COUNT_EDGE], from, to, count);
}

/* Merge adjacent nodes to one range, so that procedures that share code have a range in common. */
static int add_watched(struct store *store)
{
	struct count_list *watched = &store->lists[PROFILE_COUNT_WATCHED];
	struct count_list *nodes = &store->nodes;
	int r = 0;

	counts_store_settle(nodes);
	for (size_t i = 0; r == 0 && i < nodes->count;) {
		struct profile_edge range = nodes->list[i];

		while (++i < nodes->count && nodes->list[i].from <= range.to) {
			if (nodes->list[i].to > range.to)
				range.to = nodes->list[i].to;
		}
		r = counts_store_add(watched, range.from, range.to, store->profile->files);
	}
	return r;
}

static int counts_store_add_procedure(struct store *store, const struct counts_procedure *procedure,
				      uint64_t *nodes, uint64_t *edges)
{
	const struct counts_map *map = store->map;
	int r = counts_map_solve(map, procedure, store->profile->counters, nodes, edges);

	store->nodes.count = 0;
	for (uint32_t n = 0; r == 0 && n < procedure->node_count; n++)
		r = add_node(store, &map->nodes[procedure->first_node + n], nodes[n]);
	for (uint32_t e = 0; r == 0 && e < procedure->edge_count; e++)
		r = counts_store_add_edge(store, &map->edges[procedure->first_edge + e], edges[e]);
	return r == 0 ? add_watched(store) : r;
}

/* Procedures may share watched code, which still was watched only once per process. */
static void unite_watched(struct store *store)
{
	struct count_list *watched = &store->lists[PROFILE_COUNT_WATCHED];

	counts_store_settle(watched);
	for (size_t i = 0; i < watched->count; i++)
		watched->list[i].count = store->profile->files;
}

/* Return: 1; 0 nothing was counted; or an error. */
static int counts_store_gather(struct store *store, struct error *err)
{
	const struct counts_map *map = store->map;
	_cleanup_free_ uint64_t *nodes = calloc(map->node_count + 1, sizeof(*nodes));
	_cleanup_free_ uint64_t *edges = calloc(map->edge_count + 1, sizeof(*edges));
	int r = nodes != NULL && edges != NULL ? 0 : -ENOMEM;

	for (size_t p = 0; r == 0 && p < map->procedure_count; p++)
		r = counts_store_add_procedure(store, &map->procedures[p], nodes, edges);
	if (r < 0)
		return error_set(err, -r,
				 r == -ENOMEM ? ERROR_NO_MEMORY
					      : "damaged description of counters");
	counts_store_settle(&store->lists[PROFILE_COUNT_RUN]);
	counts_store_settle(&store->lists[PROFILE_COUNT_EDGE]);
	unite_watched(store);
	return store->lists[PROFILE_COUNT_RUN].count > 0;
}

static int write_lists(void *context, struct profile_writer *writer, int64_t image,
		       struct error *err)
{
	struct store *store = context;
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < PROFILE_COUNT_KINDS; i++)
		r = profile_writer_counts(writer, image, (enum profile_count_kind)i,
					  store->lists[i].list, store->lists[i].count, err);
	return r;
}

int counts_store(struct epoch_store *epoch, const struct counts_map *map,
		 const struct counts_profile *profile, struct error *err)
{
	_cleanup_(store_deinit) struct store store = {
		.map = map, .profile = profile, .epoch = epoch};
	int r = counts_store_gather(&store, err);

	if (r <= 0)
		return r;
	r = epoch_store_write(epoch, write_lists, &store, err);
	return r < 0 ? r : 1;
}
