/* SPDX-License-Identifier: GPL-2.0-only */
/* Times of the first paths above their base times, as a picture (the paper's figure 2). */
#ifndef DCPI_VARIATION_SVG_H
#define DCPI_VARIATION_SVG_H

#include <stdio.h>

#include "instrument/variation/variation_listing.h"

/* Lines in it: more can't be told apart. */
#define VARIATION_SVG_PATHS 5

/** variation_svg_print() - @limit: paths; 0, or too many: VARIATION_SVG_PATHS. */
void variation_svg_print(FILE *out, const struct variation_listing *listing, size_t limit);

#endif
