// SPDX-License-Identifier: GPL-2.0-only
/* Records of the BPF program and the ring that transports them, without the kernel. */
#include "tests/lib/unit.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "loader-hook/bpf/hook_record.h"
#include "loader-hook/bpf/hook_ring.h"

#define MAP_BYTES offsetof(struct image_record_map, path)

static char path[HOOK_RECORD_PATH_BYTES];

static struct image_record_map map_record(const char *names, size_t bytes)
{
	struct image_record_map record = {
		.head = {.time_ns = 5, .type = IMAGE_RECORD_MAP, .pid = 7, .generation = 3},
		.start = 0x1000,
		.end = 0x3000,
		.offset = 0x400,
		.inode = 99,
		.bytes = 1234,
		.modified_s = 2,
		.modified_ns = 3,
		.device = 8 << 20 | 17,
		.version = 0,
		.user = 1000,
		.file_user = 1001,
		.path_bytes = (uint32_t)bytes,
	};

	memcpy(record.path, names, bytes);
	return record;
}

static void test_mapping(void **state)
{
	struct image_record_map record = map_record("libc.so\0lib\0usr", 16);
	struct image_event event;

	(void)state;
	assert_true(hook_record_parse(&event, path, &record, MAP_BYTES + 16));
	assert_int_equal(event.type, IMAGE_EVENT_MAP);
	assert_int_equal(event.pid, 7);
	assert_int_equal(event.time_ns, 5);
	assert_true(event.has_generation);
	assert_int_equal(event.generation, 3);
	assert_int_equal(event.start, 0x1000);
	assert_int_equal(event.bytes, 0x2000);
	assert_int_equal(event.file_offset, 0x400);
	assert_int_equal(event.device, makedev(8, 17));
	assert_int_equal(event.inode, 99);
	assert_int_not_equal(event.version, 0);
	assert_int_equal(event.file_bytes, 1234);
	assert_int_equal(event.modified_ns, 2000000003);
	assert_true(event.has_user);
	assert_int_equal(event.user, 1000);
	assert_int_equal(event.file_user, 1001);
	assert_string_equal(event.path, "/usr/lib/libc.so");
	assert_false(event.in_exec);
	assert_int_equal(event.parent, 0);
	record.head.parent = 1;
	record.deleted = 1;
	assert_true(hook_record_parse(&event, path, &record, MAP_BYTES + 16));
	assert_true(event.in_exec);
	assert_int_equal(event.parent, 0);
	assert_string_equal(event.path, "/usr/lib/libc.so (deleted)");
	record.memory = IMAGE_RECORD_VDSO;
	assert_true(hook_record_parse(&event, path, &record, MAP_BYTES + 16));
	assert_string_equal(event.path, "[vdso]");
	assert_int_equal(event.inode, 0);
}

/* As from dcpi.ko: the path is complete, or there is no record. */
static void test_complete_path(void **state)
{
	struct image_record_map record = map_record("/bin/busybox (deleted)", 23);
	struct image_event event;

	(void)state;
	record.memory = IMAGE_RECORD_PATH;
	assert_true(hook_record_parse(&event, path, &record, MAP_BYTES + 23));
	assert_string_equal(event.path, "/bin/busybox (deleted)");
	assert_int_equal(event.inode, 99);
	record.path[4] = '\0';
	assert_false(hook_record_parse(&event, path, &record, MAP_BYTES + 23));
	record.path[4] = '/';
	record.path[22] = 'x';
	assert_false(hook_record_parse(&event, path, &record, MAP_BYTES + 23));
	record.path_bytes = 0;
	assert_false(hook_record_parse(&event, path, &record, MAP_BYTES));
}

