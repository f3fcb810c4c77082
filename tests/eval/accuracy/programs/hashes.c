// SPDX-License-Identifier: GPL-2.0-only
/* Hashing: CRC, FNV, a table with chains and one with open addressing, counted words. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096
#define SLOTS 16384
#define TEXT 60000

struct node {
	struct node *next;
	uint32_t hash;
	uint32_t count;
	char word[16];
};

static struct node *chains[BUCKETS];
static uint64_t slots[SLOTS];
static char text[TEXT];
static uint32_t crc_table[256];
static uint32_t seed = 3;

static uint32_t draw(void)
{
	seed = seed * 1664525U + 1013904223U;
	return seed >> 8;
}

static void crc_prepare(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320U ^ (c >> 1) : c >> 1;
		crc_table[i] = c;
	}
}

static uint32_t crc(const char *p, size_t n)
{
	uint32_t c = ~0U;

	while (n-- > 0)
		c = crc_table[(c ^ (uint8_t)*p++) & 255] ^ (c >> 8);
	return ~c;
}

static void text_make(void)
{
	for (size_t i = 0; i < TEXT;) {
		uint32_t rank = draw() % 2000;
		uint32_t word = rank * rank / 2000;

		for (int k = 0; k < 3 + (int)(word % 7) && i < TEXT; k++) {
			text[i++] = (char)('a' + (word + (uint32_t)k * 5) % 26);
			word /= 3;
		}
		if (i < TEXT)
			text[i++] = draw() % 9 ? ' ' : '\n';
	}
}

static uint32_t fnv(const char *word, size_t n)
{
	uint32_t h = 2166136261U;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)word[i]) * 16777619U;
	return h;
}

static void count_word(const char *word, size_t n)
{
	uint32_t h = fnv(word, n);
	struct node **at = &chains[h % BUCKETS];

	for (; *at; at = &(*at)->next) {
		if ((*at)->hash == h && strncmp((*at)->word, word, n) == 0) {
			(*at)->count++;
			return;
		}
	}
	*at = calloc(1, sizeof(**at));
	if (!*at)
		exit(2);
	(*at)->hash = h;
	(*at)->count = 1;
	memcpy((*at)->word, word, n < 15 ? n : 15);
}

static void count_words(void)
{
	size_t i = 0;

	while (i < TEXT) {
		size_t start = i;

		while (i < TEXT && text[i] >= 'a')
			i++;
		if (i > start)
			count_word(text + start, i - start);
		i++;
	}
}

static int insert(uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15ULL >> 50;

	while (slots[h] != 0 && slots[h] != key)
		h = (h + 1) % SLOTS;
	if (slots[h] == key)
		return 0;
	slots[h] = key;
	return 1;
}

static uint32_t forget(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < BUCKETS; i++) {
		while (chains[i]) {
			struct node *node = chains[i];

			sum += node->count * (node->hash & 7);
			chains[i] = node->next;
			free(node);
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint32_t sum = 0;

	crc_prepare();
	for (int r = 0; r < rounds; r++) {
		text_make();
		sum += crc(text, TEXT);
		count_words();
		memset(slots, 0, sizeof(slots));
		for (int i = 0; i < SLOTS * 3 / 4; i++)
			sum += (uint32_t)insert(1 + draw() % 100000);
		if (r % 8 == 7)
			sum += forget();
	}
	printf("%u\n", sum);
	return 0;
}
