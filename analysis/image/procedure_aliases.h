/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols that share a procedure's code: aliases, functions that a linker has folded into one, and
 * versions. Internal to procedure_table.c.
 */
#ifndef DCPI_PROCEDURE_ALIASES_H
#define DCPI_PROCEDURE_ALIASES_H

#include "analysis/image/procedure_layers.h"

/**
 * struct procedure_symbols - candidates from symbols
 * @candidates: [0, @sized) have a size, [@sized, @count) do not; both parts are in the order of
 *              procedure_layers_compare()
 * @owned:      for each candidate: not 0 if it is itself a procedure
 */
struct procedure_symbols {
	const struct procedure_candidate *candidates;
	size_t sized;
	size_t count;
	const uint32_t *owned;
};

/**
 * procedure_aliases_extend() - set functions that begin together to the largest of their sizes
 *
 * All of them are names of the same code, so none of them ends before the code.
 */
void procedure_aliases_extend(struct procedure_candidate *candidates, size_t count);

/**
 * procedure_aliases_add() - fill in versions, files and aliases of a table's procedures
 * @from: candidate of each procedure
 *
 * A version is filled in if another version of the name has other code, or if it is not the version
 * that programs are linked with. A file is filled in if another procedure has the same name. Names
 * that differ only in the version are one alias. O(n log n).
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_aliases_add(struct procedure_table *table, const struct procedure_symbols *symbols,
			  const uint32_t *from);

#endif
