// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cycle_equivalence.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"

#define NONE UINT32_MAX

/*
 * A bracket of a node is a back edge from one of its descendants to one of its
 * ancestors. Brackets are numbered: the graph's edges first, then one capping bracket for
 * each node at most.
 */
struct bracket {
	uint32_t next; /* in the list of a node */
	uint32_t previous;
	uint32_t next_cap;     /* capping brackets that end at the same node */
	uint32_t recent_size;  /* size of the list when the bracket was last on top of it */
	uint32_t recent_class; /* and the class that it represented */
	uint32_t class;	       /* NONE: not known yet, or a capping bracket */
};

struct bracket_list {
	uint32_t top;
	uint32_t bottom;
	uint32_t size;
};

struct node {
	uint32_t order;	 /* of discovery; NONE: not reached */
	uint32_t parent; /* tree edge that leads here */
	uint32_t high;	 /* least order that a bracket of the node or of a descendant reaches. */
	uint32_t child_high;	    /* least @high of the children */
	uint32_t second_child_high; /* second least @high of the children. */
	uint32_t caps;		    /* capping brackets that end here */
	struct bracket_list list;
};

struct search {
	const struct graph_edge *edges;
	struct node *nodes;
	struct bracket *brackets;
	uint32_t *first;    /* of each node, in @incident */
	uint32_t *incident; /* edges of each node, both ends; self loops left out */
	uint32_t *order;    /* nodes in order of discovery */
	uint32_t node_count;
	uint32_t edge_count;
	uint32_t reached;
	uint32_t class_count;
};

static void search_deinit(struct search *search)
{
	free(search->nodes);
	free(search->brackets);
	free(search->first);
	free(search->incident);
	free(search->order);
}

static int search_init(struct search *search)
{
	size_t nodes = search->node_count;
	size_t edges = search->edge_count;

	search->nodes = calloc(nodes + 1, sizeof(*search->nodes));
	search->brackets = calloc(nodes + edges + 1, sizeof(*search->brackets));
	search->first = calloc(nodes + 2, sizeof(*search->first));
	search->incident = calloc(2 * edges + 1, sizeof(*search->incident));
	search->order = calloc(nodes + 1, sizeof(*search->order));
	if (search->nodes == NULL || search->brackets == NULL || search->first == NULL ||
	    search->incident == NULL || search->order == NULL)
		return -ENOMEM;
	return 0;
}

static void list_incident_edges(struct search *search)
{
	/* first[n + 1] is first a count, then the position of the next edge of n. */
	for (uint32_t e = 0; e < search->edge_count; e++) {
		if (search->edges[e].from == search->edges[e].to)
			continue;
		search->first[search->edges[e].from + 2]++;
		search->first[search->edges[e].to + 2]++;
	}
	for (uint32_t n = 0; n < search->node_count; n++)
		search->first[n + 2] += search->first[n + 1];
	for (uint32_t e = 0; e < search->edge_count; e++) {
		if (search->edges[e].from == search->edges[e].to)
			continue;
		search->incident[search->first[search->edges[e].from + 1]++] = e;
		search->incident[search->first[search->edges[e].to + 1]++] = e;
	}
}

static uint32_t other_end(const struct search *search, uint32_t edge, uint32_t node)
{
	return search->edges[edge].from == node ? search->edges[edge].to : search->edges[edge].from;
}

static void discover(struct search *search, uint32_t node, uint32_t parent)
{
	search->nodes[node].order = search->reached;
	search->nodes[node].parent = parent;
	search->order[search->reached++] = node;
}

/* Depth-first search, so that every edge outside the tree connects a node with an ancestor. */
static int discover_all(struct search *search, uint32_t root)
{
	_cleanup_free_ uint32_t *next = malloc((search->node_count + 1) * sizeof(*next));
	uint32_t node = root;

	if (next == NULL)
		return -ENOMEM;
	for (uint32_t n = 0; n < search->node_count; n++) {
		search->nodes[n].order = NONE;
		next[n] = search->first[n];
	}
	discover(search, root, NONE);
	for (;;) {
		uint32_t edge, to;

		if (next[node] == search->first[node + 1]) {
			if (node == root)
				return 0;
			node = other_end(search, search->nodes[node].parent, node);
			continue;
		}
		edge = search->incident[next[node]++];
		to = other_end(search, edge, node);
		if (search->nodes[to].order == NONE) {
			discover(search, to, edge);
			node = to;
		}
	}
}

static void list_push(struct search *search, struct bracket_list *list, uint32_t bracket)
{
	search->brackets[bracket].next = list->top;
	search->brackets[bracket].previous = NONE;
	if (list->top != NONE)
		search->brackets[list->top].previous = bracket;
	else
		list->bottom = bracket;
	list->top = bracket;
	list->size++;
}

static void list_delete(struct search *search, struct bracket_list *list, uint32_t bracket)
{
	const struct bracket *b = &search->brackets[bracket];

	if (b->next != NONE)
		search->brackets[b->next].previous = b->previous;
	else
		list->bottom = b->previous;
	if (b->previous != NONE)
		search->brackets[b->previous].next = b->next;
	else
		list->top = b->next;
	list->size--;
}