/* The longest possible path, of the shortest names: slashes double its length. */
static void test_longest_path(void **state)
{
	static struct image_record_map record;
	struct image_event event;
	size_t i;

	(void)state;
	record = map_record("", 0);
	for (i = 0; i < sizeof(record.path); i += 2)
		record.path[i] = 'a';
	record.path_bytes = sizeof(record.path);
	record.deleted = 1;
	assert_true(hook_record_parse(&event, path, &record, sizeof(record)));
	assert_int_equal(strlen(event.path), sizeof(record.path) + strlen(" (deleted)"));
	/* A path of empty names only. */
	memset(record.path, 0, sizeof(record.path));
	assert_true(hook_record_parse(&event, path, &record, sizeof(record)));
	assert_int_equal(strlen(event.path), sizeof(record.path) + strlen(" (deleted)"));
}

/* For any contents and length of a record, nothing beyond its end is read, checked by ASan. */
static void test_bounds_hostile_records(void **state)
{
	uint64_t seed = 11;
	int round;

	(void)state;
	for (round = 0; round < 20000; round++) {
		size_t bytes = unit_random(&seed) % (MAP_BYTES + 64), i;
		uint8_t *record = malloc(bytes + 1);
		struct image_event event;

		assert_non_null(record);
		for (i = 0; i < bytes; i++)
			record[i] = unit_random(&seed) % 4 == 0 ? (uint8_t)unit_random(&seed) : 0;
		if (bytes > offsetof(struct image_record, type))
			record[offsetof(struct image_record, type)] =
				(uint8_t)(unit_random(&seed) % (IMAGE_RECORD_TYPES + 1));
		if (bytes > offsetof(struct image_record_map, path_bytes))
			record[offsetof(struct image_record_map, path_bytes)] =
				(uint8_t)(unit_random(&seed) % 80);
		if (hook_record_parse(&event, path, record, bytes) && event.path != NULL)
			assert_true(strlen(event.path) < sizeof(path));
		free(record);
	}
}

struct reading {
	unsigned int records;
	uint64_t sum;
};

static void take(void *context, const void *record, size_t bytes)
{
	struct reading *reading = context;

	reading->records++;
	reading->sum += bytes + *(const uint8_t *)record;
}

static uint64_t put(uint8_t *data, uint64_t at, uint32_t bytes, uint32_t flags, uint8_t first)
{
	uint32_t length = bytes | flags;

	memcpy(data + at, &length, sizeof(length));
	data[at + BPF_RINGBUF_HDR_SZ] = first;
	return at + ((bytes + BPF_RINGBUF_HDR_SZ + 7) & ~7U);
}

static void test_stops_at_busy_record(void **state)
{
	static uint64_t consumer, producer;
	static uint8_t data[2 * 4096] __attribute__((aligned(8)));
	struct hook_ring ring = {&consumer, &producer, data, 4096, 0};
	struct reading reading = {0};
	uint64_t busy, end;

	(void)state;
	end = put(data, 0, 5, 0, 1);
	end = put(data, end, 16, BPF_RINGBUF_DISCARD_BIT, 2);
	busy = end;
	end = put(data, end, 24, BPF_RINGBUF_BUSY_BIT, 3);
	end = put(data, end, 8, 0, 4);
	producer = end;
	assert_int_equal(hook_ring_end(&ring), end);
	assert_false(hook_ring_read(&ring, end, take, &reading));
	assert_int_equal(reading.records, 1);
	assert_int_equal(consumer, busy);
	put(data, busy, 24, 0, 3);
	assert_true(hook_ring_read(&ring, end, take, &reading));
	assert_int_equal(reading.records, 3);
	assert_int_equal(reading.sum, 5 + 1 + 24 + 3 + 8 + 4);
	assert_int_equal(consumer, end);
	/* An impossible length ends the batch. */
	producer = put(data, end, 0x0fffffff, 0, 0);
	assert_int_equal(hook_ring_malformed(&ring), 0);
	assert_true(hook_ring_read(&ring, end + 64, take, &reading));
	assert_int_equal(hook_ring_malformed(&ring), 1);
	assert_int_equal(reading.records, 3);
	assert_int_equal(consumer, end + 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_complete_path),
		cmocka_unit_test(test_longest_path),
		cmocka_unit_test(test_bounds_hostile_records),
		cmocka_unit_test(test_stops_at_busy_record),
	};

	return cmocka_run_group_tests_name("hook_record", tests, NULL, NULL);
}
