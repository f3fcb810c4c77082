/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page of an unwind table: the rules of 16 KB of code.
 *
 * A page has rows; the table has the rule at its start. A row begins at an offset of the page, and
 * applies up to the next row. The code of a row is one byte, which may be followed by more. Its
 * lower 6 bits are the distance from the previous row; 0: a number follows. The upper 2 bits choose
 * the rule: 0 to 2: one of the three rules that most often follow the previous one in this image;
 * 3: its number follows. A number is ULEB128 of at most two bytes. Five of six rows take one byte.
 * A mark after each UNWIND_MARK_ROWS rows limits how many rows a look-up decodes.
 *
 * Invariants: offsets of rows ascend from 1, and rules have numbers less than that of the table.
 */
#ifndef DCPI_UNWIND_PAGE_H
#define DCPI_UNWIND_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_PAGE_SHIFT 14
#define UNWIND_PAGE_BYTES (1U << UNWIND_PAGE_SHIFT)
/* Two bytes of ULEB128. */
#define UNWIND_RULES_MAX 16384
#define UNWIND_FOLLOWERS 3
#define UNWIND_MARK_ROWS 64

/** struct unwind_followers - the rules that most often follow a rule; 0 if there are fewer */
struct unwind_followers {
	uint16_t rule[UNWIND_FOLLOWERS];
};

/** struct unwind_row - @offset: where @rule begins to apply, in a page or an image */
struct unwind_row {
	uint32_t offset;
	uint16_t rule;
};

/**
 * struct unwind_mark - the state after a row
 * @offset, @rule: of the row
 * @at:            offset of the code of the next row
 */
struct unwind_mark {
	uint16_t offset;
	uint16_t rule;
	uint16_t at;
};

struct unwind_cached_image;

/**
 * struct unwind_page - the codes follow the marks
 * @number:     of the page in its table
 * @image, @newer, @older, @used: private to the cache
 * @code_bytes: of all rows
 */
struct unwind_page {
	struct unwind_cached_image *image;
	struct unwind_page *newer;
	struct unwind_page *older;
	uint32_t number : 31;
	uint32_t used : 1;

	uint16_t mark_count;
	uint16_t code_bytes;
	struct unwind_mark marks[];
};

/** Smallest and largest size. */
#define UNWIND_PAGE_SIZE_MIN sizeof(struct unwind_page)
#define UNWIND_PAGE_SIZE_MAX                                                                       \
	(sizeof(struct unwind_page) + UINT16_MAX +                                                 \
	 UNWIND_PAGE_BYTES / UNWIND_MARK_ROWS * sizeof(struct unwind_mark))

/**
 * struct unwind_cursor - an iteration over the rows of a page
 * @offset, @rule: of the current row; before the first one 0, and the rule at the start
 * @at:            offset of the code of the next row
 */
struct unwind_cursor {
	uint32_t offset;
	uint32_t rule;
	uint32_t at;
};

/**
 * unwind_page_next() - go to the next row
 * @followers: of each rule; the number of the current one must be valid
 *
 * Return: false: there is none, or its code is cut off.
 */
bool unwind_page_next(const struct unwind_page *page, const struct unwind_followers *followers,
		      struct unwind_cursor *cursor);

/** unwind_page_find() - return the number of the rule at an offset. @start: rule at the start */
uint32_t unwind_page_find(const struct unwind_page *page, const struct unwind_followers *followers,
			  uint32_t start, uint32_t offset);

/**
 * unwind_page_check() - check the invariants of a page from another process
 * @size:  of the page's memory
 * @start: rule at the start
 * @rules: number of rules; @start and the numbers in @followers are less
 */
bool unwind_page_check(const struct unwind_page *page, size_t size,
		       const struct unwind_followers *followers, uint32_t start, uint32_t rules);

/**
 * unwind_page_encode() - make a page
 * @start: rule at its start
 * @rows: with offsets of the page that ascend from 1, each with another rule than the one before
 *
 * Return: freed by free(); NULL if out of memory.
 */
struct unwind_page *unwind_page_encode(const struct unwind_followers *followers, uint32_t start,
				       const struct unwind_row *rows, uint32_t count);

/** unwind_page_size() - return the size of its memory */
size_t unwind_page_size(const struct unwind_page *page);

#endif
