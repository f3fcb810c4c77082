// SPDX-License-Identifier: GPL-2.0-only
/* Memory and branches: shortest paths with a heap, breadth-first search, union-find, all pairs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 6000
#define DEGREE 6
#define DENSE 90

struct entry {
	uint32_t distance;
	uint32_t node;
};

static uint32_t to[NODES][DEGREE], cost[NODES][DEGREE], distance[NODES], parent[NODES];
static uint32_t queue[NODES];
static struct entry heap[NODES * DEGREE + 1];
static size_t heap_count;
static uint32_t dense[DENSE][DENSE];
static uint32_t seed = 5;

static uint32_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

static void make(void)
{
	for (uint32_t i = 0; i < NODES; i++) {
		for (int k = 0; k < DEGREE; k++) {
			to[i][k] = draw() % NODES;
			cost[i][k] = 1 + draw() % 1000;
		}
	}
	for (int i = 0; i < DENSE; i++) {
		for (int j = 0; j < DENSE; j++)
			dense[i][j] = 1 + draw() % 5000;
	}
}

static void push(uint32_t d, uint32_t node)
{
	size_t i = heap_count++;

	while (i > 0 && heap[(i - 1) / 2].distance > d) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = (struct entry){d, node};
}

static struct entry pop(void)
{
	struct entry top = heap[0], last = heap[--heap_count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < heap_count) {
		if (child + 1 < heap_count && heap[child + 1].distance < heap[child].distance)
			child++;
		if (heap[child].distance >= last.distance)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return top;
}

static uint32_t dijkstra(uint32_t from)
{
	uint32_t sum = 0;

	memset(distance, 0xff, sizeof(distance));
	distance[from] = 0;
	push(0, from);
	while (heap_count > 0) {
		struct entry e = pop();

		if (e.distance > distance[e.node])
			continue;
		sum += e.distance;
		for (int k = 0; k < DEGREE; k++) {
			uint32_t next = to[e.node][k], d = e.distance + cost[e.node][k];

			if (d < distance[next]) {
				distance[next] = d;
				push(d, next);
			}
		}
	}
	return sum;
}

static uint32_t breadth(uint32_t from)
{
	size_t head = 0, tail = 0;

	memset(distance, 0xff, sizeof(distance));
	distance[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t node = queue[head++];

		for (int k = 0; k < DEGREE; k++) {
			if (distance[to[node][k]] == UINT32_MAX) {
				distance[to[node][k]] = distance[node] + 1;
				queue[tail++] = to[node][k];
			}
		}
	}
	return distance[queue[tail - 1]];
}

static uint32_t root(uint32_t node)
{
	while (parent[node] != node) {
		parent[node] = parent[parent[node]];
		node = parent[node];
	}
	return node;
}

static uint32_t components(void)
{
	uint32_t left = NODES;

	for (uint32_t i = 0; i < NODES; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t a = root(i), b = root(to[i][i % DEGREE]);

		if (a != b) {
			parent[a] = b;
			left--;
		}
	}
	return left;
}

static uint32_t all_pairs(void)
{
	for (int k = 0; k < DENSE; k++) {
		for (int i = 0; i < DENSE; i++) {
			for (int j = 0; j < DENSE; j++) {
				if (dense[i][k] + dense[k][j] < dense[i][j])
					dense[i][j] = dense[i][k] + dense[k][j];
			}
		}
	}
	return dense[3][7];
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint32_t sum = 0;

	for (int r = 0; r < rounds; r++) {
		make();
		sum += dijkstra(draw() % NODES) + breadth(draw() % NODES) + components() +
		       all_pairs();
	}
	printf("%u\n", sum);
	return 0;
}
