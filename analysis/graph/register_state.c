// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/register_state.h"

#include <string.h>

static struct register_value constant(int64_t value)
{
	return (struct register_value){REGISTER_VALUE_CONSTANT, value, 8};
}

static struct register_value new_value(uint32_t insn, uint32_t place)
{
	return (struct register_value){((uint64_t)insn + 1) << 8 | place, 0, 8};
}

static bool is_constant(const struct register_value *value)
{
	return value->symbol == REGISTER_VALUE_CONSTANT;
}

/*
 * Read a register; INSN_REG_NONE has the value 0. Return: false if it is not an integer register.
 */
static bool read_register(struct register_value *ret, const struct register_state *state,
			  uint8_t reg)
{
	*ret = constant(0);
	if (reg < REGISTER_VALUE_REGISTERS)
		*ret = state->places[reg];
	return reg < REGISTER_VALUE_REGISTERS || reg == INSN_REG_NONE;
}

/* Truncate a value as an operation of less than 8 bytes does. */
static struct register_value register_state_cut(struct register_value value, uint8_t bytes,
						bool is_signed)
{
	if (bytes >= 8 || bytes == 0)
		return value;
	if (is_constant(&value))
		value.offset = insn_low(value.offset, bytes, is_signed);
	else if (bytes < value.bytes)
		value.bytes = bytes;
	return value;
}

/* Return: false if the result is not a value plus a constant. */
static bool register_state_add_up(struct register_value *ret, const struct register_state *state,
				  const struct insn_effect *effect)
{
	struct register_value base, index;

	if (effect->index_bytes != 0 || !read_register(&base, state, effect->base) ||
	    !read_register(&index, state, effect->index))
		return false;
	if (is_constant(&index)) {
		index.offset = (int64_t)((uint64_t)index.offset << effect->scale);
		*ret = base;
	} else if (is_constant(&base) && effect->scale == 0) {
		*ret = index;
		index = base;
	} else {
		return false;
	}
	ret->offset = insn_sum(insn_sum(ret->offset, index.offset), effect->constant);
	return true;
}

/* --- slots --------------------------------------------------------------------------- */

bool register_state_slot(struct register_slot *ret, const struct register_state *state,
			 const struct insn *insn)
{
	const struct insn_memory *memory = &insn->memory;
	uint8_t stack = state->values->cfg->decoder->stack_pointer;
	const struct register_value *base;

	if (!(insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY)) || memory->bytes == 0 ||
	    memory->base >= REGISTER_VALUE_REGISTERS || memory->index != INSN_REG_NONE ||
	    memory->segment || memory->pushes)
		return false;
	base = &state->places[memory->base];
	if (base->symbol != state->places[stack].symbol || is_constant(base))
		return false;
	*ret = (struct register_slot){
		.symbol = base->symbol,
		.offset = insn_sum(base->offset, memory->displacement),
		.bytes = memory->bytes,
	};
	return true;
}

static bool is_same_slot(const struct register_slot *a, const struct register_slot *b)
{
	return a->symbol == b->symbol && a->offset == b->offset && a->bytes == b->bytes;
}

static bool overlap(const struct register_slot *a, const struct register_slot *b)
{
	uint64_t distance = (uint64_t)a->offset - (uint64_t)b->offset;

	return a->symbol == b->symbol && (distance < b->bytes || 0 - distance < a->bytes);
}

uint32_t register_slot_place(const struct register_values *values, const struct register_slot *slot)
{
	for (uint32_t i = 0; i < values->slot_count; i++) {
		if (is_same_slot(&values->slots[i], slot))
			return REGISTER_VALUE_REGISTERS + i;
	}
	return REGISTER_VALUE_PLACES_MAX;
}

/* Return the place of the memory operand, or REGISTER_VALUE_PLACES_MAX. */
static uint32_t place_of_memory(const struct register_state *state, const struct insn *insn)
{
	struct register_slot slot;

	if (state->values->slot_count == 0 || !register_state_slot(&slot, state, insn))
		return REGISTER_VALUE_PLACES_MAX;
	return register_slot_place(state->values, &slot);
}

