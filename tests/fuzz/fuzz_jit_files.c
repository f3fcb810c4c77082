// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the readers of perf maps and jitdumps, as files, and the handling of the code they describe.
 * The first byte chooses the format, and how the file grows.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/jit/jit_code.h"
#include "daemon/jit/jit_shape.h"
#include "loader-hook/jit/jit_dump.h"
#include "loader-hook/jit/jit_map.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fixtures/jit_files.h"

/* Existing code is gone by UINT64_MAX: the latest time of a record or a sample is before that. */
#define LAST_NS (UINT64_MAX - 1)

static uint64_t size;
static struct jit_codes codes;

static void add(uint64_t start, uint64_t bytes, uint64_t time)
{
	const struct jit_code code = {
		.start = start, .bytes = (uint32_t)(bytes & 0xffffff), .since_ns = time};

	if (code.bytes > 0)
		require(jit_codes_add(&codes, &code) == 0);
}

static void line_check(void *context, const struct jit_map_line *line)
{
	char name[JIT_NAME_BYTES_MAX];

	require(line->start >> 63 == 0 && line->bytes > 0);
	require(line->bytes <= (1ULL << 63) - line->start);
	require(line->name_bytes > 0 && line->name_bytes <= JIT_NAME_BYTES_MAX);
	require(line->name_at + line->name_bytes <= size);
	/* The name is at its recorded position and contains no NUL. */
	require(pread(*(int *)context, name, line->name_bytes, (off_t)line->name_at) ==
		(ssize_t)line->name_bytes);
	require(memcmp(name, line->name, line->name_bytes) == 0);
	require(memchr(name, '\0', line->name_bytes) == NULL);
	add(line->start, line->bytes, 0);
}

static void dump_read(struct jit_dump *dump, int fd)
{
	struct jit_dump_record record;

	while (jit_dump_next(dump, fd, LAST_NS, &record) == 1) {
		require(dump->position <= size);
		if (record.kind == JIT_DUMP_OTHER)
			continue;
		require(record.start >> 63 == 0 && record.bytes > 0);
		if (record.kind == JIT_DUMP_MOVE) {
			jit_codes_move(&codes, record.from, record.start, record.time_ns);
			continue;
		}
		require(record.name_at + record.name_bytes < record.code_at);
		require(record.code_at + record.bytes <= size);
		add(record.start, record.bytes, record.time_ns);
	}
}

static void codes_check(void)
{
	bool ambiguous;
	size_t i;

	jit_codes_settle(&codes, 0);
	for (i = 0; i < codes.count; i++) {
		const struct jit_code *code = &codes.codes[i];

		require(i == 0 ||
			codes.codes[i - 1].start + codes.codes[i - 1].bytes <= code->start);
		require(jit_codes_find(&codes, code->start, LAST_NS, LAST_NS, &ambiguous) == code);
	}
	jit_codes_deinit(&codes);
}

/* Write the file in one, two or three parts, and read it after each of them. */
static void grow(int fd, const uint8_t *data, size_t bytes, unsigned int parts, bool is_map)
{
	struct jit_map map = {0};
	struct jit_dump dump = {0};
	size_t written = 0, budget = 1 << 20;

	for (; parts > 0; parts--) {
		size_t n = (bytes - written) / parts;

		require(write(fd, data + written, n) == (ssize_t)n);
		written += n;
		size += n;
		if (is_map)
			require(jit_map_read(&map, fd, NULL, &budget, line_check, &fd) == 0);
		else
			dump_read(&dump, fd);
	}
	jit_map_deinit(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	unsigned int kind;
	int fd;

	if (bytes < 1)
		return 0;
	kind = data[0];
	data++;
	bytes--;
	if (kind % 3 == 2) {
		jit_shape(data, bytes);
		return 0;
	}
	fd = memfd_create("fuzz", 0);
	require(fd >= 0);
	size = 0;
	if (kind % 3 == 1 && kind & 0x80) {
		FILE *file = fdopen(dup(fd), "w");

		require(file != NULL);
		jit_files_header(file, JIT_FILES_MACHINE, 0);
		fclose(file);
		size = 40;
	}
	grow(fd, data, bytes, 1 + kind / 3 % 3, kind % 3 == 0);
	codes_check();
	close(fd);
	return 0;
}
