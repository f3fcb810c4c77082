// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fixtures/trace_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <xxhash.h>

#include "daemon/source/trace_reader.h"
#include "lib/bounded_reader.h"
#include "lib/error.h"

static struct trace_block block, again;
static uint8_t bytes[TRACE_BLOCK_BYTES_MAX];

static void block_fill(uint64_t *seed, uint32_t count)
{
	uint32_t i;

	memset(&block, 0, sizeof(block));
	block.cpu = (uint32_t)(unit_random(seed) % (TRACE_CPU_MAX + 1));
	block.count = count;
	for (i = 0; i < count; i++)
		block.sample[i] = trace_fixture_sample(seed, 256);
}

static void blocks_come_back(void **state)
{
	uint64_t seed = 1;
	size_t length;
	int round;

	(void)state;
	for (round = 0; round < 300; round++) {
		uint32_t count =
			round == 0 ? TRACE_BLOCK_SAMPLES : 1 + (uint32_t)(unit_random(&seed) % 500);
		uint64_t number = unit_random(&seed);

		block_fill(&seed, count);
		length = trace_block_encode(bytes, &block, number);
		assert_true(length <= sizeof(bytes));
		assert_int_equal(trace_block_bytes(bytes), length);
		memset(&again, 0xff, sizeof(again));
		assert_int_equal(trace_block_decode(&again, bytes, length, number), 0);
		assert_int_equal(again.cpu, block.cpu);
		assert_int_equal(again.count, count);
		assert_int_equal(again.total, 0);
		assert_memory_equal(again.sample, block.sample, count * sizeof(block.sample[0]));
		assert_int_equal(trace_block_decode(&again, bytes, length, number + 1), -EBADMSG);
	}
}

/* The longest possible samples fit. */
static void extremes_fit(void **state)
{
	uint32_t i;
	size_t length;

	(void)state;
	memset(&block, 0, sizeof(block));
	block.cpu = TRACE_CPU_MAX;
	block.count = TRACE_BLOCK_SAMPLES;
	for (i = 0; i < TRACE_BLOCK_SAMPLES; i++) {
		block.sample[i].pc = i % 4 < 2 ? i % 2 * 0x7fffffffffffffffULL
					       : UINT64_MAX - i % 2 * 0x7fffffffffffffffULL;
		block.sample[i].tag = dcpi_tag(DCPI_PID_MAX - i % 2, DCPI_GENERATION_MAX, 255);
	}
	length = trace_block_encode(bytes, &block, 0);
	assert_true(length <= sizeof(bytes));
	assert_int_equal(trace_block_decode(&again, bytes, length, 0), 0);
	assert_memory_equal(again.sample, block.sample, sizeof(block.sample));
}

static void damage_is_found(void **state)
{
	uint64_t seed = 2;
	size_t length, i;
	int bit;

	(void)state;
	block_fill(&seed, 40);
	length = trace_block_encode(bytes, &block, 5);
	for (i = 0; i < length; i++) {
		for (bit = 0; bit < 8; bit++) {
			bytes[i] ^= (uint8_t)(1 << bit);
			assert_int_equal(trace_block_decode(&again, bytes, length, 5), -EBADMSG);
			bytes[i] ^= (uint8_t)(1 << bit);
		}
		assert_int_equal(trace_block_decode(&again, bytes, i, 5), -EBADMSG);
	}
	assert_int_equal(trace_block_decode(&again, bytes, length, 5), 0);
}

/* Decode a block of invalid data with a valid checksum. */
static int decode_sealed(uint32_t count, uint32_t cpu, const uint8_t *payload, size_t length)
{
	const uint32_t header[] = {(uint32_t)length, count, cpu};
	uint64_t checksum;

	memcpy(bytes + 8, header, 12);
	memcpy(bytes + TRACE_BLOCK_HEADER_BYTES, payload, length);
	checksum = XXH3_64bits_withSeed(bytes + 8, 12 + length, 0);
	memcpy(bytes, &checksum, 8);
	return trace_block_decode(&again, bytes, TRACE_BLOCK_HEADER_BYTES + length, 0);
}

#define SEALED(count, cpu, ...)                                                                    \
	decode_sealed(count, cpu, (const uint8_t[]){__VA_ARGS__},                                  \
		      sizeof((const uint8_t[]){__VA_ARGS__}))

