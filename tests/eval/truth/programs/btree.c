// SPDX-License-Identifier: GPL-2.0-only
/* A B-tree: random insertions, then look-ups. */
#include "tests/eval/truth/programs/program.h"

#define KEYS 15 /* maximum per node; odd */
#define N 60000

struct node {
	int count;
	int leaf;
	uint32_t keys[KEYS];
	struct node *children[KEYS + 1];
};

static struct node *root;

__attribute__((noipa)) static int position(const struct node *node, uint32_t key)
{
	int i = 0;

	while (i < node->count && node->keys[i] < key)
		i++;
	return i;
}

__attribute__((noipa)) static void split(struct node *parent, int at)
{
	struct node *left = parent->children[at], *right = program_allocate(1, sizeof(*right));
	int half = KEYS / 2;

	right->leaf = left->leaf;
	right->count = KEYS - half - 1;
	for (int i = 0; i < right->count; i++)
		right->keys[i] = left->keys[half + 1 + i];
	for (int i = 0; i <= right->count && !left->leaf; i++)
		right->children[i] = left->children[half + 1 + i];
	left->count = half;
	for (int i = parent->count; i > at; i--) {
		parent->keys[i] = parent->keys[i - 1];
		parent->children[i + 1] = parent->children[i];
	}
	parent->keys[at] = left->keys[half];
	parent->children[at + 1] = right;
	parent->count++;
}

static void insert_leaf(struct node *node, int at, uint32_t key)
{
	for (int i = node->count; i > at; i--)
		node->keys[i] = node->keys[i - 1];
	node->keys[at] = key;
	node->count++;
}

__attribute__((noipa)) static void insert(uint32_t key)
{
	struct node *node = root;

	if (root->count == KEYS) {
		node = program_allocate(1, sizeof(*node));
		node->children[0] = root;
		root = node;
		split(root, 0);
	}
	for (;;) {
		int at = position(node, key);

		if (at < node->count && node->keys[at] == key)
			return;
		if (node->leaf) {
			insert_leaf(node, at, key);
			return;
		}
		if (node->children[at]->count == KEYS) {
			split(node, at);
			if (key > node->keys[at])
				at++;
			else if (key == node->keys[at])
				return;
		}
		node = node->children[at];
	}
}

__attribute__((noipa)) static int contains(uint32_t key)
{
	const struct node *node = root;

	for (;;) {
		int at = position(node, key);

		if (at < node->count && node->keys[at] == key)
			return 1;
		if (node->leaf)
			return 0;
		node = node->children[at];
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 2);
	uint64_t seed = 11, sum = 0;

	root = program_allocate(1, sizeof(*root));
	root->leaf = 1;
	for (int i = 0; i < N; i++)
		insert(program_random(&seed) % 1000000);
	while (rounds-- > 0) {
		for (int i = 0; i < 2 * N; i++)
			sum = sum * 3 + (uint64_t)contains(program_random(&seed) % 1000000);
	}
	return program_end(sum);
}
