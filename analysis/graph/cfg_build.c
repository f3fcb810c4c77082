// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

struct builder {
	const struct cfg_flow *flow;
	const struct cfg_code *code;
	struct cfg *cfg;
	size_t edge_capacity;
	size_t call_capacity;
	uint8_t *leaders;
};

static bool goes_on(const struct cfg_flow *flow, uint32_t insn)
{
	switch ((enum insn_flow)flow->code->insns[insn].flow) {
	case INSN_FLOW_NEXT:
		return true;
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		return !(flow->flags[insn] & FLOW_STOPS);
	default:
		return false;
	}
}

static void find_leaders(struct builder *builder)
{
	const struct cfg_flow *flow = builder->flow;
	uint32_t count = builder->code->count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = cfg_code_next(builder->code, i);

		if (i == 0 || (flow->flags[i] & FLOW_TARGET))
			builder->leaders[i] = 1;
		if (i + 1 < count && (!goes_on(flow, i) || next != i + 1))
			builder->leaders[i + 1] = 1;
		if (next != CFG_CODE_NONE && next != i + 1)
			builder->leaders[next] = 1;
		/* A block contains only reached or only unreached instructions. */
		if (i > 0 && ((flow->flags[i] ^ flow->flags[i - 1]) & FLOW_REACHED))
			builder->leaders[i] = 1;
	}
}

static uint32_t block_flags(const struct cfg_flow *flow, uint32_t insn)
{
	uint8_t flags = flow->flags[insn];
	uint32_t result = 0;

	if (flow->code->insns[insn].address == flow->code->entry)
		result |= CFG_BLOCK_ENTRY;
	if (flags & FLOW_ADDRESS_TAKEN)
		result |= CFG_BLOCK_ADDRESS_TAKEN;
	if (flags & FLOW_SAMPLED)
		result |= CFG_BLOCK_SAMPLED;
	if (flags & FLOW_HANDLER)
		result |= CFG_BLOCK_HANDLER;
	if (!(flags & FLOW_REACHED))
		result |= CFG_BLOCK_UNREACHED;
	return result;
}

static int make_blocks(struct builder *builder)
{
	struct cfg *cfg = builder->cfg;
	uint32_t count = 0;

	for (uint32_t i = 0; i < cfg->insn_count; i++)
		count += builder->leaders[i];
	cfg->blocks = calloc((size_t)count + 1, sizeof(*cfg->blocks));
	cfg->block_of = malloc(((size_t)cfg->insn_count + 1) * sizeof(*cfg->block_of));
	if (cfg->blocks == NULL || cfg->block_of == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (builder->leaders[i]) {
			cfg->blocks[cfg->block_count].first = i;
			cfg->blocks[cfg->block_count].flags = block_flags(builder->flow, i);
			cfg->block_count++;
		}
		cfg->blocks[cfg->block_count - 1].count++;
		cfg->block_of[i] = cfg->block_count - 1;
	}
	return 0;
}

static int cfg_build_add_edge(struct builder *builder, const struct cfg_edge *edge)
{
	struct cfg *cfg = builder->cfg;

	if (cfg->edge_count == UINT32_MAX ||
	    array_reserve(&cfg->edges, &builder->edge_capacity, (size_t)cfg->edge_count + 1,
			  sizeof(*cfg->edges)) < 0)
		return -ENOMEM;
	cfg->edges[cfg->edge_count++] = *edge;
	return 0;
}

/* Add an edge from @block to an instruction of the procedure. */
static int add_inside(struct builder *builder, uint32_t block, uint32_t insn,
		      enum cfg_edge_kind kind)
{
	const struct cfg_block *from = &builder->cfg->blocks[block];
	struct cfg_edge edge = {
		.from = block,
		.to = builder->cfg->block_of[insn],
		.insn = from->first + from->count - 1,
		.kind = kind,
		.target = builder->code->insns[insn].address,
	};

	return cfg_build_add_edge(builder, &edge);
}

static int add_outside(struct builder *builder, uint32_t block, uint32_t to, uint64_t target,
		       enum cfg_edge_kind kind)
{
	const struct cfg_block *from = &builder->cfg->blocks[block];
	struct cfg_edge edge = {
		.from = block,
		.to = to,
		.insn = from->first + from->count - 1,
		.kind = kind,
		.target = target,
	};

	return cfg_build_add_edge(builder, &edge);
}

