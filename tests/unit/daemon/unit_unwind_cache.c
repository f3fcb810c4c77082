// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encoded pages of unwind tables against the rows that they encode, and the cache of pages against
 * complete tables.
 */
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/unwind/unwind_build.h"
#include "daemon/unwind/unwind_cache.h"
#include "daemon/unwind/unwind_encode.h"
#include "lib/cleanup.h"

#define IMAGES 3
#define ROWS_MAX 6000

/* A table of random rows. Each rule has its number as its @offset. */
struct random_table {
	struct unwind_table *table;
	struct unwind_row rows[ROWS_MAX];
	uint32_t count;
};

/* Rows in clusters as of functions; gaps of up to several pages; few or many rules. */
static void rows_make(struct random_table *ret, uint64_t *random, uint32_t rules)
{
	uint32_t offset = (uint32_t)(unit_random(random) % UNWIND_PAGE_BYTES);
	uint32_t wanted = 1 + (uint32_t)(unit_random(random) % ROWS_MAX), rule = 0;

	for (ret->count = 0; ret->count < wanted; ret->count++) {
		uint32_t next = unit_random(random) % 2 ? (rule + 1) % rules
							: (uint32_t)(unit_random(random) % rules);

		rule = next != rule ? next : (rule + 1) % rules;
		ret->rows[ret->count] = (struct unwind_row){offset, (uint16_t)rule};
		switch (unit_random(random) % 50) {
		case 0:
			offset +=
				(uint32_t)(unit_random(random) % (UINT64_C(4) * UNWIND_PAGE_BYTES));
			break;
		case 1: /* the start of a page */
			offset = (offset | (UNWIND_PAGE_BYTES - 1)) + 1;
			break;
		case 2:
			offset += (uint32_t)(unit_random(random) % 1000);
			break;
		default:
			offset += (uint32_t)(unit_random(random) % 80);
		}
		offset++;
	}
}

static void random_table_make(struct random_table *ret, uint64_t *random)
{
	uint32_t rules = 2 + (uint32_t)(unit_random(random) % 3 ? unit_random(random) % 10
								: unit_random(random) % 16000);

	rows_make(ret, random, rules);
	ret->table = calloc(1, sizeof(*ret->table));
	assert_non_null(ret->table);
	ret->table->machine = unwind_machine_here();
	ret->table->first_page = unit_random(random) % 100;
	ret->table->rule_count = rules;
	ret->table->row_count = ret->count;
	ret->table->rules = calloc(rules, sizeof(*ret->table->rules));
	assert_non_null(ret->table->rules);
	for (uint32_t i = 0; i < rules; i++)
		ret->table->rules[i] = (struct unwind_rule){
			.kind = i < 2 ? (uint8_t)i : UNWIND_REGISTER, .offset = (int32_t)i};
	assert_int_equal(unwind_encode(ret->table, ret->rows), 0);
}

/* The model: the last row that begins at or before an offset. */
static int32_t model_find(const struct random_table *random_table, uint64_t offset)
{
	const struct unwind_table *table = random_table->table;
	uint64_t first = table->first_page << UNWIND_PAGE_SHIFT;
	int32_t rule = UNWIND_RULE_NONE;

	if (offset < first || offset >= first + ((uint64_t)table->page_count << UNWIND_PAGE_SHIFT))
		return UNWIND_RULE_NONE;
	for (uint32_t i = 0; i < random_table->count; i++) {
		if (random_table->rows[i].offset + first > offset)
			break;
		rule = random_table->rows[i].rule;
	}
	return rule;
}

static void find_compare(const struct random_table *random_table, uint64_t offset)
{
	const struct unwind_rule *rule = unwind_table_find(random_table->table, offset);

	assert_non_null(rule);
	assert_int_equal(rule->offset, model_find(random_table, offset));
}

