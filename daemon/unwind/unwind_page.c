// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_page.h"

#include <stdlib.h>
#include <string.h>

#include "lib/partition_point.h"

#define DISTANCE_BITS 6
#define DISTANCE_MASK ((1U << DISTANCE_BITS) - 1)
#define NUMBER_BITS 7
#define NUMBER_MORE (1U << NUMBER_BITS)
/* The byte and two numbers of two bytes. */
#define ROW_CODE_MAX 5

static const uint8_t *page_codes(const struct unwind_page *page)
{
	return (const uint8_t *)&page->marks[page->mark_count];
}

static bool number_read(const uint8_t *codes, uint32_t end, uint32_t *at, uint32_t *ret)
{
	uint32_t number;

	if (*at >= end)
		return false;
	number = codes[(*at)++];
	if (number >= NUMBER_MORE) {
		if (*at >= end)
			return false;
		number = (number & (NUMBER_MORE - 1)) | (uint32_t)codes[(*at)++] << NUMBER_BITS;
	}
	*ret = number;
	return true;
}

bool unwind_page_next(const struct unwind_page *page, const struct unwind_followers *followers,
		      struct unwind_cursor *cursor)
{
	const uint8_t *codes = page_codes(page);
	uint32_t at = cursor->at, distance, choice, rule;

	if (at >= page->code_bytes)
		return false;
	distance = codes[at] & DISTANCE_MASK;
	choice = codes[at++] >> DISTANCE_BITS;
	if (distance == 0 && !number_read(codes, page->code_bytes, &at, &distance))
		return false;
	if (choice < UNWIND_FOLLOWERS)
		rule = followers[cursor->rule].rule[choice];
	else if (!number_read(codes, page->code_bytes, &at, &rule))
		return false;
	*cursor = (struct unwind_cursor){cursor->offset + distance, rule, at};
	return true;
}

/* Return: the state after the last mark whose row begins at or before an offset. */
static struct unwind_cursor mark_find(const struct unwind_page *page, uint32_t start,
				      uint32_t offset)
{
	uint32_t begin = partition_point(0, page->mark_count, i, page->marks[i].offset <= offset);
	const struct unwind_mark *mark;

	if (begin == 0)
		return (struct unwind_cursor){.rule = start};
	mark = &page->marks[begin - 1];
	return (struct unwind_cursor){mark->offset, mark->rule, mark->at};
}

uint32_t unwind_page_find(const struct unwind_page *page, const struct unwind_followers *followers,
			  uint32_t start, uint32_t offset)
{
	struct unwind_cursor cursor = mark_find(page, start, offset);
	uint32_t rule = cursor.rule;

	while (unwind_page_next(page, followers, &cursor) && cursor.offset <= offset)
		rule = cursor.rule;
	return rule;
}

/* Return true if a mark is the state after its row. */
static bool mark_check(const struct unwind_page *page, uint32_t row,
		       const struct unwind_cursor *cursor)
{
	const struct unwind_mark *mark = &page->marks[row / UNWIND_MARK_ROWS - 1];

	return row / UNWIND_MARK_ROWS <= page->mark_count && mark->offset == cursor->offset &&
	       mark->rule == cursor->rule && mark->at == cursor->at;
}

bool unwind_page_check(const struct unwind_page *page, size_t size,
		       const struct unwind_followers *followers, uint32_t start, uint32_t rules)
{
	struct unwind_cursor cursor = {.rule = start};
	uint32_t row = 0, before = 0;

	if (size < UNWIND_PAGE_SIZE_MIN || size != unwind_page_size(page))
		return false;
	while (unwind_page_next(page, followers, &cursor)) {
		if (cursor.rule >= rules || cursor.offset <= before ||
		    cursor.offset >= UNWIND_PAGE_BYTES)
			return false;
		before = cursor.offset;
		if (++row % UNWIND_MARK_ROWS == 0 && !mark_check(page, row, &cursor))
			return false;
	}
	return cursor.at == page->code_bytes && row / UNWIND_MARK_ROWS == page->mark_count;
}

static size_t number_write(uint8_t *code, uint32_t number)
{
	if (number < NUMBER_MORE) {
		code[0] = (uint8_t)number;
		return 1;
	}
	code[0] = (uint8_t)(number | NUMBER_MORE);
	code[1] = (uint8_t)(number >> NUMBER_BITS);
	return 2;
}

/* Return: the number of bytes. */
static size_t row_encode(uint8_t code[ROW_CODE_MAX], const struct unwind_followers *followers,
			 uint32_t distance, uint16_t rule)
{
	size_t bytes = 1;
	uint32_t choice = 0;

	while (choice < UNWIND_FOLLOWERS && followers->rule[choice] != rule)
		choice++;
	code[0] = (uint8_t)(choice << DISTANCE_BITS);
	if (distance <= DISTANCE_MASK)
		code[0] |= (uint8_t)distance;
	else
		bytes += number_write(&code[bytes], distance);
	if (choice == UNWIND_FOLLOWERS)
		bytes += number_write(&code[bytes], rule);
	return bytes;
}

/* @page: with room for all marks; its codes are written after them. Return: bytes of the codes. */
static size_t rows_encode(struct unwind_page *page, uint8_t *codes,
			  const struct unwind_followers *followers, uint32_t start,
			  const struct unwind_row *rows, uint32_t count)
{
	struct unwind_row before = {.rule = (uint16_t)start};
	size_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		at += row_encode(&codes[at], &followers[before.rule],
				 rows[i].offset - before.offset, rows[i].rule);
		before = rows[i];
		if ((i + 1) % UNWIND_MARK_ROWS == 0)
			page->marks[i / UNWIND_MARK_ROWS] = (struct unwind_mark){
				(uint16_t)before.offset, before.rule, (uint16_t)at};
	}
	return at;
}

struct unwind_page *unwind_page_encode(const struct unwind_followers *followers, uint32_t start,
				       const struct unwind_row *rows, uint32_t count)
{
	uint32_t marks = count / UNWIND_MARK_ROWS;
	size_t fixed = sizeof(struct unwind_page) + marks * sizeof(struct unwind_mark);
	struct unwind_page *page = calloc(1, fixed + (size_t)count * ROW_CODE_MAX), *smaller;

	if (page == NULL)
		return NULL;
	page->mark_count = (uint16_t)marks;
	/* Less than 64 KB: of 16,384 bytes of code, few rows have a distance that takes more. */
	page->code_bytes = (uint16_t)rows_encode(page, (uint8_t *)&page->marks[marks], followers,
						 start, rows, count);
	smaller = realloc(page, unwind_page_size(page));
	return smaller != NULL ? smaller : page;
}

size_t unwind_page_size(const struct unwind_page *page)
{
	return sizeof(*page) + page->mark_count * sizeof(page->marks[0]) + page->code_bytes;
}
