// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/mode/count_graph.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/mode/disjoint_sets.h"
#include "instrument/mode/flow_guess.h"
#include "lib/array.h"

struct builder {
	struct count_graph graph;
	const struct cfg *cfg;
	bool (*returns)(void *context, const struct insn *call);
	void *context;
	struct flow_guess guess;
	uint32_t *hub; /* union-find over blocks, which joins indirect jumps that share a target */
};

static uint32_t add_node(struct count_graph *graph, struct count_node node)
{
	if (array_reserve(&graph->nodes, &graph->node_capacity, graph->node_count + (size_t)1,
			  sizeof(*graph->nodes)) < 0)
		return COUNT_NONE;
	graph->nodes[graph->node_count] = node;
	return graph->node_count++;
}

static int count_graph_add_edge(struct count_graph *graph, struct count_edge edge)
{
	if (array_reserve(&graph->edges, &graph->edge_capacity, graph->edge_count + (size_t)1,
			  sizeof(*graph->edges)) < 0)
		return -ENOMEM;
	edge.counter = COUNT_NONE;
	if (edge.from != COUNT_OUTSIDE)
		graph->nodes[edge.from].out_count++;
	if (edge.to != COUNT_OUTSIDE)
		graph->nodes[edge.to].in_count++;
	graph->edges[graph->edge_count++] = edge;
	return 0;
}

static bool is_system_call(const struct insn *insn)
{
	return insn->opcode == ZYDIS_MNEMONIC_SYSCALL;
}

static bool splits(const struct builder *builder, const struct insn *insn)
{
	if (is_system_call(insn))
		return true;
	if (insn->flow != INSN_FLOW_CALL && insn->flow != INSN_FLOW_CALL_INDIRECT)
		return false;
	return builder->returns == NULL || !builder->returns(builder->context, insn);
}

/* Add the nodes of a block, and the edges from and to the outside node between them. */
static int count_graph_add_block(struct builder *builder, uint32_t index)
{
	struct count_graph *graph = &builder->graph;
	const struct cfg *cfg = builder->cfg;
	const struct cfg_block *block = &cfg->blocks[index];
	struct count_node node = {.block = index, .first = block->first};
	double weight = builder->guess.block[index];
	uint32_t number;

	for (uint32_t i = 0; i < block->count; i++) {
		bool stops = i + 1 == block->count && block->out_count == 1 &&
			     cfg->edges[block->out].kind == CFG_EDGE_STOP;

		node.count++;
		if (!splits(builder, &cfg->insns[block->first + i]) || stops)
			continue;
		number = add_node(graph, node);
		if (number == COUNT_NONE ||
		    count_graph_add_edge(graph, (struct count_edge){.from = number,
								    .to = COUNT_OUTSIDE,
								    .cfg_edge = COUNT_NONE,
								    .weight = weight,
								    .kind = COUNT_CALL}) < 0)
			return -ENOMEM;
		node.first = block->first + i + 1;
		node.count = 0;
		if (count_graph_add_edge(graph, (struct count_edge){.from = COUNT_OUTSIDE,
								    .to = COUNT_OUTSIDE,
								    .cfg_edge = COUNT_NONE,
								    .weight = weight,
								    .kind = COUNT_BACK}) < 0)
			return -ENOMEM;
		graph->edges[graph->edge_count - 1].to = graph->node_count; /* the next node */
	}
	return add_node(graph, node) == COUNT_NONE ? -ENOMEM : 0;
}

static bool is_reached(const struct cfg_block *block)
{
	return block->in_count > 0;
}

static int add_blocks(struct builder *builder)
{
	struct count_graph *graph = &builder->graph;

	for (uint32_t b = 0; b < builder->cfg->block_count; b++) {
		graph->node_of[b] = COUNT_NONE;
		if (!is_reached(&builder->cfg->blocks[b]))
			continue;
		graph->node_of[b] = graph->node_count;
		if (count_graph_add_block(builder, b) < 0)
			return -ENOMEM;
	}
	/* Edges of returning calls were added before their destination nodes. */
	for (uint32_t e = 0; e < graph->edge_count; e++) {
		if (graph->edges[e].kind == COUNT_BACK)
			graph->nodes[graph->edges[e].to].in_count++;
	}
	return 0;
}

static uint32_t last_node(const struct builder *builder, uint32_t block)
{
	const struct count_graph *graph = &builder->graph;
	uint32_t node = graph->node_of[block];

	while (node + 1 < graph->node_count && graph->nodes[node + 1].block == block)
		node++;
	return node;
}

/* Indirect jumps with a common target get the same root. */
static void join_hubs(struct builder *builder)
{
	const struct cfg *cfg = builder->cfg;
	uint32_t count = cfg->block_count;

	/* hub[b]: block b as a target; hub[count + b]: block b as the source of a jump */
	disjoint_sets_init(builder->hub, 2 * count);
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (edge->kind == CFG_EDGE_SWITCH && edge->from < count && edge->to < count)
			disjoint_sets_join(builder->hub, edge->to, count + edge->from);
	}
}

