// SPDX-License-Identifier: GPL-2.0-only
/* Runs, literals and the rest of a file decompress to the same bytes with zlib. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "ship/gzip.h"
#include "tests/lib/unit.h"

#define BYTES_MAX (1 << 22)

static uint8_t expected[BYTES_MAX], inflated[BYTES_MAX];
static size_t expected_bytes;

static void add_literals(struct gzip_writer *writer, const void *data, size_t bytes)
{
	memcpy(expected + expected_bytes, data, bytes);
	expected_bytes += bytes;
	gzip_literals(writer, data, bytes);
}

static void add_run(struct gzip_writer *writer, const uint8_t *value, size_t bytes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		memcpy(expected + expected_bytes, value, bytes);
		expected_bytes += bytes;
	}
	gzip_repeat(writer, value, bytes, count);
}

static void check_file(const struct gzip_writer *writer)
{
	z_stream stream = {
		.next_in = writer->to.data,
		.avail_in = (uInt)writer->to.bytes,
		.next_out = inflated,
		.avail_out = sizeof(inflated),
	};

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	assert_int_equal(stream.total_out, expected_bytes);
	assert_memory_equal(inflated, expected, expected_bytes);
	inflateEnd(&stream);
}

static void test_decompresses_runs_of_every_length(void **state)
{
	struct gzip_writer writer = {.size = 0};
	uint8_t value[GZIP_VALUE_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(value); i++)
		value[i] = (uint8_t)(17 * i + 3);
	for (size_t bytes = 1; bytes <= sizeof(value); bytes *= 2) {
		gzip_begin(&writer);
		expected_bytes = 0;
		for (uint64_t count = 1; count <= 600; count++) {
			add_run(&writer, value, bytes, count);
			value[0]++;
		}
		assert_int_equal(gzip_end(&writer, NULL, 0), 0);
		check_file(&writer);
	}
	free(writer.to.data);
}

static void test_decompresses_a_mixture(void **state)
{
	struct gzip_writer writer = {.size = 0};
	uint8_t rest[5000], value[GZIP_VALUE_BYTES_MAX];

	(void)state;
	srand(49);
	for (int repetition = 0; repetition < 20; repetition++) {
		gzip_begin(&writer);
		expected_bytes = 0;
		for (int i = 0; i < 40; i++) {
			for (size_t k = 0; k < sizeof(value); k++)
				value[k] = (uint8_t)rand();
			add_literals(&writer, value, (size_t)(rand() % 17));
			add_run(&writer, value, (size_t)1 << rand() % 5,
				1 + (uint64_t)(rand() % 5000));
		}
		for (size_t k = 0; k < sizeof(rest); k++)
			rest[k] = (uint8_t)(rand() % 4);
		assert_int_equal(gzip_end(&writer, rest, sizeof(rest)), 0);
		memcpy(expected + expected_bytes, rest, sizeof(rest));
		expected_bytes += sizeof(rest);
		check_file(&writer);
	}
	free(writer.to.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decompresses_runs_of_every_length),
		cmocka_unit_test(test_decompresses_a_mixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
