// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/induction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/insn/insn_effect.h"

/*
 * struct value - that of a variable at the header + a constant, or @sign times a register
 * @bytes: of the value; 0: it is unknown
 * @sign:  1, -1, or 0: no register. @term: the register, which the loop does not change
 */
struct value {
	uint8_t variable;
	uint8_t bytes;
	int8_t sign;
	uint8_t term;
	int64_t constant;
};

/* struct state - values of all variables: registers, then words in memory */
struct state {
	bool reached;
	struct value values[INDUCTION_VARIABLES];
};

/* struct slot - a word in memory */
struct slot {
	uint8_t base;
	uint8_t bytes;
	int64_t displacement;
};

/*
 * @counter: the only register of the map; INSN_REG_NONE: any. @counter_bytes: of its steps
 * @header:  the loop's header, or another block that each iteration executes
 * @written: registers that the loop changes
 * @varying: of these, registers that more than conditional moves change. A minimum that is computed
 *           in each iteration is taken for constant
 * @calls:   true for each instruction that is a call
 * @states:  at the beginning of each block
 * @end:     at the back edges
 * @changed: true for each block whose state has changed
 * @steps:   of each variable; 0: no induction variable. @multiple: see struct induction
 */
struct induction_map {
	const struct cfg *cfg;
	const struct loop_nest *nest;
	uint32_t loop;
	uint32_t header;
	uint8_t counter;
	uint8_t counter_bytes;
	uint32_t slot_count;
	struct slot slots[INDUCTION_SLOTS];
	struct insn_regs written;
	struct insn_regs varying;
	bool *calls;
	bool *changed;
	struct state *states;
	struct state end;
	int64_t steps[INDUCTION_VARIABLES];
	bool multiple[INDUCTION_VARIABLES];
};

void induction_map_destroy(struct induction_map *map)
{
	if (map == NULL)
		return;
	free(map->calls);
	free(map->states);
	free(map->changed);
	free(map);
}

static bool loop_has(const struct induction_map *map, uint32_t block)
{
	return loop_nest_contains(map->nest, map->cfg, map->loop, block);
}

/* Effects of branches and of conditional moves are not known. */
static struct insn_effect effect_of(const struct cfg *cfg, const struct insn *insn)
{
	if (insn->flow == INSN_FLOW_NEXT && (insn->flags & INSN_CONDITIONAL) == 0)
		return insn_effect_get(cfg->decoder, insn);
	return (struct insn_effect){.kind = INSN_EFFECT_OTHER, .destination = INSN_REG_NONE};
}

/* --- words in memory ------------------------------------------------------ */

/* Return: the number of the variable at a memory operand, or INDUCTION_VARIABLES. */
static unsigned int slot_find(const struct induction_map *map, const struct insn *insn,
			      uint8_t bytes)
{
	const struct insn_memory *memory = &insn->memory;

	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct slot *slot = &map->slots[i];

		if (memory->index == INSN_REG_NONE && slot->base == memory->base &&
		    slot->displacement == memory->displacement && slot->bytes == bytes)
			return INDUCTION_REGISTERS + i;
	}
	return INDUCTION_VARIABLES;
}

/* A word that the loop writes, at an address that the loop does not change. */
static void slot_add(struct induction_map *map, const struct insn *insn)
{
	const struct insn_memory *memory = &insn->memory;
	struct insn_effect effect = effect_of(map->cfg, insn);

	if ((effect.kind != INSN_EFFECT_STORE && effect.kind != INSN_EFFECT_STEP) ||
	    (effect.bytes != 4 && effect.bytes != 8) || memory->index != INSN_REG_NONE ||
	    insn_regs_has(&map->written, memory->base) || map->slot_count == INDUCTION_SLOTS ||
	    slot_find(map, insn, effect.bytes) != INDUCTION_VARIABLES)
		return;
	map->slots[map->slot_count++] = (struct slot){
		.base = memory->base,
		.bytes = effect.bytes,
		.displacement = memory->displacement,
	};
}

/* Instructions that set a byte by a condition are of the same class. */
static bool is_conditional_move(const struct insn *insn)
{
	return insn->class == INSN_CMOV && insn->operand_bytes >= 4;
}

/* Calls return the stack pointer and the frame pointer as they were. */
static void written_add(struct induction_map *map, uint32_t insn)
{
	const struct insn_decoder *decoder = map->cfg->decoder;

	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		if (map->calls[insn] ? !insn_effect_is_result(decoder, reg)
				     : !insn_regs_has(&map->cfg->insns[insn].writes, reg))
			continue;
		insn_regs_add(&map->written, reg);
		if (!is_conditional_move(&map->cfg->insns[insn]))
			insn_regs_add(&map->varying, reg);
	}
}

