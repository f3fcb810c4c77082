/* SPDX-License-Identifier: GPL-2.0-only */
/* The analysis of all procedures that have samples, in one image after the other. */
#ifndef DCPI_CALC_WALK_H
#define DCPI_CALC_WALK_H

#include "analysis/image_analysis.h"
#include "lib/error.h"
#include "tools/calc/calc_method.h"
#include "tools/calc/calc_plan.h"
#include "tools/calc/calc_rest.h"
#include "tools/calc/calc_source.h"
#include "tools/report/cli.h"
#include "tools/report/passed_over.h"

/**
 * struct calc_walk - what to go over, and what came of it
 * @cli:       its image pattern chooses; without one, images without code are passed over
 * @image:     an image comes, whose procedures follow. @choice is open until the next one,
 *             or the end; NULL: nobody minds. Return: 0 or -ENOMEM
 * @procedure: a procedure of it was analysed
 * @context:   for both
 * @plan:      which procedures are analysed; calc_walk_run() makes it and frees it
 * @doubtful:  procedures with estimates that contradict their samples are handed over, too
 * @progress:  say how far it has got, where nothing else is printed meanwhile
 * @images:    out: that were chosen
 * @failed:    out: of these, such that could not be analysed
 * @sparse:    out: of these, such in which no procedure has enough samples: @image does not
 *             get them
 * @procedures: out: that were analysed
 * @rest:      out: samples of time that were left out, among the images that were chosen and,
 *             without a pattern, those without code
 */
struct calc_walk {
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
	struct passed_over passed;
	bool is_sparse; /* the image at hand */
};

/**
 * calc_walk_run() - go over the images
 *
 * Images that cannot be analysed do not stop the others: passed_over_print() names them at the
 * end.
 *
 * Return: the status to exit with; errors are printed.
 */
int calc_walk_run(struct calc_walk *walk);

/**
 * calc_walk_one() - analyse the one procedure of @choice
 *
 * Of exact counts that it has, the scale is found or set.
 *
 * Return: as of calc_source_options(), image_analysis_run(); -ENOENT it has no exact counts,
 * and nothing but these will do.
 */
int calc_walk_one(struct calc_walk *walk, struct calc_choice *choice, struct error *err);

#endif
