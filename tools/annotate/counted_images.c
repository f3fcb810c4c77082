// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/counted_images.h"

#include "lib/cleanup.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_heading.h"

void counted_images_take(struct counted_images *images, const struct calc_choice *choice)
{
	if (choice->counts.exact.range_count == 0 || images->count++ > 0)
		return;
	images->hottest = choice->image;
	images->scale = choice->counts.scale;
}

void counted_images_print(FILE *stream, const struct counted_images *images)
{
	_cleanup_free_ char *path = NULL;

	if (images->count == 0)
		return;
	path = text_clean(images->hottest->image.path);
	fprintf(stream, "counted     %s, by dcpix; ", path != NULL ? path : "?");
	calc_heading_scale(stream, &images->scale);
	if (images->count > 1)
		fprintf(stream, "; and %zu more", images->count - 1);
	fputc('\n', stream);
}
