// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

#include "instrument/copy/turn_code.h"
#include "lib/array.h"

void copier_entry_check(struct copier *copier, uint32_t back, uint32_t live, bool red_zone)
{
	struct aside *aside =
		copier_add_aside(copier, (struct aside){.kind = ASIDE_ENTER, .back = back});
	struct point point = {
		.live = live,
		.free = liveness_free_registers(copier->source->liveness, live),
		.red_zone = red_zone,
	};

	if (aside != NULL)
		runtime_code_check(copier->code, copier->source->runtime, &point, aside->label,
				   &aside->loan);
}

static int add_site(struct copier *copier, uint64_t address, uint32_t label)
{
	struct procedure_copy *copy = copier->copy;

	if (array_reserve(&copy->sites, &copy->site_capacity, copy->site_count + 1,
			  sizeof(*copy->sites)) < 0)
		return -ENOMEM;
	copy->sites[copy->site_count++] = (struct copy_site){.address = address, .label = label};
	return 0;
}

static uint32_t entry_edge(const struct copier *copier, uint32_t block)
{
	const struct count_graph *graph = copier->graph;
	uint32_t e = 0;

	while (e < graph->edge_count &&
	       (graph->edges[e].kind != COUNT_ENTER || graph->edges[e].to != graph->node_of[block]))
		e++;
	return e;
}

/* Emit the code for entries from outside the clones; the entry for calls of clones follows. */
static void emit_first(struct copier *copier, struct point *point, uint32_t live)
{
	uint32_t ready = machine_code_label(copier->code);

	copier_entry_check(copier, ready, live, false);
	machine_code_place(copier->code, ready);
	if (copier_point_wants(copier, point))
		copier_point_emit(copier, point, live);
}

int copier_entry_emit(struct copier *copier, uint32_t block)
{
	uint32_t label = machine_code_label(copier->code);
	uint32_t live = copier->source->liveness->in[block];
	uint32_t edge = entry_edge(copier, block);
	uint32_t behind = machine_code_label(copier->code);
	struct turn turn = {.crossing = copier_turn_of_entry(copier),
			    .live = live,
			    .counts = copier_turn_at_entry(copier, copier->source->number)};
	struct turn outside = turn;
	bool looks = copier->source->variant == COPY_CHECKING && !turn.counts;
	struct point point, first;

	if (edge == copier->graph->edge_count)
		return copier_refuse(copier, "no way in");
	point = first = copier_point_of_edge(copier, edge);
	first.kind = POINT_OUTSIDE;
	copier->copy->inside = machine_code_label(copier->code);
	outside.counts = looks && copier_turn_from_outside(copier);
	if (copier->fits[block].first == COUNT_NONE)
		machine_code_align(copier->code, COPY_ALIGN);
	machine_code_place(copier->code, label);
	copier_insn_frame(copier, copier->source->entry);
	if (copier_is_usual(copier))
		emit_first(copier, &first, live);
	if (looks)
		copier_turn_emit(copier, &outside);
	machine_code_place(copier->code, copier->copy->inside);
	copier_fit_begin(copier, block);
	if (turn.counts)
		copier_turn_emit(copier, &turn);
	machine_code_place(copier->code, behind);
	copier_turn_place(copier, turn.crossing, behind);
	if (copier_point_wants(copier, &point))
		copier_point_emit(copier, &point, live);
	return add_site(copier, copier->source->entry, label);
}

long copier_entry_block(const struct copier *copier)
{
	long insn = cfg_find_insn(copier->cfg, copier->source->entry);
	uint32_t block;

	if (insn < 0)
		return -1;
	block = copier->cfg->block_of[insn];
	if (copier->cfg->blocks[block].first != (uint32_t)insn ||
	    copier->graph->node_of[block] == COUNT_NONE)
		return -1;
	return block;
}

/* Return true if all jumps to a block use tables of the clone, and no other code knows its
 * address. */
static bool only_tables_lead_to(const struct copier *copier, uint32_t index)
{
	const struct cfg *cfg = copier->cfg;
	const struct cfg_block *block = &cfg->blocks[index];

	if (copier->source->cases_known ||
	    copier->graph->edges[copier->comes_by[index]].kind != COUNT_FROM_HUB)
		return false;
	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[cfg->in_edges[i]];

		if (edge->kind == CFG_EDGE_SWITCH && !copier_table_is_of(copier, edge->insn))
			return false;
	}
	return true;
}

/* Return true if a jump of this clone may bypass the landing site: it need not test which clone is
 * to run. */
static bool is_straight(const struct copier *copier, uint32_t block, const struct point *point)
{
	return copier->source->variant != COPY_ONLY && !copier_turn_on_site(copier, block) &&
	       !copier_point_wants(copier, point);
}

void copier_entry_site(struct copier *copier, uint32_t block)
{
	struct turn turn = {.crossing = copier_turn_of_site(copier, block),
			    .live = copier->source->liveness->in[block],
			    .red_zone = true,
			    .counts = true,
			    .landing = true};
	struct point point;

	if (copier->source->variant != COPY_CHECKING || copier->comes_by[block] == COUNT_NONE ||
	    !copier_turn_on_site(copier, block) || block == copier->entry ||
	    copier->before_by[block] != COUNT_NONE || copier_edge_is_fallen_into(copier, block))
		return;
	point = copier_point_of_edge(copier, copier->comes_by[block]);
	if (copier_point_wants(copier, &point))
		return;
	copier_insn_frame(copier, copier->cfg->insns[copier->cfg->blocks[block].first].address);
	copier->case_labels[block] = machine_code_label(copier->code);
	machine_code_place(copier->code, copier->case_labels[block]);
	copier_turn_place(copier, turn.crossing, copier->labels[block]);
	copier_turn_emit(copier, &turn);
}

/* Return the label for jumps from other code. Which clone is to run is tested out of line, unless
 * the test is before the block. */
static uint32_t site_label(struct copier *copier, uint32_t block, const struct point *point)
{
	struct aside *aside;

	if (copier->case_labels[block] != COUNT_NONE)
		return copier->case_labels[block];
	if (copier->starts_by[block] == copier->comes_by[block] ||
	    (copier->source->variant == COPY_ONLY && !copier_point_wants(copier, point)))
		return copier->labels[block];
	aside = copier_add_aside(copier,
				 (struct aside){.kind = ASIDE_SITE,
						.back = copier->labels[block],
						.crossing = copier_turn_of_site(copier, block),
						.point = *point});
	return aside != NULL ? aside->label : 0;
}

int copier_entry_sites(struct copier *copier)
{
	int r = 0;

	for (uint32_t b = 0; r == 0 && b < copier->cfg->block_count; b++) {
		uint32_t edge = copier->comes_by[b], label;
		struct point point;

		if (edge == COUNT_NONE)
			continue;
		point = copier_point_of_edge(copier, edge);
		point.live = copier->source->liveness->in[b];
		copier_insn_frame(copier, copier->cfg->insns[copier->cfg->blocks[b].first].address);
		label = site_label(copier, b, &point);
		copier->case_labels[b] = is_straight(copier, b, &point) ? copier->labels[b] : label;
		if (!only_tables_lead_to(copier, b))
			r = add_site(copier,
				     copier->cfg->insns[copier->cfg->blocks[b].first].address,
				     label);
	}
	return r;
}