/* Add an edge to the next instruction, which may be in another procedure or not exist. */
static int add_next(struct builder *builder, uint32_t block, uint32_t last)
{
	const struct insn *insn = &builder->code->insns[last];
	uint32_t next = cfg_code_next(builder->code, last);
	uint64_t address = insn->address + insn->bytes;
	bool code = builder->code->image != NULL &&
		    image_code_find(builder->code->image, address) >= 0 &&
		    !cfg_code_contains(builder->code, address);

	if (next != CFG_CODE_NONE)
		return add_inside(builder, block, next, CFG_EDGE_NEXT);
	return add_outside(builder, block, CFG_EXIT, address, code ? CFG_EDGE_TAIL : CFG_EDGE_STOP);
}

static int add_target(struct builder *builder, uint32_t block, uint32_t last,
		      enum cfg_edge_kind kind)
{
	uint32_t target = builder->flow->targets[last];

	if (target != CFG_CODE_NONE)
		return add_inside(builder, block, target, kind);
	return add_outside(builder, block, CFG_EXIT, builder->code->insns[last].target,
			   CFG_EDGE_TAIL);
}

static int add_indirect(struct builder *builder, uint32_t block, uint32_t last)
{
	const struct flow_jump *jump = cfg_flow_jump(builder->flow, last);

	for (uint32_t i = 0; i < jump->count; i++) {
		if (add_inside(builder, block, jump->targets[i], CFG_EDGE_SWITCH) < 0)
			return -ENOMEM;
	}
	if (jump->state == FLOW_JUMP_TABLE) {
		builder->cfg->jump_tables++;
	} else if (jump->state == FLOW_JUMP_UNKNOWN) {
		builder->cfg->unresolved_jumps++;
		builder->cfg->missing = true;
		return add_outside(builder, block, CFG_UNKNOWN, 0, CFG_EDGE_UNKNOWN);
	}
	if (jump->state == FLOW_JUMP_TAIL || jump->leaves)
		return add_outside(builder, block, CFG_EXIT, 0, CFG_EDGE_TAIL);
	return 0;
}

static int add_edges_of(struct builder *builder, uint32_t block)
{
	const struct cfg_block *from = &builder->cfg->blocks[block];
	uint32_t last = from->first + from->count - 1;

	switch ((enum insn_flow)builder->code->insns[last].flow) {
	case INSN_FLOW_NEXT:
		return add_next(builder, block, last);
	case INSN_FLOW_BRANCH:
		if (add_next(builder, block, last) < 0)
			return -ENOMEM;
		return add_target(builder, block, last, CFG_EDGE_TAKEN);
	case INSN_FLOW_JUMP:
		return add_target(builder, block, last, CFG_EDGE_JUMP);
	case INSN_FLOW_JUMP_INDIRECT:
		return add_indirect(builder, block, last);
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		if (!(builder->flow->flags[last] & FLOW_STOPS))
			return add_next(builder, block, last);
		break;
	case INSN_FLOW_RETURN:
		return add_outside(builder, block, CFG_EXIT, 0, CFG_EDGE_RETURN);
	case INSN_FLOW_STOP:
		break;
	}
	return add_outside(builder, block, CFG_EXIT, 0, CFG_EDGE_STOP);
}

/* Add edges from a node that is not a block. */
static int add_entries(struct builder *builder, uint32_t node, uint8_t flag,
		       enum cfg_edge_kind kind)
{
	struct cfg *cfg = builder->cfg;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		uint32_t first = cfg->blocks[i].first;
		struct cfg_edge edge = {
			.from = node,
			.to = i,
			.insn = UINT32_MAX,
			.kind = kind,
			.target = builder->code->insns[first].address,
		};

