/* SPDX-License-Identifier: GPL-2.0-only */
/* A growing list of an image's symbols, the best name of each offset first. */
#ifndef DCPI_SYMBOL_LIST_H
#define DCPI_SYMBOL_LIST_H

#include <stdbool.h>

#include "db/profile.h"

struct symbol_list_entry;

/** struct symbol_list - zero-initialised is empty; fields are private. */
struct symbol_list {
	struct symbol_list_entry *entries;
	size_t count;
	size_t capacity;
	char *names;
	size_t names_bytes;
	size_t names_capacity;
	bool failed;
};

void symbol_list_deinit(struct symbol_list *list);

/**
 * symbol_list_add() - add one; running out of memory shows in symbol_list_take()
 * @bytes: of 2 GiB and more, none are kept: 0
 */
void symbol_list_add(struct symbol_list *list, const char *name, uint64_t offset, uint64_t bytes,
		     bool global);

/**
 * symbol_list_take() - sort by offset; of one offset, the best name comes first
 * @symbols: out: malloc'd array, sorted by offset
 * @names:   out: malloc'd memory that the names point into
 *
 * Best is global before local, then the name with fewest leading underscores,
 * then without a suffix (".cold"), then the shortest, then the first in the
 * alphabet. Equal names of one offset are kept once. The list is empty afterwards.
 *
 * Return: 0 or -ENOMEM.
 */
int symbol_list_take(struct symbol_list *list, struct profile_symbol **symbols, size_t *count,
		     char **names);

#endif
