/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of procedures, images, instructions, source lines or files by set, over all databases of
 * the sets.
 *
 * A row is a procedure in images with the same build-id. Images with different build-ids may be
 * builds of the same program (tools/tally/program_match.h); their procedures are matched by name.
 * If a name belongs to several procedures of an image, or is made from an address ("proc_0x1a2b0"),
 * procedures of different build-ids are separate rows. So are instructions, unless their code is
 * compared. A source line is the same in all builds: a file and a line number.
 */
#ifndef DCPI_SET_TABLE_H
#define DCPI_SET_TABLE_H

#include "analysis/statistics/significance.h"
#include "tools/tally/program_match.h"
#include "tools/tally/sample_sets.h"
#include "tools/tally/tally.h"

struct set_table;

/** struct set_table_row - @tally: row of the first set that has it; its file is the program's */
struct set_table_row {
	const struct tally_row *tally;
	const struct significance_cell *cells; /* one per set */
};

/**
 * set_table_create() - sum samples by row and set
 * @ret:    out; freed by set_table_destroy()
 * @sets:   the header's samples and unknown are set
 * @by:     kind of the rows
 * @builds: match procedures and instructions of different builds by their code, too
 *
 * Rows are in order of path and name.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int set_table_create(struct set_table **ret, struct sample_sets *sets, enum tally_by by,
		     bool builds, const struct cli *cli, struct error *err);

void set_table_destroy(struct set_table *table);

size_t set_table_count(const struct set_table *table);

struct set_table_row set_table_row(const struct set_table *table, size_t index);

/** set_table_cells() - return all cells, by row and set */
const struct significance_cell *set_table_cells(const struct set_table *table);

/** set_table_programs() - return the images that were matched with builds of others by name only */
const struct program_match *set_table_programs(const struct set_table *table);

/** set_table_rest() - return the samples of a set in images that cli->image does not select */
struct significance_cell set_table_rest(const struct set_table *table, size_t set);

/**
 * set_table_excluded() - return the excluded samples of a set; no row contains them
 * @class: PROFILER_WHOLE or PROFILER_IDLE
 */
struct significance_cell set_table_excluded(const struct set_table *table,
					    enum profiler_class class, size_t set);

#endif
