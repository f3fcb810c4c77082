// SPDX-License-Identifier: GPL-2.0-only
/* AES-128 in counter mode, byte by byte as in FIPS 197. */
#include <string.h>

#include "tests/eval/truth/programs/program.h"

#define BLOCKS 5000

static uint8_t sbox[256];

static uint8_t times2(uint8_t x)
{
	return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1b : 0));
}

static uint8_t rotate(uint8_t x, int n)
{
	return (uint8_t)(x << n | x >> (8 - n));
}

/* Compute the S-box by walking the field with a generator and its inverse. */
static void sbox_make(void)
{
	uint8_t p = 1, q = 1;

	do {
		p = (uint8_t)(p ^ times2(p));
		q ^= (uint8_t)(q << 1);
		q ^= (uint8_t)(q << 2);
		q ^= (uint8_t)(q << 4);
		if (q & 0x80)
			q ^= 0x09;
		sbox[p] = (uint8_t)(q ^ rotate(q, 1) ^ rotate(q, 2) ^ rotate(q, 3) ^ rotate(q, 4) ^
				    0x63);
	} while (p != 1);
	sbox[0] = 0x63;
}

__attribute__((noipa)) static void expand(uint8_t keys[176], const uint8_t key[16])
{
	uint8_t constant = 1;

	memcpy(keys, key, 16);
	for (int i = 16; i < 176; i += 4) {
		uint8_t t[4];

		memcpy(t, keys + i - 4, 4);
		if (i % 16 == 0) {
			uint8_t first = t[0];

			t[0] = (uint8_t)(sbox[t[1]] ^ constant);
			t[1] = sbox[t[2]];
			t[2] = sbox[t[3]];
			t[3] = sbox[first];
			constant = times2(constant);
		}
		for (int k = 0; k < 4; k++)
			keys[i + k] = keys[i + k - 16] ^ t[k];
	}
}

__attribute__((noipa)) static void substitute(uint8_t s[16])
{
	uint8_t t[16];

	for (int i = 0; i < 16; i++)
		t[i] = sbox[s[(i * 5) % 16]];
	memcpy(s, t, 16);
}

__attribute__((noipa)) static void mix(uint8_t s[16])
{
	for (int i = 0; i < 16; i += 4) {
		uint8_t first = s[i], all = s[i] ^ s[i + 1] ^ s[i + 2] ^ s[i + 3];

		for (int k = 0; k < 3; k++)
			s[i + k] ^= all ^ times2(s[i + k] ^ s[i + k + 1]);
		s[i + 3] ^= all ^ times2(s[i + 3] ^ first);
	}
}

__attribute__((noipa)) static void encrypt(uint8_t s[16], const uint8_t keys[176])
{
	for (int i = 0; i < 16; i++)
		s[i] ^= keys[i];
	for (int round = 1; round <= 10; round++) {
		substitute(s);
		if (round < 10)
			mix(s);
		for (int i = 0; i < 16; i++)
			s[i] ^= keys[16 * round + i];
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 2);
	uint8_t key[16], keys[176], block[16];
	uint64_t sum = 0;

	sbox_make();
	for (int i = 0; i < 16; i++)
		key[i] = (uint8_t)i;
	expand(keys, key);
	for (uint32_t i = 0; i < rounds * BLOCKS; i++) {
		memset(block, 0, sizeof(block));
		memcpy(block, &i, sizeof(i));
		encrypt(block, keys);
		sum = sum * 31 + block[i % 16];
	}
	return program_end(sum);
}
