/* SPDX-License-Identifier: GPL-2.0-only */
/* Growing arrays: a pointer, a count and a capacity that belong to the caller. */
#ifndef DCPI_ARRAY_H
#define DCPI_ARRAY_H

#include <stddef.h>

/**
 * array_reserve() - make room in a malloc'd array
 * @array:         address of the pointer to the first element; NULL if empty
 * @capacity:      elements that the array has room for; updated
 * @needed:        elements that the array must have room for
 * @element_bytes: size of one element
 *
 * Grows geometrically; existing elements are kept. Amortised O(1) per element.
 *
 * Return: 0, or -ENOMEM (the array is unchanged).
 */
int array_reserve(void *array, size_t *capacity, size_t needed, size_t element_bytes);

/**
 * array_sort() - sort an array that is nearly sorted already
 * @array:         may be NULL if @count is 0
 * @compare:       a total order: equal elements may change places
 *
 * Looks at each element of a sorted array once. Elements that are out of order are taken out,
 * sorted in the same way, and merged back. If most elements are out of order, the array is sorted
 * by qsort(), which is O(count log count).
 */
void array_sort(void *array, size_t count, size_t element_bytes,
		int (*compare)(const void *a, const void *b));

#endif
