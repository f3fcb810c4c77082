// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/procedure_copy.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/copy/copier.h"

/* --- edges ---------------------------------------------------------------- */

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

/* Return the condition code of a branch, as in its opcode; -1: there is none, the branch is always
 * short. */
static int condition_of(const struct insn *branch)
{
	static const ZydisMnemonic mnemonics[] = {
		ZYDIS_MNEMONIC_JO, ZYDIS_MNEMONIC_JNO, ZYDIS_MNEMONIC_JB,  ZYDIS_MNEMONIC_JNB,
		ZYDIS_MNEMONIC_JZ, ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_JBE, ZYDIS_MNEMONIC_JNBE,
		ZYDIS_MNEMONIC_JS, ZYDIS_MNEMONIC_JNS, ZYDIS_MNEMONIC_JP,  ZYDIS_MNEMONIC_JNP,
		ZYDIS_MNEMONIC_JL, ZYDIS_MNEMONIC_JNL, ZYDIS_MNEMONIC_JLE, ZYDIS_MNEMONIC_JNLE,
	};
	int condition = (int)(sizeof(mnemonics) / sizeof(mnemonics[0])) - 1;

	while (condition >= 0 && mnemonics[condition] != branch->opcode)
		condition--;
	return condition;
}

/* Emit a conditional branch and its two edges. In a replica, the taken edge may be the one inside
 * the loop: then the condition is inverted. */
static int copy_branch(struct copier *copier, const struct cfg_block *block, uint32_t last,
		       uint32_t next)
{
	const struct insn *insn = &copier->cfg->insns[last];
	uint32_t taken = edge_of_kind(copier, block, false);
	uint32_t falls = edge_of_kind(copier, block, true);
	int condition = condition_of(insn);

	if (taken == COUNT_NONE || falls == COUNT_NONE || block->out_count != 2)
		return copier_refuse(copier, "a branch with an unknown way");
	if (condition < 0)
		return copier_refuse(copier, "a branch that is always short");
	if (copier_edge_follows(copier, taken, next) ||
	    (copier_edge_ends_turn(copier, taken) && copier->source->variant == COPY_ONLY)) {
		uint32_t other = falls;

		falls = taken;
		taken = other;
		condition ^= 1;
	}
	copier_edge_branch(copier, (unsigned int)condition, taken);
	copier_insn_mark_end(copier, insn);
	copier_edge_fall(copier, falls, next);
	return 0;
}

/* If control continues after all, as after a breakpoint, it does so at the original next
 * instruction. */
static void leave_behind(struct copier *copier, const struct insn *insn)
{
	machine_code_leave(copier->code, MACHINE_JUMP, insn->address + insn->bytes);
}

/* Code that follows an instruction that stops the program. */
enum behind {
	BEHIND_NOTHING, /* no code of the procedure, or padding */
	BEHIND_COPIED,	/* reached by other edges as well */
	BEHIND_ALONE,	/* not reached otherwise */
};

static enum behind behind_of(const struct copier *copier, const struct cfg_block *block,
			     const struct insn *stop)
{
	const struct cfg *cfg = copier->cfg;
	uint32_t next = (uint32_t)(block - cfg->blocks) + 1;
	const struct insn *first;

	if (next == cfg->block_count)
		return BEHIND_NOTHING;
	first = &cfg->insns[cfg->blocks[next].first];
	if (first->address != stop->address + stop->bytes)
		return BEHIND_NOTHING;
	if (copier->graph->node_of[next] != COUNT_NONE)
		return BEHIND_COPIED;
	return first->class == INSN_NOP || first->flow == INSN_FLOW_STOP ? BEHIND_NOTHING
									 : BEHIND_ALONE;
}

/*
 * A signal handler may resume the program after an instruction that stops it, although no edge
 * leads there: the original code may be overwritten, and a clone relies on its edges. Refuse a
 * procedure where this is likely: after a breakpoint, and before code that no other edge reaches.
 * Other stops are often undefined instructions, which compilers put wherever control cannot come.
 */
static int copy_stop(struct copier *copier, const struct cfg_block *block, const struct insn *insn)
{
	static const uint8_t hlt[] = {0xf4};
	enum behind behind = behind_of(copier, block, insn);
	int r;

	if (behind == BEHIND_ALONE ||
	    (behind == BEHIND_COPIED && insn->opcode == ZYDIS_MNEMONIC_INT3))
		return copier_refuse(copier, "it may go on behind what stops it");
	r = copier_insn_plain(copier, insn);
	if (behind == BEHIND_COPIED)
		machine_code_bytes(copier->code, hlt, sizeof(hlt)); /* no fall-through */
	else
		leave_behind(copier, insn);
	return r;
}

