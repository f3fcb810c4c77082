// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/register_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/register_state.h"
#include "lib/cleanup.h"

/*
 * Values are found optimistically: loops are first assumed to preserve the values at their entry.
 * Where that assumption fails, the header's register gets a value of its own, and the search starts
 * again. This usually takes one round per depth of loops. In unusual graphs, all headers' registers
 * get values of their own in the end.
 */
#define ROUNDS_MAX 12

/*
 * struct equality - along one edge out of a block, values with the symbol of @left can be expressed
 * by @right with an offset
 */
struct equality {
	uint32_t edge; /* UINT32_MAX: along none */
	struct register_value left;
	struct register_value right;
};

/*
 * struct search - a round of the search
 * @order: blocks, each after its predecessors, except for loops
 * @place: index of each block in @order; UINT32_MAX: unreachable
 * @own:   for each block, a bit for each place: different values arrive from the loop
 * @equal: for each block
 * @wrong: an assumption of this round failed
 */
struct search {
	const struct cfg *cfg;
	struct register_values *values;
	uint32_t *order;
	uint32_t *place;
	uint32_t count;
	uint64_t *own;
	struct equality *equal;
	bool wrong;
};

static struct register_value value_of_block(uint32_t block, uint32_t place)
{
	return (struct register_value){register_value_of_block(block, place), 0, 8};
}

/* Symbols of blocks usually have numbers that grow inward. */
static bool is_better_known(const struct register_value *a, const struct register_value *b)
{
	return a->symbol < b->symbol;
}

/*
 * Return the equality that holds along one edge of a branch because two registers are equal. Values
 * with the same symbol say nothing about others: if they differ, a guess about a loop is wrong, or
 * the edge is never followed.
 */
static struct equality equality_of(const struct cfg *cfg, uint32_t b,
				   const struct register_test *test)
{
	const struct cfg_block *block = &cfg->blocks[b];
	struct equality equality = {UINT32_MAX, test->left, test->right};
	enum cfg_edge_kind kind =
		test->relation == INSN_RELATION_EQUAL ? CFG_EDGE_TAKEN : CFG_EDGE_NEXT;

	if ((test->relation != INSN_RELATION_EQUAL && test->relation != INSN_RELATION_NOT_EQUAL) ||
	    test->left.symbol == test->right.symbol)
		return equality;
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		if (cfg->edges[e].kind == kind)
			equality.edge = e;
	}
	if (is_better_known(&test->left, &test->right)) {
		equality.left = test->right;
		equality.right = test->left;
	}
	if (test->bytes < equality.right.bytes)
		equality.right.bytes = test->bytes;
	return equality;
}

static struct register_value along(const struct equality *equality, uint32_t edge,
				   struct register_value value)
{
	if (equality->edge != edge || value.symbol != equality->left.symbol ||
	    value.symbol == REGISTER_VALUE_CONSTANT)
		return value;
	value.symbol = equality->right.symbol;
	value.offset = insn_sum(insn_sum(value.offset, equality->right.offset),
				insn_product(equality->left.offset, -1));
	if (equality->right.bytes < value.bytes)
		value.bytes = equality->right.bytes;
	if (equality->left.bytes < value.bytes)
		value.bytes = equality->left.bytes;
	return value;
}

/* --- the search ----------------------------------------------------------------------- */

static size_t index_of(const struct register_values *values, uint32_t b, uint32_t place)
{
	return (size_t)b * values->places + place;
}

/*
 * Combine the values of a place from all edges into a block. If not @around, use only the edges
 * that this round has already followed.
 */
static struct register_value meet(const struct search *search, uint32_t b, uint32_t place,
				  bool around)
{
	const struct cfg *cfg = search->cfg;
	const struct cfg_block *block = &cfg->blocks[b];
	struct register_value met = value_of_block(b, place);
	bool found = false;

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t e = cfg->in_edges[block->in + i], from = cfg->edges[e].from;
		struct register_value value;

		if (from >= cfg->block_count)
			return value_of_block(b, place);
		if (search->place[from] == UINT32_MAX ||
		    (!around && search->place[from] >= search->place[b]))
			continue;
		value = search->values->out[index_of(search->values, from, place)];
		value = along(&search->equal[from], e, value);
		if (found && !register_value_same(&met, &value))
			return value_of_block(b, place);
		met = value;
		found = true;
	}
	return met;
}

static void state_copy(struct register_value *to, const struct register_state *state)
{
	memcpy(to, state->places, state->values->places * sizeof(*to));
}

/*
 * Enter a block with the values of its only incoming edge. Return: false if it has several or the
 * edge does not come from a block.
 */
static bool enter_from_predecessor(struct register_state *state, const struct search *search,
				   uint32_t b)
{
	const struct register_values *values = search->values;
	const struct cfg_block *block = &search->cfg->blocks[b];
	uint32_t e = search->cfg->in_edges[block->in], from = search->cfg->edges[e].from;

	if (block->in_count != 1 || from >= search->cfg->block_count || search->own[b] != 0)
		return false;
	memcpy(state->places, &values->out[index_of(values, from, 0)],
	       values->places * sizeof(*state->places));
	for (uint32_t place = 0; place < values->places && search->equal[from].edge == e; place++)
		state->places[place] = along(&search->equal[from], e, state->places[place]);
	return true;
}

