// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_encode.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"

/*
 * The rows of each rule.
 *
 * @first: of a rule: index of its last row, plus 1
 * @next:  of a row: the one before it with the same rule, plus 1
 * @count: of a rule: how often it follows the current one
 */
struct row_lists {
	uint32_t *first;
	uint32_t *next;
	uint32_t *count;
};

static void row_lists_deinit(struct row_lists *lists)
{
	free(lists->first);
	free(lists->next);
	free(lists->count);
}

static int row_lists_init(struct row_lists *lists, const struct unwind_table *table,
			  const struct unwind_row *rows)
{
	lists->first = calloc(table->rule_count, sizeof(*lists->first));
	lists->next = calloc(table->row_count, sizeof(*lists->next));
	lists->count = calloc(table->rule_count, sizeof(*lists->count));
	if (lists->first == NULL || lists->next == NULL || lists->count == NULL) {
		row_lists_deinit(lists);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i + 1 < table->row_count; i++) {
		lists->next[i] = lists->first[rows[i].rule];
		lists->first[rows[i].rule] = i + 1;
	}
	return 0;
}

/* Keep the most frequent followers in order. @counts: of the rules in @followers */
static void follower_add(struct unwind_followers *followers, uint32_t counts[UNWIND_FOLLOWERS],
			 uint16_t rule, uint32_t count)
{
	int at = UNWIND_FOLLOWERS;

	while (at > 0 && count > counts[at - 1])
		at--;
	if (at == UNWIND_FOLLOWERS)
		return;
	for (int i = UNWIND_FOLLOWERS - 1; i > at; i--) {
		followers->rule[i] = followers->rule[i - 1];
		counts[i] = counts[i - 1];
	}
	followers->rule[at] = rule;
	counts[at] = count;
}

static void rule_followers_find(struct unwind_followers *followers, const struct row_lists *lists,
				const struct unwind_row *rows, uint32_t rule)
{
	uint32_t counts[UNWIND_FOLLOWERS] = {0};

	for (uint32_t i = lists->first[rule]; i > 0; i = lists->next[i - 1])
		lists->count[rows[i].rule]++;
	for (uint32_t i = lists->first[rule]; i > 0; i = lists->next[i - 1]) {
		uint32_t *count = &lists->count[rows[i].rule];

		follower_add(followers, counts, rows[i].rule, *count);
		*count = 0;
	}
}

static int followers_find(struct unwind_table *table, const struct unwind_row *rows)
{
	struct row_lists lists;

	table->followers = calloc(table->rule_count, sizeof(*table->followers));
	if (table->followers == NULL || row_lists_init(&lists, table, rows) < 0)
		return -ENOMEM;
	for (uint32_t rule = 0; rule < table->rule_count; rule++)
		rule_followers_find(&table->followers[rule], &lists, rows, rule);
	row_lists_deinit(&lists);
	return 0;
}

/*
 * Encode a page. @at: index of its first row; out: of the first one after it
 * @scratch: UNWIND_PAGE_BYTES elements
 */
static int page_encode(struct unwind_table *table, const struct unwind_row *rows, uint32_t number,
		       uint32_t *at, struct unwind_row *scratch)
{
	const uint32_t first = number << UNWIND_PAGE_SHIFT;
	uint16_t start = *at > 0 ? rows[*at - 1].rule : UNWIND_RULE_NONE;
	struct unwind_page *page;
	uint32_t count = 0;

	for (; *at < table->row_count && rows[*at].offset - first < UNWIND_PAGE_BYTES; ++*at) {
		if (rows[*at].offset == first)
			start = rows[*at].rule;
		else
			scratch[count++] =
				(struct unwind_row){rows[*at].offset - first, rows[*at].rule};
	}
	table->starts[number] = start;
	if (count == 0)
		return 0;
	page = unwind_page_encode(table->followers, start, scratch, count);
	if (page == NULL)
		return -ENOMEM;
	page->number = number;
	table->pages[number] = page;
	table->starts[number] |= UNWIND_START_ROWS;
	return 0;
}

int unwind_encode(struct unwind_table *table, const struct unwind_row *rows)
{
	_cleanup_free_ struct unwind_row *scratch = malloc(UNWIND_PAGE_BYTES * sizeof(*scratch));
	uint32_t at = 0;
	int r;

	table->page_count = (rows[table->row_count - 1].offset >> UNWIND_PAGE_SHIFT) + 1;
	table->pages = calloc(table->page_count, sizeof(struct unwind_page *));
	table->starts = calloc(table->page_count, sizeof(*table->starts));
	if (scratch == NULL || table->pages == NULL || table->starts == NULL)
		return -ENOMEM;
	r = followers_find(table, rows);
	for (uint32_t i = 0; r == 0 && i < table->page_count; i++)
		r = page_encode(table, rows, i, &at, scratch);
	return r;
}
