// SPDX-License-Identifier: GPL-2.0-only
/* The ring's reader with a simulated writer: a memfd with the kernel's layout of a ring. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/error.h"
#include "loader-hook/perf/perf_ring.h"

enum {
	PAGES = 2
};

struct fixture {
	struct perf_ring *ring;
	struct perf_event_mmap_page *control;
	uint8_t *data;
	uint64_t bytes;
};

static void setup(struct fixture *fixture)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("ring", MFD_CLOEXEC);
	void *mapping;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)((PAGES + 1) * page)), 0);
	mapping = mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(mapping != MAP_FAILED);
	fixture->control = mapping;
	fixture->data = (uint8_t *)mapping + page;
	fixture->bytes = PAGES * page;
	assert_int_equal(perf_ring_map(&fixture->ring, fd, PAGES, NULL), 0);
	assert_int_equal(perf_ring_fd(fixture->ring), fd);
}

static void teardown(struct fixture *fixture)
{
	perf_ring_close(fixture->ring);
	munmap(fixture->control, (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE));
}

static void put(struct fixture *fixture, const void *data, size_t bytes)
{
	uint64_t head = fixture->control->data_head;
	size_t i;

	for (i = 0; i < bytes; i++)
		fixture->data[(head + i) % fixture->bytes] = ((const uint8_t *)data)[i];
	fixture->control->data_head = head + bytes;
}

/* Write a record with contents that depend on its number. */
static bool write_record(struct fixture *fixture, uint32_t number, uint16_t size)
{
	static uint8_t record[65536];
	struct perf_event_header header = {.type = number, .size = size};

	if (fixture->bytes - (fixture->control->data_head - fixture->control->data_tail) < size)
		return false;
	memset(record, (int)(number * 31 + 7), size);
	memcpy(record, &header, sizeof(header));
	put(fixture, record, size);
	return true;
}

static void check_record(const struct perf_event_header *record, uint32_t number)
{
	const uint8_t *bytes = (const void *)record;
	size_t i;

	assert_int_equal((uintptr_t)record % 8, 0);
	assert_int_equal(record->type, number);
	for (i = sizeof(*record); i < record->size; i++)
		assert_int_equal(bytes[i], (uint8_t)(number * 31 + 7));
}

/* Collect like a reader thread (loader-hook/perf/ring_reader.h): at random times if @seed is not 0.
 */
static void collect(struct fixture *fixture, uint64_t *seed)
{
	if (*seed != 0 && unit_random(seed) % 8 == 0)
		perf_ring_collect(fixture->ring);
}

/* Every record arrives once, complete and in order; some are put back, some were collected. */
static void records_arrive_if(uint64_t collected)
{
	uint32_t written = 0, seen = 0;
	const struct perf_event_header *record;
	struct fixture fixture;
	uint64_t seed = 5;
	int round;

	setup(&fixture);
	for (round = 0; round < 20000; round++) {
		uint64_t r = unit_random(&seed);
		uint64_t limit = unit_random(&seed) % 8;

		collect(&fixture, &collected);
		while (r % 4 != 0 &&
		       write_record(&fixture, written, (uint16_t)(8 * (1 + (r >> 8) % 200)))) {
			written++;
			r = unit_random(&seed);
		}
		while (limit-- > 0 && (record = perf_ring_next(fixture.ring)) != NULL) {
			check_record(record, seen);
			collect(&fixture, &collected);
			check_record(record, seen);
			if (unit_random(&seed) % 4 == 0) {
				perf_ring_put_back(fixture.ring);
				break;
			}
			seen++;
		}
		perf_ring_consumed(fixture.ring);
	}
	while ((record = perf_ring_next(fixture.ring)) != NULL)
		check_record(record, seen++);
	perf_ring_consumed(fixture.ring);
	assert_int_equal(seen, written);
	assert_true(fixture.control->data_head > 100 * fixture.bytes);
	assert_int_equal(fixture.control->data_tail, fixture.control->data_head);
	assert_int_equal(perf_ring_dropped(fixture.ring), 0);
	assert_int_equal(perf_ring_held(fixture.ring), 0);
	teardown(&fixture);
}