static void enter_block(struct search *search, uint32_t b)
{
	struct register_values *values = search->values;
	struct register_state state = {.values = values};
	struct register_test test;
	bool known = enter_from_predecessor(&state, search, b);

	for (uint32_t place = 0; place < values->places && !known; place++) {
		if ((search->own[b] >> place & 1) != 0)
			state.places[place] = value_of_block(b, place);
		else
			state.places[place] = meet(search, b, place, false);
	}
	state_copy(&values->in[index_of(values, b, 0)], &state);
	search->equal[b].edge = UINT32_MAX;
	if (register_state_pass_block(&state, &test, b))
		search->equal[b] = equality_of(search->cfg, b, &test);
	state_copy(&values->out[index_of(values, b, 0)], &state);
}

static bool has_back_edge(const struct search *search, uint32_t b)
{
	const struct cfg *cfg = search->cfg;
	const struct cfg_block *block = &cfg->blocks[b];

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[block->in + i]].from;

		if (from < cfg->block_count && search->place[from] != UINT32_MAX &&
		    search->place[from] >= search->place[b])
			return true;
	}
	return false;
}

/* @all: give all places of the header values of their own, without checking them */
static void check_guesses(struct search *search, uint32_t b, bool all)
{
	const struct register_values *values = search->values;

	for (uint32_t place = 0; place < values->places; place++) {
		struct register_value value;

		if ((search->own[b] >> place & 1) != 0)
			continue;
		value = meet(search, b, place, true);
		if (!all && register_value_same(&value, &values->in[index_of(values, b, place)]))
			continue;
		search->own[b] |= UINT64_C(1) << place;
		search->wrong = true;
	}
}

static void search_values(struct search *search)
{
	for (int round = 0; round == 0 || search->wrong; round++) {
		search->wrong = false;
		for (uint32_t i = 0; i < search->count; i++)
			enter_block(search, search->order[i]);
		for (uint32_t i = 0; i < search->count; i++) {
			if (has_back_edge(search, search->order[i]))
				check_guesses(search, search->order[i], round >= ROUNDS_MAX);
		}
	}
}

/* --- order ------------------------------------------------------------------------------ */

/*
 * Depth-first search from an entered block; fills @order from its end.
 * @stack: of blocks; @next: for each block, the number of edges already followed
 */
static void visit_from(struct search *search, uint32_t block, uint32_t *stack, uint32_t *next,
		       uint32_t *end)
{
	const struct cfg *cfg = search->cfg;
	uint32_t depth = 0;

	search->place[block] = 0;
	stack[depth++] = block;
	while (depth > 0) {
		uint32_t b = stack[depth - 1], to;

		if (next[b] == cfg->blocks[b].out_count) {
			search->order[--*end] = b;
			depth--;
			continue;
		}
		to = cfg->edges[cfg->blocks[b].out + next[b]++].to;
		if (to < cfg->block_count && search->place[to] == UINT32_MAX) {
			search->place[to] = 0;
			stack[depth++] = to;
		}
	}
}

/* @stack, @next: memory for all blocks; @next is zero */
static void put_in_order(struct search *search, uint32_t *stack, uint32_t *next)
{
	const struct cfg *cfg = search->cfg;
	uint32_t end = cfg->block_count;

	for (uint32_t b = 0; b < cfg->block_count; b++)
		search->place[b] = UINT32_MAX;
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (edge->from >= cfg->block_count && edge->to < cfg->block_count &&
		    search->place[edge->to] == UINT32_MAX)
			visit_from(search, edge->to, stack, next, &end);
	}
	search->order += end;
	search->count = cfg->block_count - end;
	for (uint32_t i = 0; i < search->count; i++)
		search->place[search->order[i]] = i;
}

static int search_all(struct register_values *values)
{
	const struct cfg *cfg = values->cfg;
	size_t blocks = (size_t)cfg->block_count + 1;
	_cleanup_free_ uint32_t *order = calloc(blocks, sizeof(*order));
	_cleanup_free_ uint32_t *place = calloc(blocks, sizeof(*place));
	_cleanup_free_ uint64_t *own = calloc(blocks, sizeof(*own));
	_cleanup_free_ uint32_t *stack = calloc(blocks, sizeof(*stack));
	_cleanup_free_ uint32_t *next = calloc(blocks, sizeof(*next));
	_cleanup_free_ struct equality *equal = calloc(blocks, sizeof(*equal));
	struct search search = {.cfg = cfg,
				.values = values,
				.order = order,
				.place = place,
				.own = own,
				.equal = equal};

	free(values->in);
	free(values->out);
	values->places = REGISTER_VALUE_REGISTERS + values->slot_count;
	values->in = calloc(blocks * values->places, sizeof(*values->in));
	values->out = calloc(blocks * values->places, sizeof(*values->out));
	if (order == NULL || place == NULL || own == NULL || stack == NULL || next == NULL ||
	    equal == NULL || values->in == NULL || values->out == NULL)
		return -ENOMEM;
	put_in_order(&search, stack, next);
	search_values(&search);
	return 0;
}

