// SPDX-License-Identifier: GPL-2.0-only
/* The map of counters is written and read again, and damage is refused. */
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/counts/counts_map.h"

/* if (rdi) for (i = rdi; i--; ) f(); return: branches, a loop, a call */
static const uint8_t code[] = {
	0x48, 0x85, 0xff,	      /* test %rdi, %rdi */
	0x74, 0x0e,		      /* je end */
	0x48, 0x89, 0xfb,	      /* mov %rdi, %rbx */
	0xe8, 0x00, 0x10, 0x00, 0x00, /* loop: call somewhere */
	0x48, 0xff, 0xcb,	      /* dec %rbx */
	0x75, 0xf6,		      /* jne loop */
	0x90,			      /* nop */
	0xc3,			      /* end: ret */
};

static void make(struct counts_map *map, struct cfg **cfg, struct count_graph *graph)
{
	assert_int_equal(
		cfg_create_from_code(cfg, &insn_x86_decoder, code, sizeof(code), 0x4000, NULL), 0);
	assert_int_equal(count_graph_create(graph, *cfg, NULL, NULL), 0);
	*map = (struct counts_map){.image = 0x1234567890abcdef,
				   .path = strdup("/a/b"),
				   .build_id = strdup("00ff"),
				   .counters = 3 + graph->counter_count};
	assert_int_equal(counts_map_add(map, "first \"one\"", 0x4000, graph, 0), 0);
	assert_int_equal(counts_map_add(map, "", UINT64_MAX, graph, 3), 0);
}

static void assert_same(const struct counts_map *a, const struct counts_map *b)
{
	assert_int_equal(a->image, b->image);
	assert_string_equal(a->path, b->path);
	assert_string_equal(a->build_id, b->build_id);
	assert_int_equal(a->counters, b->counters);
	assert_int_equal(a->procedure_count, b->procedure_count);
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->edge_count, b->edge_count);
	for (size_t i = 0; i < a->procedure_count; i++) {
		assert_string_equal(a->procedures[i].name, b->procedures[i].name);
		assert_int_equal(a->procedures[i].address, b->procedures[i].address);
		assert_int_equal(a->procedures[i].node_count, b->procedures[i].node_count);
		assert_int_equal(a->procedures[i].first_edge, b->procedures[i].first_edge);
	}
	for (size_t i = 0; i < a->node_count; i++) {
		assert_int_equal(a->nodes[i].address, b->nodes[i].address);
		assert_int_equal(a->nodes[i].bytes, b->nodes[i].bytes);
		assert_int_equal(a->nodes[i].insns, b->nodes[i].insns);
	}
	for (size_t i = 0; i < a->edge_count; i++) {
		assert_int_equal(a->edges[i].from, b->edges[i].from);
		assert_int_equal(a->edges[i].to, b->edges[i].to);
		assert_int_equal(a->edges[i].counter, b->edges[i].counter);
		assert_int_equal(a->edges[i].kind, b->edges[i].kind);
		assert_int_equal(a->edges[i].source, b->edges[i].source);
		assert_int_equal(a->edges[i].target, b->edges[i].target);
	}
}

static void test_round_trip(void **state)
{
	struct counts_map map, again;
	struct count_graph graph;
	struct cfg *cfg;
	uint8_t *data;
	size_t bytes;

	(void)state;
	make(&map, &cfg, &graph);
	assert_int_equal(counts_map_encode(&map, &data, &bytes), 0);
	assert_int_equal(counts_map_decode(&again, data, bytes), 0);
	assert_same(&map, &again);
	counts_map_deinit(&again);
	counts_map_deinit(&map);
	count_graph_deinit(&graph);
	cfg_destroy(cfg);
	free(data);
}

/* An accepted map is within bounds; it may or may not be solvable. */
static void use(const struct counts_map *map)
{
	uint64_t *counters = calloc(map->counters + (size_t)1, sizeof(*counters));

	if (map->counters > 1000000 || counters == NULL) {
		free(counters);
		return;
	}
	for (size_t i = 0; i < map->procedure_count; i++) {
		const struct counts_procedure *procedure = &map->procedures[i];
		uint64_t *nodes = calloc(procedure->node_count + (size_t)1, sizeof(*nodes));
		uint64_t *edges = calloc(procedure->edge_count + (size_t)1, sizeof(*edges));

		counts_map_solve(map, procedure, counters, nodes, edges);
		free(nodes);
		free(edges);
	}
	free(counters);
}

static void test_damage(void **state)
{
	struct counts_map map, again;
	struct count_graph graph;
	struct cfg *cfg;
	uint8_t *data;
	size_t bytes;

	(void)state;
	srand(1);
	make(&map, &cfg, &graph);
	assert_int_equal(counts_map_encode(&map, &data, &bytes), 0);
	for (size_t cut = 0; cut < bytes; cut++)
		assert_int_equal(counts_map_decode(&again, data, cut), -EBADMSG);
	for (int i = 0; i < 20000; i++) {
		size_t at = (size_t)rand() % bytes;
		uint8_t old = data[at];

		data[at] = (uint8_t)rand();
		if (counts_map_decode(&again, data, bytes) == 0) {
			use(&again);
			counts_map_deinit(&again);
		}
		data[at] = old;
	}
	data[0] = 2;
	assert_int_equal(counts_map_decode(&again, data, bytes), -EPROTO);
	counts_map_deinit(&map);
	count_graph_deinit(&graph);
	cfg_destroy(cfg);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
