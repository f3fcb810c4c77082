// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/burst_switch_entries.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/clone/recursion.h"

#define FAR UINT32_MAX
/* Maximum number of calls examined to omit checks. */
#define EFFORT (UINT64_C(1) << 26)

/*
 * @callers: number of calls of each procedure
 * @distance: from the roots
 * @component: number of the strong component
 * @seen: the last search that visited the procedure
 */
struct finder {
	const struct direct_calls *calls;
	uint32_t *component;
	uint32_t *distance;
	uint32_t *queue;
	uint32_t *callers;
	uint32_t *seen;
	uint64_t effort;
};

static bool is_leaf(const struct direct_calls *calls, uint32_t node)
{
	return calls->graph.first[node] == calls->graph.first[node + 1];
}

static bool is_root(const struct finder *finder, uint32_t node)
{
	return finder->calls->outside[node] || finder->callers[node] == 0;
}

static void find_callers(struct finder *finder)
{
	const struct strong_graph *graph = &finder->calls->graph;

	for (uint32_t n = 0; n < graph->nodes; n++) {
		for (uint32_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
			if (graph->targets[e] < graph->nodes)
				finder->callers[graph->targets[e]]++;
		}
	}
}

/* Breadth-first search from the roots. */
static void find_distances(struct finder *finder)
{
	const struct strong_graph *graph = &finder->calls->graph;
	uint32_t count = 0;

	for (uint32_t n = 0; n < graph->nodes; n++) {
		finder->distance[n] = is_root(finder, n) ? 0 : FAR;
		if (is_root(finder, n))
			finder->queue[count++] = n;
	}
	for (uint32_t done = 0; done < count; done++) {
		uint32_t from = finder->queue[done];

		for (uint32_t e = graph->first[from]; e < graph->first[from + 1]; e++) {
			uint32_t to = graph->targets[e];

			if (to >= graph->nodes || finder->distance[to] != FAR)
				continue;
			finder->distance[to] = finder->distance[from] + 1;
			finder->queue[count++] = to;
		}
	}
}

/* A procedure gets a check if it is called by one of the same component that is at least as far
 * from the roots. */
static void check_recursions(const struct finder *finder, uint8_t *checked)
{
	const struct strong_graph *graph = &finder->calls->graph;

	for (uint32_t n = 0; n < graph->nodes; n++) {
		for (uint32_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
			uint32_t to = graph->targets[e];

			if (to < graph->nodes && finder->component[to] == finder->component[n] &&
			    finder->distance[n] >= finder->distance[to])
				checked[to] = BURST_SWITCH_ENTRY_EACH;
		}
	}
}

/* Return true if calls lead from a procedure back to it, by procedures without a check on each
 * entry. */
static bool is_recursive(struct finder *finder, const uint8_t *checked, uint32_t node)
{
	const struct strong_graph *graph = &finder->calls->graph;
	uint32_t count = 0, from;

	finder->queue[count++] = node;
	while (count > 0) {
		from = finder->queue[--count];
		for (uint32_t e = graph->first[from]; e < graph->first[from + 1]; e++) {
			uint32_t to = graph->targets[e];

			finder->effort++;
			if (to == node)
				return true;
			if (to >= graph->nodes || checked[to] == BURST_SWITCH_ENTRY_EACH ||
			    finder->component[to] != finder->component[node] ||
			    finder->seen[to] == node + 1)
				continue;
			finder->seen[to] = node + 1;
			finder->queue[count++] = to;
		}
	}
	return false;
}

struct called {
	uint32_t node;
	uint32_t callers;
};

