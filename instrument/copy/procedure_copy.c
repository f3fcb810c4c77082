// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/procedure_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/copy/copier.h"
#include "lib/array.h"

/* Blocks that compilers aligned are aligned again. */
#define BLOCK_ALIGN 16

/* Is the thread ready, and the process the one it was? */
static void emit_check(struct copier *copier, uint32_t back, uint32_t live, bool red_zone)
{
	struct aside *aside =
		copier_aside_add(copier, (struct aside){.kind = ASIDE_ENTER, .back = back});
	struct point point = {
		.live = live,
		.free = liveness_free_registers(copier->source->liveness, live),
		.red_zone = red_zone,
	};

	if (aside != NULL)
		runtime_code_check(copier->code, copier->source->runtime, &point, aside->label,
				   &aside->loan);
}

/* --- edges ---------------------------------------------------------------- */

/* What is live where an edge leads. */
static uint32_t live_at(const struct copier *copier, const struct cfg_edge *edge)
{
	if (edge->to < copier->cfg->block_count)
		return copier->source->liveness->in[edge->to];
	return LIVENESS_REGISTERS | (copier->source->liveness->across ? LIVENESS_FLAGS : 0);
}

/* A check on an edge that leads back, behind what the mode wants there. */
static void emit_way_back(struct copier *copier, uint32_t cfg_edge, bool falls)
{
	const struct cfg_edge *edge = &copier->cfg->edges[cfg_edge];
	struct turn turn = {.crossing = copier_turn_of_block(copier, edge->to),
			    .live = live_at(copier, edge),
			    .red_zone = true,
			    .counts = true};

	if (falls)
		copier_turn_emit(copier, &turn);
	else
		copier_turn_emit_to(copier, &turn, copier->labels[edge->to]);
}

/* A branch that leads back is run over and over: its code is not put aside. */
static void emit_branch_back(struct copier *copier, unsigned int kind, uint32_t cfg_edge)
{
	struct point point = copier_point_of_edge(copier, copier->edge_of[cfg_edge]);
	uint32_t over = machine_code_label(copier->code);

	point.crosses = copier_turn_crosses(copier);
	machine_code_branch(copier->code, kind ^ 1, over);
	if (copier_point_wants(copier, &point))
		copier_point_emit(copier, &point, live_at(copier, &copier->cfg->edges[cfg_edge]));
	emit_way_back(copier, cfg_edge, false);
	machine_code_place(copier->code, over);
}

/* A branch along an edge; code on it is put aside. */
static void emit_branch(struct copier *copier, unsigned int kind, uint32_t cfg_edge)
{
	const struct cfg_edge *edge = &copier->cfg->edges[cfg_edge];
	struct point point = copier_point_of_edge(copier, copier->edge_of[cfg_edge]);
	bool inside = edge->to < copier->cfg->block_count;
	struct aside *aside;

	point.live = live_at(copier, edge);
	if (copier_turn_on_edge(copier, cfg_edge)) {
		emit_branch_back(copier, kind, cfg_edge);
		return;
	}
	if (copier_point_wants(copier, &point)) {
		aside = copier_aside_add(
			copier,
			(struct aside){.back = inside ? copier->labels[edge->to] : COUNT_NONE,
				       .point = point,
				       .edge = edge});
		if (aside != NULL)
			machine_code_branch(copier->code, kind, aside->label);
	} else if (inside) {
		machine_code_branch(copier->code, kind, copier->labels[edge->to]);
	} else {
		copier_insn_leave(copier, kind, edge->target);
	}
}

/* On to the block that follows, or to where it is. */
static void emit_fall(struct copier *copier, uint32_t cfg_edge, uint32_t next)
{
	const struct cfg_edge *edge = &copier->cfg->edges[cfg_edge];
	struct point point = copier_point_of_edge(copier, copier->edge_of[cfg_edge]);

	point.crosses = copier_turn_on_edge(copier, cfg_edge) && copier_turn_crosses(copier);
	if (copier_point_wants(copier, &point))
		copier_point_emit(copier, &point, live_at(copier, edge));
	if (copier_turn_on_edge(copier, cfg_edge))
		emit_way_back(copier, cfg_edge, edge->to == next);
	else if (edge->to >= copier->cfg->block_count)
		copier_insn_leave(copier, MACHINE_JUMP, edge->target);
	else if (edge->to != next)
		machine_code_branch(copier->code, MACHINE_JUMP, copier->labels[edge->to]);
}

