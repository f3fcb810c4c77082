// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/trip_count.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/graph/loop_nest.h"
#include "analysis/graph/register_value.h"
#include "analysis/graph/trip_mean.h"
#include "lib/array.h"
#include "lib/cleanup.h"

/*
 * struct finder - state of the search in one graph
 * @noreturn: of each block (noreturn_blocks.h)
 * @forms:  of each loop
 * @exits:  number of edges that leave each loop
 * @leaves: the last of these edges
 * @seen:   of each block: the loop whose search visited it last
 */
struct finder {
	const struct cfg *cfg;
	const bool *noreturn;
	struct loop_nest nest;
	struct register_values values;
	struct trip_form *forms;
	uint32_t *exits;
	uint32_t *leaves;
	uint32_t *seen;
	uint32_t *stack;
	struct trip_counts found;
	size_t capacity;
	size_t ratio_capacity;
};

/* --- compared values ---------------------------------------------------------------- */

static bool is_same(const struct register_value *a, const struct register_value *b)
{
	return a->symbol == b->symbol && a->offset == b->offset;
}

/*
 * Find the value of a place at a loop's header, from outside or from within; it must be the same on
 * all edges.
 */
static bool value_into_header(struct register_value *ret, const struct finder *finder,
			      uint32_t loop, uint32_t place, bool within)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *header = &cfg->blocks[finder->nest.loops[loop].header];
	bool found = false;

	for (uint32_t i = 0; i < header->in_count; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[header->in + i]].from;
		const struct register_value *value;

		if (loop_nest_contains(&finder->nest, cfg, loop, from) != within)
			continue;
		if (from >= cfg->block_count)
			return false;
		value = &finder->values.out[(size_t)from * finder->values.places + place];
		if (found && !is_same(ret, value))
			return false;
		if (!found || value->bytes < ret->bytes)
			*ret = *value;
		found = true;
	}
	return found;
}

/* Return true if a value changes by a constant in each iteration of a loop, starting at @first. */
static bool is_series(const struct finder *finder, uint32_t loop,
		      const struct register_value *value, struct register_value *first,
		      struct register_value *next)
{
	uint32_t header = finder->nest.loops[loop].header;
	uint32_t place = register_value_place(value->symbol);

	return header != LOOP_NEST_NONE && place < finder->values.places &&
	       value->symbol == register_value_of_block(header, place) &&
	       value_into_header(first, finder, loop, place, false) &&
	       value_into_header(next, finder, loop, place, true) && next->symbol == value->symbol;
}

static bool add_term(struct trip_form *form, uint32_t loop, int64_t step)
{
	for (uint32_t t = 0; t < form->term_count; t++) {
		if (form->terms[t].loop != loop)
			continue;
		form->terms[t].step = insn_sum(form->terms[t].step, step);
		return true;
	}
	if (form->term_count == TRIP_TERMS_MAX)
		return false;
	form->terms[form->term_count].loop = loop;
	form->terms[form->term_count++].step = step;
	return true;
}

/*
 * Decompose a value that changes with the loops around @loop into its value in their first
 * iterations and @form's terms, which are @sign times its steps.
 */
static bool decompose(struct trip_form *form, struct register_value *value,
		      const struct finder *finder, uint32_t loop, int64_t sign)
{
	uint32_t outer = finder->nest.loops[loop].parent;

	for (; outer != LOOP_NEST_NONE; outer = finder->nest.loops[outer].parent) {
		struct register_value first, next;

		if (!is_series(finder, outer, value, &first, &next))
			continue;
		if (!add_term(form, outer, insn_product(sign, next.offset)))
			return false;
		first.offset = insn_sum(first.offset, value->offset);
		*value = first;
	}
	return true;
}

static uint8_t fewest_bytes(const struct register_value *a, const struct register_value *b)
{
	return a->bytes < b->bytes ? a->bytes : b->bytes;
}

/* @left changes by a constant in each iteration, @right does not. */
static bool make_form(struct trip_form *form, const struct finder *finder, uint32_t loop,
		      const struct register_value *left, const struct register_value *right)
{
	struct register_value first, next, end = *right;
	uint8_t known;

	if (!is_series(finder, loop, left, &first, &next))
		return false;
	known = fewest_bytes(left, &next);
	form->term_count = 0;
	if (first.symbol != end.symbol &&
	    (!decompose(form, &end, finder, loop, 1) ||
	     !decompose(form, &first, finder, loop, -1) || first.symbol != end.symbol))
		return false;
	form->series.constant = end.symbol == REGISTER_VALUE_CONSTANT && form->term_count == 0;
	form->series.start = insn_sum(first.offset, left->offset);
	form->series.step = next.offset;
	form->series.end = end.offset;
	form->series.known = known;
	if (fewest_bytes(&first, &end) < known)
		form->series.known = fewest_bytes(&first, &end);
	return true;
}

