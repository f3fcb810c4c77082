/* SPDX-License-Identifier: GPL-2.0-only */
/* An image table (daemon/image/image_table.h) with little room left, or none. */
#ifndef DCPI_TESTS_IMAGE_TABLE_FILL_H
#define DCPI_TESTS_IMAGE_TABLE_FILL_H

#include <stdint.h>
#include <string.h>

#include "daemon/image/image_table.h"

#define IMAGE_TABLE_ROOM 131072

/** image_table_fill() - add images until there are @count. Return: the number of the last one. */
static inline int image_table_fill(struct image_table *table, uint32_t count)
{
	struct profile_image image = {
		.kind = PROFILE_IMAGE_FILE,
		.identity_kind = PROFILE_IDENTITY_BUILD_ID,
		.identity_bytes = sizeof(uint32_t),
		.path = "/filling",
	};
	int number = -1;
	uint32_t i;

	for (i = image_table_count(table); i < count; i++) {
		memcpy(image.identity, &i, sizeof(i));
		number = image_table_add(table, &image);
	}
	return number;
}

#endif
