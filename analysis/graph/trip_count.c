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
 * @forms:  of each loop
 * @exits:  number of edges that leave each loop
 * @leaves: the last of these edges
 * @seen:   of each block: the loop whose search visited it last
 */
struct finder {
	const struct cfg *cfg;
	struct loop_nest nest;
	struct register_values values;
	struct trip_form *forms;
	uint32_t *exits;
	uint32_t *leaves;
	uint32_t *seen;
	uint32_t *stack;
	struct trip_counts found;
	size_t capacity;
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

/* Return true if all paths around a loop contain one of its blocks. */
static bool is_on_all_paths(struct finder *finder, uint32_t loop, uint32_t block)
{
	const struct cfg *cfg = finder->cfg;
	uint32_t header = finder->nest.loops[loop].header, pending = 0;

	if (block == header)
		return true;
	finder->seen[header] = loop + 1;
	finder->stack[pending++] = header;
	while (pending > 0) {
		const struct cfg_block *at = &cfg->blocks[finder->stack[--pending]];

		for (uint32_t e = at->out; e < at->out + at->out_count; e++) {
			uint32_t to = cfg->edges[e].to;

			if (to == header)
				return false;
			if (to == block || !loop_nest_contains(&finder->nest, cfg, loop, to) ||
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

/* Return true if only a branch leaves a loop, and it is not in an inner loop. */
static bool has_one_exit(const struct finder *finder, uint32_t loop)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_edge *leave = &cfg->edges[finder->leaves[loop]];

	return finder->exits[loop] == 1 && finder->nest.loops[loop].header != LOOP_NEST_NONE &&
	       finder->nest.of_block[leave->from] == loop &&
	       cfg->blocks[leave->from].out_count == 2 &&
	       cfg->insns[leave->insn].flow == INSN_FLOW_BRANCH;
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

/* Return: true if the loop's form is known now, or cannot be found. */
static bool trip_count_examine(struct finder *finder, uint32_t loop)
{
	const struct cfg *cfg = finder->cfg;
	struct trip_form *form = &finder->forms[loop];
	uint32_t leave = finder->leaves[loop], header = finder->nest.loops[loop].header, block;

	if (form->known || !has_one_exit(finder, loop))
		return true;
	block = cfg->edges[leave].from;
	form->last = leads_to_header(finder, loop, other_edge(cfg, leave));
	if (!form->last && block != header)
		return true;
	form->known = find_form(form, finder, loop, block, &cfg->edges[leave]) &&
		      is_on_all_paths(finder, loop, block);
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
		if (has_one_exit(finder, loop))
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
static void count_exits(struct finder *finder, const bool *doomed)
{
	const struct cfg *cfg = finder->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];
		uint32_t loop = edge->from < cfg->block_count ? finder->nest.of_block[edge->from]
							      : LOOP_NEST_NONE;

		if (edge->kind == CFG_EDGE_STOP ||
		    (edge->to < cfg->block_count && doomed[edge->to]))
			continue;
		for (; loop != LOOP_NEST_NONE &&
		       !loop_nest_contains(&finder->nest, cfg, loop, edge->to);
		     loop = finder->nest.loops[loop].parent) {
			finder->exits[loop]++;
			finder->leaves[loop] = e;
		}
	}
}

static int trip_count_find(struct finder *finder, const bool *doomed)
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
	count_exits(finder, doomed);
	r = find_forms(finder);
	for (uint32_t loop = 0; loop < loops && r == 0; loop++) {
		double trips = trip_mean_trips(forms, &finder->nest, loop, &steps);

		if (trips > 0)
			r = trip_count_add(finder, loop, trips);
	}
	return r;
}

int trip_counts_find(struct trip_counts *ret, const struct cfg *cfg, const bool *doomed)
{
	struct finder finder = {.cfg = cfg};
	int r = loop_nest_create(&finder.nest, cfg);

	if (r == 0 && finder.nest.count > 0)
		r = trip_count_find(&finder, doomed);
	loop_nest_deinit(&finder.nest);
	if (r < 0)
		trip_counts_deinit(&finder.found);
	*ret = finder.found;
	return r;
}

void trip_counts_deinit(struct trip_counts *counts)
{
	free(counts->list);
	*counts = (struct trip_counts){0};
}