/* Emit the end of a block. @next: label of the code emitted next. */
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
		copier_edge_fall(copier, block->out, next);
		return 0;
	case INSN_FLOW_JUMP_INDIRECT:
		r = copier_table_load(copier, last);
		if (r != 0)
			return r < 0 ? r : 0;
		return copier_insn_plain(copier, insn);
	case INSN_FLOW_RETURN:
		return copier_insn_plain(copier, insn);
	case INSN_FLOW_STOP:
		return copy_stop(copier, block, insn);
	case INSN_FLOW_NEXT:
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		break;
	}
	if (block->out_count == 1 && (copier->cfg->edges[block->out].kind == CFG_EDGE_NEXT ||
				      copier->cfg->edges[block->out].kind == CFG_EDGE_TAIL)) {
		copier_edge_fall(copier, block->out, next);
		return 0;
	}
	if (block->out_count == 1 && copier->cfg->edges[block->out].kind == CFG_EDGE_STOP) {
		leave_behind(copier, insn);
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

/* Emit a check after a call that may have returned in another process or as another thread. */
static int check_again(struct copier *copier, uint32_t index)
{
	const struct insn *insn = &copier->cfg->insns[index];
	uint32_t back;

	if (!copier_is_system_call(insn) &&
	    (insn->flow != INSN_FLOW_CALL || !copier->source->forks(copier->source->context, insn)))
		return 0;
	back = machine_code_label(copier->code);
	copier_entry_check(copier, back, liveness_after(copier->source->liveness, index), true);
	machine_code_place(copier->code, back);
	return 0;
}

static int copy_node(struct copier *copier, uint32_t number)
{
	const struct count_node *node = &copier->graph->nodes[number];
	uint32_t last = node->first + node->count - 1;
	const struct insn *insns = copier->cfg->insns;
	bool goes = node->count > 0 &&
		    (insns[last].flow != INSN_FLOW_NEXT || copier_is_system_call(&insns[last]));
	uint32_t end = goes ? copier_point_early(copier, number) : COUNT_NONE;
	int r = 0;

	copier_point_start(copier, number);
	for (uint32_t i = node->first; r == 0 && i < node->first + node->count; i++) {
		copier_insn_mark(copier, insns[i].address);
		copier_point_reference(copier, number, i);
		if (i == end)
			copier_point_end(copier, number, i, true);
		if (i == last && ends_here(&insns[i]))
			return 0; /* copy_end() emits it */
		r = copy_insn(copier, i);
		copier_insn_mark_end(copier, &insns[i]);
		if (r == 0)
			r = check_again(copier, i);
		if (r == 0 && i == last && goes)
			copier_point_back(copier, number, i);
		if (r == 0 && i == last && !goes)
			copier_point_end(copier, number, i, false);
	}
	if (r == 0 && node->count == 0)
		copier_point_end(copier, number, node->first - 1, false);
	return r;
}

static uint32_t next_reached(const struct copier *copier, uint32_t block)
{
	do {
		block++;
	} while (block < copier->cfg->block_count && copier->graph->node_of[block] == COUNT_NONE);
	return block;
}

/* Set the destination of checks on back edges of the other clone. @label: of the block in this
 * clone */
static void place_arrival(struct copier *copier, uint32_t index, uint32_t label, uint32_t crossing)
{
	struct aside arrival = {
		.kind = ASIDE_ARRIVE,
		.back = label,
		.point = {.kind = POINT_ARRIVAL,
			  .node = copier->graph->node_of[index],
			  .live = copier->source->liveness->in[index],
			  .red_zone = true},
	};
	struct aside *aside;

	if (copier_turn_leads_back(copier, index) && copier_point_wants(copier, &arrival.point)) {
		aside = copier_add_aside(copier, arrival);
		label = aside != NULL ? aside->label : label;
	}
	copier_turn_place(copier, crossing, label);
}

/* @next: as for copy_end() */
static int copy_nodes(struct copier *copier, uint32_t index, uint32_t next)
{
	const struct cfg_block *block = &copier->cfg->blocks[index];
	const struct count_graph *graph = copier->graph;
	int r = 0;

	for (uint32_t n = graph->node_of[index];
	     r == 0 && n < graph->node_count && graph->nodes[n].block == index; n++)
		r = copy_node(copier, n);
	return r == 0 ? copy_end(copier, block, next) : r;
}

static int copy_block(struct copier *copier, uint32_t index)
{
	const struct cfg_block *block = &copier->cfg->blocks[index];
	uint32_t next = next_reached(copier, index);
	int r;

	copier_fit_begin(copier, index);
	copier_way_before(copier, index);
	copier_entry_site(copier, index);
	machine_code_place(copier->code, copier->labels[index]);
	copier_insn_mark(copier, copier->cfg->insns[block->first].address);
	place_arrival(copier, index, copier->labels[index], copier_turn_of_block(copier, index));
	copier_way_start(copier, index);
	r = copy_nodes(copier, index, next != copier->entry ? copier->labels[next] : COUNT_NONE);
	copier_fit_end(copier, index);
	return r;
}

/* Emit one replica. @next: as for copy_end(), for its last block */
static int copy_turn(struct copier *copier, uint32_t next)
{
	const struct turn_stride *stride = copier->again.stride;
	const uint32_t *blocks = copier->strides.blocks + stride->first;
	uint32_t *labels = copier->again.labels;
	int r = 0;

	for (uint32_t i = 1; i < stride->count; i++)
		labels[blocks[i]] = machine_code_label(copier->code);
	for (uint32_t i = 0; r == 0 && i < stride->count; i++) {
		bool last = i + 1 == stride->count;

		if (i > 0)
			machine_code_place(copier->code, labels[blocks[i]]);
		r = copy_nodes(copier, blocks[i], last ? next : labels[blocks[i + 1]]);
	}
	for (uint32_t i = 1; i < stride->count; i++)
		labels[blocks[i]] = COUNT_NONE;
	return r;
}

/* Emit the mode's code for the edge to the replicas, unless the check is there. */
static void begin_stride(struct copier *copier, const struct turn_stride *stride)
{
	struct point point = copier_point_of_edge(copier, copier->edge_of[stride->edge]);

	if (copier->source->variant == COPY_ONLY && copier_point_wants(copier, &point))
		copier_point_emit(copier, &point,
				  copier_edge_live(copier, &copier->cfg->edges[stride->edge]));
}

static int copy_turns(struct copier *copier, const struct turn_stride *stride, uint32_t begin)
{
	uint32_t header = copier->cfg->edges[stride->edge].to;
	int r = 0;

	if (!stride->closed)
		place_arrival(copier, header, begin, copier_turn_of_edge(copier, stride->edge));
	for (uint32_t turn = 1; r == 0 && turn <= stride->turns; turn++) {
		bool last = turn == stride->turns;

		copier->again.turn = turn;
		copier->again.end =
			last ? copier->labels[header] : machine_code_label(copier->code);
		machine_code_place(copier->code, begin);
		if (turn == 1)
			begin_stride(copier, stride);
		begin = copier->again.end;
		r = copy_turn(copier, last ? COUNT_NONE : begin);
	}
	return r;
}

static int copy_stride(struct copier *copier, const struct turn_stride *stride, uint32_t begin)
{
	uint32_t header = copier->cfg->edges[stride->edge].to;
	int r;

	copier_insn_frame(copier, copier->cfg->insns[copier->cfg->blocks[header].first].address);
	copier->again.stride = stride;
	r = copy_turns(copier, stride, begin);
	copier->again.stride = NULL;
	return r;
}

/* After all blocks, where frames are looked up by address. */
static int copy_strides(struct copier *copier)
{
	int r = 0;

	for (uint32_t s = 0; r == 0 && s < copier->strides.count; s++) {
		copier->again.number = s;
		r = copy_stride(copier, &copier->strides.all[s], copier->stride_labels[s]);
	}
	return r;
}

static void find_strides(struct copier *copier)
{
	const struct cfg *cfg = copier->cfg;

	for (uint32_t s = 0; s < copier->strides.count; s++) {
		const struct cfg_block *header =
			&cfg->blocks[cfg->edges[copier->strides.all[s].edge].to];

		copier->stride_labels[s] = machine_code_label(copier->code);
		for (uint32_t i = header->in; i < header->in + header->in_count; i++) {
			if (copier_turn_is_of_stride(copier, s, cfg->in_edges[i]))
				copier->stride_of[cfg->in_edges[i]] = s;
		}
	}
}

/* --- all of it ------------------------------------------------------------ */

/* Return true if the code of an edge out of the procedure is before its instruction. */
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
			copier->back_to[edge->to - 1] = e; /* the calling node */
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

/* Return an array with all members COUNT_NONE. */
static struct copier_fit *none_fits(size_t count)
{
	return (struct copier_fit *)all_none(count * sizeof(struct copier_fit) / sizeof(uint32_t));
}

/* Emit out-of-line code, then the rarely executed part. */
static int copy_rest(struct copier *copier)
{
	copier_aside_emit(copier, false);
	if (copier->source->mode->aside != NULL)
		copier->source->mode->aside(copier->source->plan, copier->code);
	machine_code_frame(copier->code, 0);
	copier_table_emit(copier);
	machine_code_apart(copier->code);
	copier_aside_emit(copier, true);
	machine_code_frame(copier->code, 0);
	return machine_code_layout(copier->code);
}

static int copy_all(struct copier *copier)
{
	long entry = copier_entry_block(copier);
	int r;

	for (uint32_t b = 0; b < copier->cfg->block_count; b++)
		copier->labels[b] = machine_code_label(copier->code);
	find_edges(copier);
	if (copier_turn_loops(copier) < 0)
		return -ENOMEM;
	find_strides(copier);
	copier_way_find(copier);
	if (copier->clash)
		return copier_refuse(copier, "a handler of exceptions that is a case");
	if (entry < 0)
		return copier_refuse(copier, "no code on entry");
	copier->entry = (uint32_t)entry;
	copier_fit_find(copier);
	r = copier_table_find(copier);
	for (uint32_t b = 0; r == 0 && b < copier->cfg->block_count; b++) {
		copier_fit_emit(copier, b);
		if (b == copier->entry)
			r = copier_entry_emit(copier, b);
		if (r == 0 && copier->graph->node_of[b] != COUNT_NONE)
			r = copy_block(copier, b);
	}
	copier_insn_mark(copier, UINT64_MAX);
	if (r == 0)
		r = copy_strides(copier);
	copier->copy->blocks_end = machine_code_label(copier->code);
	machine_code_place(copier->code, copier->copy->blocks_end);
	if (r == 0)
		r = copier_entry_sites(copier);
	return r == 0 ? copy_rest(copier) : r;
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
		.stride_of = all_none(source->cfg->edge_count),
		.stride_labels = all_none(source->cfg->block_count),
		.again = {.labels = all_none(source->cfg->block_count)},
		.ends_by = all_none(source->graph->node_count),
		.back_to = all_none(source->graph->node_count),
		.comes_by = all_none(source->cfg->block_count),
		.starts_by = all_none(source->cfg->block_count),
		.before_by = all_none(source->cfg->block_count),
		.before_labels = all_none(source->cfg->block_count),
		.case_labels = all_none(source->cfg->block_count),
		.fits = none_fits(source->cfg->block_count),
		.err = err,
	};
	int r = -ENOMEM;

	*ret = (struct procedure_copy){0};
	ZydisDecoderInit(&copier.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (copier.labels != NULL && copier.edge_of != NULL && copier.stride_of != NULL &&
	    copier.stride_labels != NULL && copier.again.labels != NULL && copier.ends_by != NULL &&
	    copier.back_to != NULL && copier.comes_by != NULL && copier.case_labels != NULL &&
	    copier.fits != NULL && copier.starts_by != NULL && copier.before_by != NULL &&
	    copier.before_labels != NULL && copier_turn_prepare(&copier) == 0)
		r = copy_all(&copier);
	if (r == -ENOMEM)
		error_set(err, ENOMEM, "no memory for a procedure");
	free(copier.labels);
	free(copier.edge_of);
	free(copier.stride_of);
	free(copier.stride_labels);
	free(copier.again.labels);
	free(copier.ends_by);
	free(copier.back_to);
	free(copier.comes_by);
	turn_loops_deinit(&copier.loops);
	turn_strides_deinit(&copier.strides);
	free(copier.case_labels);
	free(copier.fits);
	free(copier.starts_by);
	free(copier.before_by);
	free(copier.before_labels);
	free(copier.tables);
	free(copier.asides);
	if (r < 0)
		procedure_copy_deinit(ret);
	return r;
}

void procedure_copy_deinit(struct procedure_copy *copy)
{
	machine_code_deinit(&copy->code);
	free(copy->sites);
	free(copy->marks);
	free(copy->crossings);
	*copy = (struct procedure_copy){0};
}
