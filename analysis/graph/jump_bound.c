// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/jump_bound.h"

#include <errno.h>

/* Limits of the search: a procedure has many paths, but the relevant ones are short. */
#define VISITS_MAX 600
#define FACTS_MAX 6
#define OPEN_MAX 4
#define DEPTH_MAX 48
#define LIMIT_MAX 65535

/* struct fact - known bound of (place + add) */
struct fact {
	struct jump_place place;
	int64_t add;
	struct insn_bound bound;
	bool dead;
};

/* struct open_branch - a branch on the path whose comparison has not been found yet */
struct open_branch {
	uint32_t branch;
	uint8_t input;
	bool taken;
};

/* struct backward_path - a backward path: the index is (place + add) at its current end */
struct backward_path {
	struct jump_place place;
	int64_t add;
	struct fact facts[FACTS_MAX];
	uint32_t fact_count;
	struct open_branch open[OPEN_MAX];
	uint32_t open_count;
};

struct finder {
	struct jump_search *search;
	struct jump_bound bound;
	struct jump_bound single; /* union of values that are constant on some paths */
	struct jump_bound weak;	  /* bounds by signed comparisons */
	bool found;
	bool found_single;
	bool found_weak;
	uint32_t visits;
	uint32_t path[DEPTH_MAX];
	uint32_t depth;
};

static void jump_bound_unite(struct jump_bound *bound, bool *found, int64_t low, int64_t high)
{
	if (!*found || low < bound->low)
		bound->low = low;
	if (!*found || high > bound->high)
		bound->high = high;
	*found = true;
}

/* The place is in [0, limit]. Return: true if the path ends here. */
static bool end_at_limit(struct finder *finder, const struct backward_path *path, uint64_t limit)
{
	if (limit > LIMIT_MAX)
		return false;
	jump_bound_unite(&finder->bound, &finder->found, path->add, path->add + (int64_t)limit);
	finder->bound.loose = true;
	return true;
}

static void use_fact(struct finder *finder, const struct insn_bound *bound, int64_t low,
		     int64_t high)
{
	if (bound->kind == INSN_BOUND_EXACT)
		jump_bound_unite(&finder->single, &finder->found_single, low, high);
	else if (bound->kind == INSN_BOUND_SIGNED)
		jump_bound_unite(&finder->weak, &finder->found_weak, low, high);
	else
		jump_bound_unite(&finder->bound, &finder->found, low, high);
}

/*
 * A fact about the place ends the path, unless it is a signed comparison: these come with other
 * comparisons that exclude negative values.
 */
static bool match_facts(struct finder *finder, const struct backward_path *path)
{
	for (uint32_t i = path->fact_count; i-- > 0;) {
		const struct fact *fact = &path->facts[i];
		int64_t shift, low, high;

		if (fact->dead || !jump_place_same(&fact->place, &path->place) ||
		    fact->bound.high - fact->bound.low > LIMIT_MAX ||
		    __builtin_sub_overflow(path->add, fact->add, &shift) ||
		    __builtin_add_overflow(fact->bound.low, shift, &low) ||
		    __builtin_add_overflow(fact->bound.high, shift, &high))
			continue;
		use_fact(finder, &fact->bound, low, high);
		if (fact->bound.kind != INSN_BOUND_SIGNED)
			return true;
	}
	return false;
}

/* --- backward over an instruction ------------------------------------------------- */

/* Find the place that a value is computed from. Return: false if it is not a place. */
static bool source_of(const struct insn *insn, const struct insn_effect *effect,
		      struct jump_place *place, int64_t *add)
{
	switch (effect->kind) {
	case INSN_EFFECT_SUM:
		if (effect->base == INSN_REG_NONE || effect->index != INSN_REG_NONE ||
		    __builtin_add_overflow(*add, effect->constant, add))
			return false;
		*place = jump_place_of_register(effect->base);
		return true;
	case INSN_EFFECT_EXTEND:
	case INSN_EFFECT_STORE:
		*place = jump_place_of_register(effect->base);
		return effect->base != INSN_REG_NONE;
	case INSN_EFFECT_LOAD:
		*place = jump_place_of_memory(&insn->memory);
		return !insn->memory.pushes;
	default:
		return false;
	}
}

/* Step back over the definition of the index. Return: true if the path continues. */
static bool pass_definition(struct finder *finder, struct backward_path *path,
			    const struct insn *insn)
{
	struct insn_effect effect = insn_effect_get(finder->search->cfg->decoder, insn);
	int64_t value;

	switch (effect.kind) {
	case INSN_EFFECT_CONSTANT:
		if (!__builtin_add_overflow(path->add, effect.constant, &value))
			jump_bound_unite(&finder->single, &finder->found_single, value, value);
		return false;
	case INSN_EFFECT_AND:
		if (effect.constant < 0 || effect.constant > LIMIT_MAX)
			return false;
		end_at_limit(finder, path, (uint64_t)effect.constant);
		return false;
	case INSN_EFFECT_SHIFT:
		if (effect.constant > 0 && effect.constant < INT64_C(8) * effect.bytes)
			end_at_limit(finder, path,
				     UINT64_MAX >> (64 - 8 * effect.bytes) >> effect.constant);
		return false;
	default:
		return source_of(insn, &effect, &path->place, &path->add);
	}
}

