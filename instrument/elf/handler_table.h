/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of handlers (LSDA, in .gcc_except_table): which calls of a frame lead to which
 * landing pads, and what is caught there. It is written anew for copied code: calls are
 * where they are now, some several times; landing pads stay where they were, where a jump leads on.
 *
 * Of the formats that gcc and clang write for C and C++. Tables are not trusted.
 */
#ifndef DCPI_INSTRUMENT_HANDLER_TABLE_H
#define DCPI_INSTRUMENT_HANDLER_TABLE_H

#include <stddef.h>
#include <stdint.h>

/** struct handler_calls - calls in [@start, @end) lead to @pad (0: through), doing @action. */
struct handler_calls {
	uint64_t start;
	uint64_t end;
	uint64_t pad;
	uint64_t action;
};

/**
 * struct handler_table - zero-initialised is empty; freed by handler_table_deinit()
 * @calls:   addresses are the old code's
 * @base:    that landing pads are relative to
 * @actions: and types, in the bytes that were parsed
 * @types:   address of the end of the types, from which they are counted back
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
	size_t specification_bytes; /* behind the types */
};

/**
 * handler_table_parse() - read one
 * @bytes, @count: from its beginning on, more than it has; stay the caller's
 * @address: of its beginning
 * @frame:   address of the code's beginning
 *
 * Return: 0; -ENOTSUP it is damaged or not understood; -ENOMEM.
 */
int handler_table_parse(struct handler_table *ret, const uint8_t *bytes, size_t count,
			uint64_t address, uint64_t frame);

void handler_table_deinit(struct handler_table *table);

/** handler_table_find() - the calls that an address is one of, as they ascend; NULL: none. */
const struct handler_calls *handler_table_find(const struct handler_table *table, uint64_t address);

/**
 * handler_table_write() - write it for a copy
 * @calls:   @count of them, in place of the table's: ascending addresses of the new code
 * @out:     malloc'd, appended to
 * @address: of the first byte of @out
 * @start:   of the new code
 *
 * Return: 0; -ENOTSUP something is too far away; -ENOMEM.
 */
int handler_table_write(const struct handler_table *table, const struct handler_calls *calls,
			size_t count, uint8_t **out, size_t *bytes, size_t *capacity,
			uint64_t address, uint64_t start);

#endif
