/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of procedures, images, instructions, source lines or files by set, over all
 * databases of the sets.
 *
 * What is one row: in images of one build-id, a procedure; images of different build-ids may
 * be the same program (tools/tally/program_match.h), rebuilt, and there a procedure is told by
 * its name. Where a name is of several procedures of an image, or is none ("proc_0x1a2b0"),
 * procedures of different build-ids stay apart, as instructions do, unless their code is
 * compared. A source line is the same in all builds: one of that file and number.
 */
#ifndef DCPI_SET_TABLE_H
#define DCPI_SET_TABLE_H

#include "analysis/statistics/variation.h"
#include "tools/tally/program_match.h"
#include "tools/tally/sample_sets.h"
#include "tools/tally/tally.h"

struct set_table;

/** struct set_table_row - @tally: of the first set that has it; its file is the program's */
struct set_table_row {
	const struct tally_row *tally;
	const struct variation_cell *cells; /* one a set */
};

/**
 * set_table_create() - add up
 * @ret:  out; freed by set_table_destroy()
 * @sets: the header's samples and unknown are
 * @by:   what a row is
 * @builds: match procedures and instructions of different builds by their code, too
 *
 * Rows come in order of path and name.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int set_table_create(struct set_table **ret, struct sample_sets *sets, enum tally_by by,
		     bool builds, const struct cli *cli, struct error *err);

void set_table_destroy(struct set_table *table);

size_t set_table_count(const struct set_table *table);

struct set_table_row set_table_row(const struct set_table *table, size_t index);

/** set_table_cells() - all cells, by row and set. */
const struct variation_cell *set_table_cells(const struct set_table *table);

/** set_table_programs() - images that were taken for builds of another one, by name only */
const struct program_match *set_table_programs(const struct set_table *table);

/** set_table_rest() - samples of a set in images that were not asked for (cli->image). */
struct variation_cell set_table_rest(const struct set_table *table, size_t set);

/** set_table_excluded() - samples of a set that profiling causes: they are in no row. */
struct variation_cell set_table_excluded(const struct set_table *table, size_t set);

#endif