		if ((builder->flow->flags[first] & flag) && cfg_build_add_edge(builder, &edge) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_unknown(struct builder *builder)
{
	struct cfg_edge leaves = {
		.from = CFG_UNKNOWN, .to = CFG_EXIT, .insn = UINT32_MAX, .kind = CFG_EDGE_UNKNOWN};

	if (builder->cfg->unresolved_jumps == 0)
		return 0;
	if (add_entries(builder, CFG_UNKNOWN, FLOW_MAYBE, CFG_EDGE_UNKNOWN) < 0)
		return -ENOMEM;
	return cfg_build_add_edge(builder, &leaves);
}

static int make_edges(struct builder *builder)
{
	struct cfg *cfg = builder->cfg;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		struct cfg_block *block = &cfg->blocks[i];

		block->out = cfg->edge_count;
		if (!(block->flags & CFG_BLOCK_UNREACHED) && add_edges_of(builder, i) < 0)
			return -ENOMEM;
		block->out_count = cfg->edge_count - block->out;
	}
	if (add_entries(builder, CFG_ENTRY, FLOW_ENTRY, CFG_EDGE_ENTRY) < 0 ||
	    add_entries(builder, CFG_ENTRY, FLOW_HANDLER, CFG_EDGE_HANDLER) < 0)
		return -ENOMEM;
	return add_unknown(builder);
}

static int make_in_edges(struct cfg *cfg)
{
	uint32_t at = 0;

	cfg->in_edges = malloc(((size_t)cfg->edge_count + 1) * sizeof(*cfg->in_edges));
	if (cfg->in_edges == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		if (cfg->edges[i].to < cfg->block_count)
			cfg->blocks[cfg->edges[i].to].in_count++;
	}
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		cfg->blocks[i].in = at;
		at += cfg->blocks[i].in_count;
		cfg->blocks[i].in_count = 0;
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		struct cfg_block *to;

		if (cfg->edges[i].to >= cfg->block_count)
			continue;
		to = &cfg->blocks[cfg->edges[i].to];
		cfg->in_edges[to->in + to->in_count++] = i;
	}
	return 0;
}

static int add_call(struct builder *builder, const struct cfg_call *call)
{
	struct cfg *cfg = builder->cfg;

	if (array_reserve(&cfg->calls, &builder->call_capacity, (size_t)cfg->call_count + 1,
			  sizeof(*cfg->calls)) < 0)
		return -ENOMEM;
	cfg->calls[cfg->call_count++] = *call;
	return 0;
}

/* Return true if a reached instruction is a call, or a jump or branch out. */
static bool is_call(const struct cfg_flow *flow, uint32_t i, struct cfg_call *call)
{
	const struct insn *insn = &flow->code->insns[i];
	const struct flow_jump *jump;

	*call = (struct cfg_call){.insn = i, .target = insn->target, .returns = true};
	switch ((enum insn_flow)insn->flow) {
	case INSN_FLOW_CALL_INDIRECT:
		call->target = 0;
		/* fall through */
	case INSN_FLOW_CALL:
		call->returns = !(flow->flags[i] & FLOW_STOPS);
		return true;
	case INSN_FLOW_BRANCH:
	case INSN_FLOW_JUMP:
		call->tail = true;
		return flow->targets[i] == CFG_CODE_NONE;
	case INSN_FLOW_JUMP_INDIRECT:
		jump = cfg_flow_jump(flow, i);
		call->tail = true;
		call->target = 0;
		return jump->state == FLOW_JUMP_TAIL || jump->leaves;
	default:
		return false;
	}
}

static int make_calls(struct builder *builder)
{
	const struct cfg_flow *flow = builder->flow;

	for (uint32_t i = 0; i < builder->code->count; i++) {
		struct cfg_call call;

		if ((flow->flags[i] & FLOW_REACHED) && is_call(flow, i, &call) &&
		    add_call(builder, &call) < 0)
			return -ENOMEM;
	}
	return 0;
}

int cfg_build(struct cfg *ret, const struct cfg_flow *flow)
{
	struct cfg cfg = {.decoder = flow->code->decoder,
			  .insns = flow->code->insns,
			  .insn_count = flow->code->count,
			  .bad_bytes = flow->code->bad_bytes,
			  .twice = flow->code->twice};
	struct builder builder = {.flow = flow, .code = flow->code, .cfg = &cfg};
	int r = -ENOMEM;

	builder.leaders = calloc((size_t)cfg.insn_count + 1, 1);
	if (builder.leaders != NULL) {
		find_leaders(&builder);
		r = make_blocks(&builder);
	}
	if (r == 0)
		r = make_edges(&builder);
	if (r == 0)
		r = make_in_edges(&cfg);
	if (r == 0)
		r = make_calls(&builder);
	free(builder.leaders);
	if (r < 0) {
		cfg_clear(&cfg);
		return r;
	}
	*ret = cfg;
	return 0;
}

int cfg_build_tables(struct cfg *cfg, const struct cfg_flow *flow)
{
	cfg->tables = malloc(((size_t)flow->jump_count + 1) * sizeof(*cfg->tables));
	if (cfg->tables == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < flow->jump_count; i++) {
		const struct flow_jump *jump = &flow->jumps[i];

		if ((flow->flags[jump->insn] & FLOW_REACHED) && jump->state == FLOW_JUMP_TABLE &&
		    jump->table.count > 0)
			cfg->tables[cfg->table_count++] = jump->table;
	}
	return 0;
}
