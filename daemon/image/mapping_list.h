/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which image is at which addresses of one address space: a sorted array of
 * disjoint ranges, shared between address spaces until one changes it.
 */
#ifndef DCPI_MAPPING_LIST_H
#define DCPI_MAPPING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More executable mappings than any sane process has; bounds a hostile one. */
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

/** mapping_list_share() - another reference, O(1). */
struct mapping_list *mapping_list_share(struct mapping_list *list);

/**
 * mapping_list_release() - drop a reference
 *
 * Return: bytes freed, 0 if somebody else still has the list.
 */
size_t mapping_list_release(struct mapping_list *list);

/** mapping_list_bytes() - memory of a list. */
size_t mapping_list_bytes(const struct mapping_list *list);

/** mapping_list_find() - the mapping that holds an address, or NULL. O(log n). */
const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address);

/**
 * mapping_list_narrow() - leave only what is mapped as an address is
 * @start, @end: a range around the address, in and out: cut to the part of it that
 *               is in the same mapping, or in the same gap between two
 *
 * Return: the mapping that holds the address, or NULL.
 */
const struct mapping *mapping_list_narrow(const struct mapping_list *list, uint64_t address,
					  uint64_t *start, uint64_t *end);

/** enum mapping_change - what adding a mapping would do. */
enum mapping_change {
	MAPPING_SAME,	  /* the list says so already */
	MAPPING_ADDS,	  /* takes only addresses that were free or had the same contents */
	MAPPING_REPLACES, /* takes addresses of something else */
};

/** mapping_list_overlaps() - whether anything is mapped in a range; @end > @start */
bool mapping_list_overlaps(const struct mapping_list *list, uint64_t start, uint64_t end);

enum mapping_change mapping_list_change(const struct mapping_list *list,
					const struct mapping *mapping);

/**
 * mapping_list_add() - add a mapping, which replaces whatever it overlaps
 * @list:    in and out; if it is shared, @list becomes a copy
 * @mapping: start < end. Joined with neighbours that continue it
 *
 * Return: 0; -ENOSPC it would have more than MAPPINGS_MAX ranges; -ENOMEM: the list is
 * what it was, and must not be believed about that range.
 */
int mapping_list_add(struct mapping_list **list, const struct mapping *mapping);

/** mapping_list_remove() - nothing is mapped in a range any more. Return: as above. */
int mapping_list_remove(struct mapping_list **list, uint64_t start, uint64_t end);

#endif
