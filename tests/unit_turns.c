// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks between two copies: however few there are, no circle of a procedure's graph and no
 * recursion is without one, but for loops that record nothing.
 */
#include "tests/unit.h"

#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "instrument/copy/turn_entries.h"
#include "instrument/copy/turn_loops.h"
#include "instrument/copy/turn_strides.h"
#include "lib/error.h"

#define NODES_MAX 16
#define EDGES_MAX 40
#define INSNS_MAX 24 /* of a block */
#define ROUNDS 4000

/* --- names ---------------------------------------------------------------- */

static void test_names(void **state)
{
	static const char *const good[] = {"orig", "EL",    "EC",     "EN",    "L4", "L10",
					   "LN",   "EC+L4", "EN+L10", "EL+LN", "L0", "EC+L9999"};
	static const char *const bad[] = {"",	    "E",     "EX",     "L",	 "LX",	  "EC+",
					  "EC+EC",  "L4+EC", "+L4",    "ECL4",	 "L4+L4", "L99999",
					  "EC+L4x", "orig+", "EC++L4", "orig+L4"};
	struct turn_placement placement;
	char name[TURN_PLACEMENT_NAME_BYTES];
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(turn_placement_parse(&placement, good[i], &err), 0);
		turn_placement_name(name, &placement);
		assert_string_equal(name, good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(turn_placement_parse(&placement, bad[i], &err) < 0);
	placement = TURN_PLACEMENT_DEFAULT;
	turn_placement_name(name, &placement);
	assert_string_equal(name, "EC+L4");
}

/* --- graphs --------------------------------------------------------------- */

/* Nodes with edges; on removal of some, nodes that are still on a circle. */
struct model {
	uint32_t first[NODES_MAX + 1];
	uint32_t targets[EDGES_MAX];
	uint32_t from[EDGES_MAX];
	uint32_t nodes;
};

static void make_model(struct model *model, uint64_t *random)
{
	uint32_t edges = 0;

	memset(model, 0, sizeof(*model));
	model->nodes = 1 + (uint32_t)(unit_random(random) % NODES_MAX);
	for (uint32_t n = 0; n < model->nodes; n++) {
		model->first[n] = edges;
		for (uint64_t k = unit_random(random) % 4; k > 0 && edges < EDGES_MAX; k--) {
			model->from[edges] = n;
			model->targets[edges++] =
				(uint32_t)(unit_random(random) % (model->nodes + 1));
		}
	}
	model->first[model->nodes] = edges;
}

/* Whether a node is on a circle of edges that are not @gone. */
static bool is_on_circle(const struct model *model, const bool *gone, uint32_t node)
{
	bool reached[NODES_MAX + 1] = {false};
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < model->first[model->nodes]; e++) {
			if (gone[e] || reached[model->targets[e]] ||
			    (model->from[e] != node && !reached[model->from[e]]))
				continue;
			reached[model->targets[e]] = changed = true;
		}
	}
	return reached[node];
}

/* --- loops ---------------------------------------------------------------- */

/* A graph of blocks of one instruction: some refer to memory, some call. */
struct blocks {
	struct model model;
	struct cfg cfg;
	struct cfg_block all[NODES_MAX];
	struct cfg_edge edges[EDGES_MAX + 1];
	uint32_t in_edges[EDGES_MAX + 1];
	struct insn insns[NODES_MAX * INSNS_MAX];
};

static void make_blocks(struct blocks *blocks, uint64_t *random)
{
	struct cfg *cfg = &blocks->cfg;

	memset(blocks, 0, sizeof(*blocks));
	make_model(&blocks->model, random);
	*cfg = (struct cfg){
		.insns = blocks->insns,
		.blocks = blocks->all,
		.edges = blocks->edges,
		.in_edges = blocks->in_edges,
		.insn_count = blocks->model.nodes,
		.block_count = blocks->model.nodes,
		.edge_count = blocks->model.first[blocks->model.nodes] + 1,
	};
	for (uint32_t e = 0; e + 1 < cfg->edge_count; e++)
		blocks->edges[e] = (struct cfg_edge){
			.kind = e % 8 == 0 ? CFG_EDGE_SWITCH : CFG_EDGE_NEXT,
			.from = blocks->model.from[e],
			.to = blocks->model.targets[e] < cfg->block_count ? blocks->model.targets[e]
									  : CFG_EXIT,
		};
	blocks->edges[cfg->edge_count - 1] = (struct cfg_edge){.from = CFG_ENTRY};
	for (uint32_t b = 0, in = 0; b < cfg->block_count; b++) {
		blocks->insns[b].flow = unit_random(random) % 20 ? INSN_FLOW_NEXT : INSN_FLOW_CALL;
		blocks->insns[b].flags = unit_random(random) % 2 ? INSN_READS_MEMORY : 0;
		blocks->all[b] = (struct cfg_block){
			.first = b,
			.count = 1,
			.in = in,
			.out = blocks->model.first[b],
			.out_count = blocks->model.first[b + 1] - blocks->model.first[b],
			.flags = b == 0 ? CFG_BLOCK_ENTRY : 0,
		};
		for (uint32_t e = 0; e < cfg->edge_count; e++) {
			if (blocks->edges[e].to == b)
				blocks->in_edges[in++] = e;
		}
		blocks->all[b].in_count = in - blocks->all[b].in;
	}
}