/* --- slots ------------------------------------------------------------------------------ */

static void add_slot(struct register_values *values, const struct register_slot *slot)
{
	if (slot->bytes != 4 && slot->bytes != 8)
		return;
	if (values->slot_count < REGISTER_VALUE_SLOTS_MAX &&
	    register_slot_place(values, slot) == REGISTER_VALUE_PLACES_MAX)
		values->slots[values->slot_count++] = *slot;
}

/* Drop a slot if the instruction puts its address into a register. */
static void drop_slot(struct register_values *slots, const struct register_state *state,
		      const struct insn *insn)
{
	uint8_t stack = state->values->cfg->decoder->stack_pointer;
	const struct register_value *address;
	uint32_t kept = 0;

	if (insn->destination >= REGISTER_VALUE_REGISTERS || insn->destination == stack)
		return;
	address = &state->places[insn->destination];
	if (address->symbol != state->places[stack].symbol ||
	    address->symbol == REGISTER_VALUE_CONSTANT ||
	    address->offset == state->places[stack].offset)
		return;
	for (uint32_t i = 0; i < slots->slot_count; i++) {
		if (slots->slots[i].symbol != address->symbol ||
		    slots->slots[i].offset != address->offset)
			slots->slots[kept++] = slots->slots[i];
	}
	slots->slot_count = kept;
}

/*
 * Drop the slots of objects that a call gets the address of. The end of an object is not known, so
 * that it may be any slot from the address on.
 */
static void drop_passed(struct register_values *slots, const struct register_state *state,
			const struct insn *insn)
{
	const struct insn_decoder *decoder = state->values->cfg->decoder;
	const struct register_value *stack = &state->places[decoder->stack_pointer];

	if (!insn_is_call(insn) || stack->symbol == REGISTER_VALUE_CONSTANT)
		return;
	for (uint8_t reg = 0; reg < REGISTER_VALUE_REGISTERS; reg++) {
		const struct register_value *passed = &state->places[reg];
		uint32_t kept = 0;

		if (reg == decoder->stack_pointer || insn_effect_is_saved(decoder, reg) ||
		    passed->symbol != stack->symbol)
			continue;
		for (uint32_t i = 0; i < slots->slot_count; i++) {
			if (slots->slots[i].symbol != passed->symbol ||
			    slots->slots[i].offset < passed->offset)
				slots->slots[kept++] = slots->slots[i];
		}
		slots->slot_count = kept;
	}
}

/* Find the first slots that code stores to, without slots whose address is taken. */
static void find_slots(struct register_values *ret, const struct register_values *values)
{
	const struct cfg *cfg = values->cfg;
	struct register_slot slot;
	struct register_state state;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		uint32_t b = cfg->block_of[i];

		if (i == cfg->blocks[b].first)
			register_state_begin(&state, values, b);
		if ((cfg->insns[i].flags & INSN_WRITES_MEMORY) &&
		    register_state_slot(&slot, &state, &cfg->insns[i]))
			add_slot(ret, &slot);
		register_state_pass(&state, i);
	}
	for (uint32_t i = 0; i < cfg->insn_count && ret->slot_count > 0; i++) {
		uint32_t b = cfg->block_of[i];

		if (i == cfg->blocks[b].first)
			register_state_begin(&state, values, b);
		drop_passed(ret, &state, &cfg->insns[i]);
		register_state_pass(&state, i);
		drop_slot(ret, &state, &cfg->insns[i]);
	}
}

int register_values_find(struct register_values *ret, const struct cfg *cfg)
{
	struct register_values values = {.cfg = cfg};
	int r;

	if (cfg->block_count > REGISTER_VALUE_BLOCKS_MAX)
		return -E2BIG;
	r = search_all(&values);
	if (r < 0)
		register_values_deinit(&values);
	else
		*ret = values;
	return r;
}

int register_values_add_slots(struct register_values *values)
{
	struct register_values slots = {.cfg = values->cfg};
	int r;

	find_slots(&slots, values);
	if (slots.slot_count == 0)
		return 0;
	memcpy(values->slots, slots.slots, sizeof(slots.slots));
	values->slot_count = slots.slot_count;
	r = search_all(values);
	return r < 0 ? r : 1;
}

void register_values_deinit(struct register_values *values)
{
	free(values->in);
	free(values->out);
	*values = (struct register_values){0};
}

bool register_values_test(struct register_test *ret, const struct register_values *values,
			  uint32_t block)
{
	struct register_state state;

	register_state_begin(&state, values, block);
	return register_state_pass_block(&state, ret, block);
}
