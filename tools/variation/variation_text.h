/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints paths by their net variation, for users. */
#ifndef DCPI_VARIATION_TEXT_H
#define DCPI_VARIATION_TEXT_H

#include <stdio.h>

#include "instrument/variation/variation_listing.h"

struct image_code;

/** variation_text_print() - @limit: number of paths, 0: all; @code: for source lines, or NULL */
void variation_text_print(FILE *out, const struct variation_listing *listing, size_t limit,
			  struct image_code *code);

/** variation_text_stability() - print the comparison of the first run and another one */
void variation_text_stability(FILE *out, const struct variation_stability *stability);

#endif
