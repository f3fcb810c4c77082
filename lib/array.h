/* SPDX-License-Identifier: GPL-2.0-only */
/* Growing arrays: a pointer, a count and a capacity of the caller's. */
#ifndef DCPI_ARRAY_H
#define DCPI_ARRAY_H

#include <stddef.h>

/**
 * array_reserve() - make room in a malloc'd array
 * @array:         address of the pointer to the first element; NULL if empty
 * @capacity:      elements there is room for; updated
 * @needed:        elements there must be room for
 * @element_bytes: size of one
 *
 * Grows geometrically; elements already there stay. Amortised O(1) an element.
 *
 * Return: 0, or -ENOMEM (the array is as it was).
 */
int array_reserve(void *array, size_t *capacity, size_t needed, size_t element_bytes);

/**
 * array_sort() - as qsort(), of what is nearly sorted before
 * @array:         may be NULL if @count is 0
 * @compare:       a total order: equal elements may change places
 *
 * Of sorted elements each is looked at once. Those that stand out of line are taken out,
 * sorted in the same way, and merged back; if these are most, all is qsort()'s work, which
 * is O(count log count).
 */
void array_sort(void *array, size_t count, size_t element_bytes,
		int (*compare)(const void *a, const void *b));

#endif
