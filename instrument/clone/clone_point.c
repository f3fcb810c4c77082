// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone.h"

static bool is_unchecked(const struct clone *clone, uint32_t node)
{
	uint32_t block = node != COUNT_OUTSIDE ? clone->graph->nodes[node].block : COUNT_NONE;

	return block != COUNT_NONE && clone->loops.unchecked[block];
}

/* Return true if a point is in an unchecked loop, or on an edge inside one. */
static bool is_in_unchecked_loop(const struct clone *clone, const struct point *point)
{
	const struct count_edge *edge;

	if (clone->loops.unchecked == NULL)
		return false;
	if (point->kind != POINT_EDGE)
		return is_unchecked(clone, point->node);
	edge = &clone->graph->edges[point->edge];
	return is_unchecked(clone, edge->from) && is_unchecked(clone, edge->to);
}

static bool measures(const struct clone *clone)
{
	return clone->source->variant != CLONE_CHECKING;
}

bool clone_point_has_code(const struct clone *clone, const struct point *point)
{
	const struct instrument_mode *mode = clone->source->mode;
	struct point query = *point;

	if (!mode->both && (!measures(clone) || is_in_unchecked_loop(clone, point)))
		return false;
	query.measures = measures(clone);
	return mode->has_code(clone->source->plan, &query);
}

/* A mode that does not ask for references has no events of its own: all references count
 * instead. */
bool clone_point_is_event(const struct clone *clone, uint32_t index)
{
	const struct clone_source *source = clone->source;
	const struct insn *insn = &clone->cfg->insns[index];
	struct point point = {.kind = POINT_REFERENCE,
			      .node = clone->graph->node_of[clone->cfg->block_of[index]],
			      .insn = index,
			      .red_zone = true};

	return insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY) &&
	       (!source->mode->references || source->mode->has_code(source->plan, &point));
}

void clone_point_emit(const struct clone *clone, struct point *point, uint32_t live)
{
	point->measures = measures(clone);
	point->live = live;
	point->free = liveness_free_registers(clone->source->liveness, live);
	clone->source->mode->emit(clone->source->plan, point, clone->code);
}

/* The red zone is dead where procedures begin, end and make calls. */
static bool red_zone_may_be_live(const struct clone *clone, const struct count_edge *edge)
{
	const struct count_node *node;

	if (edge->kind != COUNT_CALL && edge->kind != COUNT_BACK)
		return edge->from != COUNT_OUTSIDE && edge->to != COUNT_OUTSIDE;
	node = &clone->graph->nodes[edge->kind == COUNT_CALL ? edge->from : edge->to - 1];
	return clone_is_system_call(&clone->cfg->insns[node->first + node->count - 1]);
}

struct point clone_point_of_edge(const struct clone *clone, uint32_t number)
{
	const struct count_edge *edge = &clone->graph->edges[number];

	return (struct point){
		.kind = POINT_EDGE,
		.edge = number,
		.node = edge->from != COUNT_OUTSIDE ? edge->from : edge->to,
		.red_zone = red_zone_may_be_live(clone, edge),
	};
}

/* Return the live set before the first instruction; without instructions, at the block's end. */
static uint32_t live_at_start(const struct clone *clone, const struct count_node *node)
{
	const struct liveness *liveness = clone->source->liveness;

	return node->count > 0 ? liveness_before(liveness, node->first)
			       : liveness->out[node->block];
}

void clone_point_start(const struct clone *clone, uint32_t number)
{
	struct point point = {.kind = POINT_START, .node = number, .red_zone = true};

	if (clone_point_has_code(clone, &point))
		clone_point_emit(clone, &point, live_at_start(clone, &clone->graph->nodes[number]));
}

static void emit_at(const struct clone *clone, struct point *point, uint32_t insn, bool before)
{
	const struct liveness *liveness = clone->source->liveness;

	if (clone_point_has_code(clone, point))
		clone_point_emit(clone, point,
				 before ? liveness_before(liveness, insn)
					: liveness_after(liveness, insn));
}