static int by_callers(const void *left, const void *right)
{
	const struct called *a = left, *b = right;

	if (a->callers != b->callers)
		return a->callers > b->callers ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Omit checks of recursions that contain another check, first in procedures that are called
 * most. */
static int leave_out_recursions(struct finder *finder, uint8_t *checked)
{
	uint32_t nodes = finder->calls->graph.nodes, count = 0;
	struct called *all = calloc(nodes + (size_t)1, sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	for (uint32_t n = 0; n < nodes; n++) {
		if (checked[n] == BURST_SWITCH_ENTRY_EACH)
			all[count++] = (struct called){n, finder->callers[n]};
	}
	qsort(all, count, sizeof(*all), by_callers);
	for (uint32_t i = 0; i < count && finder->effort < EFFORT; i++) {
		uint32_t node = all[i].node;

		if (!is_recursive(finder, checked, node))
			checked[node] = is_root(finder, node) ? BURST_SWITCH_ENTRY_OUTSIDE
							      : BURST_SWITCH_ENTRY_NONE;
	}
	free(all);
	return 0;
}

static int find_cycles(uint8_t *checked, const struct direct_calls *calls)
{
	size_t count = calls->graph.nodes + (size_t)1;
	struct finder finder = {
		.calls = calls,
		.component = calloc(count, sizeof(*finder.component)),
		.distance = calloc(count, sizeof(*finder.distance)),
		.queue = calloc(count, sizeof(*finder.queue)),
		.callers = calloc(count, sizeof(*finder.callers)),
		.seen = calloc(count, sizeof(*finder.seen)),
	};
	uint32_t components;
	int r = -ENOMEM;

	if (finder.component != NULL && finder.distance != NULL && finder.queue != NULL &&
	    finder.callers != NULL && finder.seen != NULL)
		r = strong_components_find(finder.component, &components, &calls->graph);
	if (r == 0) {
		find_callers(&finder);
		find_distances(&finder);
		for (uint32_t n = 0; n < calls->graph.nodes; n++)
			checked[n] = !is_leaf(calls, n) && is_root(&finder, n)
					     ? BURST_SWITCH_ENTRY_OUTSIDE
					     : BURST_SWITCH_ENTRY_NONE;
		check_recursions(&finder, checked);
		r = leave_out_recursions(&finder, checked);
	}
	free(finder.component);
	free(finder.distance);
	free(finder.queue);
	free(finder.callers);
	free(finder.seen);
	return r;
}

int burst_switch_entries_find(uint8_t *checked, const struct direct_calls *calls,
			      enum burst_switch_entries which)
{
	if (which == BURST_SWITCH_ENTRIES_CYCLES)
		return find_cycles(checked, calls);
	for (uint32_t n = 0; n < calls->graph.nodes; n++)
		checked[n] = which == BURST_SWITCH_ENTRIES_ALL ||
					     (which == BURST_SWITCH_ENTRIES_CALLERS &&
					      !is_leaf(calls, n))
				     ? BURST_SWITCH_ENTRY_EACH
				     : BURST_SWITCH_ENTRY_NONE;
	return 0;
}

/* --- of an image ---------------------------------------------------------- */

static bool is_cloned(const struct recursion *recursion, uint32_t node)
{
	return node < recursion->candidates->count && !recursion->candidates->all[node].kept;
}

/* Calls by a procedure that is not cloned are calls from outside. Its other edges are not
 * followed. */
static void leave_out(const struct recursion *recursion, bool *outside, uint32_t *targets)
{
	uint32_t nodes = (uint32_t)recursion->candidates->count + 1;

	for (uint32_t n = 0; n < nodes; n++) {
		for (uint32_t e = recursion->first[n]; e < recursion->first[n + 1]; e++) {
			uint32_t to = recursion->targets[e];

			if (!is_cloned(recursion, n))
				outside[to] = true;
			targets[e] = is_cloned(recursion, n) && is_cloned(recursion, to)
					     ? to
					     : UINT32_MAX;
		}
	}
}

int burst_switch_entries_of_image(uint8_t *checked, const struct recursion *recursion,
				  enum burst_switch_entries which)
{
	uint32_t nodes = (uint32_t)recursion->candidates->count + 1;
	uint32_t *targets = calloc(recursion->first[nodes] + (size_t)1, sizeof(*targets));
	bool *outside = calloc(nodes, sizeof(*outside));
	struct direct_calls calls = {
		.graph = {.first = recursion->first, .targets = targets, .nodes = nodes - 1},
		.outside = outside,
	};
	int r = -ENOMEM;

	if (targets != NULL && outside != NULL) {
		leave_out(recursion, outside, targets);
		r = burst_switch_entries_find(checked, &calls, which);
	}
	free(targets);
	free(outside);
	return r;
}
