/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Definition of a procedure table, for the files that build one.
 */
#ifndef DCPI_PROCEDURE_TABLE_PARTS_H
#define DCPI_PROCEDURE_TABLE_PARTS_H

#include "analysis/image/landing_pads.h"
#include "analysis/image/name_pool.h"
#include "analysis/image/procedure_layers.h"

/** struct procedure_table - strings point into @image, @debug, @pool or @index */
struct procedure_table {
	struct procedure *procedures; /* by offset */
	size_t count;
	const char **aliases; /* of all procedures, in their order */
	size_t alias_count;
	struct procedure_segments segments; /* owners: indices of procedures */
	struct image_elf *image;
	struct elf_file debug;
	struct name_pool pool;
	struct landing_pads pads; /* of @image */
	void *index;		  /* the index passed to procedure_index_open(), or NULL */
};

#endif
