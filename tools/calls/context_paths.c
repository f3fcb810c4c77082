// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calls/context_paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "instrument/flow/flow_map.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"

static bool is_path(const struct context_paths *paths, const struct context_path *path)
{
	uint32_t procedure = paths->tree->records[path->record].procedure;

	return procedure < paths->map.procedure_count &&
	       path->number < paths->map.procedures[procedure].graph.count;
}

static int add_sums(struct context_paths *paths)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < paths->tree->path_count; i++) {
		const struct context_path *path = &paths->tree->paths[i];

		if (!is_path(paths, path))
			return -EBADMSG;
		r = paths_profile_sum(
			&paths->profile,
			(struct paths_sum){
				.procedure = paths->tree->records[path->record].procedure,
				.number = path->number,
				.context = path->record,
				.count = path->count,
			});
	}
	return r;
}

int context_paths_read(struct context_paths *ret, const struct call_map *calls,
		       const struct context_tree *tree, const struct call_names *names,
		       char *const *files, size_t count, struct error *err)
{
	int r;

	*ret = (struct context_paths){.tree = tree, .names = names};
	r = flow_map_decode(&ret->map, calls, err);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = paths_profile_add(&ret->profile, &ret->map, files[i], err);
	if (r < 0)
		return r;
	r = add_sums(ret);
	if (r == 0)
		r = paths_profile_end(&ret->profile, &ret->map);
	if (r == -EBADMSG)
		return error_set(err, EBADMSG, "a recording of '%s' is damaged", calls->path);
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

void context_paths_deinit(struct context_paths *paths)
{
	paths_profile_deinit(&paths->profile);
	paths_map_deinit(&paths->map);
}

/* --- listing -------------------------------------------------------------- */

/* Print the procedures from the root, and the addresses of their calls if these are known. */
static void print_context(FILE *out, const void *contexts, uint32_t context)
{
	const struct context_paths *paths = contexts;
	const struct context_record *record = &paths->tree->records[context];

	if (record->depth > 1)
		print_context(out, contexts, record->parent);
	if (record->site != 0)
		fprintf(out, " 0x%" PRIx64, record->site);
	fprintf(out, "%s%s", record->depth > 1 ? " > " : "",
		paths->names->names[record->procedure]);
}

int context_paths_print(FILE *out, const struct context_paths *paths,
			struct paths_report_options options, struct error *err)
{
	options.print_context = print_context;
	options.contexts = paths;
	if (!options.csv && paths->tree->misplaced > 0)
		fprintf(out, "lost: %" PRIu64 " executions in unknown contexts\n",
			paths->tree->misplaced);
	return paths_report_print(out, &paths->map, &paths->profile, &options, err);
}

/* --- paths to call sites -------------------------------------------------- */

/* The paths to a call site in a record. @prefix: hash of the first one's nodes up to the call */
struct arrivals {
	uint64_t prefix;
	bool any;
	bool several;
};

/* Return the node of a procedure that ends with a call; PATH_NONE: the map has no such node. */
static uint32_t node_of(const struct paths_procedure *procedure, uint64_t call)
{
	for (uint32_t n = 0; n < procedure->graph.node_count; n++) {
		const struct counts_node *node = &procedure->nodes[n];

		if (call - node->address < node->bytes)
			return n;
	}
	return PATH_NONE;
}

/* Find the number of the call site at the end of each node with one, by record and node. */
static int index_sites(const struct context_paths *paths, struct u64_map *index)
{
	const struct context_tree *tree = paths->tree;

	for (size_t i = 0; i < tree->site_count; i++) {
		const struct context_site *site = &tree->sites[i];
		uint32_t procedure = tree->records[site->record].procedure, node;
		uint64_t *at;

		if (procedure >= paths->map.procedure_count)
			continue;
		node = node_of(&paths->map.procedures[procedure], site->address);
		if (node == PATH_NONE)
			continue;
		at = u64_map_insert(index, (uint64_t)site->record << 32 | node);
		if (at == NULL)
			return -ENOMEM;
		*at = i + 1;
	}
	return 0;
}

static void arrive(struct arrivals *at, uint64_t prefix)
{
	at->several |= at->any && at->prefix != prefix;
	at->any = true;
	at->prefix = prefix;
}

/* Follow a path, and note its arrivals at call sites. */
static void follow(const struct context_paths *paths, const struct context_path *path,
		   const struct u64_map *index, struct arrivals *arrivals)
{
	uint32_t procedure = paths->tree->records[path->record].procedure, rest;
	const struct path_graph *graph = &paths->map.procedures[procedure].graph;
	uint32_t node = path_graph_begin(graph, path->number, &rest);
	uint64_t prefix = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; node != PATH_NONE && i < graph->node_count; i++) {
		const uint64_t *site = u64_map_find(index, (uint64_t)path->record << 32 | node);
		uint32_t edge = path_graph_next(graph, node, &rest);

		prefix = (prefix ^ node) * UINT64_C(0x9e3779b97f4a7c15);
		prefix ^= prefix >> 32;
		if (site != NULL)
			arrive(&arrivals[*site - 1], prefix);
		if (edge == PATH_NONE || graph->path_edges[edge].kind != PATH_ON)
			return;
		node = graph->path_edges[edge].to;
	}
}

int context_paths_single(const struct context_paths *paths, uint64_t *ret)
{
	const struct context_tree *tree = paths->tree;
	_cleanup_free_ struct arrivals *arrivals = calloc(tree->site_count + 1, sizeof(*arrivals));
	struct u64_map index = {0};
	int r = arrivals != NULL ? index_sites(paths, &index) : -ENOMEM;

	*ret = 0;
	for (size_t i = 0; r == 0 && i < tree->path_count; i++)
		follow(paths, &tree->paths[i], &index, arrivals);
	for (size_t i = 0; r == 0 && i < tree->site_count; i++)
		*ret += arrivals[i].any && !arrivals[i].several;
	u64_map_deinit(&index);
	return r;
}
