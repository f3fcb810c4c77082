// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/jump_value.h"

#include <errno.h>
#include <stdlib.h>

#define DEPTH_MAX 8
#define WORK_MAX (UINT64_C(1) << 26)
#define ALPHA_PROCEDURE_VALUE 27
#define ALPHA_GLOBAL_POINTER 29

bool jump_place_same(const struct jump_place *a, const struct jump_place *b)
{
	if (a->reg != b->reg)
		return false;
	return a->reg != INSN_REG_NONE ||
	       (a->memory.base == b->memory.base && a->memory.index == b->memory.index &&
		a->memory.displacement == b->memory.displacement &&
		(a->memory.index == INSN_REG_NONE || a->memory.scale == b->memory.scale) &&
		a->memory.pc_relative == b->memory.pc_relative &&
		a->memory.segment == b->memory.segment);
}

int jump_search_init(struct jump_search *search, const struct cfg *cfg, struct image_code *image,
		     uint64_t entry)
{
	*search =
		(struct jump_search){.cfg = cfg, .image = image, .entry = entry, .work = WORK_MAX};
	search->seen = calloc((size_t)cfg->block_count + 1, sizeof(*search->seen));
	search->stack = malloc(((size_t)cfg->block_count + 1) * sizeof(*search->stack));
	if (search->seen == NULL || search->stack == NULL) {
		jump_search_deinit(search);
		return -ENOMEM;
	}
	return 0;
}

void jump_search_deinit(struct jump_search *search)
{
	free(search->seen);
	free(search->stack);
	*search = (struct jump_search){0};
}

/*
 * Code uses a register after a call only if it is a result or was preserved. Preserved registers
 * are callee-saved by the ABI, or the compiler has seen the callee (gcc's -fipa-ra).
 */
static enum jump_change change_register(const struct jump_search *search, const struct insn *insn,
					uint8_t reg)
{
	if (!insn_regs_has(&insn->writes, reg) ||
	    (insn_is_call(insn) && reg == search->cfg->decoder->stack_pointer))
		return insn_is_call(insn) && insn_effect_is_result(search->cfg->decoder, reg)
			       ? JUMP_DESTROYS
			       : JUMP_KEEPS;
	return insn->destination == reg && !(insn->flags & INSN_CONDITIONAL) ? JUMP_DEFINES
									     : JUMP_DESTROYS;
}

/*
 * Stores to other operands are assumed not to alias the place: a compiler that compares a value in
 * memory and then loads it again has made sure of that.
 */
static enum jump_change change_memory(const struct jump_search *search, const struct insn *insn,
				      const struct jump_place *place)
{
	const struct insn_memory *memory = &place->memory;
	struct jump_place written = jump_place_of_memory(&insn->memory);

	if (insn_is_call(insn)) {
		/* Spilled values and tables survive calls. */
		return insn_effect_is_result(search->cfg->decoder, memory->base) ? JUMP_DESTROYS
										 : JUMP_KEEPS;
	}
	if ((insn->flags & INSN_WRITES_MEMORY) && jump_place_same(place, &written))
		return insn_effect_get(search->cfg->decoder, insn).kind == INSN_EFFECT_STORE
			       ? JUMP_DEFINES
			       : JUMP_DESTROYS;
	return insn_regs_has(&insn->writes, memory->base) ||
			       insn_regs_has(&insn->writes, memory->index)
		       ? JUMP_DESTROYS
		       : JUMP_KEEPS;
}

enum jump_change jump_value_change(const struct jump_search *search, const struct insn *insn,
				   const struct jump_place *place)
{
	return place->reg != INSN_REG_NONE ? change_register(search, insn, place->reg)
					   : change_memory(search, insn, place);
}

/* --- reaching definitions ---------------------------------------------------- */

struct definitions {
	struct jump_search *search;
	const struct jump_place *place;
	uint32_t *found;
	int count;
	uint32_t pending;
	bool failed;
	bool unresolved; /* paths lead back to unresolved jumps */
	bool follow_unresolved;
};

/*
 * Search backward from before @insn to its block's beginning. Return: true if nothing was found
 * yet.
 */
