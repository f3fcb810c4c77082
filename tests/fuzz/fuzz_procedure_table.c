// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz procedure_table_open() with any bytes as an image. Opening may fail, but lookups in an open
 * table satisfy their invariants. Random bytes are rarely an image, so the corpus starts with the
 * programs of tests/fixtures/procedure_fixtures.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/image/procedure_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void look_around(const struct procedure_table *table, uint64_t bytes)
{
	for (uint64_t offset = 0; offset < bytes; offset += 5) {
		long index = procedure_table_find(table, offset);
		const struct procedure *procedure;

		if (index < 0)
			continue;
		if ((size_t)index >= procedure_table_count(table))
			abort();
		procedure = procedure_table_get(table, (size_t)index);
		if (offset < procedure->offset || offset - procedure->offset >= procedure->bytes ||
		    procedure->name[0] == '\0')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct debug_file_options options = {.directory = "/nonexistent"};
	struct procedure_table *table = NULL;
	char path[64];
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, bytes) == (ssize_t)bytes &&
	    procedure_table_open(&table, &image, &options, NULL) == 0)
		look_around(table, bytes);
	procedure_table_destroy(table);
	close(fd);
	return 0;
}
