/* SPDX-License-Identifier: GPL-2.0-only */
/* Helpers shared by the tests of procedure tables. */
#ifndef DCPI_TESTS_PROCEDURE_TEST_H
#define DCPI_TESTS_PROCEDURE_TEST_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/image/elf_file.h"
#include "analysis/image/procedure_table.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "tests/unit.h"

/* Return an image with the identity of its file. */
static inline struct profile_image test_image(const char *path)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	struct elf_file file = {0};
	const uint8_t *id = NULL;

	if (elf_file_open(&file, path, NULL) == 0) {
		image.identity_bytes = elf_file_build_id(&file, &id);
		if (image.identity_bytes > 0) {
			image.identity_kind = PROFILE_IDENTITY_BUILD_ID;
			memcpy(image.identity, id, image.identity_bytes);
		}
		elf_file_close(&file);
	}
	return image;
}

static inline struct procedure_table *test_table(const char *path, const char *directory)
{
	struct profile_image image = test_image(path);
	struct debug_file_options options = {.directory = directory};
	struct procedure_table *table = NULL;
	struct error err = {0};

	if (procedure_table_open(&table, &image, &options, &err) < 0)
		fail_msg("%s: %s", path, err.message);
	return table;
}

/* Make a directory for this process; test_remove() removes it. */
static inline char *test_directory(void)
{
	char *path = strdup("/tmp/dcpi-unit-XXXXXX");

	assert_non_null(mkdtemp(path));
	return path;
}

static inline void test_command(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void test_command(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

static inline void test_remove(char *directory)
{
	test_command("rm -rf '%s'", directory);
	free(directory);
}

/* Check the invariants of a lookup of @offset. */
static inline void test_lookup(const struct procedure_table *table, uint64_t offset)
{
	const struct procedure *procedure;
	long index = procedure_table_find(table, offset);

	if (index < 0)
		return;
	assert_true((size_t)index < procedure_table_count(table));
	procedure = procedure_table_get(table, (size_t)index);
	assert_true(procedure->offset <= offset);
	assert_true(offset - procedure->offset < procedure->bytes);
	assert_true(procedure->name[0] != '\0');
}

#endif
