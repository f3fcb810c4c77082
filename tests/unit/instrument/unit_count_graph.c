// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters determine the execution count of every edge of a procedure, on any path. The test makes
 * random walks through the graphs of real programs, including calls that never return and returns
 * without a call.
 */
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_code.h"
#include "instrument/counts/counts_map.h"
#include "lib/error.h"

#define WALKS 40
#define STEPS_MAX 300

struct walker {
	const struct count_graph *graph;
	uint64_t *edges;
	uint64_t *nodes;
	uint32_t **out; /* edges out of each node */
	uint32_t *out_count;
	uint32_t *in; /* edges from outside */
	uint32_t in_count;
};

static void walker_init(struct walker *walker, const struct count_graph *graph)
{
	*walker = (struct walker){.graph = graph};
	walker->edges = calloc(graph->edge_count + 1, sizeof(*walker->edges));
	walker->nodes = calloc(graph->node_count + 1, sizeof(*walker->nodes));
	walker->out = calloc(graph->node_count + 1, sizeof(*walker->out));
	walker->out_count = calloc(graph->node_count + 1, sizeof(*walker->out_count));
	walker->in = calloc(graph->edge_count + 1, sizeof(*walker->in));
	for (uint32_t n = 0; n < graph->node_count; n++)
		walker->out[n] = calloc(graph->nodes[n].out_count + 1, sizeof(**walker->out));
	for (uint32_t e = 0; e < graph->edge_count; e++) {
		uint32_t from = graph->edges[e].from;

		if (from == COUNT_OUTSIDE)
			walker->in[walker->in_count++] = e;
		else
			walker->out[from][walker->out_count[from]++] = e;
	}
}

static void walker_deinit(struct walker *walker)
{
	for (uint32_t n = 0; n < walker->graph->node_count; n++)
		free(walker->out[n]);
	free(walker->out);
	free(walker->out_count);
	free(walker->in);
	free(walker->edges);
	free(walker->nodes);
}

/* Enter from outside at random, and walk until outside again or for a limited number of steps. */
static void walk(struct walker *walker)
{
	const struct count_graph *graph = walker->graph;
	uint32_t e = walker->in[(uint32_t)rand() % walker->in_count];
	bool ended = false;

	for (int step = 0; !ended; step++) {
		uint32_t node = graph->edges[e].to;

		walker->edges[e]++;
		if (node == COUNT_OUTSIDE)
			return;
		walker->nodes[node]++;
		assert_true(walker->out_count[node] > 0);
		e = walker->out[node][(uint32_t)rand() % walker->out_count[node]];
		/* In loops without an exit, the process is killed right before the next node. */
		ended = step > STEPS_MAX * 100;
		if (step > STEPS_MAX) {
			for (uint32_t i = 0; i < walker->out_count[node]; i++)
				if (graph->edges[walker->out[node][i]].to == COUNT_OUTSIDE)
					e = walker->out[node][i];
		}
	}
	fail_msg("a walk that does not end");
}

static bool can_end(const struct count_graph *graph)
{
	bool *reaches = calloc(graph->node_count + 1, sizeof(*reaches));
	bool changed = true, all = true;

	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < graph->edge_count; e++) {
			const struct count_edge *edge = &graph->edges[e];

			if (edge->from == COUNT_OUTSIDE || reaches[edge->from])
				continue;
			if (edge->to == COUNT_OUTSIDE || reaches[edge->to])
				changed = reaches[edge->from] = true;
		}
	}
	for (uint32_t n = 0; n < graph->node_count; n++)
		all &= reaches[n];
	free(reaches);
	return all;
}

static void check_procedure(const struct count_graph *graph)
{
	struct counts_map map = {.counters = 7 + graph->counter_count};
	uint64_t *counters = calloc(map.counters + 1, sizeof(*counters));
	uint64_t *nodes = calloc(graph->node_count + 1, sizeof(*nodes));
	uint64_t *edges = calloc(graph->edge_count + 1, sizeof(*edges));
	struct walker walker;

	walker_init(&walker, graph);
	for (int i = 0; i < WALKS && walker.in_count > 0; i++)
		walk(&walker);
	for (uint32_t e = 0; e < graph->edge_count; e++) {
		if (graph->edges[e].counter != COUNT_NONE) {
			assert_true(graph->edges[e].counter < graph->counter_count);
			assert_true(graph->edges[e].place != COUNT_NOWHERE);
			counters[7 + graph->edges[e].counter] = walker.edges[e];
		}
	}
	assert_int_equal(counts_map_add(&map, "it", 1, graph, 7), 0);
	assert_int_equal(counts_map_solve(&map, &map.procedures[0], counters, nodes, edges), 0);
	assert_memory_equal(edges, walker.edges, graph->edge_count * sizeof(*edges));
	assert_memory_equal(nodes, walker.nodes, graph->node_count * sizeof(*nodes));
	walker_deinit(&walker);
	counts_map_deinit(&map);
	free(counters);
	free(nodes);
	free(edges);
}

/* A counter at the start or end of a node counts an edge that is the node's only one there. */
static void check_places(const struct count_graph *graph)
{
	for (uint32_t e = 0; e < graph->edge_count; e++) {
		const struct count_edge *edge = &graph->edges[e];

		if (edge->place == COUNT_AT_START)
			assert_int_equal(graph->nodes[edge->to].in_count, 1);
		if (edge->place == COUNT_AT_END)
			assert_int_equal(graph->nodes[edge->from].out_count, 1);
		if (edge->place == COUNT_ON_EDGE)
			assert_true(edge->kind != COUNT_CALL && edge->kind != COUNT_BACK);
	}
}

static size_t check_image(const char *path, uint64_t *blocks, uint64_t *counters)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	struct debug_file_options options = {0};
	struct image_code *code;
	size_t checked = 0, count;
	struct error err;

	assert_int_equal(image_code_open(&code, &image, &options, &err), 0);
	count = procedure_table_count(image_code_procedures(code));
	for (size_t i = 0; i < count; i++) {
		struct count_graph graph;
		struct cfg *cfg;

		if (cfg_create(&cfg, code, i, NULL, &err) < 0)
			continue;
		if (!cfg->missing) {
			assert_int_equal(count_graph_create(&graph, cfg, NULL, NULL), 0);
			check_places(&graph);
			if (can_end(&graph)) {
				check_procedure(&graph);
				checked++;
			}
			*blocks += graph.node_count;
			*counters += graph.counter_count;
			count_graph_deinit(&graph);
		}
		cfg_destroy(cfg);
	}
	image_code_close(code);
	return checked;
}

static void test_walks(void **state)
{
	uint64_t blocks = 0, counters = 0;

	(void)state;
	srand(1);
	assert_true(check_image("/proc/self/exe", &blocks, &counters) > 100);
	assert_true(check_image("/bin/bash", &blocks, &counters) > 500);
	print_message("%llu counters for %llu blocks\n", (unsigned long long)counters,
		      (unsigned long long)blocks);
	assert_true(counters < blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