static bool scan_back(struct definitions *definitions, uint32_t block, uint32_t insn)
{
	const struct cfg *cfg = definitions->search->cfg;

	while (insn > cfg->blocks[block].first) {
		insn--;
		if (!jump_search_work(definitions->search)) {
			definitions->failed = true;
			return false;
		}
		switch (jump_value_change(definitions->search, &cfg->insns[insn],
					  definitions->place)) {
		case JUMP_KEEPS:
			continue;
		case JUMP_DEFINES:
			if (definitions->count == JUMP_DEFINITIONS_MAX)
				definitions->failed = true;
			else
				definitions->found[definitions->count++] = insn;
			return false;
		case JUMP_DESTROYS:
			definitions->failed = true;
			return false;
		}
	}
	return true;
}

static void push_block(struct definitions *definitions, uint32_t block)
{
	struct jump_search *search = definitions->search;

	if (search->seen[block] == search->search)
		return;
	search->seen[block] = search->search;
	search->stack[definitions->pending++] = block;
}

/* The predecessors of a possible target of unresolved jumps are all these jumps. */
static void push_unresolved(struct definitions *definitions)
{
	const struct cfg *cfg = definitions->search->cfg;

	if (definitions->unresolved || !definitions->follow_unresolved) {
		definitions->unresolved = true;
		return;
	}
	definitions->unresolved = true;
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		if (cfg->edges[i].to == CFG_UNKNOWN && cfg->edges[i].from < cfg->block_count)
			push_block(definitions, cfg->edges[i].from);
	}
}

/* Alpha's callers of the second entry have the same global pointer as the procedure. */
static bool is_global_pointer(const struct cfg *cfg, const struct jump_place *place)
{
	return cfg->decoder->isa == INSN_ISA_ALPHA && place->reg == ALPHA_GLOBAL_POINTER;
}

static void push_before(struct definitions *definitions, uint32_t block)
{
	const struct cfg *cfg = definitions->search->cfg;
	const struct cfg_block *to = &cfg->blocks[block];

	for (uint32_t i = 0; i < to->in_count; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[to->in + i]].from;

		if (from == CFG_UNKNOWN)
			push_unresolved(definitions);
		else if (from < cfg->block_count)
			push_block(definitions, from);
		else if (!is_global_pointer(cfg, definitions->place))
			definitions->failed = true; /* the value comes from the caller */
	}
}

static void find_definitions(struct definitions *state, uint32_t insn)
{
	struct jump_search *search = state->search;
	const struct cfg *cfg = search->cfg;
	uint32_t block = cfg->block_of[insn];

	search->search++;
	if (scan_back(state, block, insn))
		push_before(state, block);
	while (state->pending > 0 && !state->failed) {
		block = search->stack[--state->pending];
		if (scan_back(state, block, cfg->blocks[block].first + cfg->blocks[block].count))
			push_before(state, block);
	}
}

/*
 * Paths through targets of unresolved jumps are ignored if other paths exist: jumps that are
 * resolved now are examined again when more is known.
 */
int jump_value_definitions(
	struct jump_search *search, uint32_t insn, const struct jump_place *place,
	/* NOLINTNEXTLINE(readability-non-const-parameter): filled in through state */
	uint32_t definitions[JUMP_DEFINITIONS_MAX])
{
	struct definitions state = {.search = search, .place = place, .found = definitions};

	if (search->budget == 0)
		return -ENOENT;
	search->budget--;
	find_definitions(&state, insn);
	if (!state.failed && state.count == 0 && state.unresolved) {
		state = (struct definitions){.search = search,
					     .place = place,
					     .found = definitions,
					     .follow_unresolved = true};
		find_definitions(&state, insn);
	}
	return state.failed || state.count == 0 ? -ENOENT : state.count;
}

/* --- constants ------------------------------------------------------------------ */

static int constant_at(struct jump_search *search, uint32_t insn, const struct jump_place *place,
		       uint64_t *value, int depth);