static bool find_form(struct trip_form *form, const struct finder *finder, uint32_t loop,
		      uint32_t block, const struct cfg_edge *leave)
{
	struct register_test test;

	if (!register_values_test(&test, &finder->values, block))
		return false;
	form->series.bytes = test.bytes;
	form->series.relation = test.relation;
	if (leave->kind == CFG_EDGE_TAKEN)
		form->series.relation = insn_relation_opposite(test.relation);
	if (make_form(form, finder, loop, &test.left, &test.right))
		return true;
	form->series.relation = trip_series_mirror(form->series.relation);
	return make_form(form, finder, loop, &test.right, &test.left);
}

/* --- loops -------------------------------------------------------------------------- */

/* Loops that more branches leave are not examined. */
#define EXITS_MAX 8

/* struct exits - the edges that leave a loop */
struct exits {
	uint32_t edges[EXITS_MAX];
	uint32_t count;
};

/* Return true if an edge out of a loop begins in this block. */
static bool is_exit(const struct finder *finder, const struct exits *exits, uint32_t block)
{
	for (uint32_t i = 0; i < exits->count; i++) {
		if (finder->cfg->edges[exits->edges[i]].from == block)
			return true;
	}
	return false;
}

/* Return true if all paths around a loop contain one of the blocks that leave it. */
static bool are_on_all_paths(struct finder *finder, uint32_t loop, const struct exits *exits)
{
	const struct cfg *cfg = finder->cfg;
	uint32_t header = finder->nest.loops[loop].header, pending = 0;

	if (is_exit(finder, exits, header))
		return true;
	finder->seen[header] = loop + 1;
	finder->stack[pending++] = header;
	while (pending > 0) {
		const struct cfg_block *at = &cfg->blocks[finder->stack[--pending]];

		for (uint32_t e = at->out; e < at->out + at->out_count; e++) {
			uint32_t to = cfg->edges[e].to;

			if (to == header)
				return false;
			if (is_exit(finder, exits, to) ||
			    !loop_nest_contains(&finder->nest, cfg, loop, to) ||
			    finder->seen[to] == loop + 1)
				continue;
			finder->seen[to] = loop + 1;
			finder->stack[pending++] = to;
		}
	}
	return true;
}

static uint32_t other_edge(const struct cfg *cfg, uint32_t e)
{
	uint32_t first = cfg->blocks[cfg->edges[e].from].out;

	return e == first ? first + 1 : first;
}

static int trip_count_add(struct finder *finder, uint32_t loop, double trips)
{
	struct trip_counts *found = &finder->found;
	uint32_t leave = finder->leaves[loop];

	if (array_reserve(&found->list, &finder->capacity, found->count + 1, sizeof(*found->list)) <
	    0)
		return -ENOMEM;
	found->list[found->count++] = (struct trip_count){
		.block = finder->cfg->edges[leave].from,
		.leave = leave,
		.stay = other_edge(finder->cfg, leave),
		.trips = trips,
		.varies = finder->forms[loop].term_count > 0,
	};
	return 0;
}

/* Find the only block before a loop. Return: false if there are several, or it has other
 * successors.
 */
static bool before_find(uint32_t *ret, const struct finder *finder, uint32_t loop)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *header = &cfg->blocks[finder->nest.loops[loop].header];
	uint32_t found = 0;

	for (uint32_t i = 0; i < header->in_count; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[header->in + i]].from;

		if (loop_nest_contains(&finder->nest, cfg, loop, from))
			continue;
		*ret = from;
		found++;
	}
	return found == 1 && *ret < cfg->block_count && cfg->blocks[*ret].out_count == 1;
}

static int trip_ratio_add(struct finder *finder, uint32_t loop, double trips)
{
	struct trip_counts *found = &finder->found;
	uint32_t before;

	if (!before_find(&before, finder, loop))
		return 0;
	if (array_reserve(&found->ratios, &finder->ratio_capacity, found->ratio_count + 1,
			  sizeof(*found->ratios)) < 0)
		return -ENOMEM;
	found->ratios[found->ratio_count++] = (struct trip_ratio){
		.header = finder->nest.loops[loop].header,
		.before = before,
		.trips = trips,
		.varies = finder->forms[loop].term_count > 0,
	};
	return 0;
}