/* Data that cannot have been written is refused despite a valid checksum. */
static void nonsense_is_refused(void **state)
{
	(void)state;
	assert_int_equal(SEALED(1, 0, TRACE_TAG, 1, 2, 3, 8), 0);
	assert_int_equal(again.sample[0].pc, 4);
	assert_int_equal(again.sample[0].tag, dcpi_tag(2, 3, 1));
	assert_int_equal(SEALED(1, 0, 0, 8), 0);
	/* undefined flags; a tag equal to the previous one */
	assert_int_equal(SEALED(1, 0, 4, 8), -EBADMSG);
	assert_int_equal(SEALED(1, 0, TRACE_TAG, 0, 0, 0, 8), -EBADMSG);
	/* event 256, process 2^22, generation 1024 */
	assert_int_equal(SEALED(1, 0, TRACE_TAG, 0x80, 2, 2, 3, 8), -EBADMSG);
	assert_int_equal(SEALED(1, 0, TRACE_TAG, 1, 0x80, 0x80, 0x80, 2, 3, 8), -EBADMSG);
	assert_int_equal(SEALED(1, 0, TRACE_TAG, 1, 2, 0x80, 8, 8), -EBADMSG);
	/* a user address in the kernel's range, and vice versa */
	assert_int_equal(SEALED(1, 0, 0, 1), -EBADMSG);
	assert_int_equal(SEALED(1, 0, TRACE_UPPER, 8), -EBADMSG);
	assert_int_equal(SEALED(1, 0, TRACE_UPPER, 1), 0);
	/* too few samples, too many, impossible CPUs, an over-long number */
	assert_int_equal(SEALED(2, 0, 0, 8), -EBADMSG);
	assert_int_equal(SEALED(1, 0, 0, 8, 0), -EBADMSG);
	assert_int_equal(SEALED(1, TRACE_CPU_MAX + 1, 0, 8), -EBADMSG);
	assert_int_equal(SEALED(TRACE_BLOCK_SAMPLES + 1, 0, 0, 8), -EBADMSG);
	assert_int_equal(SEALED(1, 0, 0, 0x88, 0), -EBADMSG);
	/* the end */
	assert_int_equal(SEALED(0, 0, 9), 0);
	assert_int_equal(again.total, 9);
	assert_int_equal(SEALED(0, 1, 9), -EBADMSG);
	assert_int_equal(SEALED(0, 0, 9, 9), -EBADMSG);
}

/* Read to the end or to the first error, and count the samples. */
static int read_all(const char *path, uint64_t *samples)
{
	const struct trace_block *next;
	struct trace_reader *reader;
	struct error err;
	int rc = trace_reader_open(&reader, path, &err);

	*samples = 0;
	if (rc < 0)
		return rc;
	while ((rc = trace_reader_next(reader, &next, &err)) > 0)
		*samples += next->count;
	assert_int_equal(trace_reader_next(reader, &next, &err), rc);
	if (rc < 0)
		assert_non_null(strstr(err.message, path));
	trace_reader_close(reader);
	return rc;
}

/* Every truncated trace is detected. */
static void short_files_are_found(void **state)
{
	char path[64];
	uint8_t *data, *longer;
	uint64_t samples;
	size_t length, i;

	(void)state;
	trace_fixture_path(path);
	trace_fixture_write(path, 3, 300, 2);
	assert_int_equal(read_all(path, &samples), 0);
	assert_int_equal(samples, 300);
	data = trace_fixture_bytes(path, &length);
	for (i = 0; i < length; i += i < 64 ? 1 : 13) {
		trace_fixture_put(path, data, i);
		assert_int_equal(read_all(path, &samples), -EBADMSG);
	}
	longer = realloc(data, length + 1);
	assert_non_null(longer);
	data = longer;
	data[length] = 0;
	trace_fixture_put(path, data, length + 1);
	assert_int_equal(read_all(path, &samples), -EBADMSG);
	data[8]++;
	trace_fixture_put(path, data, length);
	assert_int_equal(read_all(path, &samples), -EPROTO);
	free(data);
	unlink(path);
	assert_int_equal(read_all(path, &samples), -ENOENT);
}

