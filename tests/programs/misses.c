// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops, one of them with loads that miss the caches, next to other loops that run as often or
 * more. The first path by net variation must be in the loop with the misses
 * (tests/variation_kernels.sh). With -DPREFETCH its loads are prefetched, as in Perelman, Chilimbi,
 * Calder, "Variational path profiling", section 5.4.
 *
 *	misses chase|heap|join [MEGABYTES]
 *
 * Prints a sum that does not depend on prefetching.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PREFETCH
#define ASK_FOR(address) __builtin_prefetch(address)
#else
#define ASK_FOR(address) ((void)0)
#endif

static uint64_t seed = 88172645463325252U;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (memory == NULL)
		exit(2);
	return memory;
}

/* A loop as in every program, whose data are in the L1 cache. */
static uint64_t steady(uint64_t sum, size_t rounds)
{
	static uint32_t table[256];

	for (size_t i = 0; i < rounds; i++) {
		sum ^= sum << 7 ^ table[sum & 255];
		table[i & 255] += (uint32_t)sum;
	}
	return sum;
}

/* --- a list whose nodes are scattered in memory ----------------------------- */

struct node {
	struct node *next;
	struct node *ahead; /* six nodes on: known when the list is made */
	uint64_t value;
	uint64_t rest[5];
};

/* Some of the nodes are close together, most are far apart. */
static struct node *make_list(size_t count)
{
	struct node *nodes = take(count, sizeof(*nodes));
	uint32_t *order = take(count, sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t i = count - 1; i > 0; i--) {
		size_t other = draw() % (i + 1);
		uint32_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < count; i++) {
		nodes[order[i]].next = i + 1 < count ? &nodes[order[i + 1]] : NULL;
		nodes[order[i]].ahead = i + 6 < count ? &nodes[order[i + 6]] : NULL;
		nodes[order[i]].value = i;
	}
	struct node *first = &nodes[order[0]];

	free(order);
	return first;
}

__attribute__((noinline)) static uint64_t chase(const struct node *node)
{
	uint64_t sum = 0;

	for (; node != NULL; node = node->next) {
		ASK_FOR(node->ahead);
		sum = sum * 31 + node->value;
		sum ^= sum >> 7 ^ node->rest[0] ^ node->rest[1] ^ node->rest[2];
		sum *= 0x100000001b3U;
		sum ^= sum >> 9 ^ node->rest[3] ^ node->rest[4];
	}
	return sum;
}

/* --- a heap of pointers to the compared items (as in vpr) ------------------- */

struct item {
	uint64_t cost;
	uint64_t rest[7];
};

struct heap {
	struct item **all; /* indexes start at 1 */
	size_t count;
};

__attribute__((noinline)) static void sift_down(struct heap *heap)
{
	size_t from = 1, to = 2;

	while (to < heap->count) {
#ifdef PREFETCH
		if (to * 4 + 3 < heap->count) {
			ASK_FOR(&heap->all[to * 4]);
			ASK_FOR(heap->all[to * 2]);
			ASK_FOR(heap->all[to * 2 + 1]);
			ASK_FOR(heap->all[to * 2 + 2]);
			ASK_FOR(heap->all[to * 2 + 3]);
		}
#endif
		if (heap->all[to + 1]->cost < heap->all[to]->cost)
			to++;
		if (heap->all[to]->cost > heap->all[from]->cost)
			break;
		struct item *kept = heap->all[to];

		heap->all[to] = heap->all[from];
		heap->all[from] = kept;
		from = to;
		to = 2 * from;
	}
}

static uint64_t use_heap(size_t count, size_t rounds)
{
	struct heap heap = {.all = take(count + 3, sizeof(*heap.all)), .count = count};
	struct item *items = take(count + 2, sizeof(*items));
	uint64_t sum = 0;

	for (size_t i = 1; i <= count + 1; i++) {
		size_t place = (i * 2654435761U) % (count + 2);

		heap.all[i] = &items[place];
		heap.all[i]->cost = i;
	}
	for (size_t i = 0; i < rounds; i++) {
		sum = sum * 31 + heap.all[1]->cost;
		heap.all[1]->cost += draw() % count;
		sift_down(&heap);
	}
	return sum;
}

/* --- a hash join ------------------------------------------------------------ */

struct row {
	uint64_t key;
	uint64_t value;
};

struct join {
	struct row *table; /* a power of two of rows, some empty: key 0 */
	uint64_t mask;
	uint64_t *probes;
	size_t probe_count;
};

static uint64_t place_of(const struct join *join, uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15U >> 20) & join->mask;
}

__attribute__((noinline)) static uint64_t probe(const struct join *join)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < join->probe_count; i++) {
		uint64_t key = join->probes[i], at = place_of(join, key);

#ifdef PREFETCH
		if (i + 8 < join->probe_count)
			ASK_FOR(&join->table[place_of(join, join->probes[i + 8])]);
#endif
		while (join->table[at].key != key && join->table[at].key != 0)
			at = (at + 1) & join->mask;
		/* Each probe depends on the one before, as in code that follows pointers. */
		sum = (sum ^ join->table[at].value) * 0x100000001b3U;
		if (sum % 3 == 0)
			sum += join->table[at].key;
	}
	return sum;
}

static uint64_t use_join(size_t rows, size_t probes)
{
	struct join join = {.mask = 1, .probe_count = probes};

	while (join.mask < 2 * rows)
		join.mask *= 2;
	join.mask--;
	join.table = take(join.mask + 1, sizeof(*join.table));
	join.probes = take(probes, sizeof(*join.probes));
	for (size_t i = 1; i <= rows; i++) {
		uint64_t at = place_of(&join, i);

		while (join.table[at].key != 0)
			at = (at + 1) & join.mask;
		join.table[at] = (struct row){i, i * i};
	}
	for (size_t i = 0; i < probes; i++)
		join.probes[i] = 1 + draw() % rows;
	return probe(&join);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t bytes = (argc > 2 ? strtoul(argv[2], NULL, 10) : 64) << 20;
	uint64_t sum = 0;

	if (strcmp(what, "chase") == 0) {
		struct node *list = make_list(bytes / sizeof(struct node));

		for (int i = 0; i < 3; i++)
			sum += chase(list);
	} else if (strcmp(what, "heap") == 0) {
		sum = use_heap(bytes / (sizeof(struct item) + sizeof(void *)), bytes / 64);
	} else if (strcmp(what, "join") == 0) {
		sum = use_join(bytes / 64, bytes / 16);
	} else {
		return 2;
	}
	printf("%s %016llx %016llx\n", what, (unsigned long long)sum,
	       (unsigned long long)steady(sum, bytes / 8));
	return 0;
}
