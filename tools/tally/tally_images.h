/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of an image if shares exclude some of its samples. Internal to tally*.c. */
#ifndef DCPI_TALLY_IMAGES_H
#define DCPI_TALLY_IMAGES_H

#include "tools/tally/tally_state.h"

struct error;

/**
 * tally_images_count() - add a row for each excluded class of the current image's samples, and one
 * for the others
 * @filter: selects the image
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int tally_images_count(struct tally *tally, struct profile_reader *reader,
		       const struct profile_filter *filter, struct error *err);

#endif
