// SPDX-License-Identifier: GPL-2.0-only
/* Merge sort of a linked list, bottom up. */
#include "tests/eval/truth/programs/program.h"

#define N 60000
#define BINS 24

struct node {
	struct node *next;
	uint32_t key;
	uint32_t value;
};

static struct node nodes[N];

__attribute__((noipa)) static struct node *merge(struct node *a, struct node *b)
{
	struct node *head = NULL, **tail = &head;

	while (a && b) {
		struct node **smaller = a->key <= b->key ? &a : &b;

		*tail = *smaller;
		tail = &(*smaller)->next;
		*smaller = (*smaller)->next;
	}
	*tail = a ? a : b;
	return head;
}

__attribute__((noipa)) static struct node *sort(struct node *list)
{
	struct node *bins[BINS] = {NULL}, *sorted = NULL;

	while (list) {
		struct node *one = list;
		int i = 0;

		list = list->next;
		one->next = NULL;
		for (; i < BINS - 1 && bins[i]; i++) {
			one = merge(bins[i], one);
			bins[i] = NULL;
		}
		bins[i] = bins[i] ? merge(bins[i], one) : one;
	}
	for (int i = 0; i < BINS; i++)
		sorted = merge(bins[i], sorted);
	return sorted;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 4);
	uint64_t seed = 3, sum = 0;

	while (rounds-- > 0) {
		struct node *list = NULL;

		for (uint32_t i = 0; i < N; i++) {
			nodes[i] = (struct node){list, program_random(&seed) >> 8, i};
			list = &nodes[i];
		}
		for (list = sort(list); list; list = list->next)
			sum = sum * 31 + list->key + list->value;
	}
	return program_end(sum);
}
