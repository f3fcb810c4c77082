// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/mapping_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/partition_point.h"

struct mapping_list *mapping_list_share(struct mapping_list *list)
{
	if (list != NULL)
		list->references++;
	return list;
}

size_t mapping_list_release(struct mapping_list *list)
{
	size_t bytes;

	if (list == NULL || --list->references > 0)
		return 0;
	bytes = mapping_list_bytes(list);
	free(list);
	return bytes;
}

size_t mapping_list_bytes(const struct mapping_list *list)
{
	return list != NULL ? sizeof(*list) + list->capacity * sizeof(list->mappings[0]) : 0;
}

/* Return the index of the first mapping that ends after an address. */
static uint32_t first_after(const struct mapping_list *list, uint64_t address)
{
	return list != NULL ? partition_point(0, list->count, i, list->mappings[i].end <= address)
			    : 0;
}

const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address)
{
	uint32_t i = first_after(list, address);

	if (list == NULL || i == list->count || list->mappings[i].start > address)
		return NULL;
	return &list->mappings[i];
}

const struct mapping *mapping_list_narrow(const struct mapping_list *list, uint64_t address,
					  uint64_t *start, uint64_t *end)
{
	uint32_t i = first_after(list, address);
	const struct mapping *found = NULL;
	uint64_t low, high = UINT64_MAX;

	if (list == NULL)
		return NULL;
	low = i > 0 ? list->mappings[i - 1].end : 0;
	if (i < list->count && list->mappings[i].start <= address) {
		found = &list->mappings[i];
		low = found->start;
		high = found->end;
	} else if (i < list->count) {
		high = list->mappings[i].start;
	}
	*start = low > *start ? low : *start;
	*end = high < *end ? high : *end;
	return found;
}

static bool same_contents(const struct mapping *a, const struct mapping *b)
{
	return a->image == b->image && a->delta == b->delta;
}

enum mapping_change mapping_list_change(const struct mapping_list *list,
					const struct mapping *mapping)
{
	uint32_t first = first_after(list, mapping->start), i;

	for (i = first; list != NULL && i < list->count; i++) {
		const struct mapping *other = &list->mappings[i];

		if (other->start >= mapping->end)
			break;
		if (!same_contents(other, mapping))
			return MAPPING_REPLACES;
		if (other->start <= mapping->start && other->end >= mapping->end)
			return MAPPING_SAME;
	}
	return MAPPING_ADDS;
}

bool mapping_list_overlaps(const struct mapping_list *list, uint64_t start, uint64_t end)
{
	uint32_t first = first_after(list, start);

	return list != NULL && first < list->count && list->mappings[first].start < end;
}

/* Ensure that the list is not shared and has room for @count mappings, keeping its contents. */
static int make_own(struct mapping_list **list, uint32_t count)
{
	struct mapping_list *old = *list, *new;
	uint32_t capacity = old != NULL ? old->capacity : 0;
	bool shared = old != NULL && old->references > 1;

	if (!shared && count <= capacity)
		return 0;
	if (count > capacity)
		capacity = capacity == 0 ? 8 : capacity + capacity / 2;
	if (count > capacity)
		capacity = count;
	new = realloc(shared ? NULL : old, sizeof(*new) + capacity * sizeof(new->mappings[0]));
	if (new == NULL)
		return -ENOMEM;
	if (old == NULL)
		new->count = 0;
	if (shared) {
		new->count = old->count;
		memcpy(new->mappings, old->mappings, old->count * sizeof(old->mappings[0]));
		old->references--;
	}
	new->references = 1;
	new->capacity = capacity;
	*list = new;
	return 0;
}

/*
 * Compute the replacement of mappings [@first, @last): the rest of the first one on the left, the
 * new one, and the rest of the last one on the right. Pieces with the same contents are joined.
 */
static uint32_t build_pieces(struct mapping pieces[3], const struct mapping_list *list,
			     uint32_t first, uint32_t last, const struct mapping *mapping)
{
	struct mapping new = *mapping;
	uint32_t count = 0;

	if (first < last) {
		const struct mapping *left = &list->mappings[first];
		const struct mapping *right = &list->mappings[last - 1];

		if (left->start < new.start && same_contents(left, &new)) {
			new.start = left->start;
		} else if (left->start < new.start) {
			pieces[count] = *left;
			pieces[count++].end = new.start;
		}
		if (right->end > new.end && same_contents(right, &new)) {
			new.end = right->end;
		} else if (right->end > new.end) {
			pieces[count + 1] = *right;
			pieces[count + 1].start = new.end;
			pieces[count] = new;
			return count + 2;
		}
	}
	pieces[count] = new;
	return count + 1;
}

/* Replace mappings [@first, @last) by @n pieces. */
static int replace(struct mapping_list **list, uint32_t first, uint32_t last,
		   const struct mapping *pieces, uint32_t n)
{
	uint32_t old = *list != NULL ? (*list)->count : 0, count = old - (last - first) + n;
	int result;

	if (count > MAPPINGS_MAX)
		return -ENOSPC;
	result = make_own(list, count);
	if (result < 0)
		return result;
	memmove((*list)->mappings + first + n, (*list)->mappings + last,
		(old - last) * sizeof((*list)->mappings[0]));
	memcpy((*list)->mappings + first, pieces, n * sizeof(pieces[0]));
	(*list)->count = count;
	return 0;
}

int mapping_list_add(struct mapping_list **list, const struct mapping *mapping)
{
	uint32_t first = first_after(*list, mapping->start);
	uint32_t count = *list != NULL ? (*list)->count : 0;
	uint32_t last = first, n;
	struct mapping pieces[3];

	while (last < count && (*list)->mappings[last].start < mapping->end)
		last++;
	/* Adjacent mappings with the same contents are joined as if they overlapped. */
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): @first is 0 without a list */
	if (first > 0 && (*list)->mappings[first - 1].end == mapping->start &&
	    same_contents(&(*list)->mappings[first - 1], mapping))
		first--;
	if (last < count && (*list)->mappings[last].start == mapping->end &&
	    same_contents(&(*list)->mappings[last], mapping))
		last++;
	n = build_pieces(pieces, *list, first, last, mapping);
	return replace(list, first, last, pieces, n);
}

int mapping_list_remove(struct mapping_list **list, uint64_t start, uint64_t end)
{
	uint32_t first = first_after(*list, start), last = first, n = 0;
	struct mapping pieces[2];

	while (*list != NULL && last < (*list)->count && (*list)->mappings[last].start < end)
		last++;
	if (first == last)
		return 0;
	pieces[0] = (*list)->mappings[first];
	if (pieces[0].start < start)
		pieces[n++].end = start;
	pieces[n] = (*list)->mappings[last - 1];
	if (pieces[n].end > end)
		pieces[n++].start = end;
	return replace(list, first, last, pieces, n);
}
