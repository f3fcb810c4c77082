// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/call_order.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"

#define NONE UINT32_MAX

/*
 * struct chain - state of a procedure
 * @cluster: the first procedure of its cluster
 * @next:    the procedure after it in its cluster, or NONE
 * @last, @bytes, @weight: of the cluster, valid in its first procedure
 */
struct chain {
	uint32_t index;
	uint32_t cluster;
	uint32_t next;
	uint32_t last;
	double bytes;
	double weight;
};

static int call_compare(const void *a, const void *b)
{
	const struct call_order_call *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

/* Set the hottest caller of each procedure, or NONE. Recursive calls do not count.
 */
static void find_callers(uint32_t *callers, size_t count, const struct call_order_call *calls,
			 size_t call_count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		callers[i] = NONE;
	for (size_t i = 0; i < call_count;) {
		const struct call_order_call *call = &calls[i];
		double sum = 0;

		if (i == 0 || calls[i - 1].callee != call->callee)
			most = 0;
		for (; i < call_count && call_compare(&calls[i], call) == 0; i++)
			sum += calls[i].count;
		if (call->caller != call->callee && sum > most) {
			most = sum;
			callers[call->callee] = call->caller;
		}
	}
}

static double density(const struct chain *chain)
{
	return chain->weight / chain->bytes;
}

static int chain_by_weight(const void *a, const void *b)
{
	const struct chain *x = *(const struct chain *const *)a;
	const struct chain *y = *(const struct chain *const *)b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int chain_by_density(const void *a, const void *b)
{
	const struct chain *x = *(const struct chain *const *)a;
	const struct chain *y = *(const struct chain *const *)b;

	if (density(x) != density(y))
		return density(x) > density(y) ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/*
 * Append the cluster that begins with @callee to the caller's. The procedures of the appended
 * cluster get the new number, so that the total is O(n * procedures in a page).
 */
static void chain_merge(struct chain *chains, uint32_t callee, uint32_t caller)
{
	struct chain *to = &chains[chains[caller].cluster];
	struct chain *from = &chains[chains[callee].cluster];

	if (from == to || from->bytes + to->bytes > CALL_ORDER_CLUSTER_BYTES)
		return;
	for (uint32_t i = from->index; i != NONE; i = chains[i].next)
		chains[i].cluster = to->index;
	chains[to->last].next = from->index;
	to->last = from->last;
	to->bytes += from->bytes;
	to->weight += from->weight;
}

static void write_order(uint32_t *ret, struct chain *chains, struct chain **sorted, size_t count)
{
	size_t clusters = 0, placed = 0;

	for (size_t i = 0; i < count; i++) {
		if (chains[i].cluster == i)
			sorted[clusters++] = &chains[i];
	}
	qsort(sorted, clusters, sizeof(struct chain *), chain_by_density);
	for (size_t i = 0; i < clusters; i++) {
		for (uint32_t j = sorted[i]->index; j != NONE; j = chains[j].next)
			ret[placed++] = j;
	}
}

int call_order_find(uint32_t *ret, const struct call_order_procedure *procedures, size_t count,
		    struct call_order_call *calls, size_t call_count)
{
	_cleanup_free_ struct chain *chains = calloc(count + 1, sizeof(*chains));
	_cleanup_free_ struct chain **sorted = calloc(count + 1, sizeof(struct chain *));
	_cleanup_free_ uint32_t *callers = calloc(count + 1, sizeof(*callers));

	if (chains == NULL || sorted == NULL || callers == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		chains[i] = (struct chain){
			.index = (uint32_t)i,
			.cluster = (uint32_t)i,
			.next = NONE,
			.last = (uint32_t)i,
			.bytes = (double)procedures[i].bytes,
			.weight = procedures[i].weight,
		};
		sorted[i] = &chains[i];
	}
	if (call_count > 0)
		qsort(calls, call_count, sizeof(*calls), call_compare);
	find_callers(callers, count, calls, call_count);
	qsort(sorted, count, sizeof(struct chain *), chain_by_weight);
	/* The order of visits is by weight of single procedures: weights of clusters change. */
	for (size_t i = 0; i < count; i++)
		ret[i] = sorted[i]->index;
	for (size_t i = 0; i < count; i++) {
		if (callers[ret[i]] != NONE)
			chain_merge(chains, ret[i], callers[ret[i]]);
	}
	write_order(ret, chains, sorted, count);
	return 0;
}
