/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of many images had exact counts of dcpix, for the heading of a report. */
#ifndef DCPI_COUNTED_IMAGES_H
#define DCPI_COUNTED_IMAGES_H

#include <stdio.h>

#include "tools/calc/calc_select.h"

/**
 * struct counted_images - zero-initialised is none
 * @count:   of them
 * @hottest: the first that came; @scale: what its counts were taken times
 */
struct counted_images {
	size_t count;
	const struct calc_image *hottest;
	struct exact_scale scale;
};

/** counted_images_take() - an image comes; its scale is known. */
void counted_images_take(struct counted_images *images, const struct calc_choice *choice);

/** counted_images_print() - a line; nothing if there are none. */
void counted_images_print(FILE *stream, const struct counted_images *images);

#endif
