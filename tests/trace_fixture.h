/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces for tests: generated, or recorded (tests/traces). */
#ifndef DCPI_TESTS_TRACE_FIXTURE_H
#define DCPI_TESTS_TRACE_FIXTURE_H

#include "tests/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/trace.h"
#include "daemon/source/trace_writer.h"

/* A tenth of a second of a shell and its commands. */
#define TRACE_FIXTURE "tests/traces/shell.trace"

/* Create a temporary file; the caller removes it. */
static inline void trace_fixture_path(char path[64])
{
	int fd;

	strcpy(path, "/tmp/dcpi-trace.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

/* Return a sample, usually near the last one, in user space or the kernel. */
static inline struct dcpi_sample trace_fixture_sample(uint64_t *seed, uint32_t events)
{
	uint64_t r = unit_random(seed), pc = r % 3000 * 4;
	struct dcpi_sample sample;

	if (r >> 32 & 1)
		pc += 0xffffffff81000000ULL;
	else if ((r >> 33 & 63) == 0)
		pc = unit_random(seed);
	sample.pc = pc;
	sample.tag = dcpi_tag((r >> 40) % 7 == 0 ? DCPI_PID_MAX : (uint32_t)(r >> 44) % 5,
			      (r >> 50) % 9 == 0 ? DCPI_GENERATION_MAX : 1,
			      (uint32_t)(r >> 56) % events);
	return sample;
}

/* Write a trace of @samples samples of CPUs 0, 1 and 7. */
static inline void trace_fixture_write(const char *path, uint64_t seed, uint32_t samples,
				       uint32_t events)
{
	static const uint32_t cpus[] = {0, 1, 7};
	struct trace_writer *writer;
	uint32_t i;

	assert_int_equal(trace_writer_create(&writer, path, NULL), 0);
	for (i = 0; i < samples; i++) {
		struct dcpi_sample sample = trace_fixture_sample(&seed, events);

		trace_writer_add(writer, cpus[unit_random(&seed) % 3], i, sample.pc, sample.tag);
	}
	assert_int_equal(trace_writer_destroy(writer, NULL), 0);
}

/* Return the contents of the file, allocated by malloc(). */
static inline uint8_t *trace_fixture_bytes(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	uint8_t *data;
	long end;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	end = ftell(file);
	assert_true(end > 0);
	rewind(file);
	data = malloc((size_t)end);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)end, file), (size_t)end);
	fclose(file);
	*bytes = (size_t)end;
	return data;
}

static inline void trace_fixture_put(const char *path, const uint8_t *data, size_t bytes)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

#endif
