// SPDX-License-Identifier: GPL-2.0-only
/* 512 functions, called in random order: more code than an I-cache holds. */
#include "tests/eval/truth/programs/program.h"

#define BODY(n)                                                                                    \
	__attribute__((noipa)) static uint32_t f##n(uint32_t x, uint32_t *table)                   \
	{                                                                                          \
		uint32_t y = x * (2 * n + 1) + ((n * 8 + 7) ^ x >> 3);                             \
                                                                                                   \
		if (y & 1 << (n % 13))                                                             \
			table[y % 64] += x ^ n;                                                    \
		else                                                                               \
			table[(x + n) % 64] -= y;                                                  \
		for (x = y & 3; x > 0; x--)                                                        \
			y += table[(y + x) % 64] >> x;                                             \
		return y ^ table[n % 64] << (n % 7);                                               \
	}
#define BODY8(n)                                                                                   \
	BODY(n##0) BODY(n##1) BODY(n##2) BODY(n##3) BODY(n##4) BODY(n##5) BODY(n##6) BODY(n##7)
#define BODY64(n)                                                                                  \
	BODY8(n##0)                                                                                \
	BODY8(n##1) BODY8(n##2) BODY8(n##3) BODY8(n##4) BODY8(n##5) BODY8(n##6) BODY8(n##7)
/* The numbers are octal digits after a one. */
BODY64(10)
BODY64(11)
BODY64(12)
BODY64(13)
BODY64(14)
BODY64(15)
BODY64(16)
BODY64(17)

#define NAME8(n) f##n##0, f##n##1, f##n##2, f##n##3, f##n##4, f##n##5, f##n##6, f##n##7
#define NAME64(n)                                                                                  \
	NAME8(n##0), NAME8(n##1), NAME8(n##2), NAME8(n##3), NAME8(n##4), NAME8(n##5), NAME8(n##6), \
		NAME8(n##7)

static uint32_t (*const functions[])(uint32_t x, uint32_t *table) = {
	NAME64(10), NAME64(11), NAME64(12), NAME64(13),
	NAME64(14), NAME64(15), NAME64(16), NAME64(17),
};

int main(int argc, char **argv)
{
	unsigned int calls = 400000 * program_rounds(argc, argv, 3);
	uint32_t table[64] = {0}, x = 1;
	uint64_t seed = 67, sum = 0;

	while (calls-- > 0) {
		uint32_t a = program_random(&seed) % 512, b = program_random(&seed) % 512;

		x = functions[a < b ? a : b](x, table); /* low indexes more often */
		sum = sum * 31 + x;
	}
	return program_end(sum);
}
