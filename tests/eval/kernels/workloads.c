// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small programs with a known cause of waiting, in one procedure each. They were written after the
 *rules that find causes, and measured once before any change (docs/accuracy.md).
 *
 *	workloads --list              print the names
 *	workloads NAME SECONDS        run one for about this CPU time
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEMORY_BYTES ((size_t)128 << 20)
#define BUCKETS ((size_t)1 << 22)
#define PARTICLES (MEMORY_BYTES / sizeof(struct particle))
#define NODES (MEMORY_BYTES / sizeof(struct node))
#define BODIES 256
#define PAGE_BYTES ((size_t)4096)
#define PAGES 8192

#define PROCEDURE static __attribute__((noinline, noipa)) unsigned long

struct bucket {
	uint64_t key, customer, amount, unused;
};

/* Only one member is read: its line has three others. */
struct particle {
	double mass, position[3], speed[3], unused[25];
};

struct node {
	struct node *next;
	uint64_t value;
};

struct header {
	uint8_t bytes[8];
};

static unsigned char *memory;
static uint16_t page_order[PAGES];
static double bodies[BODIES];
static volatile unsigned int lock;
static volatile unsigned long sink;

static uint64_t random_next(void)
{
	static uint64_t state = 88172645463325252U;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* The build side of the join does not fit any cache. */
PROCEDURE orders_join(unsigned long count)
{
	const struct bucket *table = (const struct bucket *)memory;
	unsigned long sum = 0;

	for (unsigned long order = 0; order < count; order++) {
		uint64_t key = random_next();
		const struct bucket *bucket = &table[key % BUCKETS];

		if (bucket->key != key)
			sum += bucket->amount;
	}
	return sum;
}

PROCEDURE particles_mass(unsigned long count)
{
	const struct particle *particles = (const struct particle *)memory;
	double sum = 0;

	for (unsigned long i = 0; i < count; i++)
		sum += particles[i % PARTICLES].mass;
	return (unsigned long)sum;
}

/* Each force needs a square root and a division, which wait for one another. */
PROCEDURE gravity(unsigned long count)
{
	double position = 1, speed = 0;

	for (unsigned long i = 0; i < count; i++) {
		double distance = sqrt(position * position + bodies[i % BODIES]);

		speed = speed / 2 + bodies[i % BODIES] / (distance * distance);
		position += speed;
		position /= 1 + fabs(position);
	}
	return (unsigned long)(1000 * position);
}

/* After sorting, nodes follow one another in memory. */
PROCEDURE nodes_sum(unsigned long count)
{
	static const struct node *node;
	unsigned long sum = 0;

	if (node == NULL)
		node = (const struct node *)memory;
	for (unsigned long i = 0; i < count; i++) {
		sum += node->value;
		node = node->next;
	}
	return sum;
}

PROCEDURE frame_copy(unsigned long count)
{
	const uint64_t *from = (const uint64_t *)memory;
	uint64_t *to = (uint64_t *)(memory + MEMORY_BYTES / 2);
	size_t words = MEMORY_BYTES / 16;

	for (unsigned long i = 0; i < count; i++)
		to[i % words] = from[i % words] + i;
	return to[0];
}

/* A header is stored byte by byte, and loaded as one word. */
PROCEDURE headers_parse(unsigned long count)
{
	static struct header header;
	unsigned long word = 0;

	for (unsigned long i = 0; i < count; i++) {
		volatile uint8_t *bytes = header.bytes;

		bytes[0] = (uint8_t)word;
		bytes[1] = (uint8_t)i;
		bytes[4] = (uint8_t)(i >> 8);
		word += *(volatile uint64_t *)header.bytes;
	}
	return word;
}

/* One line of each page: few enough for the second cache, too many for the first TLB. */
PROCEDURE pages_gather(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		size_t page = page_order[(i + sum) % PAGES];

		sum += memory[page * PAGE_BYTES + page % 64 * 64];
	}
	return sum;
}

/* No other thread takes the lock. */
PROCEDURE counter_locked(unsigned long count)
{
	static unsigned long counter;

	for (unsigned long i = 0; i < count; i++) {
		while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
			;
		counter += i;
		__atomic_store_n(&lock, 0, __ATOMIC_SEQ_CST);
	}
	return counter;
}

/* --- run ---------------------------------------------------------------------- */

static void table_make(void)
{
	for (size_t i = 0; i < MEMORY_BYTES; i += PAGE_BYTES)
		memory[i] = (unsigned char)(i >> 20);
}

static void nodes_make(void)
{
	struct node *nodes = (struct node *)memory;

	for (size_t i = 0; i < NODES; i++)
		nodes[i] = (struct node){&nodes[(i + 1) % NODES], i};
}

static void pages_make(void)
{
	for (size_t i = 0; i < PAGES; i++)
		page_order[i] = (uint16_t)i;
	for (size_t i = PAGES - 1; i > 0; i--) {
		size_t other = random_next() % (i + 1);
		uint16_t page = page_order[i];

		page_order[i] = page_order[other];
		page_order[other] = page;
		memory[i * PAGE_BYTES + i % 64 * 64] = 0;
	}
}

static void bodies_make(void)
{
	for (size_t i = 0; i < BODIES; i++)
		bodies[i] = 1 + (double)i / BODIES;
}

/* @count: of one call, which takes some milliseconds */
static const struct workload {
	const char *name;
	void (*make)(void);
	unsigned long (*run)(unsigned long count);
	unsigned long count;
} workloads[] = {
	{"orders_join", table_make, orders_join, 100000},
	{"particles_mass", table_make, particles_mass, 500000},
	{"gravity", bodies_make, gravity, 100000},
	{"nodes_sum", nodes_make, nodes_sum, 1000000},
	{"frame_copy", table_make, frame_copy, MEMORY_BYTES / 16},
	{"headers_parse", table_make, headers_parse, 200000},
	{"pages_gather", pages_make, pages_gather, 200000},
	{"counter_locked", table_make, counter_locked, 200000},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++) {
		const struct workload *workload = &workloads[i];

		if (argc == 2)
			puts(workload->name);
		if (argc != 3 || strcmp(argv[1], workload->name) != 0)
			continue;
		memory = aligned_alloc(PAGE_BYTES, MEMORY_BYTES);
		if (memory == NULL)
			return 2;
		workload->make();
		for (double end = (double)clock() + strtod(argv[2], NULL) * CLOCKS_PER_SEC;
		     (double)clock() < end;)
			sink = workload->run(workload->count);
		return 0;
	}
	return argc == 2 ? 0 : 2;
}
