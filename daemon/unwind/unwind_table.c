// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "lib/cleanup.h"
#include "lib/file_read.h"

bool unwind_wanted_has(const struct unwind_wanted *wanted, uint64_t page)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		if (wanted->pages[i] == page)
			return true;
	}
	return false;
}

uint32_t unwind_table_index(const struct unwind_table *table, uint64_t page)
{
	uint64_t index = page - table->first_page;

	return page >= table->first_page && index < table->page_count ? (uint32_t)index
								      : table->page_count;
}

struct unwind_page *unwind_table_page(const struct unwind_table *table, uint64_t offset)
{
	uint32_t index = unwind_table_index(table, offset >> UNWIND_PAGE_SHIFT);

	return index < table->page_count ? table->pages[index] : NULL;
}

static bool has_rows(const struct unwind_table *table, uint32_t index)
{
	return (table->starts[index] & UNWIND_START_ROWS) != 0;
}

static uint32_t start_rule(const struct unwind_table *table, uint32_t index)
{
	return table->starts[index] & ~UNWIND_START_ROWS;
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t offset)
{
	uint32_t index = unwind_table_index(table, offset >> UNWIND_PAGE_SHIFT);

	if (index == table->page_count)
		return &table->rules[UNWIND_RULE_NONE];
	if (!has_rows(table, index))
		return &table->rules[start_rule(table, index)];
	if (table->pages[index] == NULL)
		return NULL;
	return &table->rules[unwind_page_find(table->pages[index], table->followers,
					      start_rule(table, index),
					      offset & (UNWIND_PAGE_BYTES - 1))];
}

size_t unwind_table_fixed_bytes(const struct unwind_table *table)
{
	return sizeof(*table) +
	       table->page_count * (sizeof(struct unwind_page *) + sizeof(*table->starts)) +
	       table->rule_count * (sizeof(*table->rules) + sizeof(*table->followers));
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	size_t bytes = unwind_table_fixed_bytes(table);

	for (uint32_t i = 0; i < table->page_count; i++)
		bytes += table->pages[i] != NULL ? unwind_page_size(table->pages[i]) : 0;
	return bytes;
}

void unwind_table_destroy(struct unwind_table *table)
{
	if (table == NULL)
		return;
	for (uint32_t i = 0; table->pages != NULL && i < table->page_count; i++)
		free(table->pages[i]);
	free(table->pages);
	free(table->starts);
	free(table->rules);
	free(table->followers);
	free(table);
}

static void *array_copy(const void *array, size_t bytes)
{
	void *copy = malloc(bytes);

	return copy != NULL ? memcpy(copy, array, bytes) : NULL;
}

struct unwind_table *unwind_table_copy(const struct unwind_table *table)
{
	struct unwind_table *copy = malloc(sizeof(*copy));

	if (copy == NULL)
		return NULL;
	*copy = *table;
	copy->pages = calloc((size_t)table->page_count + 1, sizeof(struct unwind_page *));
	copy->starts = array_copy(table->starts, table->page_count * sizeof(*table->starts));
	copy->rules = array_copy(table->rules, table->rule_count * sizeof(*table->rules));
	copy->followers =
		array_copy(table->followers, table->rule_count * sizeof(*table->followers));
	if (copy->pages != NULL && copy->starts != NULL && copy->rules != NULL &&
	    copy->followers != NULL)
		return copy;
	unwind_table_destroy(copy);
	return NULL;
}

uint64_t unwind_rule_hash(const struct unwind_rule *rule)
{
	return XXH3_64bits(rule, sizeof(*rule));
}

bool unwind_table_is_same(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->machine == b->machine && a->first_page == b->first_page &&
	       a->page_count == b->page_count && a->rule_count == b->rule_count &&
	       memcmp(a->starts, b->starts, a->page_count * sizeof(*a->starts)) == 0 &&
	       memcmp(a->rules, b->rules, a->rule_count * sizeof(*a->rules)) == 0 &&
	       memcmp(a->followers, b->followers, a->rule_count * sizeof(*a->followers)) == 0;
}

