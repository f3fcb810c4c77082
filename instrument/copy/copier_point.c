// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

static bool is_boring(const struct copier *copier, uint32_t node)
{
	uint32_t block = node != COUNT_OUTSIDE ? copier->graph->nodes[node].block : COUNT_NONE;

	return block != COUNT_NONE && copier->loops.boring[block];
}

/* Return true if a point is in a boring loop, or on an edge inside one. */
static bool is_in_boring_loop(const struct copier *copier, const struct point *point)
{
	const struct count_edge *edge;

	if (copier->loops.boring == NULL)
		return false;
	if (point->kind != POINT_EDGE)
		return is_boring(copier, point->node);
	edge = &copier->graph->edges[point->edge];
	return is_boring(copier, edge->from) && is_boring(copier, edge->to);
}

static bool measures(const struct copier *copier)
{
	return copier->source->variant != COPY_CHECKING;
}

bool copier_point_wants(const struct copier *copier, const struct point *point)
{
	const struct instrument_mode *mode = copier->source->mode;
	struct point asked = *point;

	if (!mode->both && (!measures(copier) || is_in_boring_loop(copier, point)))
		return false;
	asked.measures = measures(copier);
	return mode->wants(copier->source->plan, &asked);
}

/* A mode that does not ask for references has no events of its own: all references count
 * instead. */
bool copier_point_is_event(const struct copier *copier, uint32_t index)
{
	const struct copy_source *source = copier->source;
	const struct insn *insn = &copier->cfg->insns[index];
	struct point point = {.kind = POINT_REFERENCE,
			      .node = copier->graph->node_of[copier->cfg->block_of[index]],
			      .insn = index,
			      .red_zone = true};

	return insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY) &&
	       (!source->mode->references || source->mode->wants(source->plan, &point));
}

void copier_point_emit(const struct copier *copier, struct point *point, uint32_t live)
{
	point->measures = measures(copier);
	point->live = live;
	point->free = liveness_free_registers(copier->source->liveness, live);
	copier->source->mode->emit(copier->source->plan, point, copier->code);
}

/* The red zone is dead where procedures begin, end and make calls. */
static bool minds_red_zone(const struct copier *copier, const struct count_edge *edge)
{
	const struct count_node *node;

	if (edge->kind != COUNT_CALL && edge->kind != COUNT_BACK)
		return edge->from != COUNT_OUTSIDE && edge->to != COUNT_OUTSIDE;
	node = &copier->graph->nodes[edge->kind == COUNT_CALL ? edge->from : edge->to - 1];
	return copier_is_system_call(&copier->cfg->insns[node->first + node->count - 1]);
}

struct point copier_point_of_edge(const struct copier *copier, uint32_t number)
{
	const struct count_edge *edge = &copier->graph->edges[number];

	return (struct point){
		.kind = POINT_EDGE,
		.edge = number,
		.node = edge->from != COUNT_OUTSIDE ? edge->from : edge->to,
		.red_zone = minds_red_zone(copier, edge),
	};
}

/* Return the live set before the first instruction; without instructions, at the block's end. */
static uint32_t live_at_start(const struct copier *copier, const struct count_node *node)
{
	const struct liveness *liveness = copier->source->liveness;

	return node->count > 0 ? liveness_before(liveness, node->first)
			       : liveness->out[node->block];
}

void copier_point_start(const struct copier *copier, uint32_t number)
{
	struct point point = {.kind = POINT_START, .node = number, .red_zone = true};

	if (copier_point_wants(copier, &point))
		copier_point_emit(copier, &point,
				  live_at_start(copier, &copier->graph->nodes[number]));
}

static void emit_at(const struct copier *copier, struct point *point, uint32_t insn, bool before)
{
	const struct liveness *liveness = copier->source->liveness;

	if (copier_point_wants(copier, point))
		copier_point_emit(copier, point,
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
static bool may_come_later(const struct insn *insn, bool by_table)
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
static unsigned int hindrance(const struct copier *copier, uint32_t index)
{
	const struct liveness *liveness = copier->source->liveness;
	uint32_t live = liveness_before(liveness, index);
	struct point point = {.free = liveness_free_registers(liveness, live)};
	unsigned int free = point_free(&point, 0);

	return FREE_ENOUGH - (free < FREE_ENOUGH ? free : FREE_ENOUGH) +
	       ((live & LIVENESS_FLAGS) != 0 ? FREE_ENOUGH : 0);
}

uint32_t copier_point_early(const struct copier *copier, uint32_t number)
{
	const struct count_node *node = &copier->graph->nodes[number];
	uint32_t best = node->first + node->count - 1, edge = copier->ends_by[number];
	enum count_edge_kind kind;
	unsigned int least;

	if (edge == COUNT_NONE || !copier->source->mode->early ||
	    copier->source->variant != COPY_ONLY)
		return best;
	kind = copier->graph->edges[edge].kind;
	if (kind != COUNT_TO_HUB && kind != COUNT_LEAVE)
		return best;
	least = hindrance(copier, best);
	for (uint32_t i = best; least > 0 && i > node->first && best - i < EARLY_MAX &&
				may_come_later(&copier->cfg->insns[i - 1], kind == COUNT_TO_HUB);
	     i--) {
		unsigned int less = hindrance(copier, i - 1);

		if (less < least) {
			least = less;
			best = i - 1;
		}
	}
	return best;
}

/* Emit the code at the node's end, and on the edge of its last instruction. */
void copier_point_end(const struct copier *copier, uint32_t number, uint32_t insn, bool before)
{
	struct point end = {.kind = POINT_END, .node = number, .red_zone = true};

	emit_at(copier, &end, insn, before);
	if (copier->ends_by[number] != COUNT_NONE) {
		struct point edge = copier_point_of_edge(copier, copier->ends_by[number]);
		const struct count_node *node = &copier->graph->nodes[number];

		edge.red_zone |= before && insn + 1 < node->first + node->count;
		emit_at(copier, &edge, insn, before);
	}
}

void copier_point_back(const struct copier *copier, uint32_t number, uint32_t insn)
{
	struct point point;

	if (copier->back_to[number] == COUNT_NONE)
		return;
	point = copier_point_of_edge(copier, copier->back_to[number]);
	if (copier_point_wants(copier, &point))
		copier_point_emit(copier, &point, liveness_after(copier->source->liveness, insn));
}

void copier_point_reference(const struct copier *copier, uint32_t number, uint32_t index)
{
	const struct insn *insn = &copier->cfg->insns[index];
	struct point point = {
		.kind = POINT_REFERENCE, .node = number, .insn = index, .red_zone = true};

	if (copier->source->mode->references &&
	    insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY) &&
	    copier_point_wants(copier, &point))
		copier_point_emit(copier, &point, liveness_before(copier->source->liveness, index));
}
