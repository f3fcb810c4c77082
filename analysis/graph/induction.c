// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/induction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/insn/insn_effect.h"
#include "lib/cleanup.h"

/*
 * struct value - of a register: that of @origin at the header + @constant
 * @bytes: of the value; 0: not known
 */
struct value {
	uint8_t origin;
	uint8_t bytes;
	int64_t constant;
};

struct state {
	bool reached;
	struct value reg[INDUCTION_REGISTERS];
};

/*
 * @calls:   of each instruction, whether it is a call
 * @states:  at the beginning of each block
 * @end:     at the back edges
 * @changed: blocks whose state has changed
 */
struct search {
	const struct cfg *cfg;
	const struct loop_nest *nest;
	uint32_t loop;
	bool *calls;
	struct state *states;
	struct state end;
	bool *changed;
};

static void induction_search_deinit(struct search *search)
{
	free(search->calls);
	free(search->states);
	free(search->changed);
}

static bool value_is(const struct value *a, const struct value *b)
{
	return a->bytes == b->bytes &&
	       (a->bytes == 0 || (a->origin == b->origin && a->constant == b->constant));
}

/* Return: true if @state has changed. */
static bool state_join(struct state *state, const struct state *other)
{
	bool changed = false;

	if (!state->reached) {
		*state = *other;
		return true;
	}
	for (unsigned int i = 0; i < INDUCTION_REGISTERS; i++) {
		if (state->reg[i].bytes == 0 || value_is(&state->reg[i], &other->reg[i]))
			continue;
		state->reg[i].bytes = 0;
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

/* Return: the value that an effect computes, if it is a register + a constant. */
static struct value effect_value(const struct state *state, const struct insn_effect *effect)
{
	struct value value = {.bytes = 0};
	uint8_t from = effect->base;

	if (effect->kind != INSN_EFFECT_SUM && effect->kind != INSN_EFFECT_EXTEND)
		return value;
	if (effect->kind == INSN_EFFECT_SUM && effect->index != INSN_REG_NONE) {
		if (from != INSN_REG_NONE || effect->scale != 0 || effect->index_bytes != 0)
			return value;
		from = effect->index;
	}
	if (from >= INDUCTION_REGISTERS)
		return value;
	value = value_narrow(state->reg[from], effect->bytes);
	if (effect->kind == INSN_EFFECT_SUM)
		value.constant = insn_sum(value.constant, effect->constant);
	return value;
}

static void insn_follow(struct state *state, const struct cfg *cfg, const struct insn *insn)
{
	struct insn_effect effect = {.kind = INSN_EFFECT_OTHER, .destination = INSN_REG_NONE};
	struct value value;

	if (insn->flow == INSN_FLOW_NEXT && (insn->flags & INSN_CONDITIONAL) == 0)
		effect = insn_effect_get(cfg->decoder, insn);
	value = effect_value(state, &effect);
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		if (insn_regs_has(&insn->writes, reg))
			state->reg[reg].bytes = 0;
	}
	if (effect.destination < INDUCTION_REGISTERS)
		state->reg[effect.destination] = value;
}

/*
 * Compilers know which registers a procedure of the same file leaves as they were (-fipa-ra), and
 * use them across the call. Otherwise they do not use a register's old value.
 */
static void call_follow(struct state *state, const struct cfg *cfg)
{
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		if (insn_effect_is_result(cfg->decoder, reg))
			state->reg[reg].bytes = 0;
	}
}

static void block_follow(struct search *search, uint32_t b)
{
	const struct cfg *cfg = search->cfg;
	const struct cfg_block *block = &cfg->blocks[b];
	struct state state = search->states[b];

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		if (search->calls[i])
			call_follow(&state, cfg);
		else
			insn_follow(&state, cfg, &cfg->insns[i]);
	}
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		uint32_t to = cfg->edges[e].to;

		if (!loop_nest_contains(search->nest, cfg, search->loop, to))
			continue;
		if (to == search->nest->loops[search->loop].header)
			state_join(&search->end, &state);
		else if (state_join(&search->states[to], &state))
			search->changed[to] = true;
	}
}

/* Values only get lost, once for each register and block: the walk ends. */
static void loop_follow(struct search *search)
{
	bool any = true;

	while (any) {
		any = false;
		for (uint32_t b = 0; b < search->cfg->block_count; b++) {
			if (!search->changed[b])
				continue;
			search->changed[b] = false;
			any = true;
			block_follow(search, b);
		}
	}
}

static int search_init(struct search *search)
{
	const struct cfg *cfg = search->cfg;

	search->calls = calloc((size_t)cfg->insn_count + 1, sizeof(*search->calls));
	search->states = calloc((size_t)cfg->block_count + 1, sizeof(*search->states));
	search->changed = calloc((size_t)cfg->block_count + 1, sizeof(*search->changed));
	if (search->calls == NULL || search->states == NULL || search->changed == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->call_count; i++)
		search->calls[cfg->calls[i].insn] = !cfg->calls[i].tail;
	return 0;
}

int induction_find(struct induction ret[INDUCTION_REGISTERS], const struct cfg *cfg,
		   const struct loop_nest *nest, uint32_t loop)
{
	_cleanup_(induction_search_deinit) struct search search = {
		.cfg = cfg, .nest = nest, .loop = loop};
	uint32_t header = nest->loops[loop].header;
	struct state *first;
	int found = 0;

	memset(ret, 0, INDUCTION_REGISTERS * sizeof(*ret));
	if (header == LOOP_NEST_NONE)
		return 0;
	if (search_init(&search) < 0)
		return -ENOMEM;
	first = &search.states[header];
	first->reached = true;
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++)
		first->reg[reg] = (struct value){.origin = reg, .bytes = 8};
	search.changed[header] = true;
	loop_follow(&search);
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS && search.end.reached; reg++) {
		const struct value *value = &search.end.reg[reg];

		if (value->bytes == 0 || value->origin != reg || value->constant == 0)
			continue;
		ret[reg] = (struct induction){.bytes = value->bytes, .step = value->constant};
		found++;
	}
	return found;
}
