// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/burst_switch_loops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	NEW,
	ON_STACK,
	FINISHED,
};

/*
 * @stack:  stack of blocks of the search; @done: number of visited edges of each
 * @body: for each block: it is in the current loop; @list: these blocks
 */
struct finder {
	const struct cfg *cfg;
	struct burst_switch_loops *loops;
	uint8_t *state;
	uint32_t *stack;
	uint32_t *done;
	uint32_t depth;
	bool *body;
	uint32_t *list;
	bool (*is_event)(void *context, uint32_t insn);
	void *context;
	int32_t limit;
};

/* --- back edges ----------------------------------------------------------- */

/* Follow the next edge, or return to the previous block. */
static void search_step(struct finder *finder)
{
	uint32_t block = finder->stack[finder->depth - 1], edge;
	const struct cfg_block *from = &finder->cfg->blocks[block];
	uint32_t to;

	if (finder->done[finder->depth - 1] == from->out_count) {
		finder->state[block] = FINISHED;
		finder->depth--;
		return;
	}
	edge = from->out + finder->done[finder->depth - 1]++;
	to = finder->cfg->edges[edge].to;
	if (to >= finder->cfg->block_count)
		return;
	if (finder->state[to] == ON_STACK)
		finder->loops->checked[edge] = true;
	if (finder->state[to] != NEW)
		return;
	finder->state[to] = ON_STACK;
	finder->stack[finder->depth] = to;
	finder->done[finder->depth++] = 0;
}

/* Search from all new blocks with these flags. */
static void burst_switch_loops_search_from(struct finder *finder, uint32_t flags)
{
	for (uint32_t b = 0; b < finder->cfg->block_count; b++) {
		if (finder->state[b] != NEW || (finder->cfg->blocks[b].flags & flags) != flags)
			continue;
		finder->state[b] = ON_STACK;
		finder->stack[0] = b;
		finder->done[0] = 0;
		finder->depth = 1;
		while (finder->depth > 0)
			search_step(finder);
	}
}

/* --- loops ---------------------------------------------------------------- */

static bool is_back_edge(const struct finder *finder, uint32_t edge, uint32_t header)
{
	return finder->loops->checked[edge] && finder->cfg->edges[edge].to == header;
}

static void add_to_body(struct finder *finder, uint32_t block, uint32_t *count)
{
	if (finder->body[block])
		return;
	finder->body[block] = true;
	finder->list[(*count)++] = block;
}

/* Return: number of blocks; 0: the loop can be entered at other blocks than its header. */
static uint32_t find_body(struct finder *finder, uint32_t header)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *first = &cfg->blocks[header];
	uint32_t count = 0, done = 1;

	memset(finder->body, 0, cfg->block_count * sizeof(*finder->body));
	add_to_body(finder, header, &count);
	for (uint32_t i = first->in; i < first->in + first->in_count; i++) {
		if (is_back_edge(finder, cfg->in_edges[i], header))
			add_to_body(finder, cfg->edges[cfg->in_edges[i]].from, &count);
	}
	for (; done < count; done++) {
		const struct cfg_block *block = &cfg->blocks[finder->list[done]];

		if (block->in_count == 0)
			return 0;
		for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
			uint32_t from = cfg->edges[cfg->in_edges[i]].from;

			if (from >= cfg->block_count)
				return 0;
			add_to_body(finder, from, &count);
		}
	}
	return count;
}

static bool leaves_procedure(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT ||
	       insn->flow == INSN_FLOW_JUMP_INDIRECT || insn->class == INSN_SYSTEM;
}

static bool is_unchecked(const struct finder *finder, uint32_t count)
{
	int32_t events = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct cfg_block *block = &finder->cfg->blocks[finder->list[i]];

		for (uint32_t k = block->first; k < block->first + block->count; k++) {
			if (leaves_procedure(&finder->cfg->insns[k]))
				return false;
			events += finder->is_event(finder->context, k);
			if (events > finder->limit)
				return false;
		}
	}
	return count > 0;
}

/* An unchecked loop has no check on its back edges, and all of its blocks are unchecked. */
static void burst_switch_loops_examine(struct finder *finder, uint32_t header)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *block = &cfg->blocks[header];
	uint32_t count = find_body(finder, header);

	if (!is_unchecked(finder, count))
		return;
	for (uint32_t i = 0; i < count; i++)
		finder->loops->unchecked[finder->list[i]] = true;
	for (uint32_t i = block->in; i < block->in + block->in_count; i++)
		finder->loops->checked[cfg->in_edges[i]] = false;
}

static void find_unchecked(struct finder *finder)
{
	const struct cfg *cfg = finder->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		bool is_header = false;

		for (uint32_t i = block->in; i < block->in + block->in_count; i++)
			is_header |= is_back_edge(finder, cfg->in_edges[i], b);
		if (is_header)
			burst_switch_loops_examine(finder, b);
	}
}

/* --- all of it ------------------------------------------------------------ */

int burst_switch_loops_find(struct burst_switch_loops *ret, const struct cfg *cfg,
			    int32_t unchecked, bool (*is_event)(void *context, uint32_t insn),
			    void *context)
{
	size_t count = cfg->block_count + (size_t)1;
	struct finder finder = {
		.cfg = cfg,
		.loops = ret,
		.state = calloc(count, sizeof(*finder.state)),
		.stack = malloc(count * sizeof(*finder.stack)),
		.done = malloc(count * sizeof(*finder.done)),
		.body = malloc(count * sizeof(*finder.body)),
		.list = malloc(count * sizeof(*finder.list)),
		.is_event = is_event,
		.context = context,
		.limit = unchecked,
	};
	int r = -ENOMEM;

	*ret = (struct burst_switch_loops){
		.checked = calloc(cfg->edge_count + (size_t)1, sizeof(*ret->checked)),
		.unchecked = calloc(count, sizeof(*ret->unchecked)),
	};
	if (finder.state != NULL && finder.stack != NULL && finder.done != NULL &&
	    finder.body != NULL && finder.list != NULL && ret->checked != NULL &&
	    ret->unchecked != NULL) {
		r = 0;
		if (unchecked != BURST_SWITCH_LOOPS_NONE) {
			burst_switch_loops_search_from(&finder, CFG_BLOCK_ENTRY);
			burst_switch_loops_search_from(&finder,
						       0); /* unreachable from the entries */
		}
		if (unchecked != BURST_SWITCH_LOOPS_NONE && unchecked != BURST_SWITCH_LOOPS_ALL)
			find_unchecked(&finder);
	}
	free(finder.state);
	free(finder.stack);
	free(finder.done);
	free(finder.body);
	free(finder.list);
	if (r < 0)
		burst_switch_loops_deinit(ret);
	return r;
}

void burst_switch_loops_deinit(struct burst_switch_loops *loops)
{
	free(loops->checked);
	free(loops->unchecked);
	*loops = (struct burst_switch_loops){0};
}
