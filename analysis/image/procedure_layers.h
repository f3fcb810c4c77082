/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overlapping procedures made disjoint: which has which bytes.
 *
 * Candidates come in layers (enum procedure_source); a layer gets only bytes
 * that those before it have left. Within a layer, the candidate that begins
 * last has a byte; among those that begin together, the preferred one.
 * Internal to procedure_table.c; O(n log n) whatever the overlaps.
 */
#ifndef DCPI_PROCEDURE_LAYERS_H
#define DCPI_PROCEDURE_LAYERS_H

#include "analysis/image/procedure_table.h"

/** struct procedure_candidate - @rank, @version, @hidden, @file: see struct elf_symbol. */
struct procedure_candidate {
	struct procedure procedure;
	unsigned int rank;
	const char *version;
	bool hidden;
	const char *file;
};

/** struct procedure_segment - bytes [@start, @end) belong to a candidate. */
struct procedure_segment {
	uint64_t start;
	uint64_t end;
	uint32_t owner;
};

/** struct procedure_segments - disjoint, ascending; zero-initialised is empty. */
struct procedure_segments {
	struct procedure_segment *segments;
	size_t count;
	size_t capacity;
};

void procedure_segments_deinit(struct procedure_segments *list);

/** procedure_segments_find() - O(log n). Return: the segment a byte is in, or NULL. */
const struct procedure_segment *procedure_segments_find(const struct procedure_segments *list,
							uint64_t offset);

/**
 * procedure_layers_compare() - order for qsort: by offset, the least preferred
 * first among those that begin together
 */
int procedure_layers_compare(const void *a, const void *b);

/**
 * procedure_layers_add() - give a layer what is still free
 * @list:       updated
 * @candidates: all; owners are indices into it
 * @first, @end: the layer, in the order of procedure_layers_compare()
 *
 * Candidates of no bytes are passed over.
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_layers_add(struct procedure_segments *list,
			 const struct procedure_candidate *candidates, size_t first, size_t end);

#endif
