// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone.h"

#include "instrument/clone/burst_switch_code.h"
#include "lib/array.h"

void clone_entry_check(struct clone *clone, uint32_t back, uint32_t live, bool red_zone)
{
	struct cold_stub *cold_stub = clone_add_cold_stub(
		clone, (struct cold_stub){.kind = COLD_STUB_ENTER, .back = back});
	struct point point = {
		.live = live,
		.free = liveness_free_registers(clone->source->liveness, live),
		.red_zone = red_zone,
	};

	if (cold_stub != NULL)
		runtime_code_check(clone->code, clone->source->runtime, &point, cold_stub->label,
				   &cold_stub->scratch);
}

static int clone_entry_add_site(struct clone *clone, uint64_t address, uint32_t label)
{
	struct procedure_clone *result = clone->result;

	if (array_reserve(&result->sites, &result->site_capacity, result->site_count + 1,
			  sizeof(*result->sites)) < 0)
		return -ENOMEM;
	result->sites[result->site_count++] =
		(struct clone_site){.address = address, .label = label};
	return 0;
}

static uint32_t entry_edge(const struct clone *clone, uint32_t block)
{
	const struct count_graph *graph = clone->graph;
	uint32_t e = 0;

	while (e < graph->edge_count &&
	       (graph->edges[e].kind != COUNT_ENTER || graph->edges[e].to != graph->node_of[block]))
		e++;
	return e;
}

/* Emit the code for entries from outside the clones; the entry for calls of clones follows. */
static void emit_first(struct clone *clone, struct point *point, uint32_t live)
{
	uint32_t ready = machine_code_label(clone->code);

	clone_entry_check(clone, ready, live, false);
	machine_code_bind_label(clone->code, ready);
	if (clone_point_has_code(clone, point))
		clone_point_emit(clone, point, live);
}

int clone_entry_emit(struct clone *clone, uint32_t block)
{
	uint32_t label = machine_code_label(clone->code);
	uint32_t live = clone->source->liveness->in[block];
	uint32_t edge = entry_edge(clone, block);
	uint32_t after = machine_code_label(clone->code);
	struct clone_check check = {.crossing = clone_switch_of_entry(clone),
				    .live = live,
				    .counts = clone_switch_at_entry(clone, clone->source->number)};
	struct clone_check outside = check;
	bool tests = clone->source->variant == CLONE_CHECKING && !check.counts;
	struct point point, first;

	if (edge == clone->graph->edge_count)
		return clone_refuse(clone, "no entry");
	point = first = clone_point_of_edge(clone, edge);
	first.kind = POINT_OUTSIDE;
	clone->result->inside = machine_code_label(clone->code);
	outside.counts = tests && clone_switch_from_outside(clone);
	if (clone->fits[block].first == COUNT_NONE)
		machine_code_align(clone->code, CLONE_ALIGN);
	machine_code_bind_label(clone->code, label);
	clone_insn_frame(clone, clone->source->entry);
	if (clone_is_usual(clone))
		emit_first(clone, &first, live);
	if (tests)
		clone_switch_emit(clone, &outside);
	machine_code_bind_label(clone->code, clone->result->inside);
	clone_fit_begin(clone, block);
	if (check.counts)
		clone_switch_emit(clone, &check);
	machine_code_bind_label(clone->code, after);
	clone_switch_place(clone, check.crossing, after);
	if (clone_point_has_code(clone, &point))
		clone_point_emit(clone, &point, live);
	return clone_entry_add_site(clone, clone->source->entry, label);
}

long clone_entry_block(const struct clone *clone)
{
	long insn = cfg_find_insn(clone->cfg, clone->source->entry);
	uint32_t block;

	if (insn < 0)
		return -1;
	block = clone->cfg->block_of[insn];
	if (clone->cfg->blocks[block].first != (uint32_t)insn ||
	    clone->graph->node_of[block] == COUNT_NONE)
		return -1;
	return block;
}

/* Return true if all jumps to a block use tables of the clone, and no other code knows its
 * address. */
static bool only_tables_lead_to(const struct clone *clone, uint32_t index)
{
	const struct cfg *cfg = clone->cfg;
	const struct cfg_block *block = &cfg->blocks[index];

	if (clone->source->cases_known ||
	    clone->graph->edges[clone->landing_edge[index]].kind != COUNT_FROM_HUB)
		return false;
	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[cfg->in_edges[i]];

		if (edge->kind == CFG_EDGE_SWITCH && !clone_table_is_of(clone, edge->insn))
			return false;
	}
	return true;
}

/* Return true if a jump of this clone may bypass the landing site: it need not test which clone is
 * to run. */
static bool bypasses_site(const struct clone *clone, uint32_t block, const struct point *point)
{
	return clone->source->variant != CLONE_ONLY && !clone_switch_on_site(clone, block) &&
	       !clone_point_has_code(clone, point);
}

void clone_entry_site(struct clone *clone, uint32_t block)
{
	struct clone_check check = {.crossing = clone_switch_of_site(clone, block),
				    .live = clone->source->liveness->in[block],
				    .red_zone = true,
				    .counts = true,
				    .landing = true};
	struct point point;

	if (clone->source->variant != CLONE_CHECKING || clone->landing_edge[block] == COUNT_NONE ||
	    !clone_switch_on_site(clone, block) || block == clone->entry ||
	    clone->before_by[block] != COUNT_NONE || clone_edge_has_fall_through(clone, block))
		return;
	point = clone_point_of_edge(clone, clone->landing_edge[block]);
	if (clone_point_has_code(clone, &point))
		return;
	clone_insn_frame(clone, clone->cfg->insns[clone->cfg->blocks[block].first].address);
	clone->case_labels[block] = machine_code_label(clone->code);
	machine_code_bind_label(clone->code, clone->case_labels[block]);
	clone_switch_place(clone, check.crossing, clone->labels[block]);
	clone_switch_emit(clone, &check);
}

/* Return the label for jumps from other code. Which clone is to run is tested out of line, unless
 * the test is before the block. */
static uint32_t site_label(struct clone *clone, uint32_t block, const struct point *point)
{
	struct cold_stub *cold_stub;

	if (clone->case_labels[block] != COUNT_NONE)
		return clone->case_labels[block];
	if (clone->starts_by[block] == clone->landing_edge[block] ||
	    (clone->source->variant == CLONE_ONLY && !clone_point_has_code(clone, point)))
		return clone->labels[block];
	cold_stub = clone_add_cold_stub(
		clone, (struct cold_stub){.kind = COLD_STUB_SITE,
					  .back = clone->labels[block],
					  .crossing = clone_switch_of_site(clone, block),
					  .point = *point});
	return cold_stub != NULL ? cold_stub->label : 0;
}

int clone_entry_sites(struct clone *clone)
{
	int r = 0;

	for (uint32_t b = 0; r == 0 && b < clone->cfg->block_count; b++) {
		uint32_t edge = clone->landing_edge[b], label;
		struct point point;

		if (edge == COUNT_NONE)
			continue;
		point = clone_point_of_edge(clone, edge);
		point.live = clone->source->liveness->in[b];
		clone_insn_frame(clone, clone->cfg->insns[clone->cfg->blocks[b].first].address);
		label = site_label(clone, b, &point);
		clone->case_labels[b] = bypasses_site(clone, b, &point) ? clone->labels[b] : label;
		if (!only_tables_lead_to(clone, b))
			r = clone_entry_add_site(
				clone, clone->cfg->insns[clone->cfg->blocks[b].first].address,
				label);
	}
	return r;
}
