// SPDX-License-Identifier: GPL-2.0-only
#include "lib/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	memcpy(array, &new, sizeof(new));
	*capacity = grown;
	return 0;
}
