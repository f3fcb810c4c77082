// SPDX-License-Identifier: GPL-2.0-only
/* CRC-32, a bit at a time and by table, and Adler-32. */
#include "tests/eval/truth/programs/program.h"

#define BYTES 400000
#define POLYNOMIAL 0xedb88320U

static unsigned char data[BYTES];
static uint32_t table[256];

__attribute__((noipa)) static uint32_t crc_bits(const unsigned char *p, size_t n)
{
	uint32_t crc = ~0U;

	while (n-- > 0) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return ~crc;
}

__attribute__((noipa)) static uint32_t crc_table(const unsigned char *p, size_t n)
{
	uint32_t crc = ~0U;

	while (n-- > 0)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

__attribute__((noipa)) static uint32_t adler(const unsigned char *p, size_t n)
{
	uint32_t a = 1, b = 0;

	while (n > 0) {
		size_t chunk = n < 5552 ? n : 5552;

		n -= chunk;
		while (chunk-- > 0) {
			a += *p++;
			b += a;
		}
		a %= 65521;
		b %= 65521;
	}
	return b << 16 | a;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 6);
	uint64_t seed = 17, sum = 0;

	for (uint32_t i = 0; i < 256; i++) {
		unsigned char byte = (unsigned char)i;

		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? POLYNOMIAL : 0);
		data[i] = byte;
	}
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (unsigned char)program_random(&seed);
	while (rounds-- > 0) {
		if (crc_bits(data, BYTES / 8) != crc_table(data, BYTES / 8))
			return 1;
		sum = sum * 31 + crc_table(data, BYTES);
		sum = sum * 31 + adler(data, BYTES);
		data[rounds]++;
	}
	return program_end(sum);
}
