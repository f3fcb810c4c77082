/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A procedure's instructions with what dcpicalc says of them, from the samples of one
 * epoch, as they grow.
 */
#ifndef DCPI_TOP_CODE_H
#define DCPI_TOP_CODE_H

#include <stdbool.h>

#include "tools/calc/calc_bubbles.h"
#include "tools/calc/calc_cells.h"
#include "tools/top/top_counts.h"

#define TOP_CULPRITS_BYTES 80

/**
 * struct top_line - an instruction
 * @samples:  of time, in the epoch
 * @interval: of these, since the reading before, if @has_interval
 * @share:    of the procedure's samples, percent
 * @ran:      of the first one of a block: how often it ran; else ""
 * @cpi:      as of calc_cells_cpi()
 * @causes:   letters of what it may have waited for
 * @culprits: addresses of the instructions that are to blame
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
 * struct top_code - zero-initialised is empty
 * @lines:   by address; padding is left out
 * @worst:   index of the line with the worst stall; @count: no stall stands out
 * @explanation: of that stall, in a few sentences
 * @name:    of the procedure
 * @model:   of the machine, as analysed
 * @samples: of the procedure
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
 * @code:    what was read of the same procedure before, or zero; after a failure as it was
 * @epoch:   number
 * @image:   number
 * @address: where the procedure begins
 *
 * Return: 0; -ENOENT; -ENOTSUP its code is in no file; or as of calc_source_load(),
 * calc_select_open(), image_analysis_run().
 */
int top_code_read(struct top_code *code, const struct top_config *config, int64_t epoch,
		  int64_t image, uint64_t address, struct error *err);

void top_code_deinit(struct top_code *code);

#endif
