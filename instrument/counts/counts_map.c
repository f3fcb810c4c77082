// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/counts/counts_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/profile/map_coding.h"
#include "lib/array.h"

#define MAP_VERSION 1
#define NUMBER_MAX (UINT32_MAX - 2)

void counts_map_deinit(struct counts_map *map)
{
	for (size_t i = 0; i < map->procedure_count; i++)
		free((void *)(uintptr_t)map->procedures[i].name);
	free(map->procedures);
	free(map->nodes);
	free(map->edges);
	free(map->path);
	free(map->build_id);
	*map = (struct counts_map){0};
}

/* --- making --------------------------------------------------------------- */

struct counts_node counts_map_node(const struct count_graph *graph, uint32_t index)
{
	const struct count_node *node = &graph->nodes[index];
	const struct insn *insns = graph->cfg->insns;
	const struct insn *last;

	if (node->count == 0)
		return (struct counts_node){0};
	last = &insns[node->first + node->count - 1];
	return (struct counts_node){.address = insns[node->first].address,
				    .insns = node->count,
				    .bytes = last->address + last->bytes -
					     insns[node->first].address};
}

static struct counts_edge edge_of(const struct count_graph *graph, const struct count_edge *edge,
				  uint32_t first_counter)
{
	const struct cfg *cfg = graph->cfg;
	struct counts_edge result = {
		.from = edge->from,
		.to = edge->to,
		.kind = edge->kind,
		.counter = edge->counter == COUNT_NONE ? COUNT_NONE : first_counter + edge->counter,
	};

	if (edge->cfg_edge != COUNT_NONE && cfg->edges[edge->cfg_edge].insn != UINT32_MAX) {
		const struct cfg_edge *cfg_edge = &cfg->edges[edge->cfg_edge];

		result.source = cfg->insns[cfg_edge->insn].address;
		result.target = cfg_edge->to < cfg->block_count
					? cfg->insns[cfg->blocks[cfg_edge->to].first].address
					: cfg_edge->target;
	}
	return result;
}

