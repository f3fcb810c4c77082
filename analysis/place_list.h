/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growing lists of items at places in images, with lookup by place.
 */
#ifndef DCPI_PLACE_LIST_H
#define DCPI_PLACE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/frequency/procedure_profile.h"
#include "analysis/image/image_code.h"

/** struct place - an offset in an image's file; 0: none */
struct place {
	int64_t image;
	uint64_t offset;
};

/** place_of() - return the place of an address in an image; none if it is in no part of the file */
struct place place_of(const struct image_code *code, int64_t image, uint64_t address);

/** place_of_target() - return the place of a branch's observed target */
struct place place_of_target(const struct image_code *code, int64_t image,
			     const struct branch_count *branch);

/** place_compare() - order of places, and of items that begin with a place: for qsort() */
int place_compare(const void *a, const void *b);

/**
 * struct place_list - empty if zero-initialised except for @bytes; @items are freed by free()
 * @bytes: size of an item
 */
struct place_list {
	void *items;
	size_t count;
	size_t capacity;
	size_t bytes;
};

/** place_list_add() - append an uninitialised item; NULL if out of memory */
void *place_list_add(struct place_list *list);

/** place_list_sort() - sort by place; items begin with a struct place */
void place_list_sort(struct place_list *list);

/** place_list_find() - find any of a sorted list's items with a place; NULL: none */
void *place_list_find(const struct place_list *list, const struct place *place);

#endif
