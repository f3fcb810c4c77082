// SPDX-License-Identifier: GPL-2.0-only
/* Walk a random cycle through more memory than caches hold, and a short one. */
#include "tests/eval/truth/programs/program.h"

#define LONG 60000
#define SHORT 200

struct link {
	struct link *next;
	uint64_t value;
	uint64_t rest[6];
};

static struct link links[LONG];
static uint32_t order[LONG];

static void cycle_make(uint32_t n, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = program_random(&seed) % (i + 1), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (uint32_t i = 0; i < n; i++) {
		links[order[i]].next = &links[order[(i + 1) % n]];
		links[order[i]].value = order[i];
	}
}

__attribute__((noipa)) static uint64_t walk(const struct link *at, uint64_t steps)
{
	uint64_t sum = 0;

	while (steps-- > 0) {
		sum += at->value;
		if (at->value & 1)
			sum ^= steps;
		at = at->next;
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 3);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		cycle_make(LONG, i);
		sum = sum * 31 + walk(links, 300000);
		cycle_make(SHORT, i);
		sum = sum * 31 + walk(links, 2000000);
	}
	return program_end(sum);
}
