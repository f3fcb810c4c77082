/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The images in one address space: a sorted array of disjoint ranges, shared between address spaces
 * until one of them changes it.
 */
#ifndef DCPI_MAPPING_LIST_H
#define DCPI_MAPPING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More executable mappings than a normal process has; limits a hostile one. */
#define MAPPINGS_MAX 16384

/**
 * struct mapping - a range of addresses
 * @start: first address
 * @end:   first address after it
 * @delta: offset in the image of an address, minus the address (modulo 2^64)
 * @image: number in the image table
 */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t delta;
	uint32_t image;
};

/** struct mapping_list - reference-counted; NULL is an empty list. */
struct mapping_list {
	uint32_t references;
	uint32_t count;
	uint32_t capacity;
	struct mapping mappings[];
};

/** mapping_list_share() - take another reference, O(1). */
struct mapping_list *mapping_list_share(struct mapping_list *list);

/**
 * mapping_list_release() - drop a reference
 *
 * Return: bytes freed, 0 if there are other references to the list.
 */
size_t mapping_list_release(struct mapping_list *list);

/** mapping_list_bytes() - return the memory of a list. */
size_t mapping_list_bytes(const struct mapping_list *list);

/** mapping_list_find() - return the mapping that contains an address, or NULL. O(log n). */
const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address);

/**
 * mapping_list_narrow() - narrow a range to addresses mapped like @address
 * @start, @end: a range around the address, in and out: reduced to its part in the same mapping, or
 *               in the same unmapped area
 *
 * Return: the mapping that contains the address, or NULL.
 */
const struct mapping *mapping_list_narrow(const struct mapping_list *list, uint64_t address,
					  uint64_t *start, uint64_t *end);

/** enum mapping_change - the effect of adding a mapping. */
enum mapping_change {
	MAPPING_SAME,	  /* the list already contains it */
	MAPPING_ADDS,	  /* uses only addresses that were free or had the same contents */
	MAPPING_REPLACES, /* replaces other contents */
};

/** mapping_list_overlaps() - return true if anything is mapped in a range; @end > @start */
bool mapping_list_overlaps(const struct mapping_list *list, uint64_t start, uint64_t end);

enum mapping_change mapping_list_change(const struct mapping_list *list,
					const struct mapping *mapping);

/**
 * mapping_list_add() - add a mapping, replacing everything that it overlaps
 * @list:    in and out; if it is shared, @list becomes a copy
 * @mapping: start < end. Joined with adjacent mappings that continue it
 *
 * Return: 0; -ENOSPC if it would have more than MAPPINGS_MAX ranges; -ENOMEM. After an error the
 * list is unchanged, and invalid in that range.
 */
int mapping_list_add(struct mapping_list **list, const struct mapping *mapping);

/** mapping_list_remove() - remove all mappings in a range. Return: as above. */
int mapping_list_remove(struct mapping_list **list, uint64_t start, uint64_t end);

#endif
