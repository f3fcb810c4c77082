// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

uint32_t copier_edge_live(const struct copier *copier, const struct cfg_edge *edge)
{
	if (edge->to < copier->cfg->block_count)
		return copier->source->liveness->in[edge->to];
	return LIVENESS_REGISTERS | (copier->source->liveness->across ? LIVENESS_FLAGS : 0);
}

/* Return true if an edge stays within the replica that is being emitted. */
static bool stays(const struct copier *copier, uint32_t cfg_edge)
{
	const struct copier_again *again = &copier->again;
	uint32_t to = copier->cfg->edges[cfg_edge].to;

	return again->stride != NULL && to < copier->cfg->block_count &&
	       again->labels[to] != COUNT_NONE;
}

/* Return the label of an edge's destination within the procedure. A replica has labels of its
 * own. */
static uint32_t label_of(const struct copier *copier, uint32_t cfg_edge)
{
	const struct copier_again *again = &copier->again;
	uint32_t to = copier->cfg->edges[cfg_edge].to;

	if (copier_edge_ends_turn(copier, cfg_edge))
		return again->end;
	if (copier->stride_of[cfg_edge] != COUNT_NONE)
		return copier->stride_labels[copier->stride_of[cfg_edge]];
	if (stays(copier, cfg_edge))
		return again->labels[to];
	return copier->labels[to];
}

bool copier_edge_ends_turn(const struct copier *copier, uint32_t cfg_edge)
{
	return copier->again.stride != NULL && copier->stride_of[cfg_edge] == copier->again.number;
}

/* Return true if the edge has a check here: there is one for all replicas of a loop. */
static bool has_turn(const struct copier *copier, uint32_t cfg_edge)
{
	uint32_t stride = copier->stride_of[cfg_edge];
	bool ends = copier_edge_ends_turn(copier, cfg_edge);

	if (!copier_turn_on_edge(copier, cfg_edge))
		return false;
	if (stride != COUNT_NONE && copier->strides.all[stride].closed)
		return ends && copier->again.turn == copier->again.stride->turns;
	return !ends;
}

/* Emit the check on a back edge, after the mode's code for the edge. */
static void emit_way_back(struct copier *copier, uint32_t cfg_edge, bool falls)
{
	const struct cfg_edge *edge = &copier->cfg->edges[cfg_edge];
	struct turn turn = {.crossing = copier_turn_of_edge(copier, cfg_edge),
			    .live = copier_edge_live(copier, edge),
			    .red_zone = true,
			    .counts = true};

	if (falls)
		copier_turn_emit(copier, &turn);
	else
		copier_turn_emit_to(copier, &turn, label_of(copier, cfg_edge));
}

/* The code of a taken back edge is inline, since it is executed in each iteration. */
static void emit_branch_back(struct copier *copier, unsigned int kind, uint32_t cfg_edge)
{
	struct point point = copier_point_of_edge(copier, copier->edge_of[cfg_edge]);
	uint32_t over = machine_code_label(copier->code);

	point.crosses = copier_turn_crosses(copier);
	machine_code_branch(copier->code, kind ^ 1, over);
	if (copier_point_wants(copier, &point))
		copier_point_emit(copier, &point,
				  copier_edge_live(copier, &copier->cfg->edges[cfg_edge]));
	emit_way_back(copier, cfg_edge, false);
	machine_code_place(copier->code, over);
}

void copier_edge_branch(struct copier *copier, unsigned int kind, uint32_t cfg_edge)
{
	const struct cfg_edge *edge = &copier->cfg->edges[cfg_edge];
	struct point point = copier_point_of_edge(copier, copier->edge_of[cfg_edge]);
	bool inside = edge->to < copier->cfg->block_count;
	/* Replicas do not have the inline code at the start of a block. */
	uint32_t label = inside && label_of(copier, cfg_edge) == copier->labels[edge->to]
				 ? copier_way_label(copier, point.edge)
				 : COUNT_NONE;
	struct aside *aside;

	point.live = copier_edge_live(copier, edge);
	if (copier->source->variant == COPY_ONLY && copier->stride_of[cfg_edge] != COUNT_NONE) {
		machine_code_branch(copier->code, kind, label_of(copier, cfg_edge));
		return;
	}
	if (has_turn(copier, cfg_edge)) {
		emit_branch_back(copier, kind, cfg_edge);
		return;
	}
	if (label != COUNT_NONE) {
		machine_code_branch(copier->code, kind, label);
	} else if (copier_point_wants(copier, &point)) {
		aside = copier_add_aside(
			copier,
			(struct aside){.kind = ASIDE_POINT,
				       .back = inside ? label_of(copier, cfg_edge) : COUNT_NONE,
				       .point = point,
				       .edge = edge});
		if (aside != NULL)
			machine_code_branch(copier->code, kind, aside->label);
	} else if (inside) {
		machine_code_branch(copier->code, kind, label_of(copier, cfg_edge));
	} else {
		copier_insn_leave(copier, kind, edge->target);
	}
}

void copier_edge_fall(struct copier *copier, uint32_t cfg_edge, uint32_t next)
{
	const struct cfg_edge *edge = &copier->cfg->edges[cfg_edge];
	struct point point = copier_point_of_edge(copier, copier->edge_of[cfg_edge]);
	bool turns = has_turn(copier, cfg_edge);

	if (copier->source->variant == COPY_ONLY && copier_edge_ends_turn(copier, cfg_edge))
		point.turn = copier->again.turn;
	point.crosses = turns && copier_turn_crosses(copier);
	if (copier_point_wants(copier, &point))
		copier_point_emit(copier, &point, copier_edge_live(copier, edge));
	if (edge->to >= copier->cfg->block_count)
		copier_insn_leave(copier, MACHINE_JUMP, edge->target);
	else if (turns)
		emit_way_back(copier, cfg_edge, label_of(copier, cfg_edge) == next);
	else if (label_of(copier, cfg_edge) != next)
		machine_code_branch(copier->code, MACHINE_JUMP, label_of(copier, cfg_edge));
}

bool copier_edge_follows(const struct copier *copier, uint32_t cfg_edge, uint32_t next)
{
	struct point point = copier_point_of_edge(copier, copier->edge_of[cfg_edge]);

	return next != COUNT_NONE && copier->cfg->edges[cfg_edge].to < copier->cfg->block_count &&
	       label_of(copier, cfg_edge) == next && !has_turn(copier, cfg_edge) &&
	       !copier_point_wants(copier, &point);
}

bool copier_edge_is_fallen_into(const struct copier *copier, uint32_t index)
{
	const struct cfg *cfg = copier->cfg;
	const struct cfg_block *block = &cfg->blocks[index];
	uint32_t before = index;

	do {
		if (before-- == 0)
			return true;
	} while (copier->graph->node_of[before] == COUNT_NONE);
	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[cfg->in_edges[i]];

		if (edge->from == before && edge->kind != CFG_EDGE_SWITCH)
			return true;
	}
	return false;
}