static uint32_t edge_of_kind(const struct copier *copier, const struct cfg_block *block, bool next)
{
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		const struct cfg_edge *edge = &copier->cfg->edges[e];
		uint64_t behind = copier->cfg->insns[edge->insn].address +
				  copier->cfg->insns[edge->insn].bytes;
		bool falls = edge->kind == CFG_EDGE_NEXT ||
			     (edge->kind == CFG_EDGE_TAIL && block->out_count > 1 &&
			      edge->target == behind);

		if (falls == next)
			return e;
	}
	return COUNT_NONE;
}

/* A conditional branch and its two ways. */
static int copy_branch(struct copier *copier, const struct cfg_block *block, uint32_t last,
		       uint32_t next)
{
	const struct insn *insn = &copier->cfg->insns[last];
	uint32_t taken = edge_of_kind(copier, block, false);
	uint32_t falls = edge_of_kind(copier, block, true);
	ZydisDecodedInstruction zydis;
	const uint8_t *bytes;
	int r = copier_insn_decode(copier, insn, &zydis, &bytes);

	if (r < 0)
		return r;
	if (taken == COUNT_NONE || falls == COUNT_NONE || block->out_count != 2)
		return copier_refuse(copier, "a branch with an unknown way");
	if (zydis.mnemonic == ZYDIS_MNEMONIC_JRCXZ || zydis.mnemonic == ZYDIS_MNEMONIC_JECXZ ||
	    zydis.mnemonic == ZYDIS_MNEMONIC_LOOP || zydis.mnemonic == ZYDIS_MNEMONIC_LOOPE ||
	    zydis.mnemonic == ZYDIS_MNEMONIC_LOOPNE)
		return copier_refuse(copier, "a branch that is always short");
	emit_branch(copier, zydis.opcode & 0xf, taken);
	copier_insn_mark_end(copier, insn);
	emit_fall(copier, falls, next);
	return 0;
}

/* What ends a block. @next: the block that is put behind it. */
static int copy_end(struct copier *copier, const struct cfg_block *block, uint32_t next)
{
	uint32_t last = block->first + block->count - 1;
	const struct insn *insn = &copier->cfg->insns[last];
	int r;

	switch ((enum insn_flow)insn->flow) {
	case INSN_FLOW_BRANCH:
		return copy_branch(copier, block, last, next);
	case INSN_FLOW_JUMP:
		if (block->out_count != 1)
			return copier_refuse(copier, "a jump with several ways");
		emit_fall(copier, block->out, next);
		return 0;
	case INSN_FLOW_JUMP_INDIRECT:
		r = copier_table_load(copier, last);
		if (r != 0)
			return r < 0 ? r : 0;
		return copier_insn_plain(copier, insn);
	case INSN_FLOW_RETURN:
	case INSN_FLOW_STOP:
		return copier_insn_plain(copier, insn);
	case INSN_FLOW_NEXT:
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		break;
	}
	if (block->out_count == 1 && (copier->cfg->edges[block->out].kind == CFG_EDGE_NEXT ||
				      copier->cfg->edges[block->out].kind == CFG_EDGE_TAIL)) {
		emit_fall(copier, block->out, next);
		return 0;
	}
	if (block->out_count == 1 && copier->cfg->edges[block->out].kind == CFG_EDGE_STOP) {
		/* If it comes back after all: to what follows, as it always did. */
		machine_code_leave(copier->code, MACHINE_JUMP, insn->address + insn->bytes);
		return 0;
	}
	return copier_refuse(copier, "an unknown way on");
}

/* --- blocks --------------------------------------------------------------- */

static bool ends_here(const struct insn *insn)
{
	return insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_CALL &&
	       insn->flow != INSN_FLOW_CALL_INDIRECT;
}

static int copy_insn(struct copier *copier, uint32_t index)
{
	const struct insn *insn = &copier->cfg->insns[index];
	int r;

	if (insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT)
		return copier_insn_call(copier, index);
	r = copier_table_load(copier, index);
	if (r != 0)
		return r < 0 ? r : 0;
	return copier_insn_plain(copier, insn);
}

