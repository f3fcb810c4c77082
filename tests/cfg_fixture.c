// SPDX-License-Identifier: GPL-2.0-only
#include "tests/cfg_fixture.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS 0x1000
#define INSN_SIZE 4

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	if (memory == NULL)
		abort();
	return memory;
}

static void make_insns(struct cfg *cfg, const uint32_t *insn_counts)
{
	uint32_t next = 0;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		cfg->blocks[b].first = next;
		cfg->blocks[b].count = insn_counts != NULL ? insn_counts[b] : 1;
		next += cfg->blocks[b].count;
	}
	cfg->insn_count = next;
	cfg->insns = allocate(next, sizeof(*cfg->insns));
	cfg->block_of = allocate(next, sizeof(*cfg->block_of));
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		for (uint32_t k = 0; k < cfg->blocks[b].count; k++) {
			uint32_t i = cfg->blocks[b].first + k;
			struct insn *insn = &cfg->insns[i];

			insn->address = FIRST_ADDRESS + (uint64_t)i * INSN_SIZE;
			insn->bytes = INSN_SIZE;
			insn->class = INSN_ALU;
			insn->memory.base = insn->memory.index = INSN_REG_NONE;
			insn->destination = INSN_REG_NONE;
			memset(insn->sources, INSN_REG_NONE, sizeof(insn->sources));
			cfg->block_of[i] = b;
		}
	}
}

/* Copies the edges of one source; called for blocks in order, then CFG_ENTRY, then CFG_UNKNOWN. */
static void copy_edges_from(struct cfg *cfg, const struct cfg_fixture_edge *edges, uint32_t count,
			    uint32_t from)
{
	for (uint32_t e = 0; e < count; e++) {
		if (edges[e].from != from)
			continue;
		cfg->edges[cfg->edge_count++] = (struct cfg_edge){
			.from = from,
			.to = edges[e].to,
			.insn = from < cfg->block_count
					? cfg->blocks[from].first + cfg->blocks[from].count - 1
					: UINT32_MAX,
			.target = edges[e].to < cfg->block_count
					  ? cfg->insns[cfg->blocks[edges[e].to].first].address
					  : 0,
		};
	}
}

static enum cfg_edge_kind kind_of(const struct cfg *cfg, const struct cfg_edge *edge)
{
	uint32_t out_count;

	if (edge->from == CFG_ENTRY)
		return CFG_EDGE_ENTRY;
	if (edge->from == CFG_UNKNOWN || edge->to == CFG_UNKNOWN)
		return CFG_EDGE_UNKNOWN;
	out_count = cfg->blocks[edge->from].out_count;
	if (out_count > 2)
		return CFG_EDGE_SWITCH;
	if (out_count == 2 && edge == &cfg->edges[cfg->blocks[edge->from].out])
		return edge->to == CFG_EXIT ? CFG_EDGE_TAIL : CFG_EDGE_TAKEN;
	if (edge->to == CFG_EXIT)
		return CFG_EDGE_RETURN;
	return edge->to == edge->from + 1 || out_count == 2 ? CFG_EDGE_NEXT : CFG_EDGE_JUMP;
}

static enum insn_flow flow_of(const struct cfg *cfg, const struct cfg_block *block)
{
	if (block->out_count == 0)
		return INSN_FLOW_STOP;
	if (block->out_count == 2)
		return INSN_FLOW_BRANCH;
	switch (cfg->edges[block->out].kind) {
	case CFG_EDGE_SWITCH:
	case CFG_EDGE_UNKNOWN:
		return INSN_FLOW_JUMP_INDIRECT;
	case CFG_EDGE_RETURN:
		return INSN_FLOW_RETURN;
	case CFG_EDGE_JUMP:
		return INSN_FLOW_JUMP;
	default:
		return INSN_FLOW_NEXT;
	}
}

static void describe_edges(struct cfg *cfg)
{
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		cfg->edges[e].kind = kind_of(cfg, &cfg->edges[e]);
		if (cfg->edges[e].to == CFG_UNKNOWN) {
			cfg->unresolved_jumps++;
			cfg->missing = true;
		}
		if (cfg->edges[e].from == CFG_ENTRY && cfg->edges[e].to < cfg->block_count)
			cfg->blocks[cfg->edges[e].to].flags |= CFG_BLOCK_ENTRY;
	}
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		struct insn *last = &cfg->insns[block->first + block->count - 1];

		last->flow = (uint8_t)flow_of(cfg, block);
		if (last->flow != INSN_FLOW_NEXT)
			last->class = INSN_CONTROL;
		if (last->flow == INSN_FLOW_BRANCH || last->flow == INSN_FLOW_JUMP)
			last->target = cfg->edges[block->out].target;
	}
}

static void make_in_edges(struct cfg *cfg)
{
	uint32_t next = 0;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		cfg->blocks[b].in = next;
		for (uint32_t e = 0; e < cfg->edge_count; e++) {
			if (cfg->edges[e].to == b)
				cfg->in_edges[next++] = e;
		}
		cfg->blocks[b].in_count = next - cfg->blocks[b].in;
	}
}

struct cfg *cfg_fixture_create(const uint32_t *insn_counts, uint32_t block_count,
			       const struct cfg_fixture_edge *edges, uint32_t edge_count)
{
	struct cfg *cfg = allocate(1, sizeof(*cfg));

	cfg->decoder = &insn_x86_decoder;
	cfg->block_count = block_count;
	cfg->blocks = allocate(block_count, sizeof(*cfg->blocks));
	cfg->edges = allocate(edge_count, sizeof(*cfg->edges));
	cfg->in_edges = allocate(edge_count, sizeof(*cfg->in_edges));
	make_insns(cfg, insn_counts);
	for (uint32_t b = 0; b < block_count; b++) {
		cfg->blocks[b].out = cfg->edge_count;
		copy_edges_from(cfg, edges, edge_count, b);
		cfg->blocks[b].out_count = cfg->edge_count - cfg->blocks[b].out;
	}
	copy_edges_from(cfg, edges, edge_count, CFG_ENTRY);
	copy_edges_from(cfg, edges, edge_count, CFG_UNKNOWN);
	describe_edges(cfg);
	make_in_edges(cfg);
	return cfg;
}

uint32_t cfg_fixture_edge(const struct cfg *cfg, uint32_t from, uint32_t to)
{
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from == from && cfg->edges[e].to == to)
			return e;
	}
	return UINT32_MAX;
}

void cfg_fixture_destroy(struct cfg *cfg)
{
	if (cfg == NULL)
		return;
	free(cfg->insns);
	free(cfg->blocks);
	free(cfg->edges);
	free(cfg->in_edges);
	free(cfg->block_of);
	free(cfg->calls);
	free(cfg);
}