static int load_constant(struct jump_search *search, uint32_t insn,
			 const struct insn_effect *effect, uint64_t *value, int depth)
{
	const struct insn_memory *memory = &search->cfg->insns[insn].memory;
	struct jump_place place = jump_place_of_memory(memory);
	struct jump_place base = jump_place_of_register(memory->base);
	uint64_t address = (uint64_t)memory->displacement;

	if (effect->bytes != 8 || memory->index != INSN_REG_NONE)
		return -ENOENT;
	/* A pointer in a linkage table, or a value spilled to the stack. */
	if (memory->base != INSN_REG_NONE) {
		uint64_t start;

		if (constant_at(search, insn, &base, &start, depth) < 0)
			return constant_at(search, insn, &place, value, depth);
		address += start;
	}
	if (search->image == NULL)
		return -ENOENT;
	return image_code_data(search->image, address, value, sizeof(*value));
}

static int sum_constant(struct jump_search *search, uint32_t insn, const struct insn_effect *effect,
			uint64_t *value, int depth)
{
	uint64_t sum = (uint64_t)effect->constant, part;
	struct jump_place place;

	if (effect->base != INSN_REG_NONE) {
		place = jump_place_of_register(effect->base);
		if (constant_at(search, insn, &place, &part, depth) < 0)
			return -ENOENT;
		sum += part;
	}
	if (effect->index != INSN_REG_NONE) {
		place = jump_place_of_register(effect->index);
		if (constant_at(search, insn, &place, &part, depth) < 0)
			return -ENOENT;
		sum += part << effect->scale;
	}
	*value = effect->bytes == 4 ? (uint32_t)sum : sum;
	return 0;
}

/* Find the value that an instruction assigns to its destination. */
static int defined_constant(struct jump_search *search, uint32_t insn, uint64_t *value, int depth)
{
	struct insn_effect effect =
		insn_effect_get(search->cfg->decoder, &search->cfg->insns[insn]);
	struct jump_place place;

	switch (effect.kind) {
	case INSN_EFFECT_CONSTANT:
		*value = (uint64_t)effect.constant;
		return 0;
	case INSN_EFFECT_SUM:
		return sum_constant(search, insn, &effect, value, depth);
	case INSN_EFFECT_LOAD:
		return load_constant(search, insn, &effect, value, depth);
	case INSN_EFFECT_STORE:
		place = jump_place_of_register(effect.base);
		return effect.base != INSN_REG_NONE
			       ? constant_at(search, insn, &place, value, depth)
			       : -ENOENT;
	default:
		return -ENOENT;
	}
}

/* Alpha's convention: callers leave the procedure's address in a register. */
static int from_caller(struct jump_search *search, uint32_t insn, const struct jump_place *place,
		       uint64_t *value)
{
	const struct cfg *cfg = search->cfg;
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[insn]];

	if (cfg->decoder->isa != INSN_ISA_ALPHA || place->reg != ALPHA_PROCEDURE_VALUE ||
	    !(block->flags & CFG_BLOCK_ENTRY))
		return -ENOENT;
	while (insn-- > block->first) {
		if (jump_value_change(search, &cfg->insns[insn], place) != JUMP_KEEPS)
			return -ENOENT;
	}
	*value = search->entry;
	return 0;
}

static int constant_at(struct jump_search *search, uint32_t insn, const struct jump_place *place,
		       uint64_t *value, int depth)
{
	uint32_t definitions[JUMP_DEFINITIONS_MAX];
	uint64_t first = 0, other;
	int count;

	if (depth >= DEPTH_MAX)
		return -ENOENT;
	count = jump_value_definitions(search, insn, place, definitions);
	if (count < 0)
		return from_caller(search, insn, place, value);
	for (int i = 0; i < count; i++) {
		if (defined_constant(search, definitions[i], &other, depth + 1) < 0 ||
		    (i > 0 && other != first))
			return -ENOENT;
		first = other;
	}
	*value = first;
	return 0;
}

int jump_value_constant(struct jump_search *search, uint32_t insn, const struct jump_place *place,
			uint64_t *value)
{
	return constant_at(search, insn, place, value, 0);
}
