/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of images in reports, by which users also select images. */
#ifndef DCPI_IMAGE_LABEL_H
#define DCPI_IMAGE_LABEL_H

#include <stdbool.h>

#include "db/profile.h"

/** image_label_identity() - format an image's identity in hexadecimal, truncated to the buffer */
void image_label_identity(const struct profile_image *image, char *ret, size_t bytes);

/**
 * image_label_make() - make a name that distinguishes builds with the same path
 *
 * Return: "PATH (IDENTITY)", with the first eight hexadecimal digits of the image's identity; the
 * path alone if the image has none. malloc'd; NULL if out of memory.
 */
char *image_label_make(const struct profile_image *image);

/**
 * image_label_matches() - return true if a pattern selects an image
 * @pattern: as for path_match(); with the identity after it, as from image_label_make(), it selects
 *           only this build
 */
bool image_label_matches(const struct profile_image *image, const char *pattern);

#endif