static enum count_edge_kind count_graph_kind_of(const struct cfg_edge *edge)
{
	switch (edge->kind) {
	case CFG_EDGE_ENTRY:
		return COUNT_ENTER;
	case CFG_EDGE_HANDLER:
		return COUNT_CATCH;
	case CFG_EDGE_TAKEN:
		return COUNT_TAKEN;
	case CFG_EDGE_JUMP:
		return COUNT_JUMP;
	case CFG_EDGE_NEXT:
		return COUNT_NEXT;
	default:
		return COUNT_LEAVE;
	}
}

static int add_plain_edge(struct builder *builder, uint32_t index)
{
	const struct cfg *cfg = builder->cfg;
	const struct cfg_edge *edge = &cfg->edges[index];

	return count_graph_add_edge(
		&builder->graph,
		(struct count_edge){
			.from = edge->from < cfg->block_count ? last_node(builder, edge->from)
							      : COUNT_OUTSIDE,
			.to = edge->to < cfg->block_count ? builder->graph.node_of[edge->to]
							  : COUNT_OUTSIDE,
			.cfg_edge = index,
			.weight = builder->guess.edge[index],
			.kind = count_graph_kind_of(edge),
		});
}

/* Numbers of jumps and nodes of hubs, by root. */
struct hubs {
	uint32_t *node;
	uint32_t *jumps;
	uint32_t *seen; /* for each block, and each root's outside: edge number + 1 */
};

static int add_switch(struct builder *builder, struct hubs *hubs, uint32_t index)
{
	const struct cfg *cfg = builder->cfg;
	const struct cfg_edge *edge = &cfg->edges[index];
	uint32_t root = disjoint_sets_find(builder->hub, cfg->block_count + edge->from);
	double weight = builder->guess.block[edge->from];
	bool first_of_jump = index == cfg->blocks[edge->from].out ||
			     cfg->edges[index - 1].kind != CFG_EDGE_SWITCH;

	if (hubs->node[root] == COUNT_NONE) {
		hubs->node[root] =
			add_node(&builder->graph, (struct count_node){.block = COUNT_NONE});
		if (hubs->node[root] == COUNT_NONE)
			return -ENOMEM;
	}
	if (first_of_jump &&
	    count_graph_add_edge(&builder->graph,
				 (struct count_edge){.from = last_node(builder, edge->from),
						     .to = hubs->node[root],
						     .cfg_edge = COUNT_NONE,
						     .weight = weight,
						     .kind = COUNT_TO_HUB}) < 0)
		return -ENOMEM;
	if (hubs->seen[edge->to] != 0) {
		builder->graph.edges[hubs->seen[edge->to] - 1].weight += builder->guess.edge[index];
		return 0;
	}
	hubs->seen[edge->to] = builder->graph.edge_count + 1;
	return count_graph_add_edge(
		&builder->graph,
		(struct count_edge){.from = hubs->node[root],
				    .to = builder->graph.node_of[edge->to],
				    .cfg_edge = hubs->jumps[root] == 1 ? index : COUNT_NONE,
				    .weight = builder->guess.edge[index],
				    .kind = COUNT_FROM_HUB});
}

/* An edge that leaves the procedure by an indirect jump comes from the hub as well. */
static bool is_of_jump(const struct cfg *cfg, const struct cfg_edge *edge)
{
	const struct cfg_block *block;

	if (edge->from >= cfg->block_count)
		return false;
	block = &cfg->blocks[edge->from];
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		if (cfg->edges[e].kind == CFG_EDGE_SWITCH)
			return edge->kind != CFG_EDGE_SWITCH;
	}
	return false;
}

static int add_leaving_jump(struct builder *builder, const struct hubs *hubs, uint32_t index)
{
	const struct cfg_edge *edge = &builder->cfg->edges[index];
	uint32_t root = disjoint_sets_find(builder->hub, builder->cfg->block_count + edge->from);

	if (hubs->seen[builder->cfg->block_count + root])
		return 0;
	hubs->seen[builder->cfg->block_count + root] = 1;
	return count_graph_add_edge(
		&builder->graph,
		(struct count_edge){.from = hubs->node[root],
				    .to = COUNT_OUTSIDE,
				    .cfg_edge = hubs->jumps[root] == 1 ? index : COUNT_NONE,
				    .weight = INFINITY, /* the edge cannot be counted */
				    .kind = COUNT_LEAVE});
}

static void count_jumps(const struct builder *builder, struct hubs *hubs)
{
	const struct cfg *cfg = builder->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];

		for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
			if (cfg->edges[e].kind != CFG_EDGE_SWITCH)
				continue;
			hubs->jumps[disjoint_sets_find(builder->hub, cfg->block_count + b)]++;
			break;
		}
	}
}

