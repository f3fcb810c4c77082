// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone.h"

uint32_t clone_edge_live(const struct clone *clone, const struct cfg_edge *edge)
{
	if (edge->to < clone->cfg->block_count)
		return clone->source->liveness->in[edge->to];
	return LIVENESS_REGISTERS | (clone->source->liveness->across ? LIVENESS_FLAGS : 0);
}

/* Return true if an edge stays within the replica that is being emitted. */
static bool is_inside_replica(const struct clone *clone, uint32_t cfg_edge)
{
	const struct clone_replica *replica = &clone->replica;
	uint32_t to = clone->cfg->edges[cfg_edge].to;

	return replica->stride != NULL && to < clone->cfg->block_count &&
	       replica->labels[to] != COUNT_NONE;
}

/* Return the label of an edge's destination within the procedure. A replica has labels of its
 * own. */
static uint32_t clone_edge_label_of(const struct clone *clone, uint32_t cfg_edge)
{
	const struct clone_replica *replica = &clone->replica;
	uint32_t to = clone->cfg->edges[cfg_edge].to;

	if (clone_edge_ends_replica(clone, cfg_edge))
		return replica->end;
	if (clone->stride_of[cfg_edge] != COUNT_NONE)
		return clone->stride_labels[clone->stride_of[cfg_edge]];
	if (is_inside_replica(clone, cfg_edge))
		return replica->labels[to];
	return clone->labels[to];
}

bool clone_edge_ends_replica(const struct clone *clone, uint32_t cfg_edge)
{
	return clone->replica.stride != NULL && clone->stride_of[cfg_edge] == clone->replica.number;
}

/* Return true if the edge has a check here: there is one for all replicas of a loop. */
static bool has_check(const struct clone *clone, uint32_t cfg_edge)
{
	uint32_t stride = clone->stride_of[cfg_edge];
	bool ends = clone_edge_ends_replica(clone, cfg_edge);

	if (!clone_switch_on_edge(clone, cfg_edge))
		return false;
	if (stride != COUNT_NONE && clone->strides.all[stride].closed)
		return ends && clone->replica.index == clone->replica.stride->replicas;
	return !ends;
}

/* Emit the check on a back edge, after the mode's code for the edge. */
static void emit_back_edge_check(struct clone *clone, uint32_t cfg_edge, bool falls)
{
	const struct cfg_edge *edge = &clone->cfg->edges[cfg_edge];
	struct clone_check check = {.crossing = clone_switch_of_edge(clone, cfg_edge),
				    .live = clone_edge_live(clone, edge),
				    .red_zone = true,
				    .counts = true};

	if (falls)
		clone_switch_emit(clone, &check);
	else
		clone_switch_emit_to(clone, &check, clone_edge_label_of(clone, cfg_edge));
}

/* The code of a taken back edge is inline, since it is executed in each iteration. */
static void emit_branch_back(struct clone *clone, unsigned int kind, uint32_t cfg_edge)
{
	struct point point = clone_point_of_edge(clone, clone->edge_of[cfg_edge]);
	uint32_t over = machine_code_label(clone->code);

	point.crosses = clone_switch_crosses(clone);
	machine_code_branch(clone->code, kind ^ 1, over);
	if (clone_point_has_code(clone, &point))
		clone_point_emit(clone, &point,
				 clone_edge_live(clone, &clone->cfg->edges[cfg_edge]));
	emit_back_edge_check(clone, cfg_edge, false);
	machine_code_bind_label(clone->code, over);
}

void clone_edge_branch(struct clone *clone, unsigned int kind, uint32_t cfg_edge)
{
	const struct cfg_edge *edge = &clone->cfg->edges[cfg_edge];
	struct point point = clone_point_of_edge(clone, clone->edge_of[cfg_edge]);
	bool inside = edge->to < clone->cfg->block_count;
	/* Replicas do not have the inline code at the start of a block. */
	uint32_t label = inside && clone_edge_label_of(clone, cfg_edge) == clone->labels[edge->to]
				 ? edge_layout_label(clone, point.edge)
				 : COUNT_NONE;
	struct cold_stub *cold_stub;

	point.live = clone_edge_live(clone, edge);
	if (clone->source->variant == CLONE_ONLY && clone->stride_of[cfg_edge] != COUNT_NONE) {
		machine_code_branch(clone->code, kind, clone_edge_label_of(clone, cfg_edge));
		return;
	}
	if (has_check(clone, cfg_edge)) {
		emit_branch_back(clone, kind, cfg_edge);
		return;
	}
	if (label != COUNT_NONE) {
		machine_code_branch(clone->code, kind, label);
	} else if (clone_point_has_code(clone, &point)) {
		cold_stub = clone_add_cold_stub(
			clone,
			(struct cold_stub){.kind = COLD_STUB_POINT,
					   .back = inside ? clone_edge_label_of(clone, cfg_edge)
							  : COUNT_NONE,
					   .point = point,
					   .edge = edge});
		if (cold_stub != NULL)
			machine_code_branch(clone->code, kind, cold_stub->label);
	} else if (inside) {
		machine_code_branch(clone->code, kind, clone_edge_label_of(clone, cfg_edge));
	} else {
		clone_insn_leave(clone, kind, edge->target);
	}
}

void clone_edge_fall(struct clone *clone, uint32_t cfg_edge, uint32_t next)
{
	const struct cfg_edge *edge = &clone->cfg->edges[cfg_edge];
	struct point point = clone_point_of_edge(clone, clone->edge_of[cfg_edge]);
	bool checked = has_check(clone, cfg_edge);

	if (clone->source->variant == CLONE_ONLY && clone_edge_ends_replica(clone, cfg_edge))
		point.replica = clone->replica.index;
	point.crosses = checked && clone_switch_crosses(clone);
	if (clone_point_has_code(clone, &point))
		clone_point_emit(clone, &point, clone_edge_live(clone, edge));
	if (edge->to >= clone->cfg->block_count)
		clone_insn_leave(clone, MACHINE_JUMP, edge->target);
	else if (checked)
		emit_back_edge_check(clone, cfg_edge, clone_edge_label_of(clone, cfg_edge) == next);
	else if (clone_edge_label_of(clone, cfg_edge) != next)
		machine_code_branch(clone->code, MACHINE_JUMP,
				    clone_edge_label_of(clone, cfg_edge));
}

bool clone_edge_follows(const struct clone *clone, uint32_t cfg_edge, uint32_t next)
{
	struct point point = clone_point_of_edge(clone, clone->edge_of[cfg_edge]);

	return next != COUNT_NONE && clone->cfg->edges[cfg_edge].to < clone->cfg->block_count &&
	       clone_edge_label_of(clone, cfg_edge) == next && !has_check(clone, cfg_edge) &&
	       !clone_point_has_code(clone, &point);
}

bool clone_edge_has_fall_through(const struct clone *clone, uint32_t index)
{
	const struct cfg *cfg = clone->cfg;
	const struct cfg_block *block = &cfg->blocks[index];
	uint32_t before = index;

	do {
		if (before-- == 0)
			return true;
	} while (clone->graph->node_of[before] == COUNT_NONE);
	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[cfg->in_edges[i]];

		if (edge->from == before && edge->kind != CFG_EDGE_SWITCH)
			return true;
	}
	return false;
}
