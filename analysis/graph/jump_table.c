// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/jump_table.h"

#include <errno.h>

#define DEPTH_MAX 8
#define TERMS_MAX 4
#define STEPS_MAX 10

/* struct shape - computation of a target from a loaded entry */
struct shape {
	uint64_t base;
	uint8_t scale;
	bool relative;
	uint8_t signed_bytes; /* number of low bytes that are sign-extended; 0: none */
};

/* struct term - summand: factor * (register before @insn); struct sum adds a constant */
struct term {
	uint32_t insn;
	uint8_t reg;
	uint64_t factor;
};

struct sum {
	struct term terms[TERMS_MAX];
	uint32_t count;
	uint64_t constant;
};

struct table_finder {
	struct jump_search *search;
	struct jump_tables *ret;
};

static const struct insn *insn_at(const struct table_finder *finder, uint32_t insn)
{
	return &finder->search->cfg->insns[insn];
}

static struct insn_effect effect_at(const struct table_finder *finder, uint32_t insn)
{
	return insn_effect_get(finder->search->cfg->decoder, insn_at(finder, insn));
}

/* --- addresses ------------------------------------------------------------------- */

static bool add_term(struct sum *sum, uint32_t insn, uint8_t reg, uint64_t factor)
{
	if (reg == INSN_REG_NONE)
		return true;
	if (sum->count == TERMS_MAX)
		return false;
	sum->terms[sum->count++] = (struct term){insn, reg, factor};
	return true;
}

static void fold_constants(struct table_finder *finder, struct sum *sum)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < sum->count; i++) {
		struct term term = sum->terms[i];
		struct jump_place place = jump_place_of_register(term.reg);
		uint64_t value;

		if (jump_value_constant(finder->search, term.insn, &place, &value) == 0)
			sum->constant += value * term.factor;
		else
			sum->terms[kept++] = term;
	}
	sum->count = kept;
}

/* Replace a term by the operands that its register was computed from. */
static bool jump_table_expand(struct table_finder *finder, struct sum *sum, uint32_t which)
{
	struct term term = sum->terms[which];
	struct jump_place place = jump_place_of_register(term.reg);
	uint32_t definitions[JUMP_DEFINITIONS_MAX];
	struct insn_effect effect;

	if (jump_value_definitions(finder->search, term.insn, &place, definitions) != 1)
		return false;
	effect = effect_at(finder, definitions[0]);
	sum->terms[which] = sum->terms[--sum->count];
	if (effect.kind == INSN_EFFECT_EXTEND)
		return add_term(sum, definitions[0], effect.base, term.factor);
	if (effect.kind != INSN_EFFECT_SUM)
		return false;
	sum->constant += (uint64_t)effect.constant * term.factor;
	return add_term(sum, definitions[0], effect.base, term.factor) &&
	       add_term(sum, definitions[0], effect.index, term.factor << effect.scale);
}

/* Choose a term that cannot be the index, or else the first one. */
static uint32_t term_to_expand(const struct sum *sum, uint64_t bytes)
{
	for (uint32_t i = 0; i < sum->count; i++) {
		if (sum->terms[i].factor != bytes)
			return i;
	}
	return 0;
}

/*
 * Split the address of a load into a constant and one index.
 * Return: 0; 1 if it is a constant; -ENOENT.
 */
static int split_address(struct table_finder *finder, uint32_t insn, uint8_t bytes, struct sum *sum)
{
	const struct insn_memory *memory = &insn_at(finder, insn)->memory;

	*sum = (struct sum){.constant = (uint64_t)memory->displacement};
	if (memory->segment || memory->pushes)
		return -ENOENT;
	add_term(sum, insn, memory->base, 1);
	add_term(sum, insn, memory->index, UINT64_C(1) << memory->scale);
	for (int step = 0; step < STEPS_MAX; step++) {
		fold_constants(finder, sum);
		if (sum->count == 0)
			return 1;
		if (sum->count == 1 && sum->terms[0].factor == bytes)
			return 0;
		if (!jump_table_expand(finder, sum, term_to_expand(sum, bytes)))
			return -ENOENT;
	}
	return -ENOENT;
}

/* --- targets -------------------------------------------------------------------------- */

