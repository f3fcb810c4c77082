// SPDX-License-Identifier: GPL-2.0-only
#include "lib/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Smaller arrays use small pages, because the daemon should have little resident memory. */
#define HUGE_FROM_BYTES (8U << 20)
#define HUGE_PAGE_BYTES (2U << 20)

/* Use huge pages for large arrays, which otherwise cause most page faults. */
static void use_huge_pages(void *array, size_t bytes)
{
	uintptr_t start = (uintptr_t)array + HUGE_PAGE_BYTES - 1, end = (uintptr_t)array + bytes;

	start -= start % HUGE_PAGE_BYTES;
	if (bytes >= HUGE_FROM_BYTES)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

int array_reserve(void *array, size_t *capacity, size_t needed, size_t element_bytes)
{
	size_t grown = *capacity < 8 ? 8 : *capacity;
	size_t bytes;
	void *old, *new;

	if (needed <= *capacity)
		return 0;
	while (grown < needed) {
		if (__builtin_mul_overflow(grown, 2, &grown))
			return -ENOMEM;
	}
	if (__builtin_mul_overflow(grown, element_bytes, &bytes))
		return -ENOMEM;
	memcpy(&old, array, sizeof(old));
	new = realloc(old, bytes);
	if (new == NULL)
		return -ENOMEM;
	use_huge_pages(new, bytes);
	memcpy(array, &new, sizeof(new));
	*capacity = grown;
	return 0;
}

/* Count the elements that are smaller than the greatest element before them. */
static size_t out_of_line(const char *array, size_t count, size_t bytes,
			  int (*compare)(const void *a, const void *b))
{
	const char *greatest = array;
	size_t out = 0;

	for (size_t i = 1; i < count; i++) {
		if (compare(greatest, array + i * bytes) <= 0)
			greatest = array + i * bytes;
		else
			out++;
	}
	return out;
}

/* Move these elements to @rest; the others are then sorted, and are moved together. */
static void take_out(char *array, size_t count, size_t bytes, char *rest,
		     int (*compare)(const void *a, const void *b))
{
	size_t kept = 1, out = 0;

	for (size_t i = 1; i < count; i++) {
		const char *element = array + i * bytes;

		if (compare(array + (kept - 1) * bytes, element) <= 0)
			memmove(array + kept++ * bytes, element, bytes);
		else
			memcpy(rest + out++ * bytes, element, bytes);
	}
}

/* Merge two sorted arrays; @array has room after its @kept elements. */
static void merge_back(char *array, size_t kept, const char *rest, size_t out, size_t bytes,
		       int (*compare)(const void *a, const void *b))
{
	while (out > 0) {
		char *to = array + (kept + out - 1) * bytes;

		if (kept > 0 && compare(array + (kept - 1) * bytes, rest + (out - 1) * bytes) > 0)
			memcpy(to, array + --kept * bytes, bytes);
		else
			memcpy(to, rest + --out * bytes, bytes);
	}
}

void array_sort(void *array, size_t count, size_t element_bytes,
		int (*compare)(const void *a, const void *b))
{
	size_t out = out_of_line(array, count, element_bytes, compare);
	char *rest;

	if (out == 0)
		return;
	rest = out <= count / 2 ? calloc(out, element_bytes) : NULL;
	if (rest == NULL) {
		qsort(array, count, element_bytes, compare);
		return;
	}
	take_out(array, count, element_bytes, rest, compare);
	array_sort(rest, out, element_bytes, compare);
	merge_back(array, count - out, rest, out, element_bytes, compare);
	free(rest);
}