static bool is_event(void *context, uint32_t insn)
{
	const struct blocks *blocks = context;

	return blocks->insns[insn].flags != 0;
}

/* Events of the circles without a check that lead through a block. */
static int events_around(const struct blocks *blocks, const bool *checked, uint32_t block)
{
	uint32_t component[NODES_MAX], count, edges = 0, first[NODES_MAX + 1], targets[EDGES_MAX];
	struct strong_graph graph = {first, targets, blocks->model.nodes};
	int events = 0;

	for (uint32_t n = 0; n < graph.nodes; n++) {
		first[n] = edges;
		for (uint32_t e = blocks->model.first[n]; e < blocks->model.first[n + 1]; e++) {
			if (!checked[e])
				targets[edges++] = blocks->model.targets[e] < graph.nodes
							   ? blocks->model.targets[e]
							   : UINT32_MAX;
		}
	}
	first[graph.nodes] = edges;
	assert_int_equal(strong_components_find(component, &count, &graph), 0);
	for (uint32_t n = 0; n < graph.nodes; n++) {
		if (component[n] == component[block])
			events += blocks->insns[n].flags != 0;
	}
	return events;
}

static void test_loops_have_checks(void **state)
{
	static struct blocks blocks;
	uint64_t random = 2001;
	unsigned int boring = 0, checked = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		int32_t limit = (int32_t)(unit_random(&random) % 5) - 1;
		struct turn_loops loops;

		make_blocks(&blocks, &random);
		assert_int_equal(turn_loops_find(&loops, &blocks.cfg, limit, is_event, &blocks), 0);
		for (uint32_t b = 0; b < blocks.cfg.block_count; b++) {
			boring += loops.boring[b];
			if (loops.boring[b]) {
				assert_true(limit >= 0);
				assert_int_equal(blocks.insns[b].flow, INSN_FLOW_NEXT);
			}
			if (!is_on_circle(&blocks.model, loops.checked, b))
				continue;
			assert_true(loops.boring[b]);
			assert_true(events_around(&blocks, loops.checked, b) <= limit);
		}
		for (uint32_t e = 0; e < blocks.cfg.edge_count; e++)
			checked += loops.checked[e];
		turn_loops_deinit(&loops);
	}
	assert_true(boring > ROUNDS / 4 && checked > ROUNDS);
}

static void test_no_loop_has_a_check(void **state)
{
	static struct blocks blocks;
	uint64_t random = 3;
	struct turn_loops loops;

	(void)state;
	make_blocks(&blocks, &random);
	assert_int_equal(turn_loops_find(&loops, &blocks.cfg, TURN_LOOPS_NONE, is_event, &blocks),
			 0);
	for (uint32_t e = 0; e < blocks.cfg.edge_count; e++)
		assert_false(loops.checked[e]);
	for (uint32_t b = 0; b < blocks.cfg.block_count; b++)
		assert_false(loops.boring[b]);
	turn_loops_deinit(&loops);
}

/* --- strides -------------------------------------------------------------- */

/* Blocks of several instructions, all like the one they had. */
static void make_longer(struct blocks *blocks, uint64_t *random)
{
	struct insn insns[NODES_MAX];
	uint32_t count = 0;

	memcpy(insns, blocks->insns, sizeof(insns));
	for (uint32_t b = 0; b < blocks->cfg.block_count; b++) {
		blocks->all[b].first = count;
		blocks->all[b].count = 1 + (uint32_t)(unit_random(random) % INSNS_MAX);
		for (uint32_t i = 0; i < blocks->all[b].count; i++)
			blocks->insns[count++] = insns[b];
	}
	blocks->cfg.insn_count = count;
}

