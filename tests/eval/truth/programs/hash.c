// SPDX-License-Identifier: GPL-2.0-only
/* Count the words of a generated text in a hash table with chains. */
#include <string.h>

#include "tests/eval/truth/programs/program.h"

#define BUCKETS 4096
#define TEXT 400000

struct word {
	struct word *next;
	uint32_t count;
	uint32_t length;
	char text[16];
};

static struct word *buckets[BUCKETS];
static char text[TEXT + 1];

static void text_make(uint64_t seed)
{
	size_t i = 0;

	while (i < TEXT) {
		uint32_t word = program_random(&seed) % 3000;

		word = word * (program_random(&seed) % 4) / 4;
		for (uint32_t x = word * 2654435761U | 1; x > 0 && i < TEXT; x /= 97)
			text[i++] = (char)('a' + x % 26);
		if (i < TEXT)
			text[i++] = ' ';
	}
}

__attribute__((noipa)) static uint32_t hash(const char *word, uint32_t length)
{
	uint32_t h = 2166136261U;

	for (uint32_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)word[i]) * 16777619U;
	return h;
}

__attribute__((noipa)) static void count(const char *word, uint32_t length)
{
	struct word **bucket = &buckets[hash(word, length) % BUCKETS], *w;

	for (w = *bucket; w; w = w->next) {
		if (w->length == length && memcmp(w->text, word, length) == 0) {
			w->count++;
			return;
		}
	}
	w = program_allocate(1, sizeof(*w));
	memcpy(w->text, word, length);
	w->length = length;
	w->count = 1;
	w->next = *bucket;
	*bucket = w;
}

__attribute__((noipa)) static void words(void)
{
	for (const char *at = text; *at;) {
		const char *end = at;

		while (*end && *end != ' ')
			end++;
		count(at, (uint32_t)(end - at));
		at = *end ? end + 1 : end;
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 6);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		text_make(i / 2);
		words();
	}
	for (int i = 0; i < BUCKETS; i++) {
		for (struct word *w = buckets[i]; w; w = w->next)
			sum = sum * 31 + w->count + w->length;
	}
	return program_end(sum);
}
