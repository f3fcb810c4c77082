/* SPDX-License-Identifier: GPL-2.0-only */
/* Images as reports name them, and as users choose them by that. */
#ifndef DCPI_IMAGE_LABEL_H
#define DCPI_IMAGE_LABEL_H

#include <stdbool.h>

#include "db/profile.h"

/** image_label_identity() - an image's identity in hexadecimal, as much as there is room for */
void image_label_identity(const struct profile_image *image, char *ret, size_t bytes);

/**
 * image_label_make() - what tells builds of one path apart
 *
 * Return: "PATH (IDENTITY)", with the first eight hexadecimal digits of the image's; the path
 * of one that has none. malloc'd; NULL if out of memory.
 */
char *image_label_make(const struct profile_image *image);

/**
 * image_label_matches() - whether an image is one of those that a pattern asks for
 * @pattern: as for path_match(); with the identity after it, as from image_label_make(), it
 *           selects that build only
 */
bool image_label_matches(const struct profile_image *image, const char *pattern);

#endif