/* Return the greatest value of an index by its width, if it is a zero-extended byte, or 0. */
static int64_t most_of(const struct table_finder *finder, const struct term *index)
{
	struct jump_place place = jump_place_of_register(index->reg);
	uint32_t definitions[JUMP_DEFINITIONS_MAX];
	int count = jump_value_definitions(finder->search, index->insn, &place, definitions);

	for (int i = 0; i < count; i++) {
		struct insn_effect effect = effect_at(finder, definitions[i]);

		if ((effect.kind != INSN_EFFECT_EXTEND && effect.kind != INSN_EFFECT_LOAD) ||
		    effect.is_signed || effect.bytes != 1)
			return 0;
	}
	return count > 0 ? UINT8_MAX : 0;
}

static int add_table(struct table_finder *finder, uint32_t insn, const struct insn_effect *load,
		     const struct shape *shape)
{
	struct jump_table *table = &finder->ret->tables[finder->ret->count];
	struct jump_place place;
	struct sum address;
	int r = split_address(finder, insn, load->bytes, &address);

	if (r < 0 || (r > 0 && !shape->relative) || finder->ret->count == JUMP_TABLES_MAX) {
		/* Not a table; a pointer if the value is used unchanged. */
		finder->ret->pointer = !shape->relative;
		if (r > 0)
			finder->ret->slot = address.constant;
		return -ENOENT;
	}
	*table = (struct jump_table){
		.address = address.constant,
		.base = shape->base,
		.insn = insn,
		.bytes = load->bytes,
		.scale = shape->scale,
		.is_signed = load->is_signed || shape->signed_bytes == load->bytes,
	};
	/* A constant index means a single entry. */
	table->bounded = r > 0 || jump_bound_find(&table->bound, finder->search,
						  address.terms[0].insn, address.terms[0].reg) == 0;
	table->most = table->bounded ? 0 : most_of(finder, &address.terms[0]);
	place = jump_place_of_register(insn_at(finder, insn)->memory.base);
	table->anchored = place.reg != INSN_REG_NONE &&
			  jump_value_constant(finder->search, insn, &place, &table->anchor) == 0;
	finder->ret->count++;
	return 0;
}

static int add_constant(struct table_finder *finder, uint64_t target)
{
	struct jump_tables *ret = finder->ret;

	for (uint32_t i = 0; i < ret->constant_count; i++) {
		if (ret->constants[i] == target)
			return 0;
	}
	if (ret->constant_count == JUMP_TABLES_MAX)
		return -ENOENT;
	ret->constants[ret->constant_count++] = target;
	return 0;
}

static bool is_store_of_register(const struct insn_effect *effect)
{
	return effect->kind == INSN_EFFECT_STORE && effect->base != INSN_REG_NONE;
}

/* Find the loaded table entry that is the value of a place before an instruction. */
static int jump_table_find_entry(struct table_finder *finder, uint32_t insn,
				 const struct jump_place *place, struct shape shape, int depth)
{
	uint32_t definitions[JUMP_DEFINITIONS_MAX];
	int r = 0, count;

	if (depth >= DEPTH_MAX)
		return -ENOENT;
	count = jump_value_definitions(finder->search, insn, place, definitions);
	if (count < 0)
		return -ENOENT;
	for (int i = 0; r == 0 && i < count; i++) {
		struct insn_effect effect = effect_at(finder, definitions[i]);
		struct jump_place base = jump_place_of_register(effect.base);
		struct shape extended = shape;

		if (effect.kind == INSN_EFFECT_LOAD && effect.bytes < 8) {
			r = add_table(finder, definitions[i], &effect, &shape);
			continue;
		}
		if (effect.kind == INSN_EFFECT_LOAD) {
			struct jump_place spilled =
				jump_place_of_memory(&insn_at(finder, definitions[i])->memory);

			r = jump_table_find_entry(finder, definitions[i], &spilled, shape,
						  depth + 1);
			continue;
		}
		if (effect.kind == INSN_EFFECT_EXTEND && effect.is_signed)
			extended.signed_bytes = effect.bytes;
		if (effect.kind == INSN_EFFECT_EXTEND || is_store_of_register(&effect) ||
		    (effect.kind == INSN_EFFECT_SUM && effect.index == INSN_REG_NONE &&
		     effect.constant == 0))
			r = jump_table_find_entry(finder, definitions[i], &base, extended,
						  depth + 1);
		else
			r = -ENOENT;
	}
	return r;
}

