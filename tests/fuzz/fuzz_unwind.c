// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the compiler of unwind tables, the walk over frames and the reader of symbols. The input is
 * the size of a stack, registers, the stack and an ELF file. Tables must keep their invariants, and
 * a walk must end.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/symbol_reader.h"
#include "daemon/unwind/unwind_build.h"
#include "daemon/unwind/unwind_step.h"
#include "tests/fuzz/fuzz.h"

#define STACK_MAX 4096

/* @calls: of rule_find() */
struct walking {
	const struct unwind_table *table;
	const uint8_t *stack;
	size_t bytes;
	uint64_t start;
	uint32_t calls;
};

static enum unwind_end word_read(void *context, uint64_t address, uint64_t *ret)
{
	const struct walking *walking = context;
	uint64_t at = address - walking->start;

	if (address < walking->start || at > walking->bytes || walking->bytes - at < sizeof(*ret))
		return UNWIND_END_SHORT;
	memcpy(ret, walking->stack + at, sizeof(*ret));
	return UNWIND_END_COMPLETE;
}

static enum unwind_where rule_find(void *context, uint64_t pc, const struct unwind_rule **ret)
{
	struct walking *walking = context;

	walking->calls++;
	if (pc % 64 == 63)
		return pc % 128 == 63 ? UNWIND_WHERE_NO_IMAGE : UNWIND_WHERE_NO_TABLE;
	*ret = unwind_table_find(walking->table, pc & 0xffffff);
	return UNWIND_WHERE_RULE;
}

static void page_check(const struct unwind_table *table, uint32_t i)
{
	const struct unwind_page *page = table->pages[i];
	const uint32_t start = table->starts[i] & ~UNWIND_START_ROWS;

	require(page == NULL || unwind_page_check(page, unwind_page_size(page), table->followers,
						  start, table->rule_count));
}

static void table_check(const struct unwind_table *table)
{
	uint32_t rows = 0;

	require(unwind_table_check(table));
	require(table->page_count > 0 && table->page_count <= UNWIND_PAGES_MAX);
	for (uint32_t i = 0; i < table->page_count; i++) {
		struct unwind_cursor cursor = {.rule = table->starts[i] & ~UNWIND_START_ROWS};

		page_check(table, i);
		require((table->pages[i] != NULL) == ((table->starts[i] & UNWIND_START_ROWS) != 0));
		while (table->pages[i] != NULL &&
		       unwind_page_next(table->pages[i], table->followers, &cursor))
			rows++;
	}
	/* The first row of a page may be its start. */
	require(rows <= table->row_count && table->row_count - rows <= table->page_count);
}

/* Build only the first page. */
static void page_build(const struct unwind_table *table, const struct unwind_file *file)
{
	const struct unwind_wanted wanted = {
		.pages = {table->first_page}, .count = 1, .only = true};
	struct unwind_table *some = NULL;

	if (unwind_build_pages(&some, file, &wanted) < 0)
		return;
	require(unwind_table_check(some));
	for (uint32_t i = 0; i < some->page_count; i++) {
		page_check(some, i);
		require(some->pages[i] == NULL || some->first_page + i == table->first_page);
	}
	unwind_table_destroy(some);
}

static void table_walk(const struct unwind_table *table, const uint8_t *data, size_t bytes)
{
	struct walking walking = {.table = table, .stack = data, .bytes = bytes};
	struct unwind_registers registers = {.known = UINT32_MAX};
	struct unwind_walk walk = {
		.machine = table->machine,
		.memory = {word_read, &walking},
		.find = rule_find,
		.context = &walking,
	};

	/* The registers are the first words of the stack, too. */
	memcpy(registers.reg, data, bytes < sizeof(registers.reg) ? bytes : sizeof(registers.reg));
	registers.pc = registers.reg[0];
	walking.start = registers.reg[table->machine->sp];
	require((unsigned int)unwind_walk(&walk, &registers) < UNWIND_ENDS);
	require(walking.calls <= UNWIND_FRAMES_MAX);
}

/* Read the symbols of offsets all over the file. */
static void symbols_read(const struct unwind_file *file)
{
	struct symbol_extents extents = {.count = 0};
	uint64_t offsets[64];

	for (size_t i = 0; i < 64; i++)
		offsets[i] = file->bytes * i / 64;
	if (symbol_reader_read(&extents, file, NULL, offsets, 64) < 0)
		return;
	require(extents.count <= 64 && extents.names_bytes <= SYMBOL_READER_NAMES_BYTES_MAX);
	for (size_t i = 0; i < extents.count; i++) {
		const struct symbol_extent *extent = &extents.extents[i];

		require(extent->start < extent->end && extent->name < extents.names_bytes);
		require(i == 0 || extent->start >= extent[-1].end);
		require(extent->name == 0 || (extent->offset <= extent->start &&
					      extent->end - extent->offset <= extent->bytes));
	}
	symbol_extents_deinit(&extents);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct unwind_table *table = NULL;
	struct unwind_file file = {.fd = -1};
	size_t stack;

	if (bytes < 2)
		return 0;
	stack = (size_t)(data[0] | data[1] << 8) % STACK_MAX;
	data += 2;
	bytes -= 2;
	if (stack > bytes)
		stack = bytes;
	file.data = data + stack;
	file.bytes = bytes - stack;
	if (unwind_build(&table, &file) == 0) {
		table_check(table);
		table_walk(table, data, stack);
		page_build(table, &file);
	}
	unwind_table_destroy(table);
	symbols_read(&file);
	return 0;
}
