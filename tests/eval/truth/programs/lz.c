// SPDX-License-Identifier: GPL-2.0-only
/* Lempel-Ziv compression with hash chains, and decompression. */
#include <string.h>

#include "tests/eval/truth/programs/program.h"

#define BYTES 200000
#define HASHES 4096
#define WINDOW 8192
#define CHAIN 16
#define SHORTEST 4
#define LONGEST 255

static unsigned char input[BYTES + LONGEST], packed[2 * BYTES], output[BYTES];
static int32_t heads[HASHES], previous[WINDOW];

static void input_make(uint64_t seed)
{
	size_t i = 0;

	while (i < BYTES) {
		if (i > 1000 && program_random(&seed) % 3) {
			size_t from = i - 1 - program_random(&seed) % 900;
			size_t length = 3 + program_random(&seed) % 40;

			while (length-- > 0 && i < BYTES)
				input[i++] = input[from++];
		} else {
			input[i++] = (unsigned char)('a' + program_random(&seed) % 20);
		}
	}
}

static uint32_t hash(const unsigned char *p)
{
	return ((p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24) * 2654435761U) >> 20;
}

__attribute__((noipa)) static int match_length(const unsigned char *a, const unsigned char *b,
					       int most)
{
	int n = 0;

	while (n < most && a[n] == b[n])
		n++;
	return n;
}

__attribute__((noipa)) static int match_find(int at, int *distance)
{
	int best = 0, tries = CHAIN, most = BYTES - at < LONGEST ? BYTES - at : LONGEST;
	int32_t candidate = heads[hash(input + at)];

	while (candidate >= 0 && at - candidate < WINDOW && tries-- > 0) {
		int length = match_length(input + candidate, input + at, most);

		if (length > best) {
			best = length;
			*distance = at - candidate;
		}
		candidate = previous[candidate % WINDOW];
	}
	return best;
}

static void remember(int at)
{
	uint32_t h = hash(input + at);

	previous[at % WINDOW] = heads[h];
	heads[h] = at;
}

__attribute__((noipa)) static size_t compress(void)
{
	size_t out = 0;
	int at = 0;

	memset(heads, 0xff, sizeof(heads));
	while (at < BYTES) {
		int distance = 0, length = match_find(at, &distance);

		if (length >= SHORTEST) {
			packed[out++] = (unsigned char)length;
			packed[out++] = (unsigned char)distance;
			packed[out++] = (unsigned char)(distance >> 8);
			while (length-- > 0)
				remember(at++);
		} else {
			packed[out++] = 0;
			packed[out++] = input[at];
			remember(at++);
		}
	}
	return out;
}

__attribute__((noipa)) static void expand(size_t bytes)
{
	size_t in = 0, out = 0;

	while (in < bytes) {
		unsigned int length = packed[in++];
		size_t from;

		if (length == 0) {
			output[out++] = packed[in++];
			continue;
		}
		from = out - (packed[in] | packed[in + 1] << 8);
		in += 2;
		while (length-- > 0)
			output[out++] = output[from++];
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 2);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		size_t bytes;

		input_make(i);
		bytes = compress();
		expand(bytes);
		if (memcmp(input, output, BYTES) != 0)
			return 1;
		sum = sum * 31 + bytes;
	}
	return program_end(sum);
}