/*
 * A file has this header, the rules, their followers, the rules at the starts of pages, the offset
 * in the file of each page and of the end, and the pages. @machine: EM_*
 */
struct table_header {
	uint64_t first_page;
	uint32_t page_count;
	uint32_t row_count;
	uint32_t rule_count;
	uint32_t machine;
};

static bool rule_check(const struct unwind_rule *rule)
{
	return rule->kind <= UNWIND_SIGNAL && rule->reg < UNWIND_REGISTERS_MAX;
}

static bool followers_check(const struct unwind_followers *followers, uint32_t rules)
{
	for (int i = 0; i < UNWIND_FOLLOWERS; i++) {
		if (followers->rule[i] >= rules)
			return false;
	}
	return true;
}

bool unwind_table_check(const struct unwind_table *table)
{
	if (table->rule_count <= UNWIND_RULE_UNKNOWN ||
	    table->rules[UNWIND_RULE_NONE].kind != UNWIND_NONE ||
	    table->rules[UNWIND_RULE_UNKNOWN].kind != UNWIND_UNKNOWN)
		return false;
	for (uint32_t i = 0; i < table->rule_count; i++) {
		if (!rule_check(&table->rules[i]) ||
		    !followers_check(&table->followers[i], table->rule_count))
			return false;
	}
	for (uint32_t i = 0; i < table->page_count; i++) {
		if (start_rule(table, i) >= table->rule_count)
			return false;
	}
	return true;
}