int counts_map_add(struct counts_map *map, const char *name, uint64_t address,
		   const struct count_graph *graph, uint32_t first_counter)
{
	char *copy = strdup(name);

	if (copy == NULL ||
	    array_reserve(&map->procedures, &map->procedure_capacity, map->procedure_count + 1,
			  sizeof(*map->procedures)) < 0 ||
	    array_reserve(&map->nodes, &map->node_capacity, map->node_count + graph->node_count,
			  sizeof(*map->nodes)) < 0 ||
	    array_reserve(&map->edges, &map->edge_capacity, map->edge_count + graph->edge_count,
			  sizeof(*map->edges)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	map->procedures[map->procedure_count++] = (struct counts_procedure){
		.address = address,
		.name = copy,
		.first_node = (uint32_t)map->node_count,
		.node_count = graph->node_count,
		.first_edge = (uint32_t)map->edge_count,
		.edge_count = graph->edge_count,
	};
	for (uint32_t n = 0; n < graph->node_count; n++)
		map->nodes[map->node_count++] = counts_map_node(graph, n);
	for (uint32_t e = 0; e < graph->edge_count; e++)
		map->edges[map->edge_count++] = edge_of(graph, &graph->edges[e], first_counter);
	return 0;
}

static void put_procedure(struct map_writer *writer, const struct counts_map *map,
			  const struct counts_procedure *procedure)
{
	map_put_text(writer, procedure->name);
	map_put(writer, procedure->address);
	map_put(writer, procedure->node_count);
	map_put(writer, procedure->edge_count);
	for (uint32_t n = 0; n < procedure->node_count; n++) {
		const struct counts_node *node = &map->nodes[procedure->first_node + n];

		map_put_address(writer, node->address, procedure->address);
		map_put(writer, node->bytes);
		map_put(writer, node->insns);
	}
	for (uint32_t e = 0; e < procedure->edge_count; e++) {
		const struct counts_edge *edge = &map->edges[procedure->first_edge + e];

		map_put(writer, (uint32_t)(edge->from + 1));
		map_put(writer, (uint32_t)(edge->to + 1));
		map_put(writer, (uint32_t)(edge->counter + 1));
		map_put(writer, edge->kind);
		map_put_address(writer, edge->source, procedure->address);
		map_put_address(writer, edge->target, procedure->address);
	}
}

int counts_map_encode(const struct counts_map *map, uint8_t **ret, size_t *bytes)
{
	struct map_writer writer = {0};

	map_put_head(&writer, MAP_VERSION, map->image, map->path, map->build_id);
	map_put(&writer, map->counters);
	map_put(&writer, map->procedure_count);
	for (size_t i = 0; i < map->procedure_count; i++)
		put_procedure(&writer, map, &map->procedures[i]);
	if (writer.failed) {
		free(writer.data);
		return -ENOMEM;
	}
	*ret = writer.data;
	*bytes = writer.bytes;
	return 0;
}

/* --- reading -------------------------------------------------------------- */

/* A node, or COUNT_OUTSIDE. */
static uint32_t take_node(struct bounded_reader *reader, uint32_t count)
{
	return map_take(reader, count) - 1;
}

static void take_edge(struct counts_map *map, const struct counts_procedure *procedure,
		      struct bounded_reader *reader)
{
	struct counts_edge edge = {
		.from = take_node(reader, procedure->node_count),
		.to = take_node(reader, procedure->node_count),
		.counter = map_take(reader, map->counters) - 1,
		.kind = (enum count_edge_kind)map_take(reader, COUNT_LEAVE),
		.source = map_take_address(reader, procedure->address),
		.target = map_take_address(reader, procedure->address),
	};

	map->edges[map->edge_count++] = edge;
}

static int counts_map_take_procedure(struct counts_map *map, struct bounded_reader *reader)
{
	struct counts_procedure procedure = {.name = map_take_text(reader)};

	if (procedure.name == NULL ||
	    array_reserve(&map->procedures, &map->procedure_capacity, map->procedure_count + 1,
			  sizeof(*map->procedures)) < 0) {
		free((void *)(uintptr_t)procedure.name);
		return -ENOMEM;
	}
	procedure.address = bounded_reader_varint(reader);
	procedure.node_count = map_take(reader, NUMBER_MAX);
	procedure.edge_count = map_take(reader, NUMBER_MAX);
	procedure.first_node = (uint32_t)map->node_count;
	procedure.first_edge = (uint32_t)map->edge_count;
	/* A node takes at least three bytes, an edge six. */
	if (procedure.node_count > bounded_reader_left(reader) / 3 ||
	    procedure.edge_count > bounded_reader_left(reader) / 6)
		reader->failed = true;
	if (bounded_reader_failed(reader))
		procedure.node_count = procedure.edge_count = 0;
	map->procedures[map->procedure_count++] = procedure;
	if (array_reserve(&map->nodes, &map->node_capacity, map->node_count + procedure.node_count,
			  sizeof(*map->nodes)) < 0 ||
	    array_reserve(&map->edges, &map->edge_capacity, map->edge_count + procedure.edge_count,
			  sizeof(*map->edges)) < 0)
		return -ENOMEM;
	for (uint32_t n = 0; n < procedure.node_count; n++) {
		struct counts_node node = {
			.address = map_take_address(reader, procedure.address),
			.bytes = bounded_reader_varint(reader),
			.insns = map_take(reader, NUMBER_MAX),
		};

		map->nodes[map->node_count++] = node;
	}
	for (uint32_t e = 0; e < procedure.edge_count; e++)
		take_edge(map, &procedure, reader);
	return 0;
}

int counts_map_decode(struct counts_map *ret, const uint8_t *data, size_t bytes)
{
	struct counts_map map = {0};
	struct bounded_reader reader;
	uint32_t procedures;
	int r;

	bounded_reader_init(&reader, data, bytes);
	r = map_take_head(&reader, MAP_VERSION, &map.image, &map.path, &map.build_id);
	map.counters = map_take(&reader, NUMBER_MAX);
	procedures = map_take(&reader, NUMBER_MAX);
	for (uint32_t i = 0; r == 0 && i < procedures && !bounded_reader_failed(&reader); i++)
		r = counts_map_take_procedure(&map, &reader);
	if (r == 0 && (bounded_reader_failed(&reader) || bounded_reader_left(&reader) > 0))
		r = -EBADMSG;
	if (r < 0)
		counts_map_deinit(&map);
	else
		*ret = map;
	return r;
}

static int counts_map_do_decode(void *ret, const uint8_t *data, size_t bytes)
{
	return counts_map_decode(ret, data, bytes);
}

int counts_map_read(struct counts_map *ret, const char *path, struct error *err)
{
	return map_read_section(path, COUNTS_MAP_SECTION, counts_map_do_decode, ret, err);
}

/* --- solving -------------------------------------------------------------- */

/*
 * For each node: the number of edges with unknown count, the sum of their indices (which is the
 * index of the last one), and inflow minus outflow. The difference is modulo 2^64, because counters
 * may hold any value.
 */
struct balance {
	uint32_t unknown;
	uint32_t sum;
	uint64_t flow;
};

struct solver {
	const struct counts_edge *edges;
	struct balance *balances;
	uint32_t *ready; /* nodes with one unknown edge */
	uint32_t ready_count;
	uint64_t *values;
	bool *known;
};

static void set_value(struct solver *solver, uint32_t index, uint64_t value)
{
	const struct counts_edge *edge = &solver->edges[index];
	const uint32_t ends[] = {edge->from, edge->to};

	solver->known[index] = true;
	solver->values[index] = value;
	for (int i = 0; i < 2; i++) {
		struct balance *balance;

		if (ends[i] == COUNT_OUTSIDE)
			continue;
		balance = &solver->balances[ends[i]];
		balance->flow += i == 0 ? 0 - value : value;
		balance->sum -= index;
		if (--balance->unknown == 1)
			solver->ready[solver->ready_count++] = ends[i];
	}
}

static void propagate(struct solver *solver)
{
	while (solver->ready_count > 0) {
		uint32_t node = solver->ready[--solver->ready_count];
		const struct balance *balance = &solver->balances[node];
		const struct counts_edge *edge;

		if (balance->unknown != 1)
			continue;
		edge = &solver->edges[balance->sum];
		if (edge->from == edge->to) /* adds to inflow and outflow alike: not determined */
			continue;
		set_value(solver, balance->sum,
			  edge->to == node ? 0 - balance->flow : balance->flow);
	}
}

static int counts_map_do_solve(struct solver *solver, const struct counts_procedure *procedure,
			       const uint64_t *counters)
{
	for (uint32_t e = 0; e < procedure->edge_count; e++) {
		const struct counts_edge *edge = &solver->edges[e];

		if (edge->from != COUNT_OUTSIDE) {
			solver->balances[edge->from].unknown++;
			solver->balances[edge->from].sum += e;
		}
		if (edge->to != COUNT_OUTSIDE) {
			solver->balances[edge->to].unknown++;
			solver->balances[edge->to].sum += e;
		}
	}
	for (uint32_t n = 0; n < procedure->node_count; n++) {
		if (solver->balances[n].unknown == 1)
			solver->ready[solver->ready_count++] = n;
	}
	for (uint32_t e = 0; e < procedure->edge_count; e++) {
		if (solver->edges[e].counter != COUNT_NONE)
			set_value(solver, e, counters[solver->edges[e].counter]);
	}
	propagate(solver);
	for (uint32_t e = 0; e < procedure->edge_count; e++) {
		if (!solver->known[e])
			return -EBADMSG;
	}
	return 0;
}

int counts_map_solve(const struct counts_map *map, const struct counts_procedure *procedure,
		     const uint64_t *counters, uint64_t *nodes, uint64_t *edges)
{
	size_t node_count = procedure->node_count + (size_t)1;
	size_t edge_count = procedure->edge_count + (size_t)1;
	struct solver solver = {
		.edges = edge_count > 1 ? map->edges + procedure->first_edge : NULL,
		.balances = calloc(node_count, sizeof(*solver.balances)),
		.ready = calloc(2 * edge_count + node_count, sizeof(*solver.ready)),
		.values = calloc(edge_count, sizeof(*solver.values)),
		.known = calloc(edge_count, sizeof(*solver.known)),
	};
	int r = -ENOMEM;

	if (solver.balances != NULL && solver.ready != NULL && solver.values != NULL &&
	    solver.known != NULL)
		r = counts_map_do_solve(&solver, procedure, counters);
	for (uint32_t n = 0; r == 0 && n < procedure->node_count; n++)
		nodes[n] = 0;
	for (uint32_t e = 0; r == 0 && e < procedure->edge_count; e++) {
		edges[e] = (int64_t)solver.values[e] > 0 ? solver.values[e] : 0;
		if (solver.edges[e].to != COUNT_OUTSIDE)
			nodes[solver.edges[e].to] += edges[e];
	}
	free(solver.balances);
	free(solver.ready);
	free(solver.values);
	free(solver.known);
	return r;
}