/* After what may have come back in another process, or as another thread. */
static int check_again(struct copier *copier, uint32_t index)
{
	const struct insn *insn = &copier->cfg->insns[index];
	uint32_t live = liveness_after(copier->source->liveness, index), back;

	if (!copier_is_system_call(insn) && !copier->source->forks(copier->source->context, insn))
		return 0;
	back = machine_code_label(copier->code);
	emit_check(copier, back, live, true);
	machine_code_place(copier->code, back);
	return 0;
}

static int copy_node(struct copier *copier, uint32_t number)
{
	const struct count_node *node = &copier->graph->nodes[number];
	const struct liveness *liveness = copier->source->liveness;
	uint32_t last = node->first + node->count - 1;
	const struct insn *insns = copier->cfg->insns;
	int r = 0;

	copier_point_start(copier, number);
	for (uint32_t i = node->first; r == 0 && i < node->first + node->count; i++) {
		bool goes = insns[i].flow != INSN_FLOW_NEXT || copier_is_system_call(&insns[i]);

		copier_insn_mark(copier, insns[i].address);
		copier_point_reference(copier, number, i);
		if (i == last && goes)
			copier_point_end(copier, number, liveness_before(liveness, i));
		if (i == last && ends_here(&insns[i]))
			return 0; /* copy_end() does it */
		r = copy_insn(copier, i);
		copier_insn_mark_end(copier, &insns[i]);
		if (r == 0)
			r = check_again(copier, i);
		if (r == 0 && i == last && goes)
			copier_point_back(copier, number, i);
		if (r == 0 && i == last && !goes)
			copier_point_end(copier, number, liveness_after(liveness, i));
	}
	if (r == 0 && node->count == 0)
		copier_point_end(copier, number, liveness->out[node->block]);
	return r;
}

static bool is_aligned(const struct copier *copier, uint32_t index)
{
	const struct cfg_block *block = &copier->cfg->blocks[index];
	const struct insn *before;

	if (copier->cfg->insns[block->first].address % BLOCK_ALIGN != 0 || block->first == 0)
		return false;
	before = &copier->cfg->insns[block->first - 1];
	return before->class == INSN_NOP;
}

static uint32_t next_reached(const struct copier *copier, uint32_t block)
{
	do {
		block++;
	} while (block < copier->cfg->block_count && copier->graph->node_of[block] == COUNT_NONE);
	return block;
}

/* Where a check that is on a way back in the other copy leads to. */
static void place_arrival(struct copier *copier, uint32_t index)
{
	struct aside arrival = {
		.kind = ASIDE_ARRIVE,
		.back = copier->labels[index],
		.point = {.kind = POINT_ARRIVAL,
			  .node = copier->graph->node_of[index],
			  .live = copier->source->liveness->in[index],
			  .red_zone = true},
	};
	uint32_t label = copier->labels[index];
	struct aside *aside;

	if (copier_turn_leads_back(copier, index) && copier_point_wants(copier, &arrival.point)) {
		aside = copier_aside_add(copier, arrival);
		label = aside != NULL ? aside->label : label;
	}
	copier_turn_place(copier, copier_turn_of_block(copier, index), label);
}

static int copy_block(struct copier *copier, uint32_t index)
{
	const struct cfg_block *block = &copier->cfg->blocks[index];
	const struct count_graph *graph = copier->graph;
	uint32_t next;
	int r = 0;

	if (index != copier->entry && is_aligned(copier, index))
		machine_code_align(copier->code, BLOCK_ALIGN);
	machine_code_place(copier->code, copier->labels[index]);
	copier_insn_mark(copier, copier->cfg->insns[block->first].address);
	place_arrival(copier, index);
	for (uint32_t n = graph->node_of[index];
	     r == 0 && n < graph->node_count && graph->nodes[n].block == index; n++)
		r = copy_node(copier, n);
	next = next_reached(copier, index);
	return r == 0 ? copy_end(copier, block, next != copier->entry ? next : COUNT_NONE) : r;
}

/* --- ways in -------------------------------------------------------------- */

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

/* The entry that others know, and behind its check the one that our own calls take; behind
 * it comes the block. */
