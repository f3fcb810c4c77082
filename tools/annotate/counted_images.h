/* SPDX-License-Identifier: GPL-2.0-only */
/* Notes which of many images had exact counts of dcpix, for the heading of a report. */
#ifndef DCPI_COUNTED_IMAGES_H
#define DCPI_COUNTED_IMAGES_H

#include <stdio.h>

#include "tools/annotate/calc_select.h"

/**
 * struct counted_images - zero-initialised: none
 * @count:   number of images
 * @hottest: the first image added; @scale: the factor applied to its counts
 */
struct counted_images {
	size_t count;
	const struct calc_image *hottest;
	struct exact_scale scale;
};

/** counted_images_take() - add an image, if it has counts; its scale must be known */
void counted_images_take(struct counted_images *images, const struct calc_choice *choice);

/** counted_images_print() - print a line, unless no image has counts */
void counted_images_print(FILE *stream, const struct counted_images *images);

#endif
