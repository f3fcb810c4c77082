/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a procedure's instructions with dcpicalc's analysis, from the growing samples of one epoch.
 */
#ifndef DCPI_TOP_CODE_H
#define DCPI_TOP_CODE_H

#include <stdbool.h>

#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_cells.h"
#include "tools/top/top_counts.h"

#define TOP_CULPRITS_BYTES 80

/**
 * struct top_line - an instruction
 * @samples:  of time, in the epoch
 * @interval: samples since the previous reading, if @has_interval
 * @share:    of the procedure's samples, percent
 * @ran:      for the first one of a block: number of executions; else ""
 * @cpi:      as from calc_cells_cpi()
 * @causes:   letters of the possible causes of its stall
 * @culprits: addresses of the instructions that caused it
 */
struct top_line {
	uint64_t address;
	char text[CALC_TEXT_BYTES];
	double samples;
	double interval;
	bool has_interval;
	double share;
	char ran[CALC_CELL_BYTES];
	char cpi[CALC_CELL_BYTES];
	char causes[CALC_BUBBLE_CAUSES + 1];
	char culprits[TOP_CULPRITS_BYTES];
};

/**
 * struct top_code - zero-initialised: empty
 * @lines:       by address; padding is left out
 * @worst:       index of the line with the worst stall; @count: none
 * @explanation: of that stall, in a few sentences
 * @name:        of the procedure
 * @model:       of the machine, as used in the analysis
 * @samples:     of the procedure
 */
struct top_code {
	struct top_line *lines;
	size_t count;
	size_t worst;
	char *explanation;
	char *name;
	const char *model;
	double samples;
};

/**
 * top_code_read() - analyse a procedure
 * @code:    previous reading of the same procedure, or zero; unchanged after a failure
 * @epoch:   number
 * @image:   number
 * @address: start of the procedure
 *
 * Return: 0; -ENOENT; -ENOTSUP: no file contains its code; or as calc_source_load(),
 * calc_select_open(), image_analysis_run().
 */
int top_code_read(struct top_code *code, const struct top_config *config, int64_t epoch,
		  int64_t image, uint64_t address, struct error *err);

void top_code_deinit(struct top_code *code);

#endif