static bool is_plain(const struct blocks *blocks, uint32_t block)
{
	return blocks->insns[blocks->all[block].first].flow == INSN_FLOW_NEXT;
}

/* Whether an edge is one of those that a loop that is put again goes on by. */
static bool goes_on(const struct blocks *blocks, const struct turn_loops *loops, uint32_t edge)
{
	return !loops->checked[edge] && blocks->edges[edge].kind == CFG_EDGE_NEXT &&
	       blocks->edges[edge].from < blocks->cfg.block_count &&
	       blocks->edges[edge].to < blocks->cfg.block_count;
}

static bool is_back(const struct blocks *blocks, const struct turn_loops *loops, uint32_t edge,
		    uint32_t header)
{
	return loops->checked[edge] && blocks->edges[edge].kind == CFG_EDGE_NEXT &&
	       blocks->edges[edge].to == header;
}

/* Marks plain blocks that are on a way round from and to @header. Return: instructions of those
 * that lead back to it, on whatever way. */
static uint32_t mark_round(const struct blocks *blocks, const struct turn_loops *loops,
			   uint32_t header, bool *round)
{
	bool reached[NODES_MAX] = {false}, leads[NODES_MAX] = {false}, changed = true;
	uint32_t insns = 0;

	reached[header] = is_plain(blocks, header);
	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < blocks->cfg.edge_count; e++) {
			uint32_t from = blocks->edges[e].from, to = blocks->edges[e].to;
			bool back = is_back(blocks, loops, e, header);

			if (!back && !goes_on(blocks, loops, e))
				continue;
			if (!back && reached[from] && !reached[to] && is_plain(blocks, to))
				changed = reached[to] = true;
			if ((back || (leads[to] && to != header)) && is_plain(blocks, from) &&
			    !leads[from])
				changed = leads[from] = true;
		}
	}
	for (uint32_t b = 0; b < blocks->cfg.block_count; b++) {
		round[b] = reached[b] && leads[b];
		insns += leads[b] ? blocks->all[b].count : 0;
	}
	return insns;
}

/* All that is put again is on a way round, and all that is so is put again. */
static void check_stride(const struct blocks *blocks, const struct turn_strides *strides,
			 const struct turn_stride *stride, const bool *round)
{
	const uint32_t *body = strides->blocks + stride->first;
	uint32_t header = blocks->edges[stride->edge].to, insns = 0, count = 0;

	assert_int_equal(body[0], header);
	for (uint32_t i = 0; i < stride->count; i++) {
		assert_true(round[body[i]]);
		assert_true(i < 2 || body[i] - header > body[i - 1] - header);
		insns += blocks->all[body[i]].count;
	}
	for (uint32_t b = 0; b < blocks->cfg.block_count; b++)
		count += round[b];
	assert_int_equal(stride->count, count);
	assert_true(insns <= TURN_STRIDE_BODY);
	assert_true(stride->turns >= 1 && stride->turns <= TURN_STRIDE_TURNS);
	assert_true(stride->turns * insns <= TURN_STRIDE_INSNS);
}

static const struct turn_stride *stride_of(const struct blocks *blocks,
					   const struct turn_strides *strides, uint32_t header)
{
	const struct turn_stride *found = NULL;

	for (size_t s = 0; s < strides->count; s++) {
		if (blocks->edges[strides->all[s].edge].to != header)
			continue;
		assert_null(found);
		found = &strides->all[s];
	}
	return found;
}

static void test_strides_are_bodies(void **state)
{
	static struct blocks blocks;
	uint64_t random = 5;
	unsigned int found = 0, long_ones = 0, large = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct turn_strides strides;
		struct turn_loops loops;

		make_blocks(&blocks, &random);
		if (round % 2 == 0)
			make_longer(&blocks, &random);
		assert_int_equal(turn_loops_find(&loops, &blocks.cfg,
						 (int32_t)(unit_random(&random) % 4) - 1, is_event,
						 &blocks),
				 0);
		assert_int_equal(turn_strides_find(&strides, &blocks.cfg, &loops), 0);
		for (uint32_t b = 0; b < blocks.cfg.block_count; b++) {
			const struct turn_stride *stride = stride_of(&blocks, &strides, b);
			bool around[NODES_MAX] = {false};
			uint32_t insns = mark_round(&blocks, &loops, b, around);

			assert_int_equal(stride != NULL, around[b] && insns <= TURN_STRIDE_BODY);
			large += around[b] && stride == NULL;
			if (stride == NULL)
				continue;
			assert_true(is_back(&blocks, &loops, stride->edge, b));
			check_stride(&blocks, &strides, stride, around);
			found++;
			long_ones += stride->count > 1;
		}
		turn_strides_deinit(&strides);
		turn_loops_deinit(&loops);
	}
	assert_true(found > ROUNDS / 2 && long_ones > ROUNDS / 8 && large > ROUNDS / 64);
}

