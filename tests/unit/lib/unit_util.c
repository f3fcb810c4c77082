// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/bounded_reader.h"
#include "lib/error.h"
#include "lib/file_digest.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"

/*
 * The map compared with a plain array, over a small key space, so that runs of colliding keys grow
 * and are split by removals.
 */
static void test_map_agrees_with_model(void **state)
{
	enum {
		KEYS = 512,
		STEPS = 300000
	};
	static uint64_t value[KEYS];
	static bool present[KEYS];
	struct u64_map map = {0};
	uint64_t seed = 1, key, got;
	size_t count = 0, cursor, seen;
	int step;

	(void)state;
	for (step = 0; step < STEPS; step++) {
		uint64_t r = unit_random(&seed);
		uint64_t *slot;

		key = (r >> 8) % KEYS;
		switch (r % 3) {
		case 0:
			slot = u64_map_insert(&map, key * 0x100000001ULL);
			assert_non_null(slot);
			assert_int_equal(*slot, present[key] ? value[key] : 0);
			*slot = value[key] = r;
			count += !present[key];
			present[key] = true;
			break;
		case 1:
			slot = u64_map_find(&map, key * 0x100000001ULL);
			assert_int_equal(slot != NULL, present[key]);
			if (slot != NULL)
				assert_int_equal(*slot, value[key]);
			break;
		default:
			assert_int_equal(u64_map_remove(&map, key * 0x100000001ULL), present[key]);
			count -= present[key];
			present[key] = false;
		}
		assert_int_equal(u64_map_count(&map), count);
		/* 16 bytes per slot, with at most three quarters of them in use. */
		assert_true(u64_map_bytes(&map) * 3 >= count * 16 * 4);
	}
	assert_true(u64_map_bytes(&map) <= (size_t)KEYS * 2 * 16 + 16);
	for (cursor = 0, seen = 0; u64_map_next(&map, &cursor, &key, &got); seen++) {
		assert_true(key % 0x100000001ULL == 0 && key / 0x100000001ULL < KEYS);
		assert_true(present[key / 0x100000001ULL]);
		assert_int_equal(got, value[key / 0x100000001ULL]);
	}
	assert_int_equal(seen, count);
	u64_map_deinit(&map);
	assert_int_equal(u64_map_count(&map), 0);
	assert_int_equal(u64_map_bytes(&map), 0);
}

static void test_varint_round_trip(void **state)
{
	uint8_t bytes[VARINT_BYTES_MAX];
	struct bounded_reader reader;
	uint64_t seed = 2;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		uint64_t value = unit_random(&seed) >> (unit_random(&seed) % 64);
		size_t n = varint_write(bytes, value);

		bounded_reader_init(&reader, bytes, n);
		assert_int_equal(bounded_reader_varint(&reader), value);
		assert_false(bounded_reader_failed(&reader));
		assert_int_equal(bounded_reader_left(&reader), 0);
		bounded_reader_init(&reader, bytes, n - 1);
		assert_int_equal(bounded_reader_varint(&reader), 0);
		assert_true(bounded_reader_failed(&reader));
	}
}

static void test_varint_refuses(void **state)
{
	static const struct {
		size_t bytes;
		uint8_t data[11];
	} bad[] = {
		{2, {0x80, 0x00}},
		{10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}},
		{11, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}},
	};
	struct bounded_reader reader;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bounded_reader_init(&reader, bad[i].data, bad[i].bytes);
		bounded_reader_varint(&reader);
		assert_true(bounded_reader_failed(&reader));
	}
}

/* Numbers from compilers may have redundant bytes. */
static void test_leb128_accepts_padding(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		int64_t value = (int64_t)unit_random(&seed) >> (unit_random(&seed) % 64);
		size_t least = 1 + unit_random(&seed) % 12, n = 0;
		int64_t rest = value;
		struct bounded_reader reader;
		uint8_t bytes[24];
		bool done;

		do {
			bytes[n] = (uint8_t)(rest & 0x7f);
			rest >>= 7;
			done = n + 1 >= least && rest == (bytes[n] & 0x40 ? -1 : 0);
			bytes[n++] |= done ? 0 : 0x80;
		} while (!done);
		bounded_reader_init(&reader, bytes, n);
		assert_true(bounded_reader_sleb128(&reader) == value);
		assert_false(bounded_reader_failed(&reader));
		assert_int_equal(bounded_reader_left(&reader), 0);
		bounded_reader_init(&reader, bytes, n);
		assert_true(bounded_reader_uleb128(&reader) ==
			    ((uint64_t)value & (n < 10 ? (UINT64_C(1) << 7 * n) - 1 : UINT64_MAX)));
		bounded_reader_init(&reader, bytes, n - 1);
		bounded_reader_uleb128(&reader);
		assert_true(bounded_reader_failed(&reader));
	}
}

static void test_reader_stays_in_bounds(void **state)
{
	static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7};
	struct bounded_reader reader;

	(void)state;
	bounded_reader_init(&reader, data, sizeof(data));
	assert_int_equal(bounded_reader_u32(&reader), 0x04030201);
	assert_int_equal(bounded_reader_u32(&reader), 0);
	assert_true(bounded_reader_failed(&reader));
	assert_int_equal(bounded_reader_u8(&reader), 0);
	bounded_reader_init(&reader, data, sizeof(data));
	assert_null(bounded_reader_bytes(&reader, SIZE_MAX));
}