/* Put the brackets of @below on top of the brackets of @list. */
static void list_concatenate(struct search *search, struct bracket_list *list,
			     const struct bracket_list *below)
{
	if (below->size == 0)
		return;
	if (list->size == 0) {
		*list = *below;
		return;
	}
	search->brackets[below->bottom].next = list->top;
	search->brackets[list->top].previous = below->bottom;
	list->top = below->top;
	list->size += below->size;
}

/*
 * Process the back edges of a node: those that end here leave the list, those that begin here join
 * it.
 * Return: the least order that the latter reach.
 */
static uint32_t take_back_edges(struct search *search, uint32_t n)
{
	struct node *node = &search->nodes[n];
	uint32_t highest = NONE;

	for (uint32_t cap = node->caps; cap != NONE; cap = search->brackets[cap].next_cap)
		list_delete(search, &node->list, cap);
	for (uint32_t k = search->first[n]; k < search->first[n + 1]; k++) {
		uint32_t edge = search->incident[k];
		const struct node *other = &search->nodes[other_end(search, edge, n)];

		if (edge == node->parent || edge == other->parent || other->order < node->order)
			continue;
		list_delete(search, &node->list, edge);
		if (search->brackets[edge].class == NONE)
			search->brackets[edge].class = search->class_count++;
	}
	for (uint32_t k = search->first[n]; k < search->first[n + 1]; k++) {
		uint32_t edge = search->incident[k];
		const struct node *other = &search->nodes[other_end(search, edge, n)];

		if (edge == node->parent || edge == other->parent || other->order > node->order)
			continue;
		list_push(search, &node->list, edge);
		if (other->order < highest)
			highest = other->order;
	}
	return highest;
}

/* Add a capping bracket, so that the brackets of two subtrees are not taken for those of one. */
static void cap_brackets(struct search *search, uint32_t n, uint32_t highest)
{
	struct node *node = &search->nodes[n];
	uint32_t cap = search->edge_count + n;
	struct node *end;

	if (node->second_child_high >= highest || node->second_child_high >= node->order)
		return;
	end = &search->nodes[search->order[node->second_child_high]];
	search->brackets[cap].next_cap = end->caps;
	end->caps = cap;
	list_push(search, &node->list, cap);
}

/* Equivalent tree edges have the same brackets: the same topmost one and the same number. */
static void classify_tree_edge(struct search *search, const struct node *node)
{
	struct bracket *top;

	if (node->list.size == 0) {
		search->brackets[node->parent].class = search->class_count++;
		return;
	}
	top = &search->brackets[node->list.top];
	if (top->recent_size != node->list.size) {
		top->recent_size = node->list.size;
		top->recent_class = search->class_count++;
	}
	search->brackets[node->parent].class = top->recent_class;
	if (node->list.size == 1)
		top->class = top->recent_class;
}

/* Propagate a node's results to its parent, once its own list is complete. */
static void pass_to_parent(struct search *search, const struct node *node, uint32_t n)
{
	struct node *parent = &search->nodes[other_end(search, node->parent, n)];

	list_concatenate(search, &parent->list, &node->list);
	if (node->high < parent->child_high) {
		parent->second_child_high = parent->child_high;
		parent->child_high = node->high;
	} else if (node->high < parent->second_child_high) {
		parent->second_child_high = node->high;
	}
}

static void classify(struct search *search)
{
	for (uint32_t n = 0; n < search->node_count; n++) {
		struct node *node = &search->nodes[n];

		node->child_high = node->second_child_high = node->caps = NONE;
		node->list = (struct bracket_list){.top = NONE, .bottom = NONE};
	}
	for (uint32_t b = 0; b < search->edge_count + search->node_count; b++)
		search->brackets[b].class = NONE;
	for (uint32_t k = search->reached; k-- > 0;) {
		uint32_t n = search->order[k];
		struct node *node = &search->nodes[n];
		uint32_t highest = take_back_edges(search, n);

		node->high = highest < node->child_high ? highest : node->child_high;
		cap_brackets(search, n, highest);
		if (node->parent != NONE) {
			classify_tree_edge(search, node);
			pass_to_parent(search, node, n);
		}
	}
}

int cycle_equivalence_find(uint32_t *classes, uint32_t node_count, const struct graph_edge *edges,
			   uint32_t edge_count, uint32_t root)
{
	struct search search = {.edges = edges, .node_count = node_count, .edge_count = edge_count};
	int r = search_init(&search);

	if (r == 0) {
		list_incident_edges(&search);
		r = discover_all(&search, root);
	}
	if (r == 0) {
		classify(&search);
		for (uint32_t e = 0; e < edge_count; e++) {
			if (search.nodes[edges[e].from].order == NONE)
				continue;
			/* A self loop is a cycle of its own. */
			classes[e] = edges[e].from == edges[e].to ? search.class_count++
								  : search.brackets[e].class;
		}
	}
	search_deinit(&search);
	return r;
}
