// SPDX-License-Identifier: GPL-2.0-only
/* Many kinds of code with branches: sorting, hashing, strings, dispatch. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ITEMS = 300,
	SLOTS = 128
};

struct item {
	char name[16];
	uint32_t key;
	struct item *next;
};

static struct item items[ITEMS];
static struct item *slots[SLOTS];

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : strcmp(x->name, y->name);
}

static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261U;

	while (*text != '\0')
		h = (h ^ (uint8_t)*text++) * 16777619U;
	return h;
}

static uint64_t dispatch(const uint8_t *code, size_t count, uint64_t value)
{
	size_t i;

	for (i = 0; i < count; i++) {
		switch (code[i] % 9) {
		case 0:
			value += i;
			break;
		case 1:
			value *= 3;
			break;
		case 2:
			value ^= value >> 7;
			break;
		case 3:
			value = value / (i + 1) + value % 13;
			break;
		case 4:
			value -= code[i];
			break;
		case 5:
			value = (uint64_t)((int64_t)value >> 3);
			break;
		case 6:
			value = value << 5 | value >> 59;
			break;
		case 7:
			if ((int32_t)value < (int32_t)(i * 1000))
				value = ~value;
			break;
		default:
			value += (value & 0xff00) >> 8;
			break;
		}
	}
	return value;
}

static unsigned int depth(unsigned int n)
{
	return n < 2 ? n : depth(n - 1) + depth(n - 2) % 7;
}

static void fill(uint32_t seed)
{
	uint32_t i;

	memset(slots, 0, sizeof(slots));
	for (i = 0; i < ITEMS; i++) {
		seed = seed * 1103515245U + 12345;
		snprintf(items[i].name, sizeof(items[i].name), "n%u", seed >> 12);
		items[i].key = seed >> 24;
		items[i].next = slots[hash(items[i].name) % SLOTS];
		slots[hash(items[i].name) % SLOTS] = &items[i];
	}
}

static int found(const char *name)
{
	const struct item *item;

	for (item = slots[hash(name) % SLOTS]; item != NULL; item = item->next) {
		if (strcmp(item->name, name) == 0)
			return 1;
	}
	return 0;
}

int main(void)
{
	uint64_t sum = 0;
	uint32_t round, i;

	for (round = 0; round < 1000; round++) {
		fill(round);
		for (i = 0; i < ITEMS; i += 3)
			sum += (uint64_t)found(items[i].name);
		sum += dispatch((const uint8_t *)items, 500, round) + depth(10);
		qsort(items, ITEMS, sizeof(items[0]), compare);
		sum += (uint64_t)((double)sum / 3.5 > round * 2.0);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