static void written_find(struct induction_map *map)
{
	for (uint32_t i = 0; i < map->cfg->insn_count; i++) {
		if (loop_has(map, map->cfg->block_of[i]))
			written_add(map, i);
	}
}

static void slots_find(struct induction_map *map)
{
	const struct cfg *cfg = map->cfg;

	written_find(map);
	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (loop_has(map, cfg->block_of[i]) && !map->calls[i])
			slot_add(map, &cfg->insns[i]);
	}
}

/* --- values --------------------------------------------------------------- */

static bool value_is(const struct value *a, const struct value *b)
{
	return a->bytes == b->bytes &&
	       (a->bytes == 0 || (a->variable == b->variable && a->constant == b->constant &&
				  a->sign == b->sign && a->term == b->term));
}

/* Return: true if @state has changed. */
static bool state_join(struct state *state, const struct state *other)
{
	bool changed = false;

	if (!state->reached) {
		*state = *other;
		return true;
	}
	for (unsigned int i = 0; i < INDUCTION_VARIABLES; i++) {
		if (state->values[i].bytes == 0 || value_is(&state->values[i], &other->values[i]))
			continue;
		state->values[i].bytes = 0;
		changed = true;
	}
	return changed;
}

static struct value value_narrow(struct value value, uint8_t bytes)
{
	if (bytes < 4)
		value.bytes = 0;
	else if (bytes < 8 && value.bytes > 4)
		value.bytes = 4;
	return value;
}

static struct value value_add(struct value value, int64_t constant)
{
	value.constant = insn_sum(value.constant, constant);
	return value;
}

static struct value register_value(const struct state *state, uint8_t reg)
{
	return reg < INDUCTION_REGISTERS ? state->values[reg] : (struct value){.bytes = 0};
}

/* Add @sign times a register. The value is unknown then, unless the loop does not change it. */
static struct value value_add_register(const struct induction_map *map, struct value value,
				       uint8_t reg, int8_t sign)
{
	if (reg >= INDUCTION_REGISTERS || insn_regs_has(&map->varying, reg) || value.sign != 0 ||
	    value.variable == reg)
		return (struct value){.bytes = 0};
	value.sign = sign;
	value.term = reg;
	return value;
}

/* A sum of registers and a constant. */
static struct value sum_value(const struct induction_map *map, const struct state *state,
			      const struct insn_effect *effect)
{
	uint8_t from = effect->base, other = effect->index;
	struct value value;

	if (other != INSN_REG_NONE && (effect->scale != 0 || effect->index_bytes != 0))
		return (struct value){.bytes = 0};
	if (from == INSN_REG_NONE ||
	    (other < INDUCTION_REGISTERS && insn_regs_has(&map->varying, other))) {
		from = effect->index;
		other = effect->base;
	}
	value = value_add(value_narrow(register_value(state, from), effect->bytes),
			  effect->constant);
	return other == INSN_REG_NONE ? value : value_add_register(map, value, other, 1);
}

/* Return: the value of the destination register. */
static struct value effect_value(const struct induction_map *map, const struct state *state,
				 const struct insn *insn, const struct insn_effect *effect)
{
	unsigned int slot;

	switch (effect->kind) {
	case INSN_EFFECT_SUM:
		return sum_value(map, state, effect);
	case INSN_EFFECT_DIFFERENCE:
		return value_add_register(
			map, value_narrow(register_value(state, effect->base), effect->bytes),
			effect->index, -1);
	case INSN_EFFECT_EXTEND:
		return value_narrow(register_value(state, effect->base), effect->bytes);
	case INSN_EFFECT_LOAD:
		slot = slot_find(map, insn, effect->bytes);
		if (slot < INDUCTION_VARIABLES)
			return state->values[slot];
		break;
	default:
		break;
	}
	return (struct value){.bytes = 0};
}

/* Follow the word in memory that an instruction writes, if it is one of the map's. */
static void slot_follow(const struct induction_map *map, struct state *state,
			const struct insn *insn, const struct insn_effect *effect)
{
	unsigned int slot = slot_find(map, insn, effect->bytes);
	struct value *value = &state->values[slot];

	if (slot == INDUCTION_VARIABLES)
		return;
	if (effect->kind == INSN_EFFECT_STEP)
		*value = value_add(*value, effect->constant);
	else if (effect->kind == INSN_EFFECT_STORE)
		*value = value_narrow(register_value(state, effect->base), effect->bytes);
	else
		value->bytes = 0;
}

