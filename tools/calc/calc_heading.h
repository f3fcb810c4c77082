/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands above a listing or a summary: image, procedure, and how far to trust it. */
#ifndef DCPI_CALC_HEADING_H
#define DCPI_CALC_HEADING_H

#include <stdio.h>

#include "tools/calc/calc_procedure.h"

struct calc_counts;
struct calc_events;
struct exact_scale;
struct image_samples;

/**
 * calc_heading_epochs() - that samples are scaled, as epochs have different periods; how many
 * epochs have no samples of time, if any
 */
void calc_heading_epochs(FILE *stream, const struct calc_events *events);

/**
 * calc_heading_image() - the image, the model of the machine, and what a sample is
 * @path: fit for terminals
 */
void calc_heading_image(FILE *stream, const char *path, const struct image_code *code,
			const struct machine_model *model, const struct calc_events *events,
			const struct image_samples *samples);

/** calc_heading_counts() - what was counted, and how it was scaled; nothing if nothing was. */
void calc_heading_counts(FILE *stream, const struct calc_counts *counts);

/** calc_heading_scale() - "taken times 2.5 (0.9 to 6.1, low confidence)", without more. */
void calc_heading_scale(FILE *stream, const struct exact_scale *scale);

/** calc_heading_aliases() - the other names of a procedure, a line each. */
void calc_heading_aliases(FILE *stream, const struct procedure_names *names);

/** calc_heading_procedure() - the procedure, and what is missing of it. */
void calc_heading_procedure(FILE *stream, const struct calc_procedure *procedure);

#endif
