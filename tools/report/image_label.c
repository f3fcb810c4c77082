// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/image_label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/path_match.h"

#define DIGITS 8
#define SUFFIX_BYTES (sizeof(" ()") + DIGITS)

void image_label_identity(const struct profile_image *image, char *ret, size_t bytes)
{
	ret[0] = '\0';
	for (size_t i = 0; i < image->identity_bytes && 2 * i + 3 <= bytes; i++)
		snprintf(ret + 2 * i, 3, "%02x", image->identity[i]);
}

/* Make " (01234567)"; "" for an image without identity. */
static void make_suffix(const struct profile_image *image, char suffix[SUFFIX_BYTES])
{
	char digits[DIGITS + 1];

	image_label_identity(image, digits, sizeof(digits));
	suffix[0] = '\0';
	if (*digits != '\0')
		snprintf(suffix, SUFFIX_BYTES, " (%s)", digits);
}

char *image_label_make(const struct profile_image *image)
{
	char suffix[SUFFIX_BYTES], *label;

	make_suffix(image, suffix);
	return asprintf(&label, "%s%s", image->path, suffix) < 0 ? NULL : label;
}

bool image_label_matches(const struct profile_image *image, const char *pattern)
{
	_cleanup_free_ char *path = NULL;
	char suffix[SUFFIX_BYTES];
	size_t bytes = strlen(pattern), suffix_bytes;

	if (path_match(image->path, pattern))
		return true;
	make_suffix(image, suffix);
	suffix_bytes = strlen(suffix);
	if (suffix_bytes == 0 || bytes < suffix_bytes ||
	    strcmp(pattern + bytes - suffix_bytes, suffix) != 0)
		return false;
	path = strndup(pattern, bytes - suffix_bytes);
	return path != NULL && path_match(image->path, path);
}