static void insn_follow(const struct induction_map *map, struct state *state,
			const struct insn *insn)
{
	struct insn_effect effect = effect_of(map->cfg, insn);
	struct value value = effect_value(map, state, insn, &effect);

	if ((insn->flags & INSN_WRITES_MEMORY) != 0)
		slot_follow(map, state, insn, &effect);
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		if (insn_regs_has(&insn->writes, reg))
			state->values[reg].bytes = 0;
	}
	if (effect.destination < INDUCTION_REGISTERS)
		state->values[effect.destination] = value;
}

/*
 * Compilers know which registers a procedure of the same file leaves as they were (-fipa-ra), and
 * use them across the call. Otherwise they do not use a register's old value.
 */
static void call_follow(const struct induction_map *map, struct state *state)
{
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		if (insn_effect_is_result(map->cfg->decoder, reg))
			state->values[reg].bytes = 0;
	}
}

/* Follow the instructions of a block up to @end. */
static void block_follow(const struct induction_map *map, struct state *state, uint32_t block,
			 uint32_t end)
{
	for (uint32_t i = map->cfg->blocks[block].first; i < end; i++) {
		if (map->calls[i])
			call_follow(map, state);
		else
			insn_follow(map, state, &map->cfg->insns[i]);
	}
}

/* --- the loop ------------------------------------------------------------- */

static void block_leave(struct induction_map *map, uint32_t b)
{
	const struct cfg_block *block = &map->cfg->blocks[b];
	struct state state = map->states[b];

	block_follow(map, &state, b, block->first + block->count);
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		uint32_t to = map->cfg->edges[e].to;

		if (!loop_has(map, to))
			continue;
		if (to == map->header)
			state_join(&map->end, &state);
		else if (state_join(&map->states[to], &state))
			map->changed[to] = true;
	}
}

/* Values only become unknown, once for each variable and block: the walk ends. */
static void loop_follow(struct induction_map *map)
{
	bool any = true;

	while (any) {
		any = false;
		for (uint32_t b = 0; b < map->cfg->block_count; b++) {
			if (!map->changed[b])
				continue;
			map->changed[b] = false;
			any = true;
			block_leave(map, b);
		}
	}
}

/* Return: the number of induction variables. */
static int steps_find(struct induction_map *map)
{
	int found = 0;

	for (uint8_t i = 0; i < INDUCTION_VARIABLES && map->end.reached; i++) {
		const struct value *value = &map->end.values[i];

		if (value->bytes == 0 || value->variable != i ||
		    (value->sign != 0 && value->constant != 0))
			continue;
		map->multiple[i] = value->sign != 0;
		map->steps[i] = map->multiple[i] ? value->sign : value->constant;
		found += map->steps[i] != 0;
	}
	return found;
}

static void header_init(struct induction_map *map)
{
	struct state *state = &map->states[map->header];

	state->reached = true;
	for (uint8_t i = 0; i < INDUCTION_VARIABLES; i++) {
		state->values[i] = (struct value){.variable = i, .bytes = 8};
		if (i >= INDUCTION_REGISTERS)
			state->values[i].bytes = map->slots[i - INDUCTION_REGISTERS].bytes;
	}
	map->changed[map->header] = true;
}

static int map_init(struct induction_map *map)
{
	const struct cfg *cfg = map->cfg;

	map->calls = calloc((size_t)cfg->insn_count + 1, sizeof(*map->calls));
	map->states = calloc((size_t)cfg->block_count + 1, sizeof(*map->states));
	map->changed = calloc((size_t)cfg->block_count + 1, sizeof(*map->changed));
	if (map->calls == NULL || map->states == NULL || map->changed == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->call_count; i++)
		map->calls[cfg->calls[i].insn] = !cfg->calls[i].tail;
	return 0;
}

static struct induction_map *map_create(const struct cfg *cfg, const struct loop_nest *nest,
					uint32_t loop)
{
	struct induction_map *map = calloc(1, sizeof(*map));

	if (map == NULL)
		return NULL;
	map->cfg = cfg;
	map->nest = nest;
	map->loop = loop;
	map->counter = INSN_REG_NONE;
	if (map_init(map) < 0) {
		induction_map_destroy(map);
		return NULL;
	}
	return map;
}

int induction_map_create(struct induction_map **ret, const struct cfg *cfg,
			 const struct loop_nest *nest, uint32_t loop)
{
	struct induction_map *map;
	uint32_t header;
	int r = loop_nest_iteration_block(&header, nest, cfg, loop);

	*ret = NULL;
	if (r < 0 || header == LOOP_NEST_NONE)
		return r;
	map = map_create(cfg, nest, loop);
	if (map == NULL)
		return -ENOMEM;
	map->header = header;
	slots_find(map);
	header_init(map);
	loop_follow(map);
	if (steps_find(map) > 0)
		*ret = map;
	else
		induction_map_destroy(map);
	return 0;
}