static void test_array_grows(void **state)
{
	uint32_t *array = NULL;
	size_t capacity = 0, i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(array_reserve(&array, &capacity, i + 1, sizeof(*array)), 0);
		array[i] = (uint32_t)i;
	}
	for (i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	assert_int_equal(array_reserve(&array, &capacity, SIZE_MAX / 2, sizeof(*array)), -ENOMEM);
	free(array);
}

/* All sorted arrays of up to six numbers below four, and all ranges of their indices. */
static void test_partition_point_agrees_with_linear_search(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 4 * 4 * 4 * 4 * 4 * 4; code++) {
		uint32_t numbers[6], count = 0;

		for (uint32_t digits = code; count < 6; digits /= 4)
			numbers[count++] = digits % 4;
		for (uint32_t i = 1; i < count; i++)
			count = numbers[i - 1] > numbers[i] ? i : count;
		for (uint32_t first = 0; first <= count; first++) {
			for (uint32_t wanted = 0; wanted < 5; wanted++) {
				uint32_t expected = first;

				while (expected < count && numbers[expected] < wanted)
					expected++;
				assert_int_equal(
					partition_point(first, count, i, numbers[i] < wanted),
					expected);
			}
		}
	}
}

static void test_error_is_one_line(void **state)
{
	struct error err;
	char long_text[2000];

	(void)state;
	assert_int_equal(error_set(&err, EINVAL, "bad \"%s\"", "a\nb"), -EINVAL);
	assert_string_equal(err.message, "bad \"a?b\"");
	/* CSI in UTF-8 and as a byte, a letter, half of one, DEL */
	error_set(&err, EINVAL, "%s",
		  "a\xc2\x9b"
		  "1m\x9b\xc3\xa9\xc3\x7f");
	assert_string_equal(err.message, "a??1m?\xc3\xa9??");
	errno = ENOENT;
	assert_int_equal(error_set_errno(&err, "cannot open %s", "/x"), -ENOENT);
	assert_string_equal(err.message, "cannot open /x: No such file or directory");
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_int_equal(error_set(&err, EIO, "%s", long_text), -EIO);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_int_equal(error_set(NULL, EIO, "nobody"), -EIO);
}

static void test_digests_of_different_files_differ(void **state)
{
	enum {
		LARGE = 9 << 20
	};
	uint8_t a[FILE_DIGEST_BYTES], b[FILE_DIGEST_BYTES];
	int fd = memfd_create("digested", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "12345", 5), 5);
	assert_int_equal(file_digest(a, fd, 5), 0);
	assert_int_equal(file_digest(b, fd, 4), 0);
	assert_memory_not_equal(a, b, sizeof(a));
	assert_int_equal(file_digest(b, fd, 5), 0);
	assert_memory_equal(a, b, sizeof(a));
	/* The file is truncated while it is read. */
	assert_int_equal(file_digest(b, fd, 6), -EIO);
	assert_int_equal(ftruncate(fd, LARGE), 0);
	assert_int_equal(file_digest(a, fd, LARGE), 0);
	assert_int_equal(pwrite(fd, "x", 1, LARGE - 1), 1);
	assert_int_equal(file_digest(b, fd, LARGE), 0);
	assert_memory_not_equal(a, b, sizeof(a));
	close(fd);
}

/* Make a file of @bytes bytes that ends with a hole, with data in every second step. */
static int striped_file(size_t bytes, size_t step)
{
	int fd = memfd_create("striped", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	for (size_t at = step; at + step < bytes; at += 2 * step)
		assert_int_equal(pwrite(fd, "data", 4, (off_t)at), 4);
	return fd;
}

static int dense_copy(int sparse, size_t bytes)
{
	int fd = memfd_create("dense", MFD_CLOEXEC);
	char *contents = malloc(bytes);

	assert_true(fd >= 0 && contents != NULL);
	assert_int_equal(pread(sparse, contents, bytes, 0), bytes);
	assert_int_equal(write(fd, contents, bytes), bytes);
	free(contents);
	return fd;
}

static void test_digest_of_holes_equals_zeros(void **state)
{
	static const size_t sizes[] = {1, 4096, 1 << 20, (1 << 20) + 77, 9 << 20, (9 << 20) + 1};
	static const size_t steps[] = {4096, 12288, 1 << 19, 16 << 20};
	uint8_t sparse[FILE_DIGEST_BYTES], dense[FILE_DIGEST_BYTES];
	int fd, copy;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (size_t j = 0; j < sizeof(steps) / sizeof(*steps); j++) {
			fd = striped_file(sizes[i], steps[j]);
			copy = dense_copy(fd, sizes[i]);
			assert_int_equal(file_digest(sparse, fd, sizes[i]), 0);
			assert_int_equal(file_digest(dense, copy, sizes[i]), 0);
			assert_memory_equal(sparse, dense, sizeof(sparse));
			assert_int_equal(file_digest(sparse, fd, sizes[i] + 1), -EIO);
			close(fd);
			close(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_agrees_with_model),
		cmocka_unit_test(test_varint_round_trip),
		cmocka_unit_test(test_varint_refuses),
		cmocka_unit_test(test_leb128_accepts_padding),
		cmocka_unit_test(test_reader_stays_in_bounds),
		cmocka_unit_test(test_array_grows),
		cmocka_unit_test(test_partition_point_agrees_with_linear_search),
		cmocka_unit_test(test_error_is_one_line),
		cmocka_unit_test(test_digests_of_different_files_differ),
		cmocka_unit_test(test_digest_of_holes_equals_zeros),
	};

	return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
