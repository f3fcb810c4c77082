// SPDX-License-Identifier: GPL-2.0-only
/* Functions to which compilers emit calls, for a library that has no C library. */
#include <stddef.h>
#include <stdint.h>

int memcmp(const void *a, const void *b, size_t bytes);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

int memcmp(const void *a, const void *b, size_t bytes)
{
	const uint8_t *left = a, *right = b;
	size_t i;

	for (i = 0; i < bytes; i++) {
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	}
	return 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	const uint8_t *source = from;
	uint8_t *target = to;
	size_t i;

	for (i = 0; i < bytes; i++)
		target[i] = source[i];
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	uint8_t *target = to;
	size_t i;

	for (i = 0; i < bytes; i++)
		target[i] = (uint8_t)value;
	return to;
}