static int add_all_edges(struct builder *builder, struct hubs *hubs)
{
	const struct cfg *cfg = builder->cfg;
	int r = 0;

	for (uint32_t e = 0; r == 0 && e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (edge->from < cfg->block_count && !is_reached(&cfg->blocks[edge->from]))
			continue;
		if (edge->kind == CFG_EDGE_SWITCH)
			r = add_switch(builder, hubs, e);
		else if (!is_of_jump(cfg, edge))
			r = add_plain_edge(builder, e);
	}
	for (uint32_t e = 0; r == 0 && e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (is_of_jump(cfg, edge))
			r = add_leaving_jump(builder, hubs, e);
	}
	return r;
}

static int add_edges(struct builder *builder)
{
	size_t count = builder->cfg->block_count;
	struct hubs hubs = {.node = malloc(2 * count * sizeof(*hubs.node)),
			    .jumps = calloc(2 * count, sizeof(*hubs.jumps)),
			    .seen = calloc(3 * count, sizeof(*hubs.seen))};
	int r = -ENOMEM;

	if (hubs.node != NULL && hubs.jumps != NULL && hubs.seen != NULL) {
		memset(hubs.node, 0xff, 2 * count * sizeof(*hubs.node));
		join_hubs(builder);
		count_jumps(builder, &hubs);
		r = add_all_edges(builder, &hubs);
	}
	free(hubs.node);
	free(hubs.jumps);
	free(hubs.seen);
	return r;
}

static enum count_place count_graph_place_of(const struct count_graph *graph,
					     const struct count_edge *edge)
{
	if (edge->kind == COUNT_CALL || edge->kind == COUNT_TO_HUB)
		return COUNT_AT_END;
	if (edge->from != COUNT_OUTSIDE && graph->nodes[edge->from].block != COUNT_NONE &&
	    graph->nodes[edge->from].out_count == 1)
		return COUNT_AT_END;
	if (edge->to != COUNT_OUTSIDE && graph->nodes[edge->to].in_count == 1)
		return COUNT_AT_START;
	return COUNT_ON_EDGE;
}

static int by_weight(const void *a, const void *b, void *context)
{
	const struct count_graph *graph = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	double x = graph->edges[i].weight, y = graph->edges[k].weight;

	if (x != y)
		return x > y ? -1 : 1;
	return i < k ? -1 : 1;
}

/* Kruskal's algorithm: edges that would close a cycle are chords. */
static void choose_chords(struct count_graph *graph, const uint32_t *order, uint32_t *tree)
{
	uint32_t outside = graph->node_count;

	disjoint_sets_init(tree, outside + 1);
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		struct count_edge *edge = &graph->edges[order[i]];
		uint32_t from = edge->from == COUNT_OUTSIDE ? outside : edge->from;
		uint32_t to = edge->to == COUNT_OUTSIDE ? outside : edge->to;

		if (disjoint_sets_join(tree, from, to))
			continue;
		edge->counter = graph->counter_count++;
		edge->place = count_graph_place_of(graph, edge);
	}
}

static int count_graph_choose(struct count_graph *graph)
{
	uint32_t *order = malloc((graph->edge_count + (size_t)1) * sizeof(*order));
	uint32_t *tree = calloc(graph->node_count + (size_t)1, sizeof(*tree));
	int r = -ENOMEM;

	if (order != NULL && tree != NULL) {
		for (uint32_t e = 0; e < graph->edge_count; e++)
			order[e] = e;
		qsort_r(order, graph->edge_count, sizeof(*order), by_weight, graph);
		choose_chords(graph, order, tree);
		r = 0;
	}
	free(order);
	free(tree);
	return r;
}

int count_graph_create(struct count_graph *ret, const struct cfg *cfg,
		       bool (*returns)(void *context, const struct insn *call), void *context)
{
	struct builder builder = {
		.graph = {.cfg = cfg, .node_of = calloc(cfg->block_count, sizeof(uint32_t))},
		.cfg = cfg,
		.returns = returns,
		.context = context,
		.hub = calloc(2 * (size_t)cfg->block_count, sizeof(*builder.hub)),
	};
	int r = -ENOMEM;

	if (builder.graph.node_of != NULL && builder.hub != NULL)
		r = flow_guess_create(&builder.guess, cfg);
	if (r == 0) {
		r = add_blocks(&builder);
		if (r == 0)
			r = add_edges(&builder);
		if (r == 0)
			r = count_graph_choose(&builder.graph);
	}
	flow_guess_deinit(&builder.guess);
	free(builder.hub);
	if (r < 0)
		count_graph_deinit(&builder.graph);
	else
		*ret = builder.graph;
	return r;
}

void count_graph_deinit(struct count_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	free(graph->node_of);
	*graph = (struct count_graph){0};
}
