/* SPDX-License-Identifier: GPL-2.0-only */
/* Headings of a listing or a summary: image, procedure, and their reliability. */
#ifndef DCPI_CALC_HEADING_H
#define DCPI_CALC_HEADING_H

#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

struct calc_counts;
struct calc_events;
struct exact_scale;
struct image_samples;
struct stack_callers;

/**
 * calc_heading_epochs() - print notes about epochs
 *
 * The notes say that samples are scaled because periods differ, and how many epochs have no samples
 * of time.
 */
void calc_heading_epochs(FILE *stream, const struct calc_events *events);

/**
 * calc_heading_image() - print the image, the model of the machine, and the meaning of a sample
 * @path: fit for terminals
 */
void calc_heading_image(FILE *stream, const char *path, const struct image_code *code,
			const struct machine_model *model, const struct calc_events *events,
			const struct image_samples *samples);

/** calc_heading_counts() - describe exact counts and their scale; prints nothing without counts */
void calc_heading_counts(FILE *stream, const struct calc_counts *counts);

/** calc_heading_scale() - print just "taken times 2.5 (0.9 to 6.1, low confidence)" */
void calc_heading_scale(FILE *stream, const struct exact_scale *scale);

/** calc_heading_aliases() - print the other names of a procedure, one per line */
void calc_heading_aliases(FILE *stream, const struct procedure_names *names);

/**
 * calc_heading_procedure() - print the procedure, and the parts that the analysis lacks
 * @width: of the terminal, 0: any; a longer name is shortened
 *
 * Return: 0 or -ENOMEM.
 */
int calc_heading_procedure(FILE *stream, const struct calc_procedure *procedure, size_t width);

/**
 * calc_heading_callers() - print the callers with most samples, with intervals of their shares
 *
 * Prints nothing if no sampled stack contains the procedure.
 */
void calc_heading_callers(FILE *stream, const struct stack_callers *callers);

#endif
