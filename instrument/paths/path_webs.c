// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/path_webs.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/mode/disjoint_sets.h"

#define BIT(reg) (1U << (reg))
/* %rax holds the flags where they are saved. Callee-saved registers are never used. */
#define POSSIBLE (LIVENESS_SCRATCH & ~BIT(MACHINE_RAX))

/*
 * @web:  disjoint sets of nodes
 * @free: for the root of each web: registers that are unused in the whole web
 */
struct webs {
	struct path_graph *graph;
	const struct mode_procedure *procedure;
	uint32_t *web;
	uint32_t *free;
};

static bool is_needed(const struct path_graph *graph, uint32_t node)
{
	return node != PATH_NONE && !graph->known[node];
}

static bool goes_on(const struct path_graph *graph, const struct path_edge *path_edge)
{
	return path_edge->kind == PATH_ON && is_needed(graph, path_edge->from) &&
	       is_needed(graph, path_edge->to);
}

static bool is_hub(const struct webs *webs, uint32_t node)
{
	return webs->procedure->graph->nodes[node].block == COUNT_NONE;
}

/* Return the registers that a node does not write, and that are dead where it begins. */
static uint32_t free_in(const struct webs *webs, uint32_t number)
{
	const struct mode_procedure *procedure = webs->procedure;
	const struct count_node *node = &procedure->graph->nodes[number];
	const struct liveness *liveness = procedure->liveness;
	uint32_t live, free;

	if (is_hub(webs, number))
		return 0;
	live = node->count > 0 ? liveness_before(liveness, node->first)
			       : liveness->out[node->block];
	free = liveness_free_registers(liveness, live) & POSSIBLE;
	for (uint32_t i = node->first; i < node->first + node->count; i++) {
		const struct insn *insn = &procedure->cfg->insns[i];

		if (insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT)
			return 0;
		free &= ~(uint32_t)liveness_effect(insn).writes;
	}
	return free;
}

/*
 * Return true if code can be placed on an edge while the number is, or becomes, held in a register.
 */
static bool may_pass(const struct webs *webs, const struct path_edge *path_edge)
{
	switch (webs->procedure->graph->edges[path_edge->edge].kind) {
	case COUNT_ENTER:
	case COUNT_BACK:
	case COUNT_NEXT:
	case COUNT_TAKEN:
	case COUNT_JUMP:
	case COUNT_LEAVE:
		return true;
	default:
		return false;
	}
}

static void clear(struct webs *webs, uint32_t node)
{
	webs->free[disjoint_sets_find(webs->web, node)] = 0;
}

static void find_registers(struct webs *webs)
{
	const struct path_graph *graph = webs->graph;

	for (uint32_t n = 0; n < graph->node_count; n++) {
		if (!graph->known[n])
			webs->free[disjoint_sets_find(webs->web, n)] &= free_in(webs, n);
	}
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		const struct path_edge *path_edge = &graph->path_edges[w];

		if (path_edge->back != PATH_NONE || may_pass(webs, path_edge))
			continue;
		if (is_needed(graph, path_edge->from))
			clear(webs, path_edge->from);
		if (is_needed(graph, path_edge->to))
			clear(webs, path_edge->to);
	}
}

static uint8_t register_at(struct webs *webs, uint32_t node)
{
	uint32_t free;

	if (!is_needed(webs->graph, node))
		return PATH_IN_MEMORY;
	free = webs->free[disjoint_sets_find(webs->web, node)];
	return free != 0 ? (uint8_t)__builtin_ctz(free) : PATH_IN_MEMORY;
}

/* --- changes of the word -------------------------------------------------- */

/* Possible states of a word: unchanged since the procedure was called; changed since. */
enum {
	FRESH = 1,
	TOUCHED = 2,
};

/* Return the states before an edge; 0 if it has not been reached yet. */
static unsigned int state_before(const struct path_edge *path_edge, const uint8_t *states)
{
	if (path_edge->kind != PATH_START)
		return states[path_edge->from];
	return path_edge->enters ? FRESH : FRESH | TOUCHED;
}

/* Propagate the states over an edge. Return: true if there is a new state after it. */
static bool pass_path_edge(const struct webs *webs, struct path_edge *path_edge, uint8_t *states)
{
	bool changes = path_edge->change != PATH_KEEP && path_edge->writes == PATH_IN_MEMORY;
	bool left = webs->procedure->graph->edges[path_edge->edge].kind == COUNT_LEAVE;
	unsigned int state = state_before(path_edge, states), more;

	path_edge->leaves = path_edge->kind == PATH_END && left && state != FRESH;
	path_edge->takes = (changes || path_edge->leaves) && state != TOUCHED;
	if (path_edge->kind == PATH_END)
		return false;
	more = changes && state != 0 ? TOUCHED : state;
	more &= ~(unsigned int)states[path_edge->to];
	states[path_edge->to] |= (uint8_t)more;
	return more != 0;
}

/* Nodes are in the order of instructions, so this converges quickly, except for nested loops. */
static int find_changes(const struct webs *webs)
{
	struct path_graph *graph = webs->graph;
	uint8_t *states = calloc(graph->node_count + (size_t)1, sizeof(*states));
	uint32_t starts = graph->first[graph->node_count];
	bool changes = states != NULL;

	for (uint32_t w = starts; changes && w < graph->path_edge_count; w++)
		pass_path_edge(webs, &graph->path_edges[w], states);
	while (changes) {
		changes = false;
		for (uint32_t w = 0; w < starts; w++)
			changes |= pass_path_edge(webs, &graph->path_edges[w], states);
	}
	free(states);
	return states != NULL ? 0 : -ENOMEM;
}

/* --- interface ------------------------------------------------------------ */

static void find_webs(struct webs *webs, bool registers)
{
	struct path_graph *graph = webs->graph;

	disjoint_sets_init(webs->web, graph->node_count);
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		const struct path_edge *path_edge = &graph->path_edges[w];

		if (goes_on(graph, path_edge))
			disjoint_sets_join(webs->web, path_edge->from, path_edge->to);
	}
	for (uint32_t n = 0; n < graph->node_count; n++)
		webs->free[n] = registers ? POSSIBLE : 0;
	if (registers)
		find_registers(webs);
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		struct path_edge *path_edge = &graph->path_edges[w];

		path_edge->reads = register_at(webs, path_edge->from);
		path_edge->writes = register_at(webs, path_edge->to);
	}
}

int path_webs_find(struct path_graph *graph, const struct mode_procedure *procedure, bool registers)
{
	struct webs webs = {
		.graph = graph,
		.procedure = procedure,
		.web = calloc(graph->node_count + (size_t)1, sizeof(*webs.web)),
		.free = calloc(graph->node_count + (size_t)1, sizeof(*webs.free)),
	};
	int r = -ENOMEM;

	if (webs.web != NULL && webs.free != NULL) {
		find_webs(&webs, registers);
		r = find_changes(&webs);
	}
	free(webs.web);
	free(webs.free);
	return r;
}
