// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_children.h"

#include <errno.h>
#include <stdlib.h>

static struct jit_child *child_of(uint64_t value)
{
	return (struct jit_child *)(uintptr_t)value;
}

static struct jit_child *child_find(const struct jit_children *children, uint32_t pid)
{
	const uint64_t *slot = u64_map_find(&children->map, pid);

	return slot != NULL ? child_of(*slot) : NULL;
}

void jit_children_deinit(struct jit_children *children)
{
	uint64_t pid, value;
	size_t cursor = 0;

	while (u64_map_next(&children->map, &cursor, &pid, &value))
		free(child_of(value));
	u64_map_deinit(&children->map);
}

const struct jit_child *jit_children_find(const struct jit_children *children, uint32_t pid)
{
	return child_find(children, pid);
}

int jit_children_add(struct jit_children *children, uint32_t pid, const struct jit_child *child)
{
	struct jit_child *added;
	uint64_t *slot;

	if (u64_map_count(&children->map) >= JIT_CHILDREN_MAX)
		return -E2BIG;
	added = malloc(sizeof(*added));
	slot = added != NULL ? u64_map_insert(&children->map, pid) : NULL;
	if (slot == NULL) {
		free(added);
		return -ENOMEM;
	}
	free(child_of(*slot));
	*added = *child;
	*slot = (uintptr_t)added;
	return 0;
}

void jit_children_remove(struct jit_children *children, uint32_t pid)
{
	free(child_find(children, pid));
	u64_map_remove(&children->map, pid);
}

void jit_children_end(struct jit_children *children, uint32_t pid)
{
	struct jit_child *child = child_find(children, pid);

	if (child != NULL)
		child->ended = 1;
}

void jit_children_expire(struct jit_children *children)
{
	struct u64_map left = {0};
	uint64_t pid, value, *slot;
	size_t cursor = 0;

	while (u64_map_next(&children->map, &cursor, &pid, &value)) {
		struct jit_child *child = child_of(value);

		slot = child->ended < 2 ? u64_map_insert(&left, pid) : NULL;
		child->ended += child->ended > 0;
		if (slot != NULL)
			*slot = value;
		else
			free(child);
	}
	u64_map_deinit(&children->map);
	children->map = left;
}

const struct jit_child *jit_children_next(const struct jit_children *children, size_t *cursor)
{
	uint64_t pid, value;

	return u64_map_next(&children->map, cursor, &pid, &value) ? child_of(value) : NULL;
}

size_t jit_children_bytes(const struct jit_children *children)
{
	return u64_map_bytes(&children->map) +
	       u64_map_count(&children->map) * sizeof(struct jit_child);
}
