// SPDX-License-Identifier: GPL-2.0-only
/*
 * Duplicated loops: a duplicate consists of the shortest paths through the loop's body, and every
 * cycle through all duplicates has a check.
 */
#include "tests/lib/unit.h"

#include <string.h>

#include "instrument/clone/burst_switch_loops.h"
#include "instrument/clone/burst_switch_strides.h"
#include "tests/fixtures/random_graph.h"

#define ROUNDS 4000

/* --- duplicated blocks ------------------------------------------------------ */

static bool is_plain(const struct random_cfg *blocks, uint32_t block)
{
	return blocks->insns[blocks->all[block].first].flow == INSN_FLOW_NEXT;
}

/* Return true if a duplicated loop continues along an edge. */
static bool goes_on(const struct random_cfg *blocks, const struct burst_switch_loops *loops,
		    uint32_t edge)
{
	return !loops->checked[edge] && blocks->edges[edge].kind == CFG_EDGE_NEXT &&
	       blocks->edges[edge].from < blocks->cfg.block_count &&
	       blocks->edges[edge].to < blocks->cfg.block_count;
}

static bool is_back(const struct random_cfg *blocks, const struct burst_switch_loops *loops,
		    uint32_t edge, uint32_t header)
{
	return loops->checked[edge] && blocks->edges[edge].kind == CFG_EDGE_NEXT &&
	       blocks->edges[edge].to == header;
}

#define NO_WAY UINT32_MAX

/*
 * For each block, find the instructions on the shortest path without a check from the start of
 * @from to the block's end. NO_WAY: there is none, or only through blocks that are not plain.
 */
static void find_ways(const struct random_cfg *blocks, const struct burst_switch_loops *loops,
		      uint32_t from, uint32_t *ways)
{
	bool changed = true;

	for (uint32_t b = 0; b < blocks->cfg.block_count; b++)
		ways[b] = b == from && is_plain(blocks, b) ? blocks->all[b].count : NO_WAY;
	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < blocks->cfg.edge_count; e++) {
			uint32_t to = blocks->edges[e].to, way;

			if (!goes_on(blocks, loops, e) || !is_plain(blocks, to) ||
			    ways[blocks->edges[e].from] == NO_WAY)
				continue;
			way = ways[blocks->edges[e].from] + blocks->all[to].count;
			if (way >= ways[to])
				continue;
			ways[to] = way;
			changed = true;
		}
	}
}

/* For each block, find the instructions on the shortest iteration of @header's loop through it. */
static void find_rounds(const struct random_cfg *blocks, const struct burst_switch_loops *loops,
			uint32_t header, uint32_t *rounds)
{
	uint32_t forth[RANDOM_GRAPH_NODES], back[RANDOM_GRAPH_NODES];

	find_ways(blocks, loops, header, forth);
	for (uint32_t b = 0; b < blocks->cfg.block_count; b++) {
		find_ways(blocks, loops, b, back);
		rounds[b] = NO_WAY;
		for (uint32_t e = 0; forth[b] != NO_WAY && e < blocks->cfg.edge_count; e++) {
			uint32_t from = blocks->edges[e].from, round;

			if (!is_back(blocks, loops, e, header) || back[from] == NO_WAY)
				continue;
			round = forth[b] - blocks->all[b].count + back[from];
			if (round < rounds[b])
				rounds[b] = round;
		}
	}
}

static uint32_t insns_within(const struct random_cfg *blocks, const uint32_t *rounds,
			     uint32_t limit)
{
	uint32_t insns = 0;

	for (uint32_t b = 0; b < blocks->cfg.block_count; b++)
		insns += rounds[b] <= limit ? blocks->all[b].count : 0;
	return insns;
}

