/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of one size that is used again and again: a fifth of what it takes to go
 * through malloc(), whose own such lists are seven long.
 */
#ifndef DCPI_SPARE_LIST_H
#define DCPI_SPARE_LIST_H

#include <stddef.h>
#include <stdlib.h>

/** struct spare_list - zeroed: empty; @first: each begins with where the next one is */
struct spare_list {
	void *first;
	size_t count;
};

/** spare_list_take() - Return: @bytes of any contents, or NULL. */
static inline void *spare_list_take(struct spare_list *list, size_t bytes)
{
	void *taken = list->first;

	if (taken == NULL)
		return malloc(bytes);
	list->first = *(void **)taken;
	list->count--;
	return taken;
}

/** spare_list_give() - no longer needed; freed if there are @max. */
static inline void spare_list_give(struct spare_list *list, void *given, size_t max)
{
	if (list->count >= max) {
		free(given);
		return;
	}
	*(void **)given = list->first;
	list->first = given;
	list->count++;
}

static inline void spare_list_deinit(struct spare_list *list)
{
	while (list->first != NULL)
		free(spare_list_take(list, 0));
}

#endif