/* Return true if an edge out of a loop is that of a branch, and not in an inner loop. */
static bool is_branch_of(const struct finder *finder, uint32_t loop, uint32_t edge)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_edge *leave = &cfg->edges[edge];

	return finder->nest.of_block[leave->from] == loop &&
	       cfg->blocks[leave->from].out_count == 2 &&
	       cfg->insns[leave->insn].flow == INSN_FLOW_BRANCH;
}

/* Return true if only branches leave a loop, one or a few. */
static bool has_branches(const struct finder *finder, uint32_t loop)
{
	return finder->exits[loop] >= 1 && finder->exits[loop] <= EXITS_MAX &&
	       finder->nest.loops[loop].header != LOOP_NEST_NONE &&
	       is_branch_of(finder, loop, finder->leaves[loop]);
}

/*
 * Return true if the rest of an iteration from @edge on is straight code of the loop itself, such
 * as moves of registers for the next iteration.
 */
static bool leads_to_header(const struct finder *finder, uint32_t loop, uint32_t edge)
{
	const struct cfg *cfg = finder->cfg;
	uint32_t at = cfg->edges[edge].to, header = finder->nest.loops[loop].header;

	/*
	 * This ends: a cycle of blocks with one successor each never leads to the header, but all
	 * blocks of the loop do.
	 */
	while (at != header) {
		if (at >= cfg->block_count || finder->nest.of_block[at] != loop ||
		    cfg->blocks[at].out_count != 1)
			return false;
		at = cfg->edges[cfg->blocks[at].out].to;
	}
	return true;
}

static bool is_same_form(const struct trip_form *a, const struct trip_form *b)
{
	const struct trip_series *x = &a->series, *y = &b->series;

	if (x->relation != y->relation || x->start != y->start || x->step != y->step ||
	    x->end != y->end || x->bytes != y->bytes || x->known != y->known ||
	    x->constant != y->constant || a->term_count != b->term_count || a->last != b->last)
		return false;
	for (uint32_t i = 0; i < a->term_count; i++) {
		if (a->terms[i].loop != b->terms[i].loop || a->terms[i].step != b->terms[i].step)
			return false;
	}
	return true;
}

static bool is_doomed(const struct finder *finder, uint32_t block)
{
	return block < finder->cfg->block_count && finder->noreturn[block];
}

/* Return true if an edge leaves a loop, and does not lead to a no-return block. */
static bool leaves_loop(const struct finder *finder, uint32_t loop, const struct cfg_edge *edge)
{
	return edge->kind != CFG_EDGE_STOP && !is_doomed(finder, edge->to) &&
	       loop_nest_contains(&finder->nest, finder->cfg, loop, edge->from) &&
	       !loop_nest_contains(&finder->nest, finder->cfg, loop, edge->to);
}

/* Return: false if any of the edges out of a loop is not one of its own branches. */
static bool exits_find(struct exits *ret, const struct finder *finder, uint32_t loop)
{
	ret->count = 0;
	if (finder->exits[loop] == 1)
		ret->edges[ret->count++] = finder->leaves[loop];
	for (uint32_t e = 0; e < finder->cfg->edge_count && finder->exits[loop] > 1; e++) {
		if (!leaves_loop(finder, loop, &finder->cfg->edges[e]))
			continue;
		if (ret->count == EXITS_MAX || !is_branch_of(finder, loop, e))
			return false;
		ret->edges[ret->count++] = e;
	}
	return ret->count == finder->exits[loop];
}

/* Find the form of the branch that an edge leaves a loop by. */
static bool exit_form(struct trip_form *form, const struct finder *finder, uint32_t loop,
		      uint32_t leave)
{
	const struct cfg *cfg = finder->cfg;
	uint32_t block = cfg->edges[leave].from;

	form->last = leads_to_header(finder, loop, other_edge(cfg, leave));
	if (!form->last && (block != finder->nest.loops[loop].header || finder->exits[loop] > 1))
		return false;
	return find_form(form, finder, loop, block, &cfg->edges[leave]);
}