static void pages_have_the_rules_of_the_rows(void **state)
{
	static struct random_table random_table;
	uint64_t random = 46;

	(void)state;
	for (int i = 0; i < 10; i++) {
		uint64_t first;

		random_table_make(&random_table, &random);
		first = random_table.table->first_page << UNWIND_PAGE_SHIFT;
		assert_true(unwind_table_check(random_table.table));
		for (uint32_t k = 0; k < random_table.count; k += 1 + k / 20) {
			find_compare(&random_table, first + random_table.rows[k].offset);
			find_compare(&random_table, first + random_table.rows[k].offset - 1);
			find_compare(&random_table, first + random_table.rows[k].offset + 1);
		}
		find_compare(&random_table, 0);
		find_compare(&random_table, UINT64_MAX);
		for (uint64_t page = 0; page <= random_table.table->page_count; page++) {
			find_compare(&random_table, first + (page << UNWIND_PAGE_SHIFT));
			find_compare(&random_table, first + (page << UNWIND_PAGE_SHIFT) - 1);
		}
		unwind_table_destroy(random_table.table);
	}
}

/* If a page passes the check, each look-up has a valid result. */
static void damaged_pages_are_refused(void **state)
{
	static struct random_table random_table;
	uint64_t random = 47;
	unsigned int refused = 0, tried = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		const struct unwind_table *table;
		struct unwind_page *page;
		uint32_t index, start;
		size_t size;

		if (i % 100 == 0) {
			if (i > 0)
				unwind_table_destroy(random_table.table);
			random_table_make(&random_table, &random);
		}
		table = random_table.table;
		index = (uint32_t)(unit_random(&random) % table->page_count);
		if (table->pages[index] == NULL)
			continue;
		size = unwind_page_size(table->pages[index]);
		page = malloc(size);
		assert_non_null(page);
		memcpy(page, table->pages[index], size);
		/* The private fields come first, and have any value. */
		((uint8_t *)page)[unit_random(&random) % size] = (uint8_t)unit_random(&random);
		((uint8_t *)page)[28 + unit_random(&random) % (size - 28)] ^=
			(uint8_t)(1U << unit_random(&random) % 8);
		start = table->starts[index] & ~UNWIND_START_ROWS;
		tried++;
		if (!unwind_page_check(page, size, table->followers, start, table->rule_count))
			refused++;
		else
			for (uint32_t offset = 0; offset < UNWIND_PAGE_BYTES; offset += 7)
				assert_true(unwind_page_find(page, table->followers, start,
							     offset) < table->rule_count);
		free(page);
	}
	unwind_table_destroy(random_table.table);
	assert_true(refused > tried / 4 && refused < tried);
}

/* Complete tables of images, each also in a file as another process writes it. */
struct fixture {
	struct unwind_table *tables[IMAGES];
	int images[IMAGES];
	int files[IMAGES];
	size_t all_bytes;
};

static const char *const patterns[IMAGES] = {
	"/lib/*-linux-gnu/libc.so.6",
	"/lib/*-linux-gnu/libm.so.6",
	"/proc/self/exe",
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	for (int i = 0; i < IMAGES; i++) {
		glob_t found = {.gl_pathc = 0};
		int fd;

		assert_int_equal(glob(patterns[i], 0, NULL, &found), 0);
		fd = fixture->images[i] = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
		globfree(&found);
		assert_int_equal(unwind_build(&fixture->tables[i], &(struct unwind_file){.fd = fd}),
				 0);
		fixture->files[i] = memfd_create("table", MFD_CLOEXEC);
		assert_int_equal(unwind_table_write(fixture->tables[i], fixture->files[i]), 0);
		fixture->all_bytes += unwind_table_bytes(fixture->tables[i]);
	}
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < IMAGES; i++) {
		unwind_table_destroy(fixture->tables[i]);
		close(fixture->images[i]);
		close(fixture->files[i]);
	}
	free(fixture);
	return 0;
}

static uint64_t offset_of(const struct unwind_table *table, uint64_t page, uint64_t *random)
{
	return ((table->first_page + page % table->page_count) << UNWIND_PAGE_SHIFT) +
	       unit_random(random) % UNWIND_PAGE_BYTES;
}

static struct unwind_wanted wanted_page(uint64_t offset, size_t bytes_max)
{
	return (struct unwind_wanted){
		.pages = {offset >> UNWIND_PAGE_SHIFT}, .count = 1, .bytes_max = bytes_max};
}

