// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/file_read.h"

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t offset)
{
	uint64_t page = (offset >> UNWIND_PAGE_SHIFT) - table->first_page;
	uint16_t low = (uint16_t)offset;
	uint32_t start, begin, end;

	if (offset >> UNWIND_PAGE_SHIFT < table->first_page || page >= table->page_count)
		return &table->rules[UNWIND_RULE_NONE];
	start = begin = table->pages[page];
	end = table->pages[page + 1];
	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;

		if (table->rows[middle].low <= low)
			begin = middle + 1;
		else
			end = middle;
	}
	/* Without a row in this page up to here, the last row of an earlier page applies. */
	if (begin == start && start == 0)
		return &table->rules[UNWIND_RULE_NONE];
	return &table->rules[table->rows[begin - 1].rule];
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return sizeof(*table) + ((size_t)table->page_count + 1) * sizeof(*table->pages) +
	       table->row_count * sizeof(*table->rows) + table->rule_count * sizeof(*table->rules);
}

void unwind_table_destroy(struct unwind_table *table)
{
	if (table == NULL)
		return;
	free(table->pages);
	free(table->rows);
	free(table->rules);
	free(table);
}

/* @machine: EM_*; the pages, rows and rules of the table follow */
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

static bool page_check(const struct unwind_table *table, uint32_t page)
{
	const uint32_t start = table->pages[page], end = table->pages[page + 1];

	if (start > end || end > table->row_count)
		return false;
	for (uint32_t row = start; row < end; row++) {
		if (table->rows[row].rule >= table->rule_count ||
		    (row > start && table->rows[row - 1].low >= table->rows[row].low))
			return false;
	}
	return true;
}

bool unwind_table_check(const struct unwind_table *table)
{
	if (table->rule_count <= UNWIND_RULE_UNKNOWN ||
	    table->rules[UNWIND_RULE_NONE].kind != UNWIND_NONE ||
	    table->rules[UNWIND_RULE_UNKNOWN].kind != UNWIND_UNKNOWN || table->pages[0] != 0 ||
	    table->pages[table->page_count] != table->row_count)
		return false;
	for (uint32_t i = 0; i < table->rule_count; i++) {
		if (!rule_check(&table->rules[i]))
			return false;
	}
	for (uint32_t page = 0; page < table->page_count; page++) {
		if (!page_check(table, page))
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

static size_t pages_bytes(const struct unwind_table *table)
{
	return ((size_t)table->page_count + 1) * sizeof(*table->pages);
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
		r = table_put(fd, table->pages, pages_bytes(table));
	if (r == 0)
		r = table_put(fd, table->rows, table->row_count * sizeof(*table->rows));
	if (r == 0)
		r = table_put(fd, table->rules, table->rule_count * sizeof(*table->rules));
	return r;
}

/* Read @bytes into new memory. */
static void *table_take(int fd, size_t bytes, uint64_t *offset)
{
	void *data = malloc(bytes + 1);

	if (data != NULL && file_read_exactly(fd, data, bytes, *offset) < 0) {
		free(data);
		return NULL;
	}
	*offset += bytes;
	return data;
}

/* Other processes may still write to the file, so the copy is checked. */
int unwind_table_read(struct unwind_table **ret, int fd)
{
	struct unwind_table *table;
	struct table_header header;
	uint64_t offset = sizeof(header);
	int r = file_read_exactly(fd, &header, sizeof(header), 0);

	if (r < 0)
		return r == -EIO ? -EBADMSG : r;
	if (header.page_count > UNWIND_ROWS_MAX || header.row_count > UNWIND_ROWS_MAX ||
	    header.rule_count > UNWIND_RULES_MAX || header.machine > UINT16_MAX)
		return -EBADMSG;
	table = calloc(1, sizeof(*table));
	if (table == NULL)
		return -ENOMEM;
	table->machine = unwind_machine_of((uint16_t)header.machine);
	table->first_page = header.first_page;
	table->page_count = header.page_count;
	table->row_count = header.row_count;
	table->rule_count = header.rule_count;
	table->pages = table_take(fd, pages_bytes(table), &offset);
	table->rows = table_take(fd, table->row_count * sizeof(*table->rows), &offset);
	table->rules = table_take(fd, table->rule_count * sizeof(*table->rules), &offset);
	if (table->machine == NULL || table->pages == NULL || table->rows == NULL ||
	    table->rules == NULL || !unwind_table_check(table)) {
		unwind_table_destroy(table);
		return -EBADMSG;
	}
	*ret = table;
	return 0;
}
