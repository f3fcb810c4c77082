/* SPDX-License-Identifier: GPL-2.0-only */
/* Analyses all procedures with samples, image by image. */
#ifndef DCPI_CALC_DRIVER_H
#define DCPI_CALC_DRIVER_H

#include "analysis/image_analysis.h"
#include "lib/error.h"
#include "tools/annotate/calc_method.h"
#include "tools/annotate/calc_plan.h"
#include "tools/annotate/calc_rest.h"
#include "tools/annotate/calc_source.h"
#include "tools/report/cli.h"
#include "tools/report/passed_over.h"

/**
 * struct calc_driver - parameters and results of a walk
 * @cli:        its image pattern selects images; without one, images without code are skipped
 * @image:      called before the procedures of an image. @choice is open until the next call, or
 *              the end; NULL: not called. Return: 0 or -ENOMEM
 * @procedure:  called for each analysed procedure
 * @context:    for both
 * @plan:       selects the procedures to analyse; calc_driver_run() makes and frees it
 * @doubtful:   also pass procedures with estimates that contradict their samples
 * @progress:   print progress, if nothing else is printed meanwhile
 * @images:     out: number of selected images
 * @failed:     out: number of these that could not be analysed
 * @sparse:     out: number of these in which no procedure has enough samples; @image is not called
 *              for them
 * @procedures: out: number of analysed procedures
 * @rest:       out: samples of time that were left out, in the selected images and, without a
 *              pattern, in images without code
 */
struct calc_driver {
	struct cli *cli;
	const struct calc_source *source;
	struct calc_method method;
	int (*image)(void *context, const struct calc_choice *choice,
		     const struct machine_model *model);
	image_analysis_fn procedure;
	void *context;
	struct calc_plan plan;
	bool doubtful;
	bool progress;

	size_t images;
	size_t failed;
	size_t sparse;
	size_t procedures;
	struct calc_rest rest;

	/* private */
	struct open_images open;
	struct passed_over passed;
	const struct calc_choice *current;
	double excluded; /* samples of skipped procedures of the current image */
};

/**
 * calc_driver_run() - analyse the images
 *
 * Images that cannot be analysed do not stop the others: passed_over_print() lists them at the end.
 *
 * Return: the status to exit with; errors are printed.
 */
int calc_driver_run(struct calc_driver *walk);

/**
 * calc_driver_chosen() - analyse some procedures of the image of @choice
 * @procedures: their indices, ascending, @count of them
 *
 * Calls of @walk->procedure are in no particular order. Return: as calc_driver_one().
 */
int calc_driver_chosen(struct calc_driver *walk, struct calc_choice *choice,
		       const size_t *procedures, size_t count, struct error *err);

/**
 * calc_driver_one() - analyse the one procedure of @choice
 *
 * If it has exact counts, their scale is determined or set.
 *
 * Return: as calc_source_options(), image_analysis_run(); -ENOENT: it has no exact counts, but only
 * these are to be used.
 */
int calc_driver_one(struct calc_driver *walk, struct calc_choice *choice, struct error *err);

#endif