static void test_records_arrive(void **state)
{
	(void)state;
	records_arrive_if(0);
}

static void test_collected_records_arrive(void **state)
{
	(void)state;
	records_arrive_if(7);
}

/*
 * Ten rings full of records wait in memory. The place where the ring was full shows after which of
 * them the kernel may have refused a record.
 */
static void test_collected_rings_are_nearly_full(void **state)
{
	enum {
		RECORD = 512,
		RINGS = 10
	};
	uint32_t written = 0, seen = 0, pressed = 0, ring;
	const struct perf_event_header *record;
	struct fixture fixture;

	(void)state;
	setup(&fixture);
	for (ring = 0; ring < RINGS; ring++) {
		uint64_t left = ring % 2 == 0 ? fixture.bytes / 4 : fixture.bytes;

		for (; left >= RECORD; left -= RECORD)
			assert_true(write_record(&fixture, written++, RECORD));
		assert_int_equal(perf_ring_is_nearly_full(fixture.ring, true), ring % 2 == 1);
		assert_true(perf_ring_collect(fixture.ring) > 0);
		assert_false(perf_ring_is_nearly_full(fixture.ring, true));
	}
	assert_int_equal(perf_ring_held(fixture.ring), written * RECORD);
	while ((record = perf_ring_next(fixture.ring)) != NULL) {
		check_record(record, seen++);
		pressed += perf_ring_is_nearly_full(fixture.ring, false);
	}
	perf_ring_consumed(fixture.ring);
	assert_int_equal(seen, written);
	assert_int_equal(pressed, RINGS / 2 * ((4608 + RECORD - 1) / RECORD));
	assert_int_equal(perf_ring_held(fixture.ring), 0);
	teardown(&fixture);
}

/*
 * A nearly full ring is reported as pressed, independent of the part already read: it may have
 * refused a record.
 */
static void test_reports_nearly_full_rings(void **state)
{
	enum {
		RECORD = 512,
		LARGEST = 4200 /* slightly less than the bytes of a mapping's record */
	};
	struct fixture fixture;
	uint32_t written, seen = 0;
	uint64_t pressed_at = 0;

	(void)state;
	setup(&fixture);
	for (written = 0; write_record(&fixture, written, RECORD); written++)
		;
	assert_true(perf_ring_is_nearly_full(fixture.ring, true));
	assert_false(perf_ring_is_nearly_full(fixture.ring, false));
	for (; perf_ring_next(fixture.ring) != NULL; seen++) {
		if (pressed_at == 0 && perf_ring_is_nearly_full(fixture.ring, false))
			pressed_at = ((uint64_t)seen + 1) * RECORD;
	}
	assert_int_equal(seen, written);
	assert_true(pressed_at > 0 && pressed_at - RECORD <= fixture.bytes - LARGEST);
	assert_true(pressed_at > fixture.bytes / 4);
	perf_ring_consumed(fixture.ring);
	assert_false(perf_ring_is_nearly_full(fixture.ring, true));
	assert_false(perf_ring_is_nearly_full(fixture.ring, false));
	/* During the read. */
	assert_true(write_record(&fixture, 1, RECORD));
	assert_non_null(perf_ring_next(fixture.ring));
	while (write_record(&fixture, 2, RECORD))
		;
	assert_null(perf_ring_next(fixture.ring));
	assert_false(perf_ring_is_nearly_full(fixture.ring, false));
	assert_true(perf_ring_is_nearly_full(fixture.ring, true));
	teardown(&fixture);
}

