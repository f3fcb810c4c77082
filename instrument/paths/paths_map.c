// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/paths/paths_trace.h"
#include "instrument/profile/map_coding.h"
#include "instrument/profile/profile_layout.h"
#include "lib/array.h"
#include "lib/error.h"

#define MAP_VERSION 8 /* to be changed also if PATHS_ARRAY_MAX or the table changes */
#define NUMBER_MAX (UINT32_MAX - 2)

static void procedure_deinit(struct paths_procedure *procedure)
{
	free((void *)(uintptr_t)procedure->name);
	free(procedure->nodes);
	free(procedure->own);
	path_graph_deinit(&procedure->graph);
}

void paths_map_deinit(struct paths_map *map)
{
	for (size_t i = 0; i < map->procedure_count; i++)
		procedure_deinit(&map->procedures[i]);
	free(map->procedures);
	free(map->path);
	free(map->build_id);
	free(map->metric);
	*map = (struct paths_map){0};
}

bool paths_map_is_array(const struct paths_map *map, const struct path_graph *graph)
{
	return map->contexts == 0 && graph->count <= PATHS_ARRAY_MAX;
}

uint32_t paths_map_fixed(const struct paths_map *map, const struct path_graph *graph)
{
	return paths_map_is_array(map, graph) ? PATHS_ENTERED + 1 : PATHS_WORDS;
}

uint64_t paths_map_array(const struct path_graph *graph, enum paths_array array)
{
	return (uint64_t)array * graph->range.room + graph->range.below;
}

static unsigned int kinds_of_arrays(const struct paths_map *map)
{
	if (*map->metric == '\0')
		return PATHS_METRIC;
	return map->burst == 0 ? PATHS_ARRAYS : PATHS_METRIC;
}

uint64_t paths_map_arrays(const struct paths_map *map, const struct path_graph *graph)
{
	return paths_map_is_array(map, graph) ? (uint64_t)graph->range.room * kinds_of_arrays(map)
					      : 0;
}

/* Entries are aligned to whole cache lines. */
uint64_t paths_map_table(const struct paths_map *map)
{
	_Static_assert(sizeof(struct profile_layout_switch) <= 64, "a line");
	return map->burst == 0 ? 0 : 64;
}

uint64_t paths_map_trace(const struct paths_map *map)
{
	uint64_t end = paths_map_table(map) + PATHS_TABLE_BYTES;

	return (end + PATHS_TRACE_CELL_BYTES - 1) & ~(uint64_t)(PATHS_TRACE_CELL_BYTES - 1);
}

/* --- making --------------------------------------------------------------- */

/* Copy the parts of a graph that a reader needs. */
static int copy_graph(struct path_graph *ret, const struct path_graph *graph)
{
	uint32_t path_edges = graph->first[graph->node_count];
	struct path_graph copy = {
		.path_edges = calloc(path_edges + (size_t)1, sizeof(*copy.path_edges)),
		.first = calloc(graph->node_count + (size_t)1, sizeof(*copy.first)),
		.starts = calloc(graph->start_count + (size_t)1, sizeof(*copy.starts)),
		.node_count = graph->node_count,
		.path_edge_count = path_edges,
		.start_count = graph->start_count,
		.count = graph->count,
		.range = graph->range,
	};

	if (copy.path_edges == NULL || copy.first == NULL || copy.starts == NULL) {
		path_graph_deinit(&copy);
		return -ENOMEM;
	}
	memcpy(copy.path_edges, graph->path_edges, path_edges * sizeof(*copy.path_edges));
	memcpy(copy.first, graph->first, (graph->node_count + (size_t)1) * sizeof(*copy.first));
	memcpy(copy.starts, graph->starts, graph->start_count * sizeof(*copy.starts));
	*ret = copy;
	return 0;
}

int paths_map_add(struct paths_map *map, const char *name, uint64_t address,
		  const struct count_graph *counts, const struct path_graph *graph,
		  const struct paths_procedure *like)
{
	struct paths_procedure procedure = {
		.address = address,
		.name = strdup(name),
		.nodes = calloc(counts->node_count + (size_t)1, sizeof(*procedure.nodes)),
		.first_word = like->first_word,
		.first_array = like->first_array,
		.calls = like->calls,
		.own = calloc(like->own_count + (size_t)1, sizeof(*procedure.own)),
		.own_count = like->own_count,
	};

	if (procedure.name == NULL || procedure.nodes == NULL || procedure.own == NULL ||
	    copy_graph(&procedure.graph, graph) < 0 ||
	    array_reserve(&map->procedures, &map->procedure_capacity, map->procedure_count + 1,
			  sizeof(*map->procedures)) < 0) {
		procedure_deinit(&procedure);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < like->own_count; i++)
		procedure.own[i] = like->own[i];
	for (uint32_t n = 0; n < counts->node_count; n++)
		procedure.nodes[n] = counts_map_node(counts, n);
	map->procedures[map->procedure_count++] = procedure;
	return 0;
}