/* Build some pages as another process does. */
static struct unwind_table *pages_build(const struct fixture *fixture, uint32_t image,
					const struct unwind_wanted *wanted)
{
	const struct unwind_file file = {.fd = fixture->images[image]};
	_cleanup_close_ int fd = memfd_create("pages", MFD_CLOEXEC);
	struct unwind_table *built = NULL, *table = NULL;

	assert_int_equal(unwind_build_pages(&built, &file, wanted), 0);
	assert_int_equal(unwind_table_write(built, fd), 0);
	assert_int_equal(unwind_table_read(&table, fd, wanted), 0);
	unwind_table_destroy(built);
	return table;
}

/* Find the rule as the daemon does. Return: the number of tables that were read. */
static int cached_find(struct unwind_cache *cache, const struct fixture *fixture, uint32_t image,
		       uint64_t offset, size_t bytes_max)
{
	struct unwind_wanted wanted = wanted_page(offset, bytes_max);
	const struct unwind_rule *rule = NULL, *expected;
	struct unwind_table *table = NULL;
	enum unwind_cached found = unwind_cache_find(cache, image, offset, &rule);
	int reads = 0;

	if (found != UNWIND_CACHED_RULE) {
		assert_true(found == UNWIND_CACHED_UNKNOWN || found == UNWIND_CACHED_MISSING);
		wanted.only = found == UNWIND_CACHED_MISSING;
		if (wanted.only) {
			wanted.bytes_max = 0;
			table = pages_build(fixture, image, &wanted);
		} else {
			assert_int_equal(unwind_table_read(&table, fixture->files[image], &wanted),
					 0);
		}
		unwind_cache_add(cache, image, table, &wanted);
		assert_int_equal(unwind_cache_find(cache, image, offset, &rule),
				 UNWIND_CACHED_RULE);
		reads = 1;
	}
	expected = unwind_table_find(fixture->tables[image], offset);
	assert_memory_equal(rule, expected, sizeof(*rule));
	return reads;
}

/* Pages that are built alone have the rules of the complete table at each offset. */
static void some_pages_are_those_of_the_complete_table(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t random = 51;

	for (uint32_t image = 0; image < IMAGES; image++) {
		const struct unwind_table *whole = fixture->tables[image];
		struct unwind_wanted wanted = {.only = true};
		struct unwind_table *some;

		for (wanted.count = 0; wanted.count < 8; wanted.count++)
			wanted.pages[wanted.count] =
				whole->first_page + unit_random(&random) % whole->page_count;
		some = pages_build(fixture, image, &wanted);
		for (uint32_t i = 0; i < wanted.count; i++) {
			uint64_t first = wanted.pages[i] << UNWIND_PAGE_SHIFT;

			for (uint64_t offset = first; offset < first + UNWIND_PAGE_BYTES;
			     offset += 3)
				assert_memory_equal(unwind_table_find(some, offset),
						    unwind_table_find(whole, offset),
						    sizeof(struct unwind_rule));
		}
		for (uint32_t i = 0; i < some->page_count; i++)
			assert_true(some->pages[i] == NULL ||
				    unwind_wanted_has(&wanted, some->first_page + i));
		unwind_table_destroy(some);
	}
}

/* Pages of another file are refused, and those of a forgotten image are dropped. */
static void pages_of_other_files_are_refused(void **state)
{
	const struct fixture *fixture = *state;
	struct unwind_cache *cache = unwind_cache_create(2 * fixture->all_bytes);
	uint64_t offset = fixture->tables[0]->first_page << UNWIND_PAGE_SHIFT, missing = 0;
	struct unwind_wanted wanted = {.count = 1, .only = true};
	const struct unwind_rule *rule;

	assert_non_null(cache);
	cached_find(cache, fixture, 0, offset, 0);
	for (uint32_t i = 1; i < fixture->tables[0]->page_count && missing == 0; i++) {
		if (fixture->tables[0]->pages[i] != NULL)
			missing = offset + ((uint64_t)i << UNWIND_PAGE_SHIFT);
	}
	assert_int_equal(unwind_cache_find(cache, 0, missing, &rule), UNWIND_CACHED_MISSING);
	wanted.pages[0] = fixture->tables[2]->first_page;
	unwind_cache_add(cache, 1, pages_build(fixture, 2, &wanted), &wanted);
	assert_int_equal(unwind_cache_find(cache, 1, 0, &rule), UNWIND_CACHED_UNKNOWN);
	wanted.pages[0] = missing >> UNWIND_PAGE_SHIFT;
	unwind_cache_add(cache, 0, pages_build(fixture, 1, &wanted), &wanted);
	assert_int_equal(unwind_cache_find(cache, 0, missing, &rule), UNWIND_CACHED_NONE);
	assert_int_not_equal(unwind_cache_find(cache, 0, offset, &rule), UNWIND_CACHED_MISSING);
	unwind_cache_destroy(cache);
}

