// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exception handler tables rewritten for moved code: each new call keeps the handlers of the old
 * one. Tests the tables of real programs, also with damage.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/elf/handler_table.h"

/* Four calls: none, a landing pad, a handler of two types, an exception specification. */
static const uint8_t table_bytes[] = {
	0xff,			/* landing pads are relative to the frame */
	0x9b, 0x25,		/* types: indirect, relative, 4 bytes; offset of their end */
	0x01, 0x10,		/* calls: LEB128, their length */
	0x00, 0x05, 0x00, 0x00, /* 0 .. 5: no handler */
	0x05, 0x05, 0x40, 0x00, /* 5 .. 10: cleanup at 0x40 */
	0x10, 0x08, 0x50, 0x01, /* 16 .. 24: handlers at 0x50, action 1 */
	0x20, 0x08, 0x60, 0x05, /* 32 .. 40: at 0x60, action 5 */
	0x02, 0x01,		/* type 2, then the next action */
	0x01, 0x00,		/* type 1, end of the list */
	0x7f, 0x00,		/* specification 1 */
	0x00,			/* padding */
	0x00, 0x10, 0x00, 0x00, /* type 2: 0x1000 after this position */
	0x00, 0x00, 0x00, 0x00, /* type 1: any */
	0x02, 0x00,		/* specification: type 2 */
	0xcc, 0xcc,
};

#define TABLE 0x7000U
#define FRAME 0x4000U
#define NEW_TABLE 0x90000U
#define NEW_FRAME 0x80000U

/* The moved code is four times as long. */
static uint64_t moved(uint64_t old)
{
	return NEW_FRAME + 4 * (old - FRAME);
}

static int write_moved(const struct handler_table *table, uint8_t **out, size_t *bytes)
{
	struct handler_calls *calls = calloc(table->count + 1, sizeof(*calls));
	size_t capacity = 0;
	int r;

	assert_non_null(calls);
	for (size_t i = 0; i < table->count; i++) {
		calls[i] = table->calls[i];
		calls[i].start = moved(calls[i].start);
		calls[i].end = moved(calls[i].end);
	}
	r = handler_table_write(table, calls, table->count, out, bytes, &capacity, NEW_TABLE,
				NEW_FRAME);
	free(calls);
	return r;
}

static size_t table_length(void)
{
	return sizeof(table_bytes);
}

static void make(uint8_t *bytes)
{
	memcpy(bytes, table_bytes, sizeof(table_bytes));
	/* From the end of the offset to the end of the types. */
	bytes[2] = (uint8_t)(sizeof(table_bytes) - 4 - 3);
}

static void test_moved(void **state)
{
	uint8_t bytes[sizeof(table_bytes)], *out = NULL;
	struct handler_table old, now;
	size_t count = 0;

	(void)state;
	make(bytes);
	assert_int_equal(handler_table_parse(&old, bytes, table_length(), TABLE, FRAME), 0);
	assert_int_equal(old.count, 4);
	assert_int_equal(old.type_count, 2);
	assert_int_equal(old.base, FRAME);
	assert_int_equal(old.specification_bytes, 2);
	assert_int_equal(write_moved(&old, &out, &count), 0);
	assert_int_equal(handler_table_parse(&now, out, count, NEW_TABLE, NEW_FRAME), 0);
	assert_int_equal(now.count, old.count);
	assert_int_equal(now.base, FRAME); /* landing pads keep their base */
	for (size_t i = 0; i < old.count; i++) {
		assert_int_equal(now.calls[i].start, moved(old.calls[i].start));
		assert_int_equal(now.calls[i].end, moved(old.calls[i].end));
		assert_int_equal(now.calls[i].pad, old.calls[i].pad);
		assert_int_equal(now.calls[i].action, old.calls[i].action);
	}
	assert_int_equal(now.action_bytes, old.action_bytes);
	assert_memory_equal(now.actions, old.actions, old.action_bytes);
	assert_int_equal(now.type_count, 2);
	assert_memory_equal(now.type_end, old.type_end, old.specification_bytes);
	/* The same address relative to another position, and none at all. */
	for (size_t i = 1; i <= 2; i++) {
		int32_t a, b;

		memcpy(&a, old.type_end - 4 * i, 4);
		memcpy(&b, now.type_end - 4 * i, 4);
		if (a == 0)
			assert_int_equal(b, 0);
		else
			assert_int_equal(old.types - 4 * i + (uint64_t)a,
					 now.types - 4 * i + (uint64_t)b);
	}
	handler_table_deinit(&old);
	handler_table_deinit(&now);
	free(out);
}

static void test_found(void **state)
{
	uint8_t bytes[sizeof(table_bytes)];
	struct handler_table table;

	(void)state;
	make(bytes);
	assert_int_equal(handler_table_parse(&table, bytes, table_length(), TABLE, FRAME), 0);
	for (uint64_t at = FRAME - 1; at < FRAME + 48; at++) {
		const struct handler_calls *found = NULL;

		for (size_t i = 0; i < table.count; i++) {
			if (table.calls[i].start <= at && at < table.calls[i].end)
				found = &table.calls[i];
		}
		assert_ptr_equal(handler_table_find(&table, at), found);
	}
	handler_table_deinit(&table);
}

static void test_damage(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 200000; i++) {
		uint8_t bytes[sizeof(table_bytes)], *out = NULL;
		size_t count = 0, length = table_length();
		struct handler_table table;
		int r;

		make(bytes);
		for (int k = rand() % 4; k >= 0; k--)
			bytes[(size_t)rand() % sizeof(bytes)] = (uint8_t)rand();
		if (rand() % 4 == 0)
			length = (size_t)rand() % sizeof(bytes);
		r = handler_table_parse(&table, bytes, length, TABLE, FRAME);
		if (r != 0)
			assert_int_equal(r, -ENOTSUP);
		if (r == 0) {
			write_moved(&table, &out, &count);
			handler_table_deinit(&table);
		}
		free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
