/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Use of an image's code, from all its samples: how much code a program executes, and which
 * branches with several targets lead to a procedure.
 */
#ifndef DCPI_IMAGE_USE_H
#define DCPI_IMAGE_USE_H

#include "analysis/image_samples.h"

/**
 * struct image_arrival - sampled branches to an address
 * @to:     address
 * @count:  executions, of any branch
 * @varied: of these, the number that would differ from the target of the branch's previous
 * execution, if its targets were random
 */
struct image_arrival {
	uint64_t to;
	double count;
	double varied;
};

/**
 * struct image_use - zero-initialised: nothing is known
 * @arrivals:   by address
 * @code_bytes, @code_pages: upper bounds (95%) of the lines and pages of code that take the time,
 * if no line takes far less time than the others; 0: not known
 */
struct image_use {
	struct image_arrival *arrivals;
	size_t arrival_count;
	double code_bytes;
	double code_pages;
};

/**
 * image_use_find() - find the use of an image's code
 * @line_bytes, @page_bytes: of the instruction cache and TLB; 0: unknown
 *
 * If other images take much of the time, their code is not known, and so neither is the size of the
 * code.
 *
 * Return: 0 or -ENOMEM. Freed by image_use_deinit().
 */
int image_use_find(struct image_use *ret, const struct image_samples *samples, double line_bytes,
		   double page_bytes);

/** image_use_apply() - add the findings about a procedure to its profile */
void image_use_apply(const struct image_use *use, const struct cfg *cfg,
		     struct procedure_profile *profile);

void image_use_deinit(struct image_use *use);

#endif
