// SPDX-License-Identifier: GPL-2.0-only
#include "tests/turn_graph.h"

#include <string.h>

#include "tests/unit.h"

/* --- graphs --------------------------------------------------------------- */

void turn_graph_make(struct turn_graph *graph, uint64_t *random)
{
	uint32_t edges = 0;

	memset(graph, 0, sizeof(*graph));
	graph->nodes = 1 + (uint32_t)(unit_random(random) % TURN_GRAPH_NODES);
	for (uint32_t n = 0; n < graph->nodes; n++) {
		graph->first[n] = edges;
		for (uint64_t k = unit_random(random) % 4; k > 0 && edges < TURN_GRAPH_EDGES; k--) {
			graph->from[edges] = n;
			graph->targets[edges++] =
				(uint32_t)(unit_random(random) % (graph->nodes + 1));
		}
	}
	graph->first[graph->nodes] = edges;
}

bool turn_graph_is_on_circle(const struct turn_graph *graph, const bool *gone, uint32_t node)
{
	bool reached[TURN_GRAPH_NODES + 1] = {false};
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < graph->first[graph->nodes]; e++) {
			if (gone[e] || reached[graph->targets[e]] ||
			    (graph->from[e] != node && !reached[graph->from[e]]))
				continue;
			reached[graph->targets[e]] = changed = true;
		}
	}
	return reached[node];
}

/* --- blocks --------------------------------------------------------------- */

void turn_blocks_make(struct turn_blocks *blocks, uint64_t *random)
{
	struct cfg *cfg = &blocks->cfg;

	memset(blocks, 0, sizeof(*blocks));
	turn_graph_make(&blocks->graph, random);
	*cfg = (struct cfg){
		.insns = blocks->insns,
		.blocks = blocks->all,
		.edges = blocks->edges,
		.in_edges = blocks->in_edges,
		.insn_count = blocks->graph.nodes,
		.block_count = blocks->graph.nodes,
		.edge_count = blocks->graph.first[blocks->graph.nodes] + 1,
	};
	for (uint32_t e = 0; e + 1 < cfg->edge_count; e++)
		blocks->edges[e] = (struct cfg_edge){
			.kind = e % 8 == 0 ? CFG_EDGE_SWITCH : CFG_EDGE_NEXT,
			.from = blocks->graph.from[e],
			.to = blocks->graph.targets[e] < cfg->block_count ? blocks->graph.targets[e]
									  : CFG_EXIT,
		};
	blocks->edges[cfg->edge_count - 1] = (struct cfg_edge){.from = CFG_ENTRY};
	for (uint32_t b = 0, in = 0; b < cfg->block_count; b++) {
		blocks->insns[b].flow = unit_random(random) % 20 ? INSN_FLOW_NEXT : INSN_FLOW_CALL;
		blocks->insns[b].flags = unit_random(random) % 2 ? INSN_READS_MEMORY : 0;
		blocks->all[b] = (struct cfg_block){
			.first = b,
			.count = 1,
			.in = in,
			.out = blocks->graph.first[b],
			.out_count = blocks->graph.first[b + 1] - blocks->graph.first[b],
			.flags = b == 0 ? CFG_BLOCK_ENTRY : 0,
		};
		for (uint32_t e = 0; e < cfg->edge_count; e++) {
			if (blocks->edges[e].to == b)
				blocks->in_edges[in++] = e;
		}
		blocks->all[b].in_count = in - blocks->all[b].in;
	}
}

bool turn_blocks_is_event(void *context, uint32_t insn)
{
	const struct turn_blocks *blocks = context;

	return blocks->insns[insn].flags != 0;
}

void turn_blocks_make_longer(struct turn_blocks *blocks, uint64_t *random)
{
	struct insn insns[TURN_GRAPH_NODES];
	uint32_t count = 0;

	memcpy(insns, blocks->insns, sizeof(insns));
	for (uint32_t b = 0; b < blocks->cfg.block_count; b++) {
		blocks->all[b].first = count;
		blocks->all[b].count = 1 + (uint32_t)(unit_random(random) % TURN_GRAPH_INSNS);
		for (uint32_t i = 0; i < blocks->all[b].count; i++)
			blocks->insns[count++] = insns[b];
	}
	blocks->cfg.insn_count = count;
}