/* Records written during a batch belong to the next one. */
static void test_batches_end(void **state)
{
	struct fixture fixture;

	(void)state;
	setup(&fixture);
	write_record(&fixture, 0, 16);
	assert_non_null(perf_ring_next(fixture.ring));
	write_record(&fixture, 1, 16);
	assert_null(perf_ring_next(fixture.ring));
	assert_null(perf_ring_next(fixture.ring));
	perf_ring_consumed(fixture.ring);
	assert_int_equal(fixture.control->data_tail, 16);
	check_record(perf_ring_next(fixture.ring), 1);
	perf_ring_put_back(fixture.ring);
	perf_ring_consumed(fixture.ring);
	assert_int_equal(fixture.control->data_tail, 16);
	check_record(perf_ring_next(fixture.ring), 1);
	teardown(&fixture);
}

static void test_malformed_sizes(void **state)
{
	static const uint16_t bad[] = {0, 4, 7, 12, 40, 65535};
	struct fixture fixture;
	size_t i;

	(void)state;
	setup(&fixture);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t junk[32] = {0};
		struct perf_event_header header = {.type = 1, .size = bad[i]};

		memcpy(junk, &header, sizeof(header));
		write_record(&fixture, 9, 24);
		put(&fixture, junk, sizeof(junk));
		check_record(perf_ring_next(fixture.ring), 9);
		assert_null(perf_ring_next(fixture.ring));
		perf_ring_consumed(fixture.ring);
		assert_int_equal(perf_ring_dropped(fixture.ring), sizeof(junk));
		assert_int_equal(perf_ring_dropped(fixture.ring), 0);
		assert_int_equal(fixture.control->data_tail, fixture.control->data_head);
	}
	/* A head further ahead than the size of the ring, and an unaligned one. */
	fixture.control->data_head += fixture.bytes + 8;
	assert_null(perf_ring_next(fixture.ring));
	perf_ring_consumed(fixture.ring);
	assert_int_equal(perf_ring_dropped(fixture.ring), fixture.bytes);
	fixture.control->data_head += 4;
	assert_null(perf_ring_next(fixture.ring));
	perf_ring_consumed(fixture.ring);
	assert_int_equal(perf_ring_dropped(fixture.ring), 4);
	teardown(&fixture);
}

static void test_arguments(void **state)
{
	struct perf_event_attr attr = {.type = UINT32_MAX - 1};
	struct perf_ring *ring = NULL;
	struct error err;

	(void)state;
	assert_int_equal(perf_ring_map(&ring, 0, 3, &err), -EINVAL);
	assert_int_equal(perf_ring_map(&ring, 0, 0, &err), -EINVAL);
	assert_true(perf_ring_open(&ring, &attr, 0, -1, 1, &err) < 0);
	assert_string_not_equal(err.message, "");
	assert_null(ring);
	perf_ring_close(NULL);
}

/* An event of this process; a disabled event behaves like one of a CPU that was offline. */
static void test_detects_stopped_event(void **state)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct perf_ring *ring;
	struct error err;

	(void)state;
	if (perf_ring_open(&ring, &attr, 0, -1, PAGES, &err) < 0) {
		print_message("skipped: %s\n", err.message);
		skip();
	}
	assert_false(perf_ring_stands(ring));
	usleep(1000);
	assert_false(perf_ring_stands(ring));
	assert_int_equal(ioctl(perf_ring_fd(ring), PERF_EVENT_IOC_DISABLE, 0), 0);
	perf_ring_stands(ring);
	assert_true(perf_ring_stands(ring));
	assert_int_equal(ioctl(perf_ring_fd(ring), PERF_EVENT_IOC_ENABLE, 0), 0);
	usleep(1000);
	assert_false(perf_ring_stands(ring));
	perf_ring_close(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_arrive),
		cmocka_unit_test(test_collected_records_arrive),
		cmocka_unit_test(test_collected_rings_are_nearly_full),
		cmocka_unit_test(test_reports_nearly_full_rings),
		cmocka_unit_test(test_batches_end),
		cmocka_unit_test(test_malformed_sizes),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_detects_stopped_event),
	};

	return cmocka_run_group_tests_name("perf_ring", tests, NULL, NULL);
}
