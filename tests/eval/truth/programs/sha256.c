// SPDX-License-Identifier: GPL-2.0-only
/* SHA-256 (FIPS 180-4), its constants computed from primes. */
#include <string.h>

#include "tests/eval/truth/programs/program.h"

#define BYTES 200000

static uint32_t constants[64], initial[8];
static unsigned char data[BYTES + 64];

/* The first 32 bits of the fraction of a prime's root, by bisection in integers */
static uint32_t fraction(uint32_t prime, int cube)
{
	unsigned __int128 low = 0, high = (unsigned __int128)32 << 32;

	while (high - low > 1) {
		unsigned __int128 middle = (low + high) / 2, power = middle * middle;

		if (cube ? power * middle > ((unsigned __int128)prime << 96)
			 : power > ((unsigned __int128)prime << 64))
			high = middle;
		else
			low = middle;
	}
	return (uint32_t)low;
}

static void constants_make(void)
{
	int count = 0;

	for (uint32_t n = 2; count < 64; n++) {
		int prime = 1;

		for (uint32_t d = 2; d * d <= n; d++)
			prime &= n % d != 0;
		if (!prime)
			continue;
		if (count < 8)
			initial[count] = fraction(n, 0);
		constants[count++] = fraction(n, 1);
	}
}

static inline uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

__attribute__((noipa)) static void schedule(uint32_t w[64], const unsigned char *p)
{
	for (int i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

__attribute__((noipa)) static void compress(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], s[8];

	schedule(w, block);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t e = s[4], a = s[0];
		uint32_t t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & s[5]) ^ (~e & s[6])) + constants[i] + w[i];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		s[7] = s[6];
		s[6] = s[5];
		s[5] = e;
		s[4] = s[3] + t1;
		s[3] = s[2];
		s[2] = s[1];
		s[1] = a;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 5);
	uint64_t seed = 43, sum = 0;
	uint32_t state[8];

	constants_make();
	for (int i = 0; i < BYTES; i++)
		data[i] = (unsigned char)program_random(&seed);
	while (rounds-- > 0) {
		memcpy(state, initial, sizeof(state));
		for (int i = 0; i + 64 <= BYTES; i += 64)
			compress(state, data + i);
		data[rounds]++;
		sum = sum * 31 + state[0] + state[7];
	}
	return program_end(sum);
}