/* Check that exactly the blocks on the shortest iterations are duplicated, within the limits. */
static void check_stride(const struct random_cfg *blocks,
			 const struct burst_switch_strides *strides,
			 const struct burst_stride *stride, const uint32_t *rounds)
{
	const uint32_t *body = strides->blocks + stride->first;
	uint32_t header = blocks->edges[stride->edge].to, longest = 0, next = NO_WAY, insns;

	assert_int_equal(body[0], header);
	for (uint32_t i = 0; i < stride->count; i++) {
		assert_true(i < 2 || body[i] - header > body[i - 1] - header);
		longest = rounds[body[i]] > longest ? rounds[body[i]] : longest;
	}
	for (uint32_t b = 0; b < blocks->cfg.block_count; b++) {
		bool kept = false;

		for (uint32_t i = 0; i < stride->count; i++)
			kept |= body[i] == b;
		assert_int_equal(kept, rounds[b] <= longest);
		next = !kept && rounds[b] < next ? rounds[b] : next;
	}
	insns = insns_within(blocks, rounds, longest);
	assert_true(insns <= STRIDE_BODY);
	assert_true(next > STRIDE_BODY || insns_within(blocks, rounds, next) > STRIDE_PART);
	if (insns_within(blocks, rounds, STRIDE_BODY) <= STRIDE_BODY)
		assert_true(next > STRIDE_BODY);
	assert_true(stride->replicas >= 1 && stride->replicas <= STRIDE_REPLICAS);
	assert_true(stride->replicas * insns <= STRIDE_INSNS);
}

static const struct burst_stride *stride_of(const struct random_cfg *blocks,
					    const struct burst_switch_strides *strides,
					    uint32_t header)
{
	const struct burst_stride *found = NULL;

	for (size_t s = 0; s < strides->count; s++) {
		if (blocks->edges[strides->all[s].edge].to != header)
			continue;
		assert_null(found);
		found = &strides->all[s];
	}
	return found;
}

static void test_strides_are_shortest_cycles(void **state)
{
	static struct random_cfg blocks;
	uint64_t random = 5;
	unsigned int found = 0, long_ones = 0, large = 0, parts = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct burst_switch_strides strides;
		struct burst_switch_loops loops;

		random_cfg_make(&blocks, &random);
		if (round % 2 == 0)
			random_cfg_make_longer(&blocks, &random);
		assert_int_equal(burst_switch_loops_find(&loops, &blocks.cfg,
							 (int32_t)(unit_random(&random) % 4) - 1,
							 random_cfg_is_event, &blocks),
				 0);
		assert_int_equal(burst_switch_strides_find(&strides, &blocks.cfg, &loops), 0);
		for (uint32_t b = 0; b < blocks.cfg.block_count; b++) {
			const struct burst_stride *stride = stride_of(&blocks, &strides, b);
			uint32_t rounds[RANDOM_GRAPH_NODES] = {0};
			bool around;

			find_rounds(&blocks, &loops, b, rounds);
			around = rounds[b] != NO_WAY;
			assert_int_equal(stride != NULL,
					 around && insns_within(&blocks, rounds, rounds[b]) <=
							   STRIDE_BODY);
			large += around && stride == NULL;
			if (stride == NULL)
				continue;
			assert_true(is_back(&blocks, &loops, stride->edge, b));
			check_stride(&blocks, &strides, stride, rounds);
			found++;
			long_ones += stride->count > 1;
			parts += insns_within(&blocks, rounds, NO_WAY - 1) > STRIDE_BODY;
		}
		burst_switch_strides_deinit(&strides);
		burst_switch_loops_deinit(&loops);
	}
	assert_true(found > ROUNDS / 2 && long_ones > ROUNDS / 8 && large > ROUNDS / 64 &&
		    parts > ROUNDS / 64);
}

/* --- checks --------------------------------------------------------------- */

/* Position in the code: in an original block, or in an iteration of a duplicated loop. */
struct position {
	const struct burst_stride *stride;
	uint32_t turn;
	uint32_t block;
};

#define POSITIONS_MAX (RANDOM_GRAPH_NODES * (1 + RANDOM_GRAPH_NODES * STRIDE_REPLICAS))

static uint32_t number_of(const struct burst_switch_strides *strides, const struct position *at)
{
	size_t stride = at->stride != NULL ? (size_t)(at->stride - strides->all) : 0;

	return at->stride == NULL ? at->block
				  : (uint32_t)((1 + stride * STRIDE_REPLICAS + at->turn - 1) *
						       RANDOM_GRAPH_NODES +
					       at->block);
}

