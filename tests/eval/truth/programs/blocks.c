// SPDX-License-Identifier: GPL-2.0-only
/* Hashes with all rounds unrolled: large basic blocks, several of them in sequence. */
#include <string.h>

#include "tests/eval/truth/programs/program.h"

#define WORDS 16

static inline uint32_t rotate(uint32_t x, unsigned int n)
{
	return x << n | x >> (32 - n);
}

#define QUARTER(a, b, c, d)                                                                        \
	do {                                                                                       \
		a += b, d = rotate(d ^ a, 16);                                                     \
		c += d, b = rotate(b ^ c, 12);                                                     \
		a += b, d = rotate(d ^ a, 8);                                                      \
		c += d, b = rotate(b ^ c, 7);                                                      \
	} while (0)

/* Bernstein's ChaCha, two rounds */
#define ROUND(s)                                                                                   \
	do {                                                                                       \
		QUARTER(s[0], s[4], s[8], s[12]);                                                  \
		QUARTER(s[1], s[5], s[9], s[13]);                                                  \
		QUARTER(s[2], s[6], s[10], s[14]);                                                 \
		QUARTER(s[3], s[7], s[11], s[15]);                                                 \
		QUARTER(s[0], s[5], s[10], s[15]);                                                 \
		QUARTER(s[1], s[6], s[11], s[12]);                                                 \
		QUARTER(s[2], s[7], s[8], s[13]);                                                  \
		QUARTER(s[3], s[4], s[9], s[14]);                                                  \
	} while (0)

__attribute__((noipa)) static void chacha(uint32_t out[WORDS], const uint32_t in[WORDS])
{
	uint32_t s[WORDS];

	memcpy(s, in, sizeof(s));
	ROUND(s);
	ROUND(s);
	ROUND(s);
	ROUND(s);
	ROUND(s);
	ROUND(s);
	ROUND(s);
	ROUND(s);
	ROUND(s);
	ROUND(s);
	for (int i = 0; i < WORDS; i++)
		out[i] = s[i] + in[i];
}

#define STEP(f, a, b, c, d, k, n)                                                                  \
	do {                                                                                       \
		a += f(b, c, d) + x[k] + 0x5a827999U;                                              \
		a = rotate(a, n);                                                                  \
	} while (0)
#define CHOOSE(x, y, z) (((x) & (y)) | (~(x) & (z)))
#define MOST(x, y, z) (((x) & (y)) | ((x) & (z)) | ((y) & (z)))
#define ODD(x, y, z) ((x) ^ (y) ^ (z))
#define FOUR(f, k, l, m, n)                                                                        \
	do {                                                                                       \
		STEP(f, a, b, c, d, k, 3);                                                         \
		STEP(f, d, a, b, c, l, 7);                                                         \
		STEP(f, c, d, a, b, m, 11);                                                        \
		STEP(f, b, c, d, a, n, 19);                                                        \
	} while (0)

/* Similar to Rivest's MD4 */
__attribute__((noipa)) static void digest(uint32_t state[4], const uint32_t x[WORDS])
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

	FOUR(CHOOSE, 0, 1, 2, 3);
	FOUR(CHOOSE, 4, 5, 6, 7);
	FOUR(CHOOSE, 8, 9, 10, 11);
	FOUR(CHOOSE, 12, 13, 14, 15);
	FOUR(MOST, 0, 4, 8, 12);
	FOUR(MOST, 1, 5, 9, 13);
	FOUR(MOST, 2, 6, 10, 14);
	FOUR(MOST, 3, 7, 11, 15);
	FOUR(ODD, 0, 8, 4, 12);
	FOUR(ODD, 2, 10, 6, 14);
	FOUR(ODD, 1, 9, 5, 13);
	FOUR(ODD, 3, 11, 7, 15);
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

/* Population counts, by a multiplication or by folding, depending on the data */
__attribute__((noipa)) static uint32_t weigh(const uint32_t words[WORDS])
{
	uint32_t sum = 0;

	for (int i = 0; i < WORDS; i++) {
		uint32_t x = words[i];

		if (x & 1) {
			x -= x >> 1 & 0x55555555;
			x = (x & 0x33333333) + (x >> 2 & 0x33333333);
			sum += ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101U >> 24;
		} else {
			for (; x > 0xff; x >>= 8)
				sum += x & 7;
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned int blocks = 20000 * program_rounds(argc, argv, 2);
	uint32_t key[WORDS], stream[WORDS], state[4] = {1, 2, 3, 4};
	uint64_t seed = 71, sum = 0;

	for (int i = 0; i < WORDS; i++)
		key[i] = program_random(&seed);
	while (blocks-- > 0) {
		key[12]++;
		chacha(stream, key);
		digest(state, stream);
		sum += weigh(stream);
	}
	return program_end(sum * 31 + state[0] + state[3]);
}
