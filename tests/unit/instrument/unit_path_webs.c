// SPDX-License-Identifier: GPL-2.0-only
/* Location of a path's number, for code with known answers. */
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include "instrument/paths/path_numbering.h"
#include "instrument/paths/path_webs.h"

#define R11 11
#define BOTH_WAYS 0x74, 0x01, 0x90     /* je 1f; nop; 1: */
#define TEST_RDI 0x85, 0xff	       /* test %edi, %edi */
#define TEST_RSI 0x85, 0xf6	       /* test %esi, %esi */
#define SET_R11 0x41, 0xbb, 1, 0, 0, 0 /* mov $1, %r11d */
#define SET_RDI 0xbf, 1, 0, 0, 0       /* mov $1, %edi */
#define CALL 0xe8, 0, 1, 0, 0
#define RETURN 0xc3

/*
 * All examples have two branches that merge again, so four paths; the number is needed after the
 * first one.
 */
static const struct example {
	const char *what;
	uint8_t code[40];
	size_t bytes;
	uint16_t changed; /* as known to callers */
	uint8_t where;
} examples[] = {
	{"a register has no use any more",
	 {SET_R11, TEST_RDI, BOTH_WAYS, TEST_RSI, BOTH_WAYS, RETURN},
	 17,
	 0,
	 R11},
	{"callers know that it changes",
	 {TEST_RDI, BOTH_WAYS, TEST_RSI, BOTH_WAYS, RETURN},
	 11,
	 1 << R11,
	 R11},
	{"they know that none does",
	 {TEST_RDI, BOTH_WAYS, TEST_RSI, BOTH_WAYS, RETURN},
	 11,
	 0,
	 PATH_IN_MEMORY},
	{"it is written between", /* je 1f; mov $1, %r11d; 1: */
	 {TEST_RDI, BOTH_WAYS, TEST_RSI, 0x74, 0x06, SET_R11, RETURN},
	 16,
	 0,
	 PATH_IN_MEMORY},
	{"it is read between", /* je 1f; xor %r11d, %esi; 1: */
	 {SET_R11, TEST_RDI, BOTH_WAYS, TEST_RSI, 0x74, 0x03, 0x44, 0x31, 0xde, RETURN},
	 19,
	 0,
	 PATH_IN_MEMORY},
	{"it is read where path_edges meet first", /* xor %r11d, %esi */
	 {SET_R11, TEST_RDI, BOTH_WAYS, 0x44, 0x31, 0xde, BOTH_WAYS, RETURN},
	 18,
	 0,
	 PATH_IN_MEMORY},
	{"another one has no use",
	 {SET_R11, TEST_RDI, BOTH_WAYS, SET_RDI, 0x44, 0x31, 0xde, BOTH_WAYS, RETURN},
	 23,
	 1 << 10,
	 10},
	{"somebody is called between",
	 {SET_R11, TEST_RDI, BOTH_WAYS, TEST_RSI, 0x74, 0x05, CALL, RETURN},
	 21,
	 0,
	 PATH_IN_MEMORY},
	{"somebody was called before",
	 {CALL, SET_R11, TEST_RDI, BOTH_WAYS, TEST_RSI, BOTH_WAYS, RETURN},
	 22,
	 0,
	 R11},
};

static bool is_needed(const struct path_graph *graph, uint32_t node)
{
	return node != PATH_NONE && !graph->known[node];
}

static void check(const struct example *example, const struct path_graph *graph)
{
	uint32_t sets = 0, ends = 0;

	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		const struct path_edge *path_edge = &graph->path_edges[w];
		uint8_t before =
			is_needed(graph, path_edge->from) ? example->where : PATH_IN_MEMORY;
		uint8_t behind = is_needed(graph, path_edge->to) ? example->where : PATH_IN_MEMORY;
		bool memory = example->where == PATH_IN_MEMORY;

		if (path_edge->reads != before || path_edge->writes != behind)
			fail_msg("%s: from %u to %u it is in %u, then %u", example->what,
				 path_edge->from, path_edge->to, path_edge->reads,
				 path_edge->writes);
		assert_int_equal(path_edge->takes, memory && path_edge->change == PATH_SET);
		assert_int_equal(path_edge->leaves, memory && path_edge->kind == PATH_END);
		sets += path_edge->change == PATH_SET;
		ends += path_edge->counted != PATH_ON && !path_edge->end_known;
	}
	if (sets < 2 || ends == 0)
		fail_msg("%s: %u path_edges set it, %u ends need it", example->what, sets, ends);
}

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct example *example = &examples[i];
		struct liveness_call at[2] = {{0}};
		const struct liveness_calls calls = {.at = at, .changed = example->changed};
		const struct path_rules rules = {.most = PATH_COUNT_MAX};
		struct liveness liveness;
		struct count_graph counts;
		struct path_graph graph;
		struct cfg *cfg;

		assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, example->code,
						      example->bytes, 0x1000, NULL),
				 0);
		assert_int_equal(liveness_find(&liveness, cfg, &calls, false), 0);
		assert_int_equal(count_graph_create(&counts, cfg, NULL, NULL), 0);
		assert_int_equal(path_numbering_create(&graph, &counts, &rules), 0);
		assert_int_equal(graph.count, 4);
		assert_int_equal(path_webs_find(&graph,
						&(struct mode_procedure){.cfg = cfg,
									 .graph = &counts,
									 .liveness = &liveness},
						true),
				 0);
		check(example, &graph);
		path_graph_deinit(&graph);
		count_graph_deinit(&counts);
		liveness_deinit(&liveness);
		cfg_destroy(cfg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