static void put_procedure(struct map_writer *writer, const struct paths_procedure *procedure)
{
	const struct path_graph *graph = &procedure->graph;

	map_put_text(writer, procedure->name);
	map_put(writer, procedure->address);
	map_put(writer, procedure->first_word);
	map_put(writer, procedure->first_array);
	map_put(writer, procedure->calls);
	map_put(writer, procedure->own_count);
	for (uint32_t i = 0; i < procedure->own_count; i++)
		map_put(writer, procedure->own[i]);
	map_put(writer, graph->count);
	map_put(writer, graph->range.below);
	map_put(writer, graph->range.room);
	map_put(writer, graph->node_count);
	map_put(writer, graph->start_count);
	for (uint32_t n = 0; n < graph->node_count; n++) {
		map_put_address(writer, procedure->nodes[n].address, procedure->address);
		map_put(writer, procedure->nodes[n].bytes);
		map_put(writer, procedure->nodes[n].insns);
		map_put(writer, graph->first[n + 1] - graph->first[n]);
		for (uint32_t w = graph->first[n]; w < graph->first[n + 1]; w++) {
			map_put(writer, graph->path_edges[w].kind);
			map_put(writer, (uint32_t)(graph->path_edges[w].to + 1));
			map_put(writer, graph->path_edges[w].value);
		}
	}
	for (uint32_t i = 0; i < graph->start_count; i++) {
		map_put(writer, graph->starts[i].node);
		map_put(writer, graph->starts[i].number);
	}
}

int paths_map_encode(const struct paths_map *map, uint8_t **ret, size_t *bytes)
{
	struct map_writer writer = {0};

	map_put_head(&writer, MAP_VERSION, map->image, map->path, map->build_id);
	map_put_text(&writer, map->metric);
	map_put(&writer, map->timed);
	map_put(&writer, map->checks);
	map_put(&writer, map->burst);
	map_put(&writer, map->contexts);
	map_put(&writer, map->words);
	map_put(&writer, map->procedure_count);
	for (size_t i = 0; i < map->procedure_count; i++)
		put_procedure(&writer, &map->procedures[i]);
	if (writer.failed) {
		free(writer.data);
		return -ENOMEM;
	}
	*ret = writer.data;
	*bytes = writer.bytes;
	return 0;
}

/* --- reading -------------------------------------------------------------- */

static int take_node(struct paths_procedure *procedure, struct bounded_reader *reader,
		     uint32_t node)
{
	struct path_graph *graph = &procedure->graph;
	uint32_t path_edges;

	procedure->nodes[node].address = map_take_address(reader, procedure->address);
	procedure->nodes[node].bytes = bounded_reader_varint(reader);
	procedure->nodes[node].insns = map_take(reader, NUMBER_MAX);
	path_edges = map_take(reader, NUMBER_MAX);
	/* An edge takes at least three bytes. */
	if (path_edges > bounded_reader_left(reader) / 3) {
		reader->failed = true;
		path_edges = 0;
	}
	if (array_reserve(&graph->path_edges, &graph->path_edge_capacity,
			  graph->path_edge_count + (size_t)path_edges,
			  sizeof(*graph->path_edges)) < 0)
		return -ENOMEM;
	for (uint32_t w = 0; w < path_edges; w++) {
		struct path_edge path_edge = {.from = node};

		path_edge.kind = (enum path_edge_kind)map_take(reader, PATH_END);
		path_edge.to = map_take(reader, graph->node_count) - 1;
		path_edge.value = map_take(reader, PATH_COUNT_MAX);
		if ((path_edge.kind == PATH_END) != (path_edge.to == PATH_NONE) ||
		    (w > 0 &&
		     path_edge.value < graph->path_edges[graph->path_edge_count - 1].value))
			reader->failed = true;
		graph->path_edges[graph->path_edge_count++] = path_edge;
	}
	graph->first[node + 1] = graph->path_edge_count;
	return 0;
}

static int take_graph(struct paths_procedure *procedure, struct bounded_reader *reader)
{
	struct path_graph *graph = &procedure->graph;
	int r = 0;

	/* A node takes at least four bytes, a start two. */
	if (graph->node_count > bounded_reader_left(reader) / 4 ||
	    graph->start_count > bounded_reader_left(reader) / 2)
		reader->failed = true;
	if (bounded_reader_failed(reader))
		graph->node_count = graph->start_count = 0;
	procedure->nodes = calloc(graph->node_count + (size_t)1, sizeof(*procedure->nodes));
	graph->first = calloc(graph->node_count + (size_t)1, sizeof(*graph->first));
	graph->starts = calloc(graph->start_count + (size_t)1, sizeof(*graph->starts));
	if (procedure->nodes == NULL || graph->first == NULL || graph->starts == NULL)
		return -ENOMEM;
	for (uint32_t n = 0; r == 0 && n < graph->node_count; n++)
		r = take_node(procedure, reader, n);
	for (uint32_t i = 0; r == 0 && i < graph->start_count; i++) {
		struct path_start *start = &graph->starts[i];

		start->node = map_take(reader, graph->node_count);
		start->number = map_take(reader, PATH_COUNT_MAX);
		if (start->node >= graph->node_count ||
		    (i > 0 && start->number <= graph->starts[i - 1].number))
			reader->failed = true;
	}
	return r;
}

