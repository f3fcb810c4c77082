/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of a tally that are places in an image's code: instructions, source lines and files. */
#ifndef DCPI_TALLY_PLACES_H
#define DCPI_TALLY_PLACES_H

#include "tools/tally/tally_state.h"

struct error;

/**
 * tally_places_count() - add rows of @tally->image by instruction, line or file
 * @filter: selects its profiles
 *
 * Context: the symbols of the image must be open.
 */
int tally_places_count(struct tally *tally, struct profile_reader *reader,
		       const struct profile_filter *filter, struct error *err);

#endif
