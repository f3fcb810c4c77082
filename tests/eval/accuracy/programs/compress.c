// SPDX-License-Identifier: GPL-2.0-only
/* LZ77 with hash chains, Huffman codes, move-to-front and run lengths; and decompression. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 65536
#define HASHES 4096
#define DEPTH 16

static uint8_t text[TEXT], packed[TEXT * 2], unpacked[TEXT + 300];
static int32_t head[HASHES], chain[TEXT];
static uint32_t seed = 1;

static void text_make(void)
{
	static const char *const words[] = {"profile",	   "the", "of",	    "cycle",
					    "instruction", "and", "stall",  "cache",
					    "miss",	   "a",	  "branch", "in"};

	for (size_t i = 0; i < TEXT;) {
		const char *word;

		seed = seed * 1664525U + 1013904223U;
		word = words[(seed >> 24) % 12];
		if ((seed >> 12 & 15) == 0)
			text[i++] = (uint8_t)(seed >> 16);
		while (*word && i < TEXT)
			text[i++] = (uint8_t)*word++;
		if (i < TEXT)
			text[i++] = ' ';
	}
}

static uint32_t hash_at(size_t i)
{
	uint32_t v = text[i] | (uint32_t)text[i + 1] << 8 | (uint32_t)text[i + 2] << 16;

	return v * 2654435761U >> 20;
}

static size_t longest(size_t i, size_t *from)
{
	size_t best = 0;
	int32_t at = head[hash_at(i)];

	for (int d = 0; d < DEPTH && at >= 0; d++, at = chain[at]) {
		size_t n = 0;

		while (n < 255 && i + n < TEXT && text[(size_t)at + n] == text[i + n])
			n++;
		if (n > best) {
			best = n;
			*from = (size_t)at;
		}
	}
	return best;
}

static void remember(size_t i)
{
	if (i + 2 < TEXT) {
		uint32_t h = hash_at(i);

		chain[i] = head[h];
		head[h] = (int32_t)i;
	}
}

static size_t pack(void)
{
	size_t out = 0;

	memset(head, 0xff, sizeof(head));
	for (size_t i = 0; i < TEXT;) {
		size_t from = 0, n = i + 2 < TEXT ? longest(i, &from) : 0;

		if (n >= 4) {
			size_t back = i - from;

			packed[out++] = 1;
			packed[out++] = (uint8_t)n;
			packed[out++] = (uint8_t)back;
			packed[out++] = (uint8_t)(back >> 8);
			while (n-- > 0)
				remember(i++);
		} else {
			packed[out++] = 0;
			packed[out++] = text[i];
			remember(i++);
		}
		if (out > TEXT * 2 - 8)
			break;
	}
	return out;
}

static size_t unpack(size_t bytes)
{
	size_t in = 0, out = 0;

	while (in < bytes) {
		if (packed[in] == 0) {
			unpacked[out++] = packed[in + 1];
			in += 2;
		} else {
			size_t back = packed[in + 2] | (size_t)packed[in + 3] << 8;

			for (unsigned int n = packed[in + 1]; n > 0; n--, out++)
				unpacked[out] = unpacked[out - back];
			in += 4;
		}
	}
	return out;
}

/* Return the number of bits of the Huffman-coded data. */
static uint64_t huffman(const uint8_t *data, size_t bytes)
{
	uint64_t weight[512] = {0}, total = 0;
	int live[256], count = 0;

	for (size_t i = 0; i < bytes; i++)
		weight[data[i]]++;
	for (int i = 0; i < 256; i++) {
		if (weight[i])
			live[count++] = i;
	}
	for (int next = 256; count > 1; next++) {
		for (int k = 0; k < 2; k++) {
			int least = k;

			for (int i = k + 1; i < count; i++) {
				if (weight[live[i]] < weight[live[least]])
					least = i;
			}
			int t = live[k];

			live[k] = live[least];
			live[least] = t;
		}
		weight[next] = weight[live[0]] + weight[live[1]];
		total += weight[next];
		live[0] = next;
		live[1] = live[--count];
	}
	return total;
}

static uint32_t move_to_front(const uint8_t *data, size_t bytes)
{
	uint8_t order[256];
	uint32_t runs = 0, sum = 0;

	for (int i = 0; i < 256; i++)
		order[i] = (uint8_t)i;
	for (size_t i = 0; i < bytes; i++) {
		uint8_t value = data[i], before = order[0];
		int k = 0;

		while (before != value) {
			uint8_t t = order[++k];

			order[k] = before;
			before = t;
		}
		order[0] = value;
		if (k == 0)
			runs++;
		sum += (uint32_t)k;
	}
	return sum + runs;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t sum = 0;

	for (int r = 0; r < rounds; r++) {
		size_t bytes;

		text_make();
		bytes = pack();
		if (unpack(bytes) != TEXT || memcmp(text, unpacked, TEXT) != 0)
			return 1;
		sum += bytes + huffman(packed, bytes) + move_to_front(text, TEXT);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