/* --- instructions ------------------------------------------------------------------- */

/* Return: false if the result does not depend on other values only. */
static bool compute(struct register_value *ret, const struct register_state *state,
		    const struct insn_effect *effect, const struct insn *insn)
{
	uint32_t place = REGISTER_VALUE_PLACES_MAX;
	bool known = false;

	if (effect->kind == INSN_EFFECT_LOAD || effect->kind == INSN_EFFECT_STEP)
		place = place_of_memory(state, insn);
	if (place < REGISTER_VALUE_PLACES_MAX)
		*ret = state->places[place];
	switch (effect->kind) {
	case INSN_EFFECT_CONSTANT:
		*ret = constant(effect->constant);
		known = true;
		break;
	case INSN_EFFECT_SUM:
		known = register_state_add_up(ret, state, effect);
		break;
	case INSN_EFFECT_EXTEND:
		known = effect->base != INSN_REG_NONE && read_register(ret, state, effect->base);
		break;
	case INSN_EFFECT_LOAD:
		known = place < REGISTER_VALUE_PLACES_MAX;
		break;
	case INSN_EFFECT_STORE:
		known = read_register(ret, state, effect->base);
		if (effect->base == INSN_REG_NONE)
			ret->offset = effect->constant;
		break;
	case INSN_EFFECT_STEP:
		known = place < REGISTER_VALUE_PLACES_MAX;
		if (known)
			ret->offset = insn_sum(ret->offset, effect->constant);
		break;
	default:
		break;
	}
	if (known)
		*ret = register_state_cut(*ret, effect->bytes, effect->is_signed);
	return known;
}

/* @value: NULL: the value written to memory is unknown */
static void write_memory(struct register_state *state, uint32_t i,
			 const struct register_value *value)
{
	const struct register_values *values = state->values;
	const struct cfg *cfg = values->cfg;
	struct register_slot written;

	if (values->slot_count == 0 || !register_state_slot(&written, state, &cfg->insns[i]))
		return;
	for (uint32_t k = 0; k < values->slot_count; k++) {
		uint32_t place = REGISTER_VALUE_REGISTERS + k;

		if (value != NULL && is_same_slot(&values->slots[k], &written))
			state->places[place] = *value;
		else if (overlap(&values->slots[k], &written))
			state->places[place] = new_value(i, place);
	}
}

static void move_stack(struct register_state *state, int64_t delta)
{
	uint8_t pointer = state->values->cfg->decoder->stack_pointer;
	struct register_value *stack = &state->places[pointer];

	stack->offset = insn_sum(stack->offset, delta);
}

static void pass_call(struct register_state *state, uint32_t i)
{
	const struct insn_decoder *decoder = state->values->cfg->decoder;

	for (uint8_t reg = 0; reg < REGISTER_VALUE_REGISTERS; reg++) {
		if (insn_effect_is_result(decoder, reg))
			state->places[reg] = new_value(i, reg);
	}
}

void register_state_pass(struct register_state *state, uint32_t i)
{
	const struct cfg *cfg = state->values->cfg;
	const struct insn *insn = &cfg->insns[i];
	struct insn_effect effect = {.destination = INSN_REG_NONE};
	struct register_value value;
	uint32_t written = (uint32_t)insn->writes.words[0];
	bool known = false;
	int64_t delta;

	if (insn_is_call(insn)) {
		pass_call(state, i);
		return;
	}
	if (written == 0 && !(insn->flags & INSN_WRITES_MEMORY))
		return;
	if (!(insn->flags & INSN_CONDITIONAL)) {
		effect = insn_effect_get(cfg->decoder, insn);
		known = compute(&value, state, &effect, insn);
	}
	if (insn->flags & INSN_WRITES_MEMORY)
		write_memory(state, i,
			     known && (effect.kind == INSN_EFFECT_STORE ||
				       effect.kind == INSN_EFFECT_STEP)
				     ? &value
				     : NULL);
	if (insn_effect_stack(cfg->decoder, insn, &delta)) {
		move_stack(state, delta);
		written &= ~(UINT32_C(1) << cfg->decoder->stack_pointer);
	}
	for (uint8_t reg = 0; reg < REGISTER_VALUE_REGISTERS; reg++) {
		if ((written >> reg & 1) != 0)
			state->places[reg] =
				known && reg == effect.destination ? value : new_value(i, reg);
	}
}

