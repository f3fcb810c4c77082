/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of time that an analysis of many images leaves out, by reason. */
#ifndef DCPI_CALC_REST_H
#define DCPI_CALC_REST_H

#include <stddef.h>
#include <stdio.h>

struct json_object;

/** enum calc_rest_reason - reasons why samples were not analysed */
enum calc_rest_reason {
	CALC_REST_FEW,		/* their procedures have too few samples */
	CALC_REST_NO_CODE,	/* no file contains their images' code: the kernel's, ... */
	CALC_REST_OUTSIDE,	/* in an analysed image: in no procedure, or not decodable */
	CALC_REST_FAILED,	/* their images could not be opened or analysed */
	CALC_REST_CONTRADICTED, /* the estimates of their procedures contradict the samples */
	CALC_REST_REASONS,
};

/**
 * struct calc_rest - zero-initialised: nothing is left out
 * @samples: by reason
 * @count:   number of procedures; of images for CALC_REST_NO_CODE and CALC_REST_FAILED; 0: not
 *           counted
 * @least:   samples that a procedure needs
 */
struct calc_rest {
	double samples[CALC_REST_REASONS];
	size_t count[CALC_REST_REASONS];
	double least;
};

/** calc_rest_add() - add samples of @count procedures or images; negative samples are ignored */
void calc_rest_add(struct calc_rest *rest, enum calc_rest_reason reason, double samples,
		   size_t count);

/** calc_rest_print() - print a line for each reason that applies; @all: total samples of time */
void calc_rest_print(FILE *stream, const struct calc_rest *rest, double all);

/** calc_rest_json() - make an object with the samples by reason. Return: NULL if out of memory */
struct json_object *calc_rest_json(const struct calc_rest *rest);

#endif
