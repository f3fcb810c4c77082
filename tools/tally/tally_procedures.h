/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of a tally that are procedures. */
#ifndef DCPI_TALLY_PROCEDURES_H
#define DCPI_TALLY_PROCEDURES_H

#include "tools/tally/tally_state.h"

struct error;

/**
 * tally_procedures_count() - add the rows of @tally->image that are procedures
 * @filter: selects its profiles
 *
 * Context: the symbols of the image must be open.
 */
int tally_procedures_count(struct tally *tally, struct profile_reader *reader,
			   const struct profile_filter *filter, struct error *err);

#endif
