// SPDX-License-Identifier: GPL-2.0-only
/* Huffman coding of a text: a tree built with a heap, encoding, decoding. */
#include <string.h>

#include "tests/eval/truth/programs/program.h"

#define BYTES 150000
#define SYMBOLS 64

struct node {
	uint32_t weight;
	int left;
	int right;
};

static unsigned char input[BYTES], bits[BYTES * 2], output[BYTES];
static struct node nodes[2 * SYMBOLS];
static int heap[2 * SYMBOLS], heap_size, node_count;
static uint32_t codes[SYMBOLS];
static int lengths[SYMBOLS];

__attribute__((noipa)) static void push(int node)
{
	int at = heap_size++;

	while (at > 0 && nodes[heap[(at - 1) / 2]].weight > nodes[node].weight) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = node;
}

__attribute__((noipa)) static int pop(void)
{
	int top = heap[0], last = heap[--heap_size], at = 0;

	for (;;) {
		int child = 2 * at + 1;

		if (child >= heap_size)
			break;
		if (child + 1 < heap_size &&
		    nodes[heap[child + 1]].weight < nodes[heap[child]].weight)
			child++;
		if (nodes[heap[child]].weight >= nodes[last].weight)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return top;
}

static void codes_make(int node, uint32_t code, int length)
{
	if (nodes[node].left < 0) {
		codes[node] = code;
		lengths[node] = length;
		return;
	}
	codes_make(nodes[node].left, code, length + 1);
	codes_make(nodes[node].right, code | 1U << length, length + 1);
}

__attribute__((noipa)) static int tree(void)
{
	heap_size = 0;
	node_count = SYMBOLS;
	for (int i = 0; i < SYMBOLS; i++)
		nodes[i] = (struct node){1, -1, -1};
	for (int i = 0; i < BYTES; i++)
		nodes[input[i]].weight++;
	for (int i = 0; i < SYMBOLS; i++)
		push(i);
	while (heap_size > 1) {
		int a = pop(), b = pop();

		nodes[node_count] = (struct node){nodes[a].weight + nodes[b].weight, a, b};
		push(node_count++);
	}
	return pop();
}

__attribute__((noipa)) static size_t encode(void)
{
	uint64_t window = 0;
	int filled = 0;
	size_t out = 0;

	for (int i = 0; i < BYTES; i++) {
		window |= (uint64_t)codes[input[i]] << filled;
		filled += lengths[input[i]];
		while (filled >= 8) {
			bits[out++] = (unsigned char)window;
			window >>= 8;
			filled -= 8;
		}
	}
	bits[out++] = (unsigned char)window;
	return out;
}

__attribute__((noipa)) static void decode(int root)
{
	size_t bit = 0;

	for (int i = 0; i < BYTES; i++) {
		int node = root;

		while (nodes[node].left >= 0) {
			node = bits[bit / 8] >> bit % 8 & 1 ? nodes[node].right : nodes[node].left;
			bit++;
		}
		output[i] = (unsigned char)node;
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 5);
	uint64_t seed = 41, sum = 0;

	while (rounds-- > 0) {
		int root;

		for (int i = 0; i < BYTES; i++) {
			uint32_t a = program_random(&seed) % SYMBOLS;

			input[i] = (unsigned char)(a * (program_random(&seed) % SYMBOLS) / SYMBOLS);
		}
		root = tree();
		codes_make(root, 0, 0);
		sum = sum * 31 + encode();
		decode(root);
		if (memcmp(input, output, BYTES) != 0)
			return 1;
	}
	return program_end(sum);
}
