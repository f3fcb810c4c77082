/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints paths by their net variation, for programs. */
#ifndef DCPI_VARIATION_JSON_H
#define DCPI_VARIATION_JSON_H

#include <stdio.h>

#include "instrument/variation/variation_listing.h"

/**
 * variation_json_print() - print an object; keys: docs/man/dcpivpp.1.scd
 * @stability: or NULL: no comparison was made
 */
void variation_json_print(FILE *out, const struct variation_listing *listing, size_t limit,
			  const struct variation_stability *stability);

/** variation_csv_print() - print a row for each path, after a row of names */
void variation_csv_print(FILE *out, const struct variation_listing *listing, size_t limit);

#endif