static void cache_has_the_rules_of_complete_tables(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t random = 48;
	size_t fixed = 0;

	for (int i = 0; i < IMAGES; i++)
		fixed += unwind_table_fixed_bytes(fixture->tables[i]);
	/* From room for a few pages up to room for everything. */
	for (int i = 0; i < 6; i++) {
		size_t limit =
			i == 5 ? 2 * fixture->all_bytes
			       : fixed + ((fixture->all_bytes - fixed) * (size_t)i / 5) + 4096;
		struct unwind_cache *cache = unwind_cache_create(limit);
		int reads = 0;

		assert_non_null(cache);
		for (int k = 0; k < 150; k++) {
			uint32_t image = (uint32_t)(unit_random(&random) % IMAGES);
			uint64_t page = unit_random(&random);

			reads += cached_find(cache, fixture, image,
					     offset_of(fixture->tables[image], page, &random),
					     k % 3 ? limit / 2 : 0);
			assert_true(unwind_cache_counts(cache).bytes <= limit);
		}
		assert_int_equal(unwind_cache_counts(cache).built, (uint64_t)reads);
		assert_int_equal(unwind_cache_counts(cache).failed, 0);
		assert_true(i > 0 || unwind_cache_counts(cache).evicted > 0);
		assert_true(i < 5 || unwind_cache_counts(cache).evicted == 0);
		unwind_cache_destroy(cache);
	}
}

/* Pages that are used remain when others are read. */
static void working_set_is_read_once(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t random = 49;
	size_t bytes = 0, reads = 0;
	struct unwind_cache *cache;

	for (uint32_t image = 0; image < IMAGES; image++) {
		bytes += unwind_table_fixed_bytes(fixture->tables[image]);
		for (uint64_t page = 0; page < 4; page++) {
			uint32_t at = (uint32_t)(page * 3 % fixture->tables[image]->page_count);

			if (fixture->tables[image]->pages[at] != NULL)
				bytes += unwind_page_size(fixture->tables[image]->pages[at]) + 64;
		}
	}
	assert_true(bytes < fixture->all_bytes);
	cache = unwind_cache_create(bytes + (size_t)64 * IMAGES);
	assert_non_null(cache);
	for (int pass = 0; pass < 10; pass++) {
		for (uint32_t image = 0; image < IMAGES; image++) {
			for (uint64_t page = 0; page < 4; page++)
				reads += (size_t)cached_find(
					cache, fixture, image,
					offset_of(fixture->tables[image], page * 3, &random),
					bytes);
		}
		if (pass == 1)
			reads = 0;
	}
	assert_int_equal(reads, 0);
	unwind_cache_destroy(cache);
}

/* An image can no longer be read: its pages remain, and no others are requested. */
static void unreadable_image_keeps_its_pages(void **state)
{
	const struct fixture *fixture = *state;
	struct unwind_cache *cache = unwind_cache_create(fixture->all_bytes * 2);
	const struct unwind_table *table = fixture->tables[0];
	const struct unwind_rule *rule;
	uint32_t pages[2] = {0}, count = 0;

	assert_non_null(cache);
	for (uint32_t i = 0; i < table->page_count && count < 2; i++) {
		if (table->pages[i] != NULL)
			pages[count++] = i;
	}
	assert_int_equal(count, 2);
	for (int i = 0; i < 2; i++)
		pages[i] += (uint32_t)table->first_page;
	cached_find(cache, fixture, 0, (uint64_t)pages[0] << UNWIND_PAGE_SHIFT, 0);
	assert_int_equal(
		unwind_cache_find(cache, 0, (uint64_t)pages[1] << UNWIND_PAGE_SHIFT, &rule),
		UNWIND_CACHED_MISSING);
	unwind_cache_add(cache, 0, NULL, NULL);
	assert_int_equal(
		unwind_cache_find(cache, 0, (uint64_t)pages[0] << UNWIND_PAGE_SHIFT, &rule),
		UNWIND_CACHED_RULE);
	assert_int_equal(
		unwind_cache_find(cache, 0, (uint64_t)pages[1] << UNWIND_PAGE_SHIFT, &rule),
		UNWIND_CACHED_NONE);
	/* An image that never had a table, and one that is too large. */
	unwind_cache_add(cache, 1, NULL, NULL);
	assert_int_equal(unwind_cache_find(cache, 1, 0, &rule), UNWIND_CACHED_NONE);
	assert_int_equal(unwind_cache_counts(cache).failed, 1);
	unwind_cache_destroy(cache);
}