/* Blocks of a trace in another order are detected. */
static void moved_blocks_are_found(void **state)
{
	char path[64];
	uint8_t *data, *moved;
	uint64_t samples;
	size_t length, first, second;

	(void)state;
	trace_fixture_path(path);
	trace_fixture_write(path, 4, 1000, 1);
	data = trace_fixture_bytes(path, &length);
	moved = malloc(length);
	assert_non_null(moved);
	first = trace_block_bytes(data + TRACE_HEADER_BYTES);
	second = trace_block_bytes(data + TRACE_HEADER_BYTES + first);
	memcpy(moved, data, length);
	memcpy(moved + TRACE_HEADER_BYTES, data + TRACE_HEADER_BYTES + first, second);
	memcpy(moved + TRACE_HEADER_BYTES + second, data + TRACE_HEADER_BYTES, first);
	trace_fixture_put(path, moved, length);
	assert_int_equal(read_all(path, &samples), -EBADMSG);
	/* without the first */
	memcpy(moved + TRACE_HEADER_BYTES, data + TRACE_HEADER_BYTES + first,
	       length - TRACE_HEADER_BYTES - first);
	trace_fixture_put(path, moved, length - first);
	assert_int_equal(read_all(path, &samples), -EBADMSG);
	free(data);
	free(moved);
	unlink(path);
}

/*
 * Two events, drained one after another as by the perf source, are written in order of time for
 * each CPU. The program counter is the time.
 */
static void events_are_put_in_order(void **state)
{
	enum {
		CPUS = 3,
		DRAINS = 40,
		PER_DRAIN = 500
	};
	uint64_t last[CPUS] = {0}, seen = 0, pc;
	const struct trace_block *next;
	struct trace_writer *writer;
	struct trace_reader *reader;
	uint32_t drain, cpu, event, i;
	char path[64];

	(void)state;
	trace_fixture_path(path);
	assert_int_equal(trace_writer_create(&writer, path, NULL), 0);
	for (drain = 0; drain < DRAINS; drain++) {
		for (cpu = 0; cpu < CPUS; cpu++) {
			for (event = 0; event < 2; event++) {
				for (i = 0; i < PER_DRAIN; i++) {
					pc = (drain * PER_DRAIN + i) * 2 + event + 1;
					trace_writer_add(writer, cpu, pc, pc,
							 dcpi_tag(1, 1, event) + 5);
				}
			}
			trace_writer_settle(writer);
		}
	}
	assert_int_equal(trace_writer_destroy(writer, NULL), 0);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	while (trace_reader_next(reader, &next, NULL) > 0) {
		assert_true(next->cpu < CPUS);
		for (i = 0; i < next->count; i++) {
			assert_int_equal(next->sample[i].pc, ++last[next->cpu]);
			assert_int_equal(dcpi_tag_event(next->sample[i].tag),
					 (next->sample[i].pc - 1) % 2);
			assert_int_equal(dcpi_tag_count(next->sample[i].tag), 0);
		}
		seen += next->count;
	}
	assert_int_equal(seen, CPUS * DRAINS * PER_DRAIN * 2);
	trace_reader_close(reader);
	unlink(path);
}

/* A trace that cannot be written is abandoned, which is reported once. */
static void failures_are_told_once(void **state)
{
	struct rlimit old, small = {.rlim_cur = 4096};
	struct trace_writer *writer;
	uint64_t seed = 5;
	struct error err;
	char path[64];
	uint32_t i;

	(void)state;
	assert_int_equal(trace_writer_create(&writer, "/dev/full", &err), -ENOSPC);
	assert_non_null(strstr(err.message, "/dev/full"));
	assert_int_equal(trace_writer_create(&writer, "/absent/trace", &err), -ENOENT);

	trace_fixture_path(path);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(trace_writer_create(&writer, path, NULL), 0);
	assert_false(trace_writer_failed(writer, NULL));
	for (i = 0; i < 3 * TRACE_BLOCK_SAMPLES; i++) {
		struct dcpi_sample sample = trace_fixture_sample(&seed, 1);

		trace_writer_add(writer, 0, i, sample.pc, sample.tag);
	}
	trace_writer_settle(writer);
	assert_true(trace_writer_failed(writer, &err));
	assert_int_equal(err.errnum, EFBIG);
	assert_non_null(strstr(err.message, path));
	assert_false(trace_writer_failed(writer, NULL));
	assert_int_equal(trace_writer_destroy(writer, NULL), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);

	assert_int_equal(trace_writer_create(&writer, path, NULL), 0);
	trace_writer_add(writer, TRACE_CPU_MAX + 1, 0, 0, 0);
	assert_int_equal(trace_writer_destroy(writer, &err), -ERANGE);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_come_back),	   cmocka_unit_test(extremes_fit),
		cmocka_unit_test(damage_is_found),	   cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(short_files_are_found),   cmocka_unit_test(moved_blocks_are_found),
		cmocka_unit_test(events_are_put_in_order), cmocka_unit_test(failures_are_told_once),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