static int emit_entry(struct copier *copier, uint32_t block)
{
	uint32_t label = machine_code_label(copier->code);
	uint32_t live = copier->source->liveness->in[block];
	uint32_t edge = entry_edge(copier, block);
	uint32_t ready = machine_code_label(copier->code);
	uint32_t behind = machine_code_label(copier->code);
	struct turn turn = {.crossing = copier_turn_of_entry(copier),
			    .live = live,
			    .counts = copier_turn_at_entry(copier, copier->source->number)};
	struct turn outside = turn;
	struct point point;

	if (edge == copier->graph->edge_count)
		return copier_refuse(copier, "no way in");
	copier->copy->inside = machine_code_label(copier->code);
	machine_code_align(copier->code, BLOCK_ALIGN);
	machine_code_place(copier->code, label);
	copier_insn_frame(copier, copier->source->entry);
	if (copier->source->variant != COPY_INSTRUMENTED)
		emit_check(copier, ready, live, false);
	machine_code_place(copier->code, ready);
	if (copier->source->variant == COPY_CHECKING && !turn.counts) {
		outside.counts = copier_turn_from_outside(copier);
		copier_turn_emit(copier, &outside);
	}
	machine_code_place(copier->code, copier->copy->inside);
	if (turn.counts)
		copier_turn_emit(copier, &turn);
	machine_code_place(copier->code, behind);
	copier_turn_place(copier, turn.crossing, behind);
	point = copier_point_of_edge(copier, edge);
	if (copier_point_wants(copier, &point))
		copier_point_emit(copier, &point, live);
	return add_site(copier, copier->source->entry, label);
}

static long block_at(const struct copier *copier, uint64_t address)
{
	long insn = cfg_find_insn(copier->cfg, address);
	uint32_t block;

	if (insn < 0)
		return -1;
	block = copier->cfg->block_of[insn];
	if (copier->cfg->blocks[block].first != (uint32_t)insn ||
	    copier->graph->node_of[block] == COUNT_NONE)
		return -1;
	return block;
}

/* Whether all jumps that lead to a block have tables of the copy's own, and nobody else may. */
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

/* Whether a jump of this very copy need not go by the site: it knows whose turn it is. */
static bool is_straight(const struct copier *copier, uint32_t block, const struct point *point)
{
	return copier->source->variant != COPY_ONLY && !copier_turn_on_site(copier, block) &&
	       !copier_point_wants(copier, point);
}

/* Where indirect jumps lead, and exceptions. */
static int emit_sites(struct copier *copier)
{
	int r = 0;

	for (uint32_t b = 0; r == 0 && b < copier->cfg->block_count; b++) {
		uint32_t edge = copier->comes_by[b], label = copier->labels[b];
		struct point point;

		if (edge == COUNT_NONE)
			continue;
		point = copier_point_of_edge(copier, edge);
		point.live = copier->source->liveness->in[b];
		copier_insn_frame(copier, copier->cfg->insns[copier->cfg->blocks[b].first].address);
		if (copier->source->variant != COPY_ONLY || copier_point_wants(copier, &point)) {
			struct aside *aside = copier_aside_add(
				copier, (struct aside){.kind = ASIDE_SITE,
						       .back = label,
						       .crossing = copier_turn_of_site(copier, b),
						       .point = point});

			label = aside != NULL ? aside->label : 0;
		}
		copier->case_labels[b] = is_straight(copier, b, &point) ? copier->labels[b] : label;
		if (!only_tables_lead_to(copier, b))
			r = add_site(copier,
				     copier->cfg->insns[copier->cfg->blocks[b].first].address,
				     label);
	}
	return r;
}

/* --- all of it ------------------------------------------------------------ */

/* Whether a way out is put before the instruction that takes it. */
static bool leaves_at_end(const struct copier *copier, const struct count_edge *edge)
{
	const struct cfg_edge *way = &copier->cfg->edges[edge->cfg_edge];

	return way->kind == CFG_EDGE_RETURN || way->kind == CFG_EDGE_STOP ||
	       copier->cfg->insns[way->insn].flow == INSN_FLOW_JUMP_INDIRECT;
}

