/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of exception handlers (LSDA, in .gcc_except_table): it maps call sites of a frame to
 * landing pads and to the types caught there. A clone gets a new table: a call site is described at
 * its new address, possibly several times; landing pads keep their addresses, where jumps lead to
 * the clone.
 *
 * The formats written by gcc and clang for C and C++ are supported. Tables are not trusted.
 */
#ifndef DCPI_INSTRUMENT_HANDLER_TABLE_H
#define DCPI_INSTRUMENT_HANDLER_TABLE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct handler_calls - call-site record: an exception in [@start, @end) continues at landing pad
 * @pad (relative to handler_table.base; 0: none) with @action.
 */
struct handler_calls {
	uint64_t start;
	uint64_t end;
	uint64_t pad;
	uint64_t action;
};

/**
 * struct handler_table - zero-initialised is empty; freed by handler_table_deinit()
 * @calls:   call-site records, with addresses of the original code
 * @base:    address to which landing pads are relative
 * @actions: action records; they and the types are in the bytes that were parsed
 * @types:   address of the end of the type table, which is indexed backwards
 */
struct handler_table {
	struct handler_calls *calls;
	size_t count;
	size_t capacity;
	uint64_t base;
	const uint8_t *actions;
	size_t action_bytes;
	uint8_t type_encoding;
	size_t type_count;
	uint64_t types;
	const uint8_t *type_end;
	size_t specification_bytes; /* after the types */
};

/**
 * handler_table_parse() - parse a table
 * @bytes, @count: bytes from the table's start on, which may extend past it; they must outlive @ret
 * @address: of the table
 * @frame:   start address of the frame's code
 *
 * Return: 0; -ENOTSUP if the table is damaged or not understood; -ENOMEM.
 */
int handler_table_parse(struct handler_table *ret, const uint8_t *bytes, size_t count,
			uint64_t address, uint64_t frame);

void handler_table_deinit(struct handler_table *table);

/** handler_table_find() - return the call-site record that contains an address; NULL if there is
 * none. Records must be in ascending order. */
const struct handler_calls *handler_table_find(const struct handler_table *table, uint64_t address);

/**
 * handler_table_write() - write a table for a clone
 * @calls:   @count call-site records that replace the table's: ascending addresses of the new code
 * @out:     malloc'd, appended to
 * @address: of the first byte of @out
 * @start:   start address of the new code
 *
 * Return: 0; -ENOTSUP if a target is too far away; -ENOMEM.
 */
int handler_table_write(const struct handler_table *table, const struct handler_calls *calls,
			size_t count, uint8_t **out, size_t *bytes, size_t *capacity,
			uint64_t address, uint64_t start);

#endif
