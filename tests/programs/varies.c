// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program of three procedures. One varies between runs depending on the environment, though it
 * does the same work. It follows a chain through a table, and the size of the table determines the
 * cache that it is in.
 *
 *	TABLE_KB=N varies [ROUNDS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE 64
#define STEPS 20000

struct line {
	struct line *next;
	char rest[LINE - sizeof(struct line *)];
};

/* One cycle through all lines, in random order: no prefetcher can follow. */
static struct line *make_chain(size_t lines)
{
	struct line *table = aligned_alloc(LINE, lines * sizeof(*table));
	uint64_t x = 1;

	if (table == NULL)
		exit(1);
	for (size_t i = 0; i < lines; i++)
		table[i].next = &table[i];
	for (size_t i = lines - 1; i > 0; i--) {
		struct line *next = table[i].next;
		size_t j;

		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		j = (x >> 33) % i;
		table[i].next = table[j].next;
		table[j].next = next;
	}
	return table;
}

__attribute__((noinline)) struct line *follow_chain(struct line *line, unsigned int steps);
__attribute__((noinline)) struct line *follow_chain(struct line *line, unsigned int steps)
{
	while (steps-- > 0)
		line = line->next;
	return line;
}

#define STEADY(name)                                                                               \
	__attribute__((noinline)) uint64_t name(uint64_t x, unsigned int n);                       \
	uint64_t name(uint64_t x, unsigned int n)                                                  \
	{                                                                                          \
		for (; n > 0; n--)                                                                 \
			x = (x ^ x >> 7) * 0x9e3779b97f4a7c15ULL;                                  \
		return x;                                                                          \
	}

STEADY(steady_large)
STEADY(steady_small)

int main(int argc, char **argv)
{
	const char *size = getenv("TABLE_KB");
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	struct line *line = make_chain((size_t)(size != NULL ? atol(size) : 16) * 1024 / LINE);
	uint64_t x = 1;

	for (; rounds > 0; rounds--) {
		line = follow_chain(line, STEPS);
		x = steady_large(x, 6 * STEPS);
		x = steady_small(x, 2 * STEPS);
	}
	return line == NULL && x == 0;
}