static void table_that_does_not_fit_is_none(void **state)
{
	const struct fixture *fixture = *state;
	struct unwind_cache *cache = unwind_cache_create(1000);
	const struct unwind_rule *rule;
	struct unwind_table *table;

	assert_non_null(cache);
	assert_int_equal(unwind_table_read(&table, fixture->files[0], NULL), 0);
	unwind_cache_add(cache, 0, table, NULL);
	assert_int_equal(unwind_cache_find(cache, 0, 0, &rule), UNWIND_CACHED_NONE);
	assert_int_equal(unwind_cache_counts(cache).bytes, 0);
	assert_int_equal(unwind_cache_counts(cache).failed, 1);
	unwind_cache_destroy(cache);
}

/* Replacing the file of an image replaces its pages. */
static void other_table_replaces_all_pages(void **state)
{
	const struct fixture *fixture = *state;
	struct unwind_cache *cache = unwind_cache_create(2 * fixture->all_bytes);
	struct unwind_table *table;
	uint64_t random = 50;

	assert_non_null(cache);
	assert_int_equal(unwind_table_read(&table, fixture->files[1], NULL), 0);
	unwind_cache_add(cache, 0, table, NULL);
	assert_int_equal(unwind_table_read(&table, fixture->files[0], NULL), 0);
	unwind_cache_add(cache, 0, table, NULL);
	assert_int_equal(unwind_cache_counts(cache).images, 1);
	for (uint64_t page = 0; page < fixture->tables[0]->page_count; page++)
		assert_int_equal(cached_find(cache, fixture, 0,
					     offset_of(fixture->tables[0], page, &random), 0),
				 0);
	unwind_cache_destroy(cache);
}

/* Reading takes the wanted pages, and others within the limit. */
static void only_wanted_pages_are_read(void **state)
{
	const struct fixture *fixture = *state;

	for (int i = 0; i < IMAGES; i++) {
		const struct unwind_table *whole = fixture->tables[i];
		uint64_t last = whole->first_page + whole->page_count - 1;

		for (size_t bytes_max = 0; bytes_max < 20000; bytes_max += 4999) {
			struct unwind_wanted wanted =
				wanted_page(last << UNWIND_PAGE_SHIFT, bytes_max);
			struct unwind_table *table;
			size_t bytes;

			wanted.pages[wanted.count++] = whole->first_page;
			wanted.pages[wanted.count++] = last + 1; /* is not covered */
			assert_int_equal(unwind_table_read(&table, fixture->files[i], &wanted), 0);
			bytes = unwind_table_bytes(table) - unwind_table_fixed_bytes(table);
			for (uint64_t k = 0; k < whole->page_count; k += whole->page_count - 1) {
				assert_int_equal(table->pages[k] != NULL, whole->pages[k] != NULL);
				if (whole->pages[k] != NULL)
					bytes -= unwind_page_size(whole->pages[k]);
			}
			assert_true(bytes <= bytes_max);
			unwind_table_destroy(table);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_have_the_rules_of_the_rows),
		cmocka_unit_test(damaged_pages_are_refused),
		cmocka_unit_test(some_pages_are_those_of_the_complete_table),
		cmocka_unit_test(pages_of_other_files_are_refused),
		cmocka_unit_test(cache_has_the_rules_of_complete_tables),
		cmocka_unit_test(working_set_is_read_once),
		cmocka_unit_test(unreadable_image_keeps_its_pages),
		cmocka_unit_test(table_that_does_not_fit_is_none),
		cmocka_unit_test(other_table_replaces_all_pages),
		cmocka_unit_test(only_wanted_pages_are_read),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
