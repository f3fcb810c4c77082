// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/procedure_clone.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/clone/clone.h"
#include "lib/error_text.h"

/* --- edges ---------------------------------------------------------------- */

static uint32_t edge_of_kind(const struct clone *clone, const struct cfg_block *block, bool next)
{
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		const struct cfg_edge *edge = &clone->cfg->edges[e];
		uint64_t stop_successor =
			clone->cfg->insns[edge->insn].address + clone->cfg->insns[edge->insn].bytes;
		bool falls = edge->kind == CFG_EDGE_NEXT ||
			     (edge->kind == CFG_EDGE_TAIL && block->out_count > 1 &&
			      edge->target == stop_successor);

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
static int emit_branch(struct clone *clone, const struct cfg_block *block, uint32_t last,
		       uint32_t next)
{
	const struct insn *insn = &clone->cfg->insns[last];
	uint32_t taken = edge_of_kind(clone, block, false);
	uint32_t falls = edge_of_kind(clone, block, true);
	int condition = condition_of(insn);

	if (taken == COUNT_NONE || falls == COUNT_NONE || block->out_count != 2)
		return clone_refuse(clone, "a branch with an unknown target");
	if (condition < 0)
		return clone_refuse(clone, "a branch that is always short");
	if (clone_edge_follows(clone, taken, next) ||
	    (clone_edge_ends_replica(clone, taken) && clone->source->variant == CLONE_ONLY)) {
		uint32_t other = falls;

		falls = taken;
		taken = other;
		condition ^= 1;
	}
	clone_edge_branch(clone, (unsigned int)condition, taken);
	clone_insn_mark_end(clone, insn);
	clone_edge_fall(clone, falls, next);
	return 0;
}

/* If control continues after all, as after a breakpoint, it does so at the original next
 * instruction. */
static void emit_jump_to_original(struct clone *clone, const struct insn *insn)
{
	machine_code_leave(clone->code, MACHINE_JUMP, insn->address + insn->bytes);
}

/* Code that follows an instruction that stops the program. */
enum stop_successor {
	SUCCESSOR_NONE,	     /* no code of the procedure, or padding */
	SUCCESSOR_SHARED,    /* reached by other edges as well */
	SUCCESSOR_UNREACHED, /* not reached otherwise */
};

static enum stop_successor stop_successor_of(const struct clone *clone,
					     const struct cfg_block *block, const struct insn *stop)
{
	const struct cfg *cfg = clone->cfg;
	uint32_t next = (uint32_t)(block - cfg->blocks) + 1;
	const struct insn *first;

	if (next == cfg->block_count)
		return SUCCESSOR_NONE;
	first = &cfg->insns[cfg->blocks[next].first];
	if (first->address != stop->address + stop->bytes)
		return SUCCESSOR_NONE;
	if (clone->graph->node_of[next] != COUNT_NONE)
		return SUCCESSOR_SHARED;
	return first->class == INSN_NOP || first->flow == INSN_FLOW_STOP ? SUCCESSOR_NONE
									 : SUCCESSOR_UNREACHED;
}

/*
 * A signal handler may resume the program after an instruction that stops it, although no edge
 * leads there: the original code may be overwritten, and a clone relies on its edges. Refuse a
 * procedure where this is likely: after a breakpoint, and before code that no other edge reaches.
 * Other stops are often undefined instructions, which compilers put wherever control cannot come.
 */
static int emit_stop(struct clone *clone, const struct cfg_block *block, const struct insn *insn)
{
	static const uint8_t hlt[] = {0xf4};
	enum stop_successor stop_successor = stop_successor_of(clone, block, insn);
	int r;

	if (stop_successor == SUCCESSOR_UNREACHED ||
	    (stop_successor == SUCCESSOR_SHARED && insn->opcode == ZYDIS_MNEMONIC_INT3))
		return clone_refuse(clone, "code after an instruction that stops");
	r = clone_insn_plain(clone, insn);
	if (stop_successor == SUCCESSOR_SHARED)
		machine_code_bytes(clone->code, hlt, sizeof(hlt)); /* no fall-through */
	else
		emit_jump_to_original(clone, insn);
	return r;
}

/* Emit the end of a block. @next: label of the code emitted next. */
static int emit_end(struct clone *clone, const struct cfg_block *block, uint32_t next)
{
	uint32_t last = block->first + block->count - 1;
	const struct insn *insn = &clone->cfg->insns[last];
	int r;

	switch ((enum insn_flow)insn->flow) {
	case INSN_FLOW_BRANCH:
		return emit_branch(clone, block, last, next);
	case INSN_FLOW_JUMP:
		if (block->out_count != 1)
			return clone_refuse(clone, "a jump with several targets");
		clone_edge_fall(clone, block->out, next);
		return 0;
	case INSN_FLOW_JUMP_INDIRECT:
		r = clone_table_load(clone, last);
		if (r != 0)
			return r < 0 ? r : 0;
		return clone_insn_plain(clone, insn);
	case INSN_FLOW_RETURN:
		return clone_insn_plain(clone, insn);
	case INSN_FLOW_STOP:
		return emit_stop(clone, block, insn);
	case INSN_FLOW_NEXT:
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		break;
	}
	if (block->out_count == 1 && (clone->cfg->edges[block->out].kind == CFG_EDGE_NEXT ||
				      clone->cfg->edges[block->out].kind == CFG_EDGE_TAIL)) {
		clone_edge_fall(clone, block->out, next);
		return 0;
	}
	if (block->out_count == 1 && clone->cfg->edges[block->out].kind == CFG_EDGE_STOP) {
		emit_jump_to_original(clone, insn);
		return 0;
	}
	return clone_refuse(clone, "an unknown successor");
}

/* --- blocks --------------------------------------------------------------- */

static bool is_block_end(const struct insn *insn)
{
	return insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_CALL &&
	       insn->flow != INSN_FLOW_CALL_INDIRECT;
}

static int emit_insn(struct clone *clone, uint32_t index)
{
	const struct insn *insn = &clone->cfg->insns[index];
	int r;

	if (insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT)
		return clone_insn_call(clone, index);
	r = clone_table_load(clone, index);
	if (r != 0)
		return r < 0 ? r : 0;
	return clone_insn_plain(clone, insn);
}

/* Emit a check after a call that may have returned in another process or as another thread. */
static int emit_recheck(struct clone *clone, uint32_t index)
{
	const struct insn *insn = &clone->cfg->insns[index];
	uint32_t back;

	if (!clone_is_system_call(insn) &&
	    (insn->flow != INSN_FLOW_CALL || !clone->source->forks(clone->source->context, insn)))
		return 0;
	back = machine_code_label(clone->code);
	clone_entry_check(clone, back, liveness_after(clone->source->liveness, index), true);
	machine_code_bind_label(clone->code, back);
	return 0;
}

static int emit_node(struct clone *clone, uint32_t number)
{
	const struct count_node *node = &clone->graph->nodes[number];
	uint32_t last = node->first + node->count - 1;
	const struct insn *insns = clone->cfg->insns;
	bool transfers = node->count > 0 &&
			 (insns[last].flow != INSN_FLOW_NEXT || clone_is_system_call(&insns[last]));
	uint32_t end = transfers ? clone_point_early(clone, number) : COUNT_NONE;
	int r = 0;

	clone_point_start(clone, number);
	for (uint32_t i = node->first; r == 0 && i < node->first + node->count; i++) {
		clone_insn_mark(clone, insns[i].address);
		clone_point_reference(clone, number, i);
		if (i == end)
			clone_point_end(clone, number, i, true);
		if (i == last && is_block_end(&insns[i]))
			return 0; /* emit_end() emits it */
		r = emit_insn(clone, i);
		clone_insn_mark_end(clone, &insns[i]);
		if (r == 0)
			r = emit_recheck(clone, i);
		if (r == 0 && i == last && transfers)
			clone_point_back(clone, number, i);
		if (r == 0 && i == last && !transfers)
			clone_point_end(clone, number, i, false);
	}
	if (r == 0 && node->count == 0)
		clone_point_end(clone, number, node->first - 1, false);
	return r;
}

static uint32_t next_reached(const struct clone *clone, uint32_t block)
{
	do {
		block++;
	} while (block < clone->cfg->block_count && clone->graph->node_of[block] == COUNT_NONE);
	return block;
}

/* Set the destination of checks on back edges of the other clone. @label: of the block in this
 * clone */
static void bind_arrival(struct clone *clone, uint32_t index, uint32_t label, uint32_t crossing)
{
	struct cold_stub arrival = {
		.kind = COLD_STUB_ARRIVE,
		.back = label,
		.point = {.kind = POINT_ARRIVAL,
			  .node = clone->graph->node_of[index],
			  .live = clone->source->liveness->in[index],
			  .red_zone = true},
	};
	struct cold_stub *cold_stub;

	if (clone_switch_leads_back(clone, index) && clone_point_has_code(clone, &arrival.point)) {
		cold_stub = clone_add_cold_stub(clone, arrival);
		label = cold_stub != NULL ? cold_stub->label : label;
	}
	clone_switch_place(clone, crossing, label);
}

/* @next: as for emit_end() */
static int emit_nodes(struct clone *clone, uint32_t index, uint32_t next)
{
	const struct cfg_block *block = &clone->cfg->blocks[index];
	const struct count_graph *graph = clone->graph;
	int r = 0;

	for (uint32_t n = graph->node_of[index];
	     r == 0 && n < graph->node_count && graph->nodes[n].block == index; n++)
		r = emit_node(clone, n);
	return r == 0 ? emit_end(clone, block, next) : r;
}

static int emit_block(struct clone *clone, uint32_t index)
{
	const struct cfg_block *block = &clone->cfg->blocks[index];
	uint32_t next = next_reached(clone, index);
	int r;

	clone_fit_begin(clone, index);
	edge_layout_before(clone, index);
	clone_entry_site(clone, index);
	machine_code_bind_label(clone->code, clone->labels[index]);
	clone_insn_mark(clone, clone->cfg->insns[block->first].address);
	bind_arrival(clone, index, clone->labels[index], clone_switch_of_block(clone, index));
	edge_layout_start(clone, index);
	r = emit_nodes(clone, index, next != clone->entry ? clone->labels[next] : COUNT_NONE);
	clone_fit_end(clone, index);
	return r;
}

/* Emit one replica. @next: as for emit_end(), for its last block */
static int emit_replica(struct clone *clone, uint32_t next)
{
	const struct burst_stride *stride = clone->replica.stride;
	const uint32_t *blocks = clone->strides.blocks + stride->first;
	uint32_t *labels = clone->replica.labels;
	int r = 0;

	for (uint32_t i = 1; i < stride->count; i++)
		labels[blocks[i]] = machine_code_label(clone->code);
	for (uint32_t i = 0; r == 0 && i < stride->count; i++) {
		bool last = i + 1 == stride->count;

		if (i > 0)
			machine_code_bind_label(clone->code, labels[blocks[i]]);
		r = emit_nodes(clone, blocks[i], last ? next : labels[blocks[i + 1]]);
	}
	for (uint32_t i = 1; i < stride->count; i++)
		labels[blocks[i]] = COUNT_NONE;
	return r;
}

/* Emit the mode's code for the edge to the replicas, unless the check is there. */
static void begin_stride(struct clone *clone, const struct burst_stride *stride)
{
	struct point point = clone_point_of_edge(clone, clone->edge_of[stride->edge]);

	if (clone->source->variant == CLONE_ONLY && clone_point_has_code(clone, &point))
		clone_point_emit(clone, &point,
				 clone_edge_live(clone, &clone->cfg->edges[stride->edge]));
}

static int emit_replicas(struct clone *clone, const struct burst_stride *stride, uint32_t begin)
{
	uint32_t header = clone->cfg->edges[stride->edge].to;
	int r = 0;

	if (!stride->closed)
		bind_arrival(clone, header, begin, clone_switch_of_edge(clone, stride->edge));
	for (uint32_t replica = 1; r == 0 && replica <= stride->replicas; replica++) {
		bool last = replica == stride->replicas;

		clone->replica.index = replica;
		clone->replica.end = last ? clone->labels[header] : machine_code_label(clone->code);
		machine_code_bind_label(clone->code, begin);
		if (replica == 1)
			begin_stride(clone, stride);
		begin = clone->replica.end;
		r = emit_replica(clone, last ? COUNT_NONE : begin);
	}
	return r;
}

static int emit_stride(struct clone *clone, const struct burst_stride *stride, uint32_t begin)
{
	uint32_t header = clone->cfg->edges[stride->edge].to;
	int r;

	clone_insn_frame(clone, clone->cfg->insns[clone->cfg->blocks[header].first].address);
	clone->replica.stride = stride;
	r = emit_replicas(clone, stride, begin);
	clone->replica.stride = NULL;
	return r;
}

/* After all blocks, where frames are looked up by address. */
static int emit_strides(struct clone *clone)
{
	int r = 0;

	for (uint32_t s = 0; r == 0 && s < clone->strides.count; s++) {
		clone->replica.number = s;
		r = emit_stride(clone, &clone->strides.all[s], clone->stride_labels[s]);
	}
	return r;
}

static void find_strides(struct clone *clone)
{
	const struct cfg *cfg = clone->cfg;

	for (uint32_t s = 0; s < clone->strides.count; s++) {
		const struct cfg_block *header =
			&cfg->blocks[cfg->edges[clone->strides.all[s].edge].to];

		clone->stride_labels[s] = machine_code_label(clone->code);
		for (uint32_t i = header->in; i < header->in + header->in_count; i++) {
			if (clone_switch_is_of_stride(clone, s, cfg->in_edges[i]))
				clone->stride_of[cfg->in_edges[i]] = s;
		}
	}
}

/* --- all of it ------------------------------------------------------------ */

/* Return true if the code of an edge out of the procedure is before its instruction. */
static bool is_before_insn(const struct clone *clone, const struct count_edge *edge)
{
	const struct cfg_edge *cfg_edge = &clone->cfg->edges[edge->cfg_edge];

	return cfg_edge->kind == CFG_EDGE_RETURN || cfg_edge->kind == CFG_EDGE_STOP ||
	       clone->cfg->insns[cfg_edge->insn].flow == INSN_FLOW_JUMP_INDIRECT;
}

static void find_edges(struct clone *clone)
{
	const struct count_graph *graph = clone->graph;

	for (uint32_t e = 0; e < graph->edge_count; e++) {
		const struct count_edge *edge = &graph->edges[e];

		if (edge->cfg_edge != COUNT_NONE)
			clone->edge_of[edge->cfg_edge] = e;
		switch (edge->kind) {
		case COUNT_CALL:
		case COUNT_TO_HUB:
			clone->ends_by[edge->from] = e;
			break;
		case COUNT_LEAVE:
			if (edge->cfg_edge != COUNT_NONE && is_before_insn(clone, edge))
				clone->ends_by[edge->from] = e;
			break;
		case COUNT_BACK:
			clone->back_to[edge->to - 1] = e; /* the calling node */
			break;
		case COUNT_FROM_HUB:
		case COUNT_CATCH: {
			uint32_t *by = &clone->landing_edge[graph->nodes[edge->to].block];

			clone->clash |= *by != COUNT_NONE;
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
static struct clone_fit *none_fits(size_t count)
{
	return (struct clone_fit *)all_none(count * sizeof(struct clone_fit) / sizeof(uint32_t));
}

/* Emit out-of-line code, then the rarely executed part. */
static int emit_rest(struct clone *clone)
{
	clone_cold_stub_emit(clone, false);
	if (clone->source->mode->emit_cold_stubs != NULL)
		clone->source->mode->emit_cold_stubs(clone->source->plan, clone->code);
	machine_code_frame(clone->code, 0);
	clone_table_emit(clone);
	machine_code_begin_cold(clone->code);
	clone_cold_stub_emit(clone, true);
	machine_code_frame(clone->code, 0);
	return machine_code_layout(clone->code);
}

static int emit_all(struct clone *clone)
{
	long entry = clone_entry_block(clone);
	int r;

	for (uint32_t b = 0; b < clone->cfg->block_count; b++)
		clone->labels[b] = machine_code_label(clone->code);
	find_edges(clone);
	if (clone_switch_loops(clone) < 0)
		return -ENOMEM;
	find_strides(clone);
	edge_layout_find(clone);
	if (clone->clash)
		return clone_refuse(clone, "an exception handler in a jump table");
	if (entry < 0)
		return clone_refuse(clone, "no code at the entry");
	clone->entry = (uint32_t)entry;
	clone_fit_find(clone);
	r = clone_table_find(clone);
	for (uint32_t b = 0; r == 0 && b < clone->cfg->block_count; b++) {
		clone_fit_emit(clone, b);
		if (b == clone->entry)
			r = clone_entry_emit(clone, b);
		if (r == 0 && clone->graph->node_of[b] != COUNT_NONE)
			r = emit_block(clone, b);
	}
	clone_insn_mark(clone, UINT64_MAX);
	if (r == 0)
		r = emit_strides(clone);
	clone->result->blocks_end = machine_code_label(clone->code);
	machine_code_bind_label(clone->code, clone->result->blocks_end);
	if (r == 0)
		r = clone_entry_sites(clone);
	return r == 0 ? emit_rest(clone) : r;
}

int procedure_clone_make(struct procedure_clone *ret, const struct clone_source *source,
			 struct error *err)
{
	struct clone clone = {
		.source = source,
		.cfg = source->cfg,
		.graph = source->graph,
		.result = ret,
		.code = &ret->code,
		.labels = all_none(source->cfg->block_count),
		.edge_of = all_none(source->cfg->edge_count),
		.stride_of = all_none(source->cfg->edge_count),
		.stride_labels = all_none(source->cfg->block_count),
		.replica = {.labels = all_none(source->cfg->block_count)},
		.ends_by = all_none(source->graph->node_count),
		.back_to = all_none(source->graph->node_count),
		.landing_edge = all_none(source->cfg->block_count),
		.starts_by = all_none(source->cfg->block_count),
		.before_by = all_none(source->cfg->block_count),
		.before_labels = all_none(source->cfg->block_count),
		.case_labels = all_none(source->cfg->block_count),
		.fits = none_fits(source->cfg->block_count),
		.err = err,
	};
	int r = -ENOMEM;

	*ret = (struct procedure_clone){0};
	ZydisDecoderInit(&clone.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (clone.labels != NULL && clone.edge_of != NULL && clone.stride_of != NULL &&
	    clone.stride_labels != NULL && clone.replica.labels != NULL && clone.ends_by != NULL &&
	    clone.back_to != NULL && clone.landing_edge != NULL && clone.case_labels != NULL &&
	    clone.fits != NULL && clone.starts_by != NULL && clone.before_by != NULL &&
	    clone.before_labels != NULL && clone_switch_prepare(&clone) == 0)
		r = emit_all(&clone);
	if (r == -ENOMEM)
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	free(clone.labels);
	free(clone.edge_of);
	free(clone.stride_of);
	free(clone.stride_labels);
	free(clone.replica.labels);
	free(clone.ends_by);
	free(clone.back_to);
	free(clone.landing_edge);
	burst_switch_loops_deinit(&clone.loops);
	burst_switch_strides_deinit(&clone.strides);
	free(clone.case_labels);
	free(clone.fits);
	free(clone.starts_by);
	free(clone.before_by);
	free(clone.before_labels);
	free(clone.tables);
	free(clone.cold_stubs);
	if (r < 0)
		procedure_clone_deinit(ret);
	return r;
}

void procedure_clone_deinit(struct procedure_clone *result)
{
	machine_code_deinit(&result->code);
	free(result->sites);
	free(result->marks);
	free(result->crossings);
	*result = (struct procedure_clone){0};
}