/* Find the table entry in the sum of a constant and an entry. */
static int find_relative(struct table_finder *finder, uint32_t insn,
			 const struct insn_effect *effect)
{
	struct jump_place base = jump_place_of_register(effect->base);
	struct jump_place index = jump_place_of_register(effect->index);
	struct shape shape = {.relative = true};
	uint64_t value;

	if (effect->bytes != 8)
		return -ENOENT;
	if (jump_value_constant(finder->search, insn, &base, &value) == 0) {
		shape.base = value + (uint64_t)effect->constant;
		shape.scale = effect->scale;
		shape.signed_bytes = effect->is_signed ? effect->index_bytes : 0;
		return jump_table_find_entry(finder, insn, &index, shape, 0);
	}
	if (jump_value_constant(finder->search, insn, &index, &value) == 0) {
		shape.base = (value << effect->scale) + (uint64_t)effect->constant;
		return jump_table_find_entry(finder, insn, &base, shape, 0);
	}
	return -ENOENT;
}

static int find_target(struct table_finder *finder, uint32_t insn, const struct jump_place *place,
		       int depth);

static int find_defined(struct table_finder *finder, uint32_t insn, int depth)
{
	static const struct shape absolute;
	struct insn_effect effect = effect_at(finder, insn);
	struct jump_place place = jump_place_of_register(effect.base);
	uint64_t value;

	switch (effect.kind) {
	case INSN_EFFECT_CONSTANT:
		return add_constant(finder, (uint64_t)effect.constant);
	case INSN_EFFECT_LOAD:
		if (effect.bytes != 8)
			return -ENOENT;
		if (add_table(finder, insn, &effect, &absolute) == 0)
			return 0;
		place = jump_place_of_memory(&insn_at(finder, insn)->memory);
		return find_target(finder, insn, &place, depth + 1);
	case INSN_EFFECT_SUM:
		if (effect.index == INSN_REG_NONE &&
		    jump_value_constant(finder->search, insn, &place, &value) == 0)
			return add_constant(finder, value + (uint64_t)effect.constant);
		if (effect.index != INSN_REG_NONE && effect.base != INSN_REG_NONE)
			return find_relative(finder, insn, &effect);
		if (effect.index != INSN_REG_NONE || effect.constant != 0)
			return -ENOENT;
		return find_target(finder, insn, &place, depth + 1);
	case INSN_EFFECT_STORE:
		if (!is_store_of_register(&effect))
			return -ENOENT;
		return find_target(finder, insn, &place, depth + 1);
	default:
		finder->ret->pointer = true; /* possibly a decrypted pointer */
		return -ENOENT;
	}
}

static int find_target(struct table_finder *finder, uint32_t insn, const struct jump_place *place,
		       int depth)
{
	uint32_t definitions[JUMP_DEFINITIONS_MAX];
	int r = 0, count;

	if (depth >= DEPTH_MAX)
		return -ENOENT;
	count = jump_value_definitions(finder->search, insn, place, definitions);
	if (count < 0) {
		finder->ret->pointer = true; /* from the caller or a callee */
		return -ENOENT;
	}
	for (int i = 0; r == 0 && i < count; i++)
		r = find_defined(finder, definitions[i], depth);
	return r;
}

int jump_table_find(struct jump_tables *ret, struct jump_search *search, uint32_t insn)
{
	static const struct shape absolute;
	struct table_finder finder = {.search = search, .ret = ret};
	const struct insn *jump = &search->cfg->insns[insn];
	uint8_t reg = insn_effect_jump_register(search->cfg->decoder, jump);
	struct jump_place place = jump_place_of_register(reg);
	struct insn_effect load = {.kind = INSN_EFFECT_LOAD, .bytes = jump->memory.bytes};
	int r;

	ret->count = 0;
	ret->constant_count = 0;
	ret->slot = 0;
	ret->pointer = false;
	search->budget = JUMP_SEARCHES_MAX;
	if (reg != INSN_REG_NONE)
		r = find_target(&finder, insn, &place, 0);
	else
		r = load.bytes == 8 ? add_table(&finder, insn, &load, &absolute) : -ENOENT;
	if (r < 0)
		ret->count = 0;
	return r < 0 ? -ENOENT : 0;
}