/* --- counters ------------------------------------------------------------- */

/* Return: the only instruction of the loop that changes a register, or UINT32_MAX. */
static uint32_t writer_find(const struct induction_map *map, uint8_t reg)
{
	const struct cfg *cfg = map->cfg;
	uint32_t writer = UINT32_MAX;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (!loop_has(map, cfg->block_of[i]) ||
		    !(map->calls[i] ? insn_effect_is_result(cfg->decoder, reg)
				    : insn_regs_has(&cfg->insns[i].writes, reg)))
			continue;
		if (writer != UINT32_MAX || map->calls[i])
			return UINT32_MAX;
		writer = i;
	}
	return writer;
}

static bool is_constant_register(const struct induction_map *map, uint8_t reg)
{
	return reg < INDUCTION_REGISTERS && !insn_regs_has(&map->varying, reg);
}

/* Set the step that an instruction adds to its register. Return: false if it does something else.
 */
static bool counter_set(struct induction_map *map, uint8_t reg, const struct insn_effect *effect)
{
	bool is_sum = effect->kind == INSN_EFFECT_SUM && effect->index == INSN_REG_NONE;

	if (effect->destination != reg || effect->base != reg || effect->bytes < 4 ||
	    effect->scale != 0 || effect->index_bytes != 0)
		return false;
	map->counter = reg;
	map->counter_bytes = effect->bytes;
	map->steps[reg] = effect->constant;
	if (is_sum)
		return effect->constant != 0;
	map->multiple[reg] = true;
	map->steps[reg] = effect->kind == INSN_EFFECT_SUM ? 1 : -1;
	return (effect->kind == INSN_EFFECT_SUM || effect->kind == INSN_EFFECT_DIFFERENCE) &&
	       effect->constant == 0 && is_constant_register(map, effect->index);
}

int induction_map_create_counter(struct induction_map **ret, const struct cfg *cfg,
				 const struct loop_nest *nest, uint32_t loop, uint8_t reg)
{
	struct induction_map *map = map_create(cfg, nest, loop);
	struct insn_effect effect;
	uint32_t writer;

	*ret = NULL;
	if (map == NULL)
		return -ENOMEM;
	writer = writer_find(map, reg);
	if (writer != UINT32_MAX) {
		written_find(map);
		effect = effect_of(cfg, &cfg->insns[writer]);
		map->header = cfg->block_of[writer];
		if (counter_set(map, reg, &effect))
			*ret = map;
	}
	if (*ret == NULL)
		induction_map_destroy(map);
	return 0;
}

/* --- results -------------------------------------------------------------- */

uint32_t induction_map_block(const struct induction_map *map)
{
	return map->header;
}

bool induction_map_is_multiple(const struct induction_map *map, uint8_t variable)
{
	return map->multiple[variable];
}

void induction_map_at(struct induction ret[INDUCTION_REGISTERS], const struct induction_map *map,
		      uint32_t insn)
{
	uint32_t block = map->cfg->block_of[insn];
	struct state state = map->states[block];

	memset(ret, 0, INDUCTION_REGISTERS * sizeof(*ret));
	if (map->counter != INSN_REG_NONE)
		ret[map->counter] = (struct induction){
			.variable = map->counter,
			.bytes = map->counter_bytes,
			.multiple = map->multiple[map->counter],
			.step = map->steps[map->counter],
		};
	if (!state.reached)
		return;
	block_follow(map, &state, block, insn);
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		const struct value *value = &state.values[reg];

		if (value->bytes == 0)
			continue;
		ret[reg] = (struct induction){
			.variable = value->variable,
			.bytes = value_narrow(*value, map->end.values[value->variable].bytes).bytes,
			.multiple = map->multiple[value->variable],
			.step = map->steps[value->variable],
		};
	}
}

struct induction induction_map_word(const struct induction_map *map, uint8_t base,
				    int64_t displacement)
{
	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct slot *slot = &map->slots[i];
		const struct value *end = &map->end.values[INDUCTION_REGISTERS + i];

		if (slot->base == base && slot->displacement == displacement && end->bytes != 0)
			return (struct induction){
				.variable = end->variable,
				.bytes = 4,
				.multiple = map->multiple[end->variable],
				.step = map->steps[end->variable],
			};
	}
	return (struct induction){.step = 0};
}
