// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/place_list.h"

#include <stdlib.h>

#include "lib/array.h"

struct place place_of(const struct image_code *code, int64_t image, uint64_t address)
{
	struct place place = {.image = image};

	if (address == 0 || image_code_offset(code, address, &place.offset) < 0)
		place.offset = 0;
	return place;
}

struct place place_of_target(const struct image_code *code, int64_t image,
			     const struct branch_count *branch)
{
	if (branch->to != UINT64_MAX)
		return place_of(code, image, branch->to);
	return (struct place){branch->to_image, branch->to_offset};
}

int place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

void *place_list_add(struct place_list *list)
{
	if (array_reserve(&list->items, &list->capacity, list->count + 1, list->bytes) < 0)
		return NULL;
	return (char *)list->items + list->count++ * list->bytes;
}

void place_list_sort(struct place_list *list)
{
	if (list->count > 0)
		qsort(list->items, list->count, list->bytes, place_compare);
}

void *place_list_find(const struct place_list *list, const struct place *place)
{
	if (list->count == 0)
		return NULL;
	return bsearch(place, list->items, list->count, list->bytes, place_compare);
}