/* --- entries -------------------------------------------------------------- */

/* Without the check of one of them there is a recursion that has none. */
static bool is_needed(const struct model *model, const uint8_t *checked, uint32_t node)
{
	bool gone[EDGES_MAX] = {false};

	for (uint32_t e = 0; e < model->first[model->nodes]; e++) {
		uint32_t to = model->targets[e];

		gone[e] = to < model->nodes && to != node && checked[to] == TURN_ENTRY_EACH;
	}
	return is_on_circle(model, gone, node);
}

static void test_recursions_have_checks(void **state)
{
	static struct model model;
	uint64_t random = 41;
	unsigned int fewer = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint8_t cycles[NODES_MAX], callers[NODES_MAX];
		bool outside[NODES_MAX] = {false};
		bool gone[EDGES_MAX] = {false};
		struct turn_calls calls = {.outside = outside};

		make_model(&model, &random);
		calls.graph = (struct strong_graph){model.first, model.targets, model.nodes};
		for (uint32_t n = 0; n < model.nodes; n++)
			outside[n] = unit_random(&random) % 4 == 0;
		assert_int_equal(turn_entries_find(cycles, &calls, TURN_ENTRIES_CYCLES), 0);
		assert_int_equal(turn_entries_find(callers, &calls, TURN_ENTRIES_CALLERS), 0);
		for (uint32_t e = 0; e < model.first[model.nodes]; e++)
			gone[e] = model.targets[e] < model.nodes &&
				  cycles[model.targets[e]] == TURN_ENTRY_EACH;
		for (uint32_t n = 0; n < model.nodes; n++) {
			bool leaf = model.first[n] == model.first[n + 1];

			assert_int_equal(callers[n], leaf ? TURN_ENTRY_NONE : TURN_ENTRY_EACH);
			assert_true(callers[n] || !cycles[n]);
			assert_false(is_on_circle(&model, gone, n));
			if (cycles[n] == TURN_ENTRY_EACH)
				assert_true(is_needed(&model, cycles, n));
			if (outside[n] && !leaf)
				assert_true(cycles[n]);
			fewer += callers[n] && !cycles[n];
		}
	}
	assert_true(fewer > ROUNDS);
}

/* The paper's example: Sequitur's check, match and substitute call each other. */
static void test_papers_example(void **state)
{
	enum {
		MAIN,
		CHECK,
		MATCH,
		SUBSTITUTE,
		DELETE_DIGRAM,
		PROCEDURES
	};
	const uint32_t first[] = {0, 1, 2, 4, 6, 6};
	const uint32_t targets[] = {CHECK, MATCH, SUBSTITUTE, DELETE_DIGRAM, DELETE_DIGRAM, CHECK};
	const bool outside[PROCEDURES] = {false};
	struct turn_calls calls = {{first, targets, PROCEDURES}, outside};
	uint8_t checked[PROCEDURES];

	(void)state;
	assert_int_equal(turn_entries_find(checked, &calls, TURN_ENTRIES_CYCLES), 0);
	for (uint32_t n = 0; n < PROCEDURES; n++)
		assert_int_equal(checked[n], n == MAIN	  ? TURN_ENTRY_OUTSIDE
					     : n == CHECK ? TURN_ENTRY_EACH
							  : TURN_ENTRY_NONE);
	assert_int_equal(turn_entries_find(checked, &calls, TURN_ENTRIES_NONE), 0);
	for (uint32_t n = 0; n < PROCEDURES; n++)
		assert_int_equal(checked[n], TURN_ENTRY_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_loops_have_checks),
		cmocka_unit_test(test_no_loop_has_a_check),
		cmocka_unit_test(test_strides_are_bodies),
		cmocka_unit_test(test_recursions_have_checks),
		cmocka_unit_test(test_papers_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