/* --- comparisons of branches ------------------------------------------------------------ */

/* Find the last instruction before a block's branch that writes an input of the branch, or NULL. */
static const struct insn *find_setter(const struct cfg *cfg, const struct cfg_block *block)
{
	const struct insn *branch = &cfg->insns[block->first + block->count - 1];

	for (uint32_t i = block->first + block->count - 1; i-- > block->first;) {
		if (insn_regs_meet(&cfg->insns[i].writes, &branch->reads))
			return &cfg->insns[i];
	}
	return NULL;
}

bool register_state_find_test(struct insn_test *ret, uint32_t *at, const struct cfg *cfg,
			      const struct cfg_block *block)
{
	const struct insn *branch = &cfg->insns[block->first + block->count - 1];
	const struct insn *setter;

	if (branch->flow != INSN_FLOW_BRANCH)
		return false;
	setter = find_setter(cfg, block);
	*at = (uint32_t)((setter != NULL ? setter : branch) - cfg->insns);
	if (setter != NULL && insn_effect_test(ret, cfg->decoder, setter, branch))
		return true;
	*at = block->first + block->count - 1;
	return insn_effect_test(ret, cfg->decoder, NULL, branch);
}

bool register_state_find_comparison(uint32_t *at, const struct cfg *cfg,
				    const struct cfg_block *block)
{
	const struct insn *branch = &cfg->insns[block->first + block->count - 1];
	const struct insn *setter = find_setter(cfg, block);
	struct insn_test test;

	if (register_state_find_test(&test, at, cfg, block))
		return true;
	if (branch->flow != INSN_FLOW_BRANCH || setter == NULL ||
	    (setter->flags & INSN_READS_MEMORY) == 0 || setter->destination != INSN_REG_NONE)
		return false;
	*at = (uint32_t)(setter - cfg->insns);
	return true;
}

static bool read_operand(struct register_value *ret, const struct register_state *state,
			 uint32_t at, const struct insn_test *test, uint8_t operand)
{
	const struct insn *insn = &state->values->cfg->insns[at];
	uint32_t place;

	if (operand != INSN_TEST_MEMORY)
		return read_register(ret, state, operand);
	place = place_of_memory(state, insn);
	if (place == REGISTER_VALUE_PLACES_MAX || insn->memory.bytes != test->bytes)
		return false;
	*ret = state->places[place];
	return true;
}

static bool read_test(struct register_test *ret, const struct register_state *state, uint32_t at,
		      const struct insn_test *test)
{
	ret->relation = test->relation;
	ret->bytes = test->bytes;
	if (!read_operand(&ret->left, state, at, test, test->left) ||
	    !read_operand(&ret->right, state, at, test, test->right))
		return false;
	if (test->right == INSN_REG_NONE)
		ret->right = constant(test->constant);
	return true;
}

bool register_state_pass_block(struct register_state *state, struct register_test *test, uint32_t b)
{
	const struct cfg *cfg = state->values->cfg;
	const struct cfg_block *block = &cfg->blocks[b];
	struct insn_test compared;
	uint32_t at = 0;
	bool tests = register_state_find_test(&compared, &at, cfg, block), known = false;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		if (tests && i == at && !compared.after)
			known = read_test(test, state, at, &compared);
		register_state_pass(state, i);
		if (tests && i == at && compared.after)
			known = read_test(test, state, at, &compared);
	}
	return known;
}

void register_state_begin(struct register_state *ret, const struct register_values *values,
			  uint32_t block)
{
	ret->values = values;
	memcpy(ret->places, &values->in[(size_t)block * values->places],
	       values->places * sizeof(*ret->places));
}
