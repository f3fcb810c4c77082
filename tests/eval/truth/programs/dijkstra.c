// SPDX-License-Identifier: GPL-2.0-only
/* Shortest paths in a random graph, with a binary heap. */
#include "tests/eval/truth/programs/program.h"

#define NODES 12000
#define DEGREE 6
#define FAR 0xffffffffU

struct arc {
	uint32_t to;
	uint32_t length;
};

struct entry {
	uint32_t distance;
	uint32_t node;
};

static struct arc arcs[NODES][DEGREE];
static uint32_t distances[NODES];
static struct entry heap[NODES * DEGREE];
static size_t heap_size;

__attribute__((noipa)) static void push(uint32_t distance, uint32_t node)
{
	size_t at = heap_size++;

	while (at > 0 && heap[(at - 1) / 2].distance > distance) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = (struct entry){distance, node};
}

__attribute__((noipa)) static struct entry pop(void)
{
	struct entry top = heap[0], last = heap[--heap_size];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap_size) {
		if (child + 1 < heap_size && heap[child + 1].distance < heap[child].distance)
			child++;
		if (heap[child].distance >= last.distance)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return top;
}

__attribute__((noipa)) static void search(uint32_t from)
{
	for (uint32_t i = 0; i < NODES; i++)
		distances[i] = FAR;
	heap_size = 0;
	distances[from] = 0;
	push(0, from);
	while (heap_size > 0) {
		struct entry e = pop();

		if (e.distance > distances[e.node])
			continue;
		for (int i = 0; i < DEGREE; i++) {
			const struct arc *arc = &arcs[e.node][i];
			uint32_t distance = e.distance + arc->length;

			if (distance < distances[arc->to]) {
				distances[arc->to] = distance;
				push(distance, arc->to);
			}
		}
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 8);
	uint64_t seed = 53, sum = 0;

	for (uint32_t i = 0; i < NODES; i++) {
		for (int k = 0; k < DEGREE; k++) {
			arcs[i][k].to = program_random(&seed) % NODES;
			arcs[i][k].length = 1 + program_random(&seed) % 1000;
		}
	}
	while (rounds-- > 0) {
		search(rounds * 17);
		for (uint32_t i = 0; i < NODES; i += 11)
			sum = sum * 31 + distances[i];
	}
	return program_end(sum);
}