static void pass_facts(struct finder *finder, struct backward_path *path, const struct insn *insn)
{
	for (uint32_t i = 0; i < path->fact_count; i++) {
		struct fact *fact = &path->facts[i];
		enum jump_change change = jump_value_change(finder->search, insn, &fact->place);
		struct insn_effect effect;

		if (fact->dead || change == JUMP_KEEPS)
			continue;
		effect = insn_effect_get(finder->search->cfg->decoder, insn);
		fact->dead = change == JUMP_DESTROYS ||
			     !source_of(insn, &effect, &fact->place, &fact->add);
	}
}

static void add_fact(struct backward_path *path, const struct insn *insn,
		     const struct insn_compare *comparison, const struct insn_bound *bound)
{
	struct fact fact = {.bound = *bound};

	fact.place = comparison->reg != INSN_REG_NONE ? jump_place_of_register(comparison->reg)
						      : jump_place_of_memory(&insn->memory);
	for (uint32_t i = 0; i < path->fact_count; i++) {
		if (path->facts[i].dead) {
			path->facts[i] = fact;
			return;
		}
	}
	if (path->fact_count < FACTS_MAX)
		path->facts[path->fact_count++] = fact;
}

/* Convert open branches whose comparison is this instruction to facts. */
static void pass_compare(struct finder *finder, struct backward_path *path, const struct insn *insn)
{
	const struct cfg *cfg = finder->search->cfg;
	struct insn_compare comparison;
	bool compares = insn_effect_compare(&comparison, cfg->decoder, insn);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < path->open_count; i++) {
		const struct open_branch *open = &path->open[i];
		struct insn_bound bound;

		if (!insn_regs_has(&insn->writes, open->input)) {
			path->open[kept++] = *open;
			continue;
		}
		if (!compares)
			continue;
		bound = insn_effect_bound(cfg->decoder, insn, &cfg->insns[open->branch],
					  open->taken);
		if (bound.kind != INSN_BOUND_NONE)
			add_fact(path, insn, &comparison, &bound);
	}
	path->open_count = kept;
}

/* Step back over an instruction. Return: true if the path continues. */
static bool pass(struct finder *finder, struct backward_path *path, const struct insn *insn)
{
	enum jump_change change;

	/* The comparison refers to the values before the instruction. */
	change = jump_value_change(finder->search, insn, &path->place);
	pass_facts(finder, path, insn);
	if (path->open_count > 0)
		pass_compare(finder, path, insn);
	if (change == JUMP_DESTROYS)
		return false;
	if (change == JUMP_DEFINES && !pass_definition(finder, path, insn))
		return false;
	return !match_facts(finder, path);
}

/* --- paths ---------------------------------------------------------------------------- */

static void jump_bound_walk(struct finder *finder, struct backward_path *path, uint32_t block,
			    uint32_t insn);

static void open_branch(const struct finder *finder, struct backward_path *path,
			const struct cfg_edge *edge)
{
	const struct cfg *cfg = finder->search->cfg;
	uint8_t input = insn_effect_branch_input(cfg->decoder, &cfg->insns[edge->insn]);

	if (input == INSN_REG_NONE || path->open_count == OPEN_MAX ||
	    (edge->kind != CFG_EDGE_TAKEN && edge->kind != CFG_EDGE_NEXT))
		return;
	path->open[path->open_count++] = (struct open_branch){
		.branch = edge->insn, .input = input, .taken = edge->kind == CFG_EDGE_TAKEN};
}

static bool is_on_path(const struct finder *finder, uint32_t block)
{
	for (uint32_t i = 0; i < finder->depth; i++) {
		if (finder->path[i] == block)
			return true;
	}
	return false;
}

static void walk_before(struct finder *finder, const struct backward_path *path, uint32_t block)
{
	const struct cfg *cfg = finder->search->cfg;
	const struct cfg_block *to = &cfg->blocks[block];

	if (finder->depth == DEPTH_MAX)
		return;
	finder->path[finder->depth++] = block;
	for (uint32_t i = 0; i < to->in_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[cfg->in_edges[to->in + i]];
		struct backward_path before = *path;

		/* Paths around a loop add nothing, and jump tables are not a bound. */
		if (edge->from >= cfg->block_count || edge->kind == CFG_EDGE_SWITCH ||
		    is_on_path(finder, edge->from))
			continue;
		if (finder->visits++ >= VISITS_MAX)
			break;
		open_branch(finder, &before, edge);
		jump_bound_walk(finder, &before, edge->from,
				cfg->blocks[edge->from].first + cfg->blocks[edge->from].count);
	}
	finder->depth--;
}

static void jump_bound_walk(struct finder *finder, struct backward_path *path, uint32_t block,
			    uint32_t insn)
{
	const struct cfg *cfg = finder->search->cfg;

	while (insn > cfg->blocks[block].first) {
		insn--;
		if (!jump_search_work(finder->search) || !pass(finder, path, &cfg->insns[insn]))
			return;
	}
	walk_before(finder, path, block);
}

int jump_bound_find(struct jump_bound *ret, struct jump_search *search, uint32_t insn, uint8_t reg)
{
	struct finder finder = {.search = search};
	struct backward_path path = {.place = jump_place_of_register(reg)};

	jump_bound_walk(&finder, &path, search->cfg->block_of[insn], insn);
	if (!finder.found && !finder.found_weak)
		return -ENOENT;
	if (!finder.found)
		finder.bound = finder.weak;
	if (finder.found_single)
		jump_bound_unite(&finder.bound, &finder.found, finder.single.low,
				 finder.single.high);
	*ret = finder.bound;
	return 0;
}
