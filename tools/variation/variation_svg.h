/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws the times of the first paths above their base times (the paper's figure 2). */
#ifndef DCPI_VARIATION_SVG_H
#define DCPI_VARIATION_SVG_H

#include <stdio.h>

#include "instrument/variation/variation_listing.h"

/* Maximum number of lines in a picture; more would not be distinguishable. */
#define VARIATION_SVG_PATHS 5

/** variation_svg_print() - @limit: number of paths; 0, or too many: VARIATION_SVG_PATHS */
void variation_svg_print(FILE *out, const struct variation_listing *listing, size_t limit);

#endif