static void find_edges(struct copier *copier)
{
	const struct count_graph *graph = copier->graph;

	for (uint32_t e = 0; e < graph->edge_count; e++) {
		const struct count_edge *edge = &graph->edges[e];

		if (edge->cfg_edge != COUNT_NONE)
			copier->edge_of[edge->cfg_edge] = e;
		switch (edge->kind) {
		case COUNT_CALL:
		case COUNT_TO_HUB:
			copier->ends_by[edge->from] = e;
			break;
		case COUNT_LEAVE:
			if (edge->cfg_edge != COUNT_NONE && leaves_at_end(copier, edge))
				copier->ends_by[edge->from] = e;
			break;
		case COUNT_BACK:
			copier->back_to[edge->to - 1] = e; /* the node that calls */
			break;
		case COUNT_FROM_HUB:
		case COUNT_CATCH: {
			uint32_t *by = &copier->comes_by[graph->nodes[edge->to].block];

			copier->clash |= *by != COUNT_NONE;
			*by = e;
			break;
		}
		default:
			break;
		}
	}
}

static uint32_t *all_none(size_t count)
{
	uint32_t *array = malloc((count + 1) * sizeof(*array));

	if (array != NULL)
		memset(array, 0xff, (count + 1) * sizeof(*array));
	return array;
}

static int copy_all(struct copier *copier)
{
	long entry = block_at(copier, copier->source->entry);
	int r;

	for (uint32_t b = 0; b < copier->cfg->block_count; b++)
		copier->labels[b] = machine_code_label(copier->code);
	find_edges(copier);
	if (copier->clash)
		return copier_refuse(copier, "a handler of exceptions that is a case");
	if (entry < 0)
		return copier_refuse(copier, "no code on entry");
	copier->entry = (uint32_t)entry;
	r = copier_table_find(copier);
	for (uint32_t b = 0; r == 0 && b < copier->cfg->block_count; b++) {
		if (b == copier->entry)
			r = emit_entry(copier, b);
		if (r == 0 && copier->graph->node_of[b] != COUNT_NONE)
			r = copy_block(copier, b);
	}
	copier_insn_mark(copier, UINT64_MAX);
	if (r == 0)
		r = emit_sites(copier);
	if (r == 0)
		copier_aside_emit(copier);
	if (r == 0 && copier->source->mode->aside != NULL)
		copier->source->mode->aside(copier->source->plan, copier->code);
	machine_code_frame(copier->code, 0);
	if (r == 0)
		copier_table_emit(copier);
	return r == 0 ? machine_code_layout(copier->code) : r;
}

int procedure_copy_make(struct procedure_copy *ret, const struct copy_source *source,
			struct error *err)
{
	struct copier copier = {
		.source = source,
		.cfg = source->cfg,
		.graph = source->graph,
		.copy = ret,
		.code = &ret->code,
		.labels = all_none(source->cfg->block_count),
		.edge_of = all_none(source->cfg->edge_count),
		.ends_by = all_none(source->graph->node_count),
		.back_to = all_none(source->graph->node_count),
		.comes_by = all_none(source->cfg->block_count),
		.case_labels = all_none(source->cfg->block_count),
		.err = err,
	};
	int r = -ENOMEM;

	*ret = (struct procedure_copy){0};
	ZydisDecoderInit(&copier.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (copier.labels != NULL && copier.edge_of != NULL && copier.ends_by != NULL &&
	    copier.back_to != NULL && copier.comes_by != NULL && copier.case_labels != NULL &&
	    copier_turn_prepare(&copier) == 0)
		r = copy_all(&copier);
	if (r == -ENOMEM)
		error_set(err, ENOMEM, "no memory for a procedure");
	free(copier.labels);
	free(copier.edge_of);
	free(copier.ends_by);
	free(copier.back_to);
	free(copier.comes_by);
	turn_loops_deinit(&copier.loops);
	free(copier.case_labels);
	free(copier.tables);
	free(copier.asides);
	if (r < 0)
		procedure_copy_deinit(ret);
	return r;
}

uint64_t procedure_copy_where(const struct procedure_copy *copy, uint64_t address)
{
	size_t low = 0, high = copy->mark_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (copy->marks[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < copy->mark_count ? machine_code_offset(&copy->code, copy->marks[low].label)
				      : 0;
}

void procedure_copy_deinit(struct procedure_copy *copy)
{
	machine_code_deinit(&copy->code);
	free(copy->sites);
	free(copy->marks);
	free(copy->crossings);
	*copy = (struct procedure_copy){0};
}
