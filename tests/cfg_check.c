// SPDX-License-Identifier: GPL-2.0-only
#include "tests/cfg_check.h"

#include <stdlib.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return #condition;                                                         \
	} while (0)

static const char *check_blocks(const struct cfg *cfg)
{
	uint32_t next = 0;

	CHECK(cfg->insn_count > 0 && cfg->block_count > 0);
	for (uint32_t i = 1; i < cfg->insn_count; i++)
		CHECK(cfg->insns[i - 1].address < cfg->insns[i].address);
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct cfg_block *block = &cfg->blocks[i];

		CHECK(block->first == next && block->count > 0);
		next += block->count;
		CHECK(next <= cfg->insn_count);
		for (uint32_t k = block->first; k < next; k++)
			CHECK(cfg->block_of[k] == i);
		for (uint32_t k = block->first; k + 1 < next; k++) {
			const struct insn *insn = &cfg->insns[k];

			CHECK(insn->address + insn->bytes == insn[1].address);
			CHECK(insn->flow == INSN_FLOW_NEXT || insn->flow == INSN_FLOW_CALL ||
			      insn->flow == INSN_FLOW_CALL_INDIRECT);
		}
	}
	CHECK(next == cfg->insn_count);
	return NULL;
}

static bool is_node(const struct cfg *cfg, uint32_t node)
{
	return node < cfg->block_count || node >= CFG_UNKNOWN;
}

static const char *check_edge_ends(const struct cfg *cfg)
{
	uint32_t next = 0, order = 0;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct cfg_block *block = &cfg->blocks[i];

		CHECK(block->out == next);
		next += block->out_count;
		CHECK(next <= cfg->edge_count);
		for (uint32_t k = block->out; k < next; k++) {
			CHECK(cfg->edges[k].from == i);
			CHECK(cfg->edges[k].insn == block->first + block->count - 1);
		}
	}
	for (uint32_t i = next; i < cfg->edge_count; i++) {
		uint32_t rank = cfg->edges[i].from == CFG_ENTRY ? 1 : 2;

		CHECK(cfg->edges[i].from == CFG_ENTRY || cfg->edges[i].from == CFG_UNKNOWN);
		CHECK(cfg->edges[i].insn == UINT32_MAX && rank >= order);
		order = rank;
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		CHECK(is_node(cfg, cfg->edges[i].to) && cfg->edges[i].to != CFG_ENTRY);
		if (cfg->edges[i].to < cfg->block_count)
			CHECK(cfg->edges[i].target ==
			      cfg->insns[cfg->blocks[cfg->edges[i].to].first].address);
	}
	return NULL;
}

static const char *check_in_edges(const struct cfg *cfg)
{
	uint32_t total = 0, inside = 0;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct cfg_block *block = &cfg->blocks[i];

		CHECK(block->in == total);
		total += block->in_count;
		for (uint32_t k = block->in; k < total; k++) {
			CHECK(cfg->in_edges[k] < cfg->edge_count);
			CHECK(cfg->edges[cfg->in_edges[k]].to == i);
			CHECK(k == block->in || cfg->in_edges[k - 1] < cfg->in_edges[k]);
		}
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		inside += cfg->edges[i].to < cfg->block_count;
	CHECK(total == inside);
	return NULL;
}

static uint32_t kinds_of(const struct cfg *cfg, const struct cfg_block *block)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < block->out_count; i++)
		kinds |= 1U << cfg->edges[block->out + i].kind;
	return kinds;
}

/* Return true if the kinds of a block's edges are possible for its last instruction. */
static bool fits(const struct insn *last, const struct cfg_block *block, uint32_t kinds)
{
	const uint32_t next = 1U << CFG_EDGE_NEXT | 1U << CFG_EDGE_TAIL | 1U << CFG_EDGE_STOP;

	switch ((enum insn_flow)last->flow) {
	case INSN_FLOW_NEXT:
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		return block->out_count == 1 && (kinds & ~next) == 0;
	case INSN_FLOW_BRANCH:
		return block->out_count == 2 && (kinds & ~(next | 1U << CFG_EDGE_TAKEN)) == 0;
	case INSN_FLOW_JUMP:
		return block->out_count == 1 &&
		       (kinds & ~(1U << CFG_EDGE_JUMP | 1U << CFG_EDGE_TAIL)) == 0;
	case INSN_FLOW_JUMP_INDIRECT:
		return block->out_count > 0 &&
		       (kinds & ~(1U << CFG_EDGE_SWITCH | 1U << CFG_EDGE_TAIL |
				  1U << CFG_EDGE_UNKNOWN)) == 0;
	case INSN_FLOW_RETURN:
		return kinds == 1U << CFG_EDGE_RETURN && block->out_count == 1;
	case INSN_FLOW_STOP:
		return kinds == 1U << CFG_EDGE_STOP && block->out_count == 1;
	}
	return false;
}

static const char *check_terminators(const struct cfg *cfg)
{
	uint32_t unknown = 0;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct cfg_block *block = &cfg->blocks[i];
		uint32_t kinds = kinds_of(cfg, block);

		unknown += (kinds & 1U << CFG_EDGE_UNKNOWN) != 0;
		if (block->flags & CFG_BLOCK_UNREACHED)
			CHECK(block->out_count == 0 && block->in_count == 0);
		else
			CHECK(block->in_count > 0 &&
			      fits(&cfg->insns[block->first + block->count - 1], block, kinds));
	}
	CHECK(unknown == cfg->unresolved_jumps && (unknown > 0) == cfg->missing);
	return NULL;
}

/* Check that every block not marked as unreached is reached by edges. */
static const char *check_reach(const struct cfg *cfg)
{
	uint8_t *seen = calloc(cfg->block_count, 1);
	bool grown = seen != NULL;
	const char *wrong = NULL;

	while (grown) {
		grown = false;
		for (uint32_t i = 0; i < cfg->edge_count; i++) {
			const struct cfg_edge *edge = &cfg->edges[i];

			if (edge->to >= cfg->block_count || seen[edge->to] ||
			    (edge->from < cfg->block_count && !seen[edge->from]))
				continue;
			seen[edge->to] = 1;
			grown = true;
		}
	}
	for (uint32_t i = 0; seen != NULL && i < cfg->block_count; i++) {
		if (seen[i] == ((cfg->blocks[i].flags & CFG_BLOCK_UNREACHED) != 0))
			wrong = "blocks that are reached are those not marked";
	}
	free(seen);
	return wrong;
}

static const char *check_calls(const struct cfg *cfg)
{
	for (uint32_t i = 0; i < cfg->call_count; i++) {
		const struct cfg_call *call = &cfg->calls[i];

		CHECK(call->insn < cfg->insn_count);
		CHECK(i == 0 || cfg->calls[i - 1].insn < call->insn);
		CHECK(cfg->insns[call->insn].flow != INSN_FLOW_NEXT);
	}
	return NULL;
}

const char *cfg_check(const struct cfg *cfg)
{
	static const char *(*const checks[])(const struct cfg *cfg) = {
		check_blocks,	   check_edge_ends, check_in_edges,
		check_terminators, check_reach,	    check_calls,
	};
	const char *wrong = NULL;

	for (size_t i = 0; wrong == NULL && i < sizeof(checks) / sizeof(*checks); i++)
		wrong = checks[i](cfg);
	return wrong;
}
