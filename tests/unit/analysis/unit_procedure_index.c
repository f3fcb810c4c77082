// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/procedure_index.h"
#include "tests/fixtures/procedure_test.h"

#define KEY "/usr/lib/debug"

static const char *const images[] = {"/proc/self/exe", "/usr/lib/x86_64-linux-gnu/libc.so.6",
				     "/bin/bash"};

/* Make an index of a table that was made from @path. */
static void *make(const struct procedure_table *table, const char *path, size_t *bytes)
{
	struct file_stamps stamps = {0};
	void *index = NULL;

	file_stamps_note(&stamps, path);
	file_stamps_note(&stamps, "/nonexistent/debug/file");
	assert_false(stamps.failed);
	assert_int_equal(procedure_index_make(table, &stamps, KEY, &index, bytes), 0);
	file_stamps_deinit(&stamps);
	return index;
}

static void *copy_of(const void *bytes, size_t count)
{
	void *copy = malloc(count + 1);

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	return copy;
}

static int reopen(struct procedure_table **ret, const void *bytes, size_t count, const char *key)
{
	/* Allocate exactly that size, so that the sanitizers detect reads past the end. */
	void *copy = malloc(count > 0 ? count : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	return procedure_index_open(ret, copy, count, key);
}

static void assert_same(const struct procedure_table *a, const struct procedure_table *b)
{
	assert_int_equal(procedure_table_count(a), procedure_table_count(b));
	for (size_t i = 0; i < procedure_table_count(a); i++) {
		const struct procedure *x = procedure_table_get(a, i);
		const struct procedure *y = procedure_table_get(b, i);

		assert_int_equal(x->offset, y->offset);
		assert_int_equal(x->bytes, y->bytes);
		assert_int_equal(x->address, y->address);
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->source, y->source);
		assert_int_equal(x->inside, y->inside);
		for (uint64_t at = x->offset; at <= x->offset + x->bytes; at += x->bytes / 3 + 1)
			assert_int_equal(procedure_table_find(a, at), procedure_table_find(b, at));
	}
}

static void test_index_equals_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		struct procedure_table *table, *again = NULL;
		void *index;
		size_t bytes;

		if (access(images[i], R_OK) < 0)
			continue;
		table = test_table(images[i], NULL);
		assert_true(procedure_table_count(table) > 0);
		index = make(table, images[i], &bytes);
		assert_int_equal(reopen(&again, index, bytes, KEY), 0);
		assert_null(procedure_table_image(again));
		assert_same(table, again);
		procedure_table_destroy(again);
		procedure_table_destroy(table);
		free(index);
	}
}

static void test_refuses_changed_files(void **state)
{
	char path[] = "/tmp/unit_procedure_index.XXXXXX";
	struct procedure_table *table = test_table("/proc/self/exe", NULL), *again = NULL;
	int fd = mkstemp(path);
	struct timespec times[2] = {{1, 0}, {1, 0}};
	size_t bytes;
	void *index;

	(void)state;
	assert_true(fd >= 0);
	index = make(table, path, &bytes);
	assert_int_equal(reopen(&again, index, bytes, KEY), 0);
	procedure_table_destroy(again);
	assert_int_equal(reopen(&again, index, bytes, "/other/debug"), -ESTALE);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(reopen(&again, index, bytes, KEY), -ESTALE);
	free(index);
	index = make(table, path, &bytes);
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(reopen(&again, index, bytes, KEY), -ESTALE);
	free(index);
	index = make(table, path, &bytes);
	unlink(path);
	assert_int_equal(reopen(&again, index, bytes, KEY), -ESTALE);
	free(index);
	close(fd);
	procedure_table_destroy(table);
}

static void test_detects_damage(void **state)
{
	struct procedure_table *table = test_table("/proc/self/exe", NULL), *again = NULL;
	size_t bytes;
	uint8_t *index = make(table, "/proc/self/exe", &bytes);

	(void)state;
	for (size_t cut = 0; cut < bytes; cut += cut < 256 ? 1 : 997)
		assert_int_equal(reopen(&again, index, cut, KEY), -EBADMSG);
	for (size_t at = 0; at < bytes; at += at < 256 ? 1 : 61) {
		index[at] ^= 0x40;
		assert_int_equal(reopen(&again, index, bytes, KEY), -EBADMSG);
		index[at] ^= 0x40;
	}
	assert_int_equal(reopen(&again, index, bytes, KEY), 0);
	procedure_table_destroy(again);
	procedure_table_destroy(table);
	free(index);
}

/* For any contents with a valid checksum, no byte outside the index is read. */
static void test_refuses_invalid_values(void **state)
{
	struct procedure_table *table = test_table("/proc/self/exe", NULL);
	size_t bytes, opened = 0;
	uint8_t *index = make(table, "/proc/self/exe", &bytes);
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		uint8_t *copy = copy_of(index, bytes);
		size_t first = round % 2 == 0 ? 16 : 56, range = round % 4 == 0 ? 40 : bytes - 56;
		struct procedure_table *again = NULL;
		uint64_t sum;

		for (int i = 0; i < 3; i++)
			copy[first + (size_t)rand_r(&seed) % range % (bytes - first)] =
				(uint8_t)rand_r(&seed);
		sum = procedure_index_checksum(copy + 16, bytes - 16);
		memcpy(copy + 8, &sum, sizeof(sum));
		if (reopen(&again, copy, bytes, KEY) == 0) {
			opened++;
			for (size_t i = 0; i < procedure_table_count(again); i++) {
				const struct procedure *p = procedure_table_get(again, i);

				assert_true(strlen(p->name) < bytes);
				assert_true(procedure_table_find(again, p->offset) <
					    (long)procedure_table_count(again));
			}
			procedure_table_destroy(again);
		}
		free(copy);
	}
	/* Changed addresses are valid: some indexes are accepted. */
	assert_true(opened > 0);
	procedure_table_destroy(table);
	free(index);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index_equals_table),
		cmocka_unit_test(test_refuses_changed_files),
		cmocka_unit_test(test_detects_damage),
		cmocka_unit_test(test_refuses_invalid_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