static int take_own(struct paths_procedure *procedure, struct bounded_reader *reader)
{
	uint32_t count = map_take(reader, NUMBER_MAX);

	/* Each takes at least one byte. */
	if (count > bounded_reader_left(reader)) {
		reader->failed = true;
		count = 0;
	}
	procedure->own = calloc(count + (size_t)1, sizeof(*procedure->own));
	if (procedure->own == NULL)
		return -ENOMEM;
	procedure->own_count = count;
	for (uint32_t i = 0; i < count; i++)
		procedure->own[i] = map_take(reader, PATH_COUNT_MAX);
	return 0;
}

/* Return true if @count words from @first on are within the image's. */
static bool has_words(const struct paths_map *map, uint64_t first, uint64_t count)
{
	return first <= map->words && count <= map->words - first;
}

/* Return true if all words assigned to a procedure are within the image's. */
static bool is_sound(const struct paths_map *map, const struct paths_procedure *procedure)
{
	const struct path_graph *graph = &procedure->graph;
	uint64_t arrays = paths_map_arrays(map, graph);

	if ((uint64_t)graph->range.below + graph->count > graph->range.room ||
	    (procedure->own_count > 0 && !paths_map_is_array(map, graph)))
		return false;
	for (uint32_t i = 0; i < procedure->own_count; i++) {
		if (procedure->own[i] >= graph->count)
			return false;
	}
	return map->timed ||
	       (has_words(map, procedure->first_word,
			  (uint64_t)paths_map_fixed(map, graph) + procedure->own_count) &&
		has_words(map, procedure->first_array, arrays));
}

static int paths_map_take_procedure(struct paths_map *map, struct bounded_reader *reader)
{
	struct paths_procedure procedure = {.name = map_take_text(reader)};
	int r;

	procedure.address = bounded_reader_varint(reader);
	procedure.first_word = bounded_reader_varint(reader);
	procedure.first_array = bounded_reader_varint(reader);
	procedure.calls = map_take(reader, 1) != 0;
	r = take_own(&procedure, reader);
	procedure.graph.count = map_take(reader, PATH_COUNT_MAX);
	procedure.graph.range.below = map_take(reader, NUMBER_MAX);
	procedure.graph.range.room = map_take(reader, NUMBER_MAX);
	procedure.graph.node_count = map_take(reader, NUMBER_MAX);
	procedure.graph.start_count = map_take(reader, NUMBER_MAX);
	if (!is_sound(map, &procedure))
		reader->failed = true;
	if (procedure.name == NULL)
		r = -ENOMEM;
	if (r == 0)
		r = take_graph(&procedure, reader);
	if (r == 0)
		r = array_reserve(&map->procedures, &map->procedure_capacity,
				  map->procedure_count + 1, sizeof(*map->procedures));
	if (r < 0) {
		procedure_deinit(&procedure);
		return r;
	}
	map->procedures[map->procedure_count++] = procedure;
	return 0;
}

int paths_map_decode(struct paths_map *ret, const uint8_t *data, size_t bytes)
{
	struct paths_map map = {0};
	struct bounded_reader reader;
	uint32_t procedures;
	int r;

	bounded_reader_init(&reader, data, bytes);
	r = map_take_head(&reader, MAP_VERSION, &map.image, &map.path, &map.build_id);
	map.metric = map_take_text(&reader);
	map.timed = map_take(&reader, 1) != 0;
	map.checks = map_take(&reader, INT32_MAX);
	map.burst = map_take(&reader, INT32_MAX);
	map.contexts = map_take(&reader, INT32_MAX);
	map.words = map_take(&reader, INT32_MAX);
	procedures = map_take(&reader, NUMBER_MAX);
	if (r == 0 && map.metric == NULL)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < procedures && !bounded_reader_failed(&reader); i++)
		r = paths_map_take_procedure(&map, &reader);
	if (r == 0 && (bounded_reader_failed(&reader) || bounded_reader_left(&reader) > 0))
		r = -EBADMSG;
	if (r < 0)
		paths_map_deinit(&map);
	else
		*ret = map;
	return r;
}

static int paths_map_do_decode(void *ret, const uint8_t *data, size_t bytes)
{
	return paths_map_decode(ret, data, bytes);
}

int paths_map_read(struct paths_map *ret, const char *path, const char *section, struct error *err)
{
	return map_read_section(path, section, paths_map_do_decode, ret, err);
}
