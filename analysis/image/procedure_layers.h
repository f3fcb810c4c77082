/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Division of an image's bytes among overlapping procedures.
 *
 * Candidates come in layers (enum procedure_source); a layer gets only bytes that the earlier
 * layers have left. Within a layer, a byte belongs to the candidate that begins last; among
 * candidates that begin together, to the preferred one. Internal to procedure_table.c; O(n log n)
 * for any overlaps.
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

/** struct procedure_segments - disjoint, ascending; empty if zero-initialised. */
struct procedure_segments {
	struct procedure_segment *segments;
	size_t count;
	size_t capacity;
};

void procedure_segments_deinit(struct procedure_segments *list);

/** procedure_segments_find() - O(log n). Return: the segment that contains a byte, or NULL. */
const struct procedure_segment *procedure_segments_find(const struct procedure_segments *list,
							uint64_t offset);

/**
 * procedure_layers_compare() - order for qsort: by offset; candidates that begin together: the
 * least preferred first
 */
int procedure_layers_compare(const void *a, const void *b);

/**
 * procedure_layers_add() - assign the free bytes to the candidates of a layer
 * @list:        updated
 * @candidates:  all; owners are indices into it
 * @first, @end: the layer, in the order of procedure_layers_compare()
 *
 * Candidates without bytes are skipped.
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_layers_add(struct procedure_segments *list,
			 const struct procedure_candidate *candidates, size_t first, size_t end);

#endif
