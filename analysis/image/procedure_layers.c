// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/procedure_layers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/partition_point.h"
#include "lib/symbol_name.h"

void procedure_segments_deinit(struct procedure_segments *list)
{
	free(list->segments);
	*list = (struct procedure_segments){0};
}

const struct procedure_segment *procedure_segments_find(const struct procedure_segments *list,
							uint64_t offset)
{
	size_t low = partition_point(0, list->count, i, list->segments[i].start <= offset);

	if (low == 0 || offset >= list->segments[low - 1].end)
		return NULL;
	return &list->segments[low - 1];
}

/* If names are equal, the default version comes first, a symbol without version last. */
static int compare_versions(const struct procedure_candidate *x,
			    const struct procedure_candidate *y)
{
	if (x->version == NULL || y->version == NULL)
		return (x->version == NULL) - (y->version == NULL);
	if (x->hidden != y->hidden)
		return x->hidden ? 1 : -1;
	return strcmp(x->version, y->version);
}

int procedure_layers_compare(const void *a, const void *b)
{
	const struct procedure_candidate *x = a, *y = b;
	int prefer;

	if (x->procedure.offset != y->procedure.offset)
		return x->procedure.offset < y->procedure.offset ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	prefer = symbol_name_prefer(x->procedure.name, y->procedure.name);
	if (prefer == 0)
		prefer = compare_versions(x, y);
	if (prefer != 0)
		return -prefer;
	return (x->procedure.bytes > y->procedure.bytes) -
	       (x->procedure.bytes < y->procedure.bytes);
}

static uint64_t procedure_layers_end_of(const struct procedure_candidate *candidate)
{
	return candidate->procedure.offset + candidate->procedure.bytes;
}

static int procedure_layers_append(struct procedure_segments *list, uint64_t start, uint64_t end,
				   uint32_t owner)
{
	struct procedure_segment *last = list->count > 0 ? &list->segments[list->count - 1] : NULL;

	if (start >= end)
		return 0;
	if (last != NULL && last->owner == owner && last->end == start) {
		last->end = end;
		return 0;
	}
	if (array_reserve(&list->segments, &list->capacity, list->count + 1,
			  sizeof(*list->segments)) < 0)
		return -ENOMEM;
	list->segments[list->count++] = (struct procedure_segment){start, end, owner};
	return 0;
}

/*
 * Assign bytes from @position to @limit to the candidates on the stack; the topmost one gets them
 * until it ends. Every candidate is pushed and popped once.
 */
static int unwind_stack(struct procedure_segments *list,
			const struct procedure_candidate *candidates, const uint32_t *stack,
			size_t *depth, uint64_t position, uint64_t limit)
{
	while (*depth > 0 && position < limit) {
		uint32_t top = stack[*depth - 1];
		uint64_t end = procedure_layers_end_of(&candidates[top]);
		uint64_t stop = end < limit ? end : limit;

		if (procedure_layers_append(list, position, stop, top) < 0)
			return -ENOMEM;
		if (stop > position)
			position = stop;
		if (end <= limit)
			(*depth)--;
	}
	return 0;
}

static int flatten(struct procedure_segments *list, const struct procedure_candidate *candidates,
		   size_t first, size_t end)
{
	uint32_t *stack = malloc((end - first + 1) * sizeof(*stack));
	uint64_t position = 0;
	size_t depth = 0;
	int r = stack != NULL ? 0 : -ENOMEM;

	for (size_t i = first; r == 0 && i < end; i++) {
		if (candidates[i].procedure.bytes == 0)
			continue;
		r = unwind_stack(list, candidates, stack, &depth, position,
				 candidates[i].procedure.offset);
		position = candidates[i].procedure.offset;
		stack[depth++] = (uint32_t)i;
	}
	if (r == 0)
		r = unwind_stack(list, candidates, stack, &depth, position, UINT64_MAX);
	free(stack);
	return r;
}

/* Merges @lower into the gaps of @upper. */
static int overlay(struct procedure_segments *merged, const struct procedure_segments *upper,
		   const struct procedure_segments *lower)
{
	uint64_t covered = 0; /* end of the bytes that @upper has covered so far */
	size_t u = 0;

	if (array_reserve(&merged->segments, &merged->capacity, upper->count + lower->count,
			  sizeof(*merged->segments)) < 0)
		return -ENOMEM;
	for (size_t l = 0; l < lower->count; l++) {
		struct procedure_segment rest = lower->segments[l];

		if (rest.start < covered)
			rest.start = covered;
		while (u < upper->count && upper->segments[u].start < rest.end) {
			struct procedure_segment above = upper->segments[u];

			if (procedure_layers_append(merged, rest.start, above.start, rest.owner) <
				    0 ||
			    procedure_layers_append(merged, above.start, above.end, above.owner) <
				    0)
				return -ENOMEM;
			covered = above.end;
			if (rest.start < covered)
				rest.start = covered;
			u++;
		}
		if (procedure_layers_append(merged, rest.start, rest.end, rest.owner) < 0)
			return -ENOMEM;
	}
	for (; u < upper->count; u++) {
		struct procedure_segment above = upper->segments[u];

		if (procedure_layers_append(merged, above.start, above.end, above.owner) < 0)
			return -ENOMEM;
	}
	return 0;
}

int procedure_layers_add(struct procedure_segments *list,
			 const struct procedure_candidate *candidates, size_t first, size_t end)
{
	struct procedure_segments layer = {0}, merged = {0};
	int r;

	if (first == end)
		return 0;
	r = flatten(&layer, candidates, first, end);
	if (r == 0)
		r = overlay(&merged, list, &layer);
	procedure_segments_deinit(&layer);
	if (r < 0) {
		procedure_segments_deinit(&merged);
		return r;
	}
	procedure_segments_deinit(list);
	*list = merged;
	return 0;
}