/*
 * If several branches leave a loop, they must make the same test, and each iteration must execute
 * one of them at its end.
 *
 * Return: true if the loop's form is known now, or cannot be found.
 */
static bool trip_count_examine(struct finder *finder, uint32_t loop)
{
	struct trip_form *form = &finder->forms[loop], other;
	struct exits exits;

	if (form->known || !has_branches(finder, loop) || !exits_find(&exits, finder, loop))
		return true;
	if (!exit_form(form, finder, loop, exits.edges[0]))
		return false;
	for (uint32_t i = 1; i < exits.count; i++) {
		other = (struct trip_form){.known = false};
		if (!exit_form(&other, finder, loop, exits.edges[i]) || !is_same_form(form, &other))
			return false;
	}
	form->known = are_on_all_paths(finder, loop, &exits);
	return form->known;
}

/* Return: true if more values could reveal the form of any loop. */
static bool examine_all(struct finder *finder)
{
	bool all = true;

	for (uint32_t loop = 0; loop < finder->nest.count; loop++)
		all &= trip_count_examine(finder, loop);
	return !all;
}

static bool has_candidates(const struct finder *finder)
{
	for (uint32_t loop = 0; loop < finder->nest.count; loop++) {
		if (has_branches(finder, loop))
			return true;
	}
	return false;
}

/* Find forms by registers and, if some are missing, also by stack slots. */
static int find_forms(struct finder *finder)
{
	int r;

	if (!has_candidates(finder))
		return 0;
	r = register_values_find(&finder->values, finder->cfg);
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	if (examine_all(finder)) {
		r = register_values_add_slots(&finder->values);
		if (r > 0)
			examine_all(finder);
	}
	register_values_deinit(&finder->values);
	return r < 0 ? r : 0;
}

/* Count the edges out of each loop, except those to no-return blocks. */
static void count_exits(struct finder *finder)
{
	const struct cfg *cfg = finder->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];
		uint32_t loop = edge->from < cfg->block_count ? finder->nest.of_block[edge->from]
							      : LOOP_NEST_NONE;

		if (edge->kind == CFG_EDGE_STOP || is_doomed(finder, edge->to))
			continue;
		for (; loop != LOOP_NEST_NONE &&
		       !loop_nest_contains(&finder->nest, cfg, loop, edge->to);
		     loop = finder->nest.loops[loop].parent) {
			finder->exits[loop]++;
			finder->leaves[loop] = e;
		}
	}
}

static int trip_count_find(struct finder *finder)
{
	size_t blocks = (size_t)finder->cfg->block_count + 1, loops = finder->nest.count;
	_cleanup_free_ struct trip_form *forms = calloc(loops, sizeof(*forms));
	_cleanup_free_ uint32_t *exits = calloc(loops, sizeof(*exits));
	_cleanup_free_ uint32_t *leaves = calloc(loops, sizeof(*leaves));
	_cleanup_free_ uint32_t *seen = calloc(blocks, sizeof(*seen));
	_cleanup_free_ uint32_t *stack = malloc(blocks * sizeof(*stack));
	uint32_t steps = TRIP_MEAN_STEPS;
	int r;

	if (forms == NULL || exits == NULL || leaves == NULL || seen == NULL || stack == NULL)
		return -ENOMEM;
	finder->forms = forms;
	finder->exits = exits;
	finder->leaves = leaves;
	finder->seen = seen;
	finder->stack = stack;
	count_exits(finder);
	r = find_forms(finder);
	for (uint32_t loop = 0; loop < loops && r == 0; loop++) {
		double trips = trip_mean_trips(forms, &finder->nest, loop, &steps);

		if (trips > 0)
			r = finder->exits[loop] == 1 ? trip_count_add(finder, loop, trips)
						     : trip_ratio_add(finder, loop, trips);
	}
	return r;
}

int trip_counts_find(struct trip_counts *ret, const struct cfg *cfg, const bool *noreturn)
{
	struct finder finder = {.cfg = cfg, .noreturn = noreturn};
	int r = loop_nest_create(&finder.nest, cfg);

	if (r == 0 && finder.nest.count > 0)
		r = trip_count_find(&finder);
	loop_nest_deinit(&finder.nest);
	if (r < 0)
		trip_counts_deinit(&finder.found);
	*ret = finder.found;
	return r;
}

void trip_counts_deinit(struct trip_counts *counts)
{
	free(counts->list);
	free(counts->ratios);
	*counts = (struct trip_counts){0};
}