/* Maximum number of instructions examined. */
#define EARLY_MAX 16
/* More free registers bring no benefit. */
#define FREE_ENOUGH 3

static bool is_stack(const struct insn_memory *memory)
{
	return memory->pushes || (memory->base == MACHINE_RSP && memory->index == INSN_REG_NONE);
}

/* Return true if an instruction always continues at the next one, and its order relative to
 * inserted code cannot be observed. */
static bool is_movable(const struct insn *insn, bool by_table)
{
	if (insn->flow != INSN_FLOW_NEXT || insn->flags & INSN_WRITES_MEMORY)
		return false;
	if (insn->flags & INSN_READS_MEMORY && !by_table && !is_stack(&insn->memory))
		return false;
	switch (insn->class) {
	case INSN_NOP:
	case INSN_ALU:
	case INSN_SHIFT:
	case INSN_CMOV:
	case INSN_LOAD:
		return true;
	}
	return false;
}

/* Return the cost of inserting code before an instruction. */
static unsigned int insertion_cost(const struct clone *clone, uint32_t index)
{
	const struct liveness *liveness = clone->source->liveness;
	uint32_t live = liveness_before(liveness, index);
	struct point point = {.free = liveness_free_registers(liveness, live)};
	unsigned int free = point_free(&point, 0);

	return FREE_ENOUGH - (free < FREE_ENOUGH ? free : FREE_ENOUGH) +
	       ((live & LIVENESS_FLAGS) != 0 ? FREE_ENOUGH : 0);
}

uint32_t clone_point_early(const struct clone *clone, uint32_t number)
{
	const struct count_node *node = &clone->graph->nodes[number];
	uint32_t best = node->first + node->count - 1, edge = clone->ends_by[number];
	enum count_edge_kind kind;
	unsigned int least;

	if (edge == COUNT_NONE || !clone->source->mode->early ||
	    clone->source->variant != CLONE_ONLY)
		return best;
	kind = clone->graph->edges[edge].kind;
	if (kind != COUNT_TO_HUB && kind != COUNT_LEAVE)
		return best;
	least = insertion_cost(clone, best);
	for (uint32_t i = best; least > 0 && i > node->first && best - i < EARLY_MAX &&
				is_movable(&clone->cfg->insns[i - 1], kind == COUNT_TO_HUB);
	     i--) {
		unsigned int less = insertion_cost(clone, i - 1);

		if (less < least) {
			least = less;
			best = i - 1;
		}
	}
	return best;
}

/* Emit the code at the node's end, and on the edge of its last instruction. */
void clone_point_end(const struct clone *clone, uint32_t number, uint32_t insn, bool before)
{
	struct point end = {.kind = POINT_END, .node = number, .red_zone = true};

	emit_at(clone, &end, insn, before);
	if (clone->ends_by[number] != COUNT_NONE) {
		struct point edge = clone_point_of_edge(clone, clone->ends_by[number]);
		const struct count_node *node = &clone->graph->nodes[number];

		edge.red_zone |= before && insn + 1 < node->first + node->count;
		emit_at(clone, &edge, insn, before);
	}
}

void clone_point_back(const struct clone *clone, uint32_t number, uint32_t insn)
{
	struct point point;

	if (clone->back_to[number] == COUNT_NONE)
		return;
	point = clone_point_of_edge(clone, clone->back_to[number]);
	if (clone_point_has_code(clone, &point))
		clone_point_emit(clone, &point, liveness_after(clone->source->liveness, insn));
}

void clone_point_reference(const struct clone *clone, uint32_t number, uint32_t index)
{
	const struct insn *insn = &clone->cfg->insns[index];
	struct point point = {
		.kind = POINT_REFERENCE, .node = number, .insn = index, .red_zone = true};

	if (clone->source->mode->references &&
	    insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY) &&
	    clone_point_has_code(clone, &point))
		clone_point_emit(clone, &point, liveness_before(clone->source->liveness, index));
}