static int table_put(int fd, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (bytes > 0) {
		ssize_t n = write(fd, at, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static uint64_t places_offset(const struct unwind_table *table)
{
	return sizeof(struct table_header) +
	       table->rule_count * (sizeof(*table->rules) + sizeof(*table->followers)) +
	       table->page_count * sizeof(*table->starts);
}

static size_t places_bytes(const struct unwind_table *table)
{
	return ((size_t)table->page_count + 1) * sizeof(uint64_t);
}

static int places_put(const struct unwind_table *table, int fd)
{
	_cleanup_free_ uint64_t *places = malloc(places_bytes(table));
	uint64_t place = places_offset(table) + places_bytes(table);

	if (places == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->page_count; i++) {
		places[i] = place;
		place += table->pages[i] != NULL ? unwind_page_size(table->pages[i]) : 0;
	}
	places[table->page_count] = place;
	return table_put(fd, places, places_bytes(table));
}

int unwind_table_write(const struct unwind_table *table, int fd)
{
	const struct table_header header = {
		.first_page = table->first_page,
		.page_count = table->page_count,
		.row_count = table->row_count,
		.rule_count = table->rule_count,
		.machine = table->machine->elf_machine,
	};
	int r = table_put(fd, &header, sizeof(header));

	if (r == 0)
		r = table_put(fd, table->rules, table->rule_count * sizeof(*table->rules));
	if (r == 0)
		r = table_put(fd, table->followers, table->rule_count * sizeof(*table->followers));
	if (r == 0)
		r = table_put(fd, table->starts, table->page_count * sizeof(*table->starts));
	if (r == 0)
		r = places_put(table, fd);
	for (uint32_t i = 0; r == 0 && i < table->page_count; i++) {
		if (table->pages[i] != NULL)
			r = table_put(fd, table->pages[i], unwind_page_size(table->pages[i]));
	}
	return r;
}

/* Read @bytes into new memory. */
static void *table_take(int fd, size_t bytes, uint64_t offset)
{
	void *data = malloc(bytes + 1);

	if (data != NULL && file_read_exactly(fd, data, bytes, offset) < 0) {
		free(data);
		return NULL;
	}
	return data;
}

/* Read a page, unless that has been done. @bytes: out: memory that it takes now */
static int page_take(struct unwind_table *table, int fd, const uint64_t *places, uint32_t i,
		     size_t *bytes)
{
	uint64_t size = places[i + 1] - places[i];
	struct unwind_page *page;

	*bytes = 0;
	if (table->pages[i] != NULL || !has_rows(table, i) || size == 0)
		return 0;
	if (places[i + 1] < places[i] || size < UNWIND_PAGE_SIZE_MIN || size > UNWIND_PAGE_SIZE_MAX)
		return -EBADMSG;
	page = table_take(fd, (size_t)size, places[i]);
	if (page == NULL || !unwind_page_check(page, (size_t)size, table->followers,
					       start_rule(table, i), table->rule_count)) {
		free(page);
		return -EBADMSG;
	}
	page->image = NULL;
	page->newer = page->older = NULL;
	page->number = i;
	page->used = 0;
	table->pages[i] = page;
	*bytes = (size_t)size;
	return 0;
}

/* Read pages, starting with a certain one, up to a limit of memory. */
static int pages_fill(struct unwind_table *table, int fd, const uint64_t *places, uint32_t first,
		      size_t bytes_max)
{
	size_t left = bytes_max, bytes;

	for (uint32_t i = 0; i < table->page_count; i++) {
		uint32_t page = (uint32_t)(((uint64_t)first + i) % table->page_count);
		int r;

		if (places[page + 1] - places[page] > left)
			break;
		r = page_take(table, fd, places, page, &bytes);
		if (r < 0)
			return r;
		left -= bytes;
	}
	return 0;
}

static int pages_take(struct unwind_table *table, int fd, const struct unwind_wanted *wanted)
{
	_cleanup_free_ uint64_t *places = table_take(fd, places_bytes(table), places_offset(table));
	size_t bytes;

	if (places == NULL)
		return -EBADMSG;
	if (wanted == NULL)
		return pages_fill(table, fd, places, 0, SIZE_MAX);
	for (uint32_t i = 0; i < wanted->count; i++) {
		uint32_t page = unwind_table_index(table, wanted->pages[i]);
		int r = page < table->page_count ? page_take(table, fd, places, page, &bytes) : 0;

		if (r < 0)
			return r;
	}
	return pages_fill(table, fd, places, unwind_table_index(table, wanted->pages[0]),
			  wanted->bytes_max);
}

static int contents_take(struct unwind_table *table, int fd, const struct unwind_wanted *wanted)
{
	uint64_t offset = sizeof(struct table_header);

	table->rules = table_take(fd, table->rule_count * sizeof(*table->rules), offset);
	offset += table->rule_count * sizeof(*table->rules);
	table->followers = table_take(fd, table->rule_count * sizeof(*table->followers), offset);
	offset += table->rule_count * sizeof(*table->followers);
	table->starts = table_take(fd, table->page_count * sizeof(*table->starts), offset);
	table->pages = calloc((size_t)table->page_count + 1, sizeof(struct unwind_page *));
	if (table->machine == NULL || table->pages == NULL || table->rules == NULL ||
	    table->followers == NULL || table->starts == NULL || !unwind_table_check(table))
		return -EBADMSG;
	return pages_take(table, fd, wanted);
}

/* Other processes may still write to the file, so the copy is checked. */
int unwind_table_read(struct unwind_table **ret, int fd, const struct unwind_wanted *wanted)
{
	struct unwind_table *table;
	struct table_header header;
	int r = file_read_exactly(fd, &header, sizeof(header), 0);

	if (r < 0)
		return r == -EIO ? -EBADMSG : r;
	if (header.page_count == 0 || header.page_count > UNWIND_PAGES_MAX ||
	    header.row_count > UNWIND_ROWS_MAX || header.rule_count > UNWIND_RULES_MAX ||
	    header.machine > UINT16_MAX)
		return -EBADMSG;
	table = calloc(1, sizeof(*table));
	if (table == NULL)
		return -ENOMEM;
	table->machine = unwind_machine_of((uint16_t)header.machine);
	table->first_page = header.first_page;
	table->page_count = header.page_count;
	table->row_count = header.row_count;
	table->rule_count = header.rule_count;
	r = contents_take(table, fd, wanted);
	if (r < 0) {
		unwind_table_destroy(table);
		return r;
	}
	*ret = table;
	return 0;
}
