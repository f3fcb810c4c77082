/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A growing list of an image's symbols. Among symbols at the same offset, the best name comes
 * first.
 */
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
 * symbol_list_add() - add a symbol; running out of memory is reported by symbol_list_take()
 * @bytes: sizes of 2 GiB and more are stored as 0
 */
void symbol_list_add(struct symbol_list *list, const char *name, uint64_t offset, uint64_t bytes,
		     bool global);

/**
 * symbol_list_take() - sort by offset; at the same offset, the best name comes first
 * @symbols: out: allocated array, sorted by offset
 * @names:   out: allocated memory that contains the names
 *
 * The best name is global before local, then the one with the fewest leading underscores, then one
 * without a suffix (".cold"), then the shortest, then the alphabetically first. Duplicate names at
 * an offset are removed. The list is empty afterwards.
 *
 * Return: 0 or -ENOMEM.
 */
int symbol_list_take(struct symbol_list *list, struct profile_symbol **symbols, size_t *count,
		     char **names);

#endif