static bool is_put_again(const struct burst_switch_strides *strides,
			 const struct burst_stride *stride, uint32_t block)
{
	const uint32_t *body = strides->blocks + stride->first;
	uint32_t i = 0;

	while (i < stride->count && body[i] != block)
		i++;
	return i < stride->count;
}

/* Follow an edge like the clones do. Return: true if the edge has no check. */
static bool step(const struct random_cfg *blocks, const struct burst_switch_loops *loops,
		 const struct burst_switch_strides *strides, struct position *at, uint32_t edge)
{
	uint32_t to = blocks->edges[edge].to;
	const struct burst_stride *into = stride_of(blocks, strides, to), *from = at->stride;

	at->block = to;
	if (into != NULL && is_back(blocks, loops, edge, to)) {
		bool ends = from == into, last = ends && at->turn == into->replicas;

		at->stride = last ? NULL : into;
		at->turn = ends && !last ? at->turn + 1 : 1;
		return into->closed ? !last : ends;
	}
	if (from == NULL || !goes_on(blocks, loops, edge) || !is_put_again(strides, from, to) ||
	    to == blocks->edges[from->edge].to)
		at->stride = NULL;
	return !loops->checked[edge];
}

enum {
	NEW,
	ON_STACK,
	FINISHED
};

/* Return true if a cycle without a check is reachable from a position. */
static bool has_unchecked_cycle(const struct random_cfg *blocks,
				const struct burst_switch_loops *loops,
				const struct burst_switch_strides *strides, struct position at,
				uint8_t *seen)
{
	const struct cfg_block *block = &blocks->all[at.block];
	uint32_t number = number_of(strides, &at);
	bool found = false;

	if (seen[number] != NEW)
		return seen[number] == ON_STACK;
	seen[number] = ON_STACK;
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		struct position next = at;

		if (blocks->edges[e].to < blocks->cfg.block_count &&
		    step(blocks, loops, strides, &next, e))
			found |= has_unchecked_cycle(blocks, loops, strides, next, seen);
	}
	seen[number] = FINISHED;
	return found;
}

/*
 * Every cycle has a check, including those of closed duplicates, whose first iterations have none.
 */
static void test_strides_have_checks(void **state)
{
	static uint8_t seen[POSITIONS_MAX];
	static struct random_cfg blocks;
	uint64_t random = 7;
	unsigned int closed = 0, open = 0, inner = 0;

	(void)state;
	for (unsigned int round = 0; round < 4 * ROUNDS; round++) {
		struct burst_switch_strides strides;
		struct burst_switch_loops loops;

		random_cfg_make(&blocks, &random);
		assert_int_equal(burst_switch_loops_find(&loops, &blocks.cfg,
							 BURST_SWITCH_LOOPS_ALL,
							 random_cfg_is_event, &blocks),
				 0);
		assert_int_equal(burst_switch_strides_find(&strides, &blocks.cfg, &loops), 0);
		memset(seen, NEW, sizeof(seen));
		for (uint32_t b = 0; b < blocks.cfg.block_count; b++)
			assert_false(has_unchecked_cycle(&blocks, &loops, &strides,
							 (struct position){.block = b}, seen));
		for (size_t s = 0; s < strides.count; s++) {
			struct position at = {&strides.all[s], 1,
					      blocks.edges[strides.all[s].edge].to};

			assert_false(has_unchecked_cycle(&blocks, &loops, &strides, at, seen));
			closed += strides.all[s].closed;
			open += !strides.all[s].closed;
			inner += strides.all[s].closed && strides.all[s].count > 2;
		}
		burst_switch_strides_deinit(&strides);
		burst_switch_loops_deinit(&loops);
	}
	assert_true(closed > ROUNDS && open > ROUNDS && inner > ROUNDS / 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strides_are_shortest_cycles),
		cmocka_unit_test(test_strides_have_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
