/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An image map and events for it; images are identified by number and build-id, addresses by page.
 */
#ifndef DCPI_TESTS_IMAGE_MAP_FIXTURE_H
#define DCPI_TESTS_IMAGE_MAP_FIXTURE_H

#include "tests/unit.h"

#include <stdbool.h>
#include <string.h>

#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "kmod/uapi/dcpi_uapi.h"
#include "loader-hook/image_event.h"

#define PAGE 4096
#define BASE 0x400000UL

struct fixture {
	struct image_table *table;
	struct image_map *map;
};

static inline void setup(struct fixture *fixture, bool own)
{
	assert_int_equal(image_table_create(&fixture->table, NULL), 0);
	assert_int_equal(image_map_create(&fixture->map, fixture->table, own, NULL), 0);
}

static inline void teardown(struct fixture *fixture)
{
	image_map_destroy(fixture->map);
	image_table_destroy(fixture->table);
}

/* @image: < 0: memory that maps no file */
static inline struct image_event map_event(uint32_t pid, uint64_t time_ns, int image,
					   uint64_t first_page, uint64_t pages, uint64_t offset)
{
	struct image_event event = {
		.type = IMAGE_EVENT_MAP,
		.pid = pid,
		.time_ns = time_ns,
		.start = BASE + first_page * PAGE,
		.bytes = pages * PAGE,
		.file_offset = offset,
		.path = image < 0 ? "//anon" : "/image",
	};

	if (image >= 0) {
		event.build_id_bytes = 20;
		memset(event.build_id, image + 1, 20);
	}
	return event;
}

#endif
