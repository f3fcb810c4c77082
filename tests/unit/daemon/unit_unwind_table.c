// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables of system libraries against elfutils' interpretation of their call frame
 * information: the rule of every row, and the extent of all descriptions.
 */
#include "tests/lib/unit.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/unwind/signal_frame.h"
#include "daemon/unwind/unwind_build.h"
#include "lib/cleanup.h"

/* struct truth - a file as elfutils reads it */
struct truth {
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi;
	struct unwind_elf own;
	struct unwind_table *table;
};

struct totals {
	size_t files;
	size_t rows;
	size_t compared;
	size_t differences;
	size_t unknown;
	size_t bytes;
};

/* Convert the operations for a CFA, independently of daemon/unwind/unwind_expression.c. */
static bool cfa_convert(struct unwind_rule *rule, const struct unwind_machine *machine,
			const Dwarf_Op *ops, size_t count)
{
	if (count == 1 && ops[0].atom == DW_OP_bregx) {
		rule->kind = UNWIND_REGISTER;
		rule->reg = (uint8_t)ops[0].number;
		rule->offset = (int32_t)ops[0].number2;
		return true;
	}
	if (count == 0 || ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31)
		return false;
	rule->reg = (uint8_t)(ops[0].atom - DW_OP_breg0);
	rule->offset = (int32_t)ops[0].number;
	rule->kind = UNWIND_REGISTER;
	if (count == 1)
		return true;
	if (count >= 2 && ops[1].atom == DW_OP_deref) {
		rule->kind = UNWIND_DEREF;
		rule->add = count == 3 ? (int32_t)ops[2].number : 0;
		return count == 2 || (count == 3 && ops[2].atom == DW_OP_plus_uconst);
	}
	if (count == 9 && ops[1].atom == DW_OP_breg16 && rule->reg == machine->sp &&
	    ops[8].atom == DW_OP_plus) {
		rule->kind = UNWIND_PLT;
		rule->reg = (uint8_t)(ops[4].atom - DW_OP_lit0);
		return true;
	}
	return false;
}

/* Convert where a register is. Return: false: elfutils reports an error. */
static bool saved_convert(struct unwind_rule *rule, const struct unwind_machine *machine, int i,
			  Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, machine->saved[i], memory, &ops, &count) < 0)
		return false;
	if (count == 0) {
		rule->saved[i] = UNWIND_SAME;
		/* The ABI says that callees preserve rbx; elfutils does not. */
		if (ops == memory && !(machine == &unwind_machine_x86_64 && machine->saved[i] == 3))
			rule->saved[i] = machine->saved[i] == machine->ra_column ? UNWIND_UNDEFINED
										 : UNWIND_LOST;
		return true;
	}
	rule->saved[i] = UNWIND_LOST;
	if (ops[count - 1].atom == DW_OP_stack_value)
		return true;
	if (ops[0].atom == DW_OP_call_frame_cfa && count == 1)
		rule->saved[i] = 0;
	else if (ops[0].atom == DW_OP_call_frame_cfa && count == 2 &&
		 ops[1].atom == DW_OP_plus_uconst)
		rule->saved[i] = (int16_t)((int64_t)ops[1].number / 8);
	/* An expression starts with the CFA on the stack. */
	if (count == 2 && ops[1].atom == DW_OP_breg0 + machine->fp &&
	    (int64_t)ops[1].number % 8 == 0) {
		rule->saved[i] = (int16_t)((int64_t)ops[1].number / 8);
		rule->by_frame |= (uint16_t)(1U << i);
	}
	return true;
}

static struct unwind_rule true_rule(const struct unwind_machine *machine, Dwarf_Frame *frame,
				    bool signal)
{
	struct unwind_rule rule = {.kind = UNWIND_UNKNOWN};
	Dwarf_Op *ops = NULL;
	size_t count = 0;

	if (dwarf_frame_cfa(frame, &ops, &count) < 0 || !cfa_convert(&rule, machine, ops, count))
		rule = (struct unwind_rule){.kind = UNWIND_UNKNOWN};
	for (int i = 0; i < machine->saved_count; i++)
		assert_true(saved_convert(&rule, machine, i, frame));
	if (rule.saved[machine->saved_count - 1] == UNWIND_UNDEFINED)
		return (struct unwind_rule){.kind = UNWIND_END};
	if (signal && rule.kind == UNWIND_DEREF && rule.reg == machine->sp &&
	    rule.offset == SIGNAL_FRAME_X86_64_SP)
		return (struct unwind_rule){.kind = UNWIND_SIGNAL};
	if (rule.kind == UNWIND_UNKNOWN || signal)
		return (struct unwind_rule){.kind = UNWIND_UNKNOWN};
	return rule;
}

static void difference_print(const char *path, uint64_t address, const struct unwind_rule *found,
			     const struct unwind_rule *expected)
{
	const struct unwind_rule *rules[] = {found, expected};

	print_message("%s %#llx\n", path, (unsigned long long)address);
	for (int i = 0; i < 2; i++) {
		print_message("\t%s kind %d reg %d offset %d add %d by_frame %#x saved",
			      i == 0 ? "found" : "expected", rules[i]->kind, rules[i]->reg,
			      rules[i]->offset, rules[i]->add, rules[i]->by_frame);
		for (int k = 0; k < UNWIND_SAVED_MAX; k++)
			print_message(" %d", rules[i]->saved[k]);
		print_message("\n");
	}
}

/* Compare at one address. Return: where elfutils' row ends; 0: no description covers it. */
static uint64_t address_compare(const char *path, const struct truth *truth, uint64_t address,
				struct totals *totals)
{
	struct unwind_rule expected = {.kind = UNWIND_NONE};
	_cleanup_free_ Dwarf_Frame *frame = NULL;
	const struct unwind_rule *found;
	Dwarf_Addr start, end = 0;
	uint64_t offset;
	bool signal;
	int column;

	if (!unwind_elf_offset(&truth->own, address, &offset))
		return 0;
	if (dwarf_cfi_addrframe(truth->cfi, address, &frame) == 0) {
		column = dwarf_frame_info(frame, &start, &end, &signal);
		assert_true(column >= 0);
		/* A description with another column for the return address is not used. */
		if (column == truth->own.machine->ra_column)
			expected = true_rule(truth->own.machine, frame, signal);
		assert_true(address >= start && address < end);
	}
	found = unwind_table_find(truth->table, offset);
	/* The code at the entry point, which elfutils does not know. */
	if (end == 0 && found->kind == UNWIND_END && address >= truth->own.entry &&
	    address < truth->own.entry + UNWIND_ENTRY_BYTES)
		return 0;
	totals->compared++;
	totals->unknown += found->kind == UNWIND_UNKNOWN;
	if (memcmp(found, &expected, sizeof(expected)) != 0 && totals->differences++ < 10)
		difference_print(path, address, found, &expected);
	return end;
}

/* Return: offsets in the file at which rules of ours begin to apply, ascending; @count of them. */
static uint64_t *row_offsets(const struct unwind_table *table, size_t *count)
{
	uint64_t *offsets =
		malloc((table->row_count + (size_t)table->page_count) * sizeof(*offsets));

	assert_non_null(offsets);
	*count = 0;
	for (uint32_t i = 0; i < table->page_count; i++) {
		uint64_t first = (table->first_page + i) << UNWIND_PAGE_SHIFT;
		struct unwind_cursor cursor = {.rule = table->starts[i] & ~UNWIND_START_ROWS};

		offsets[(*count)++] = first;
		while (table->pages[i] != NULL &&
		       unwind_page_next(table->pages[i], table->followers, &cursor))
			offsets[(*count)++] = first + cursor.offset;
	}
	return offsets;
}

/* Compare at the start of each row of ours, and of each row of elfutils. */
static void segment_compare(const char *path, const struct truth *truth,
			    const struct unwind_segment *segment, struct totals *totals)
{
	uint64_t address = segment->start, end, next;
	size_t count;
	_cleanup_free_ uint64_t *rows = row_offsets(truth->table, &count);

	for (size_t row = 0; row <= count && address < segment->end;) {
		end = address_compare(path, truth, address, totals);
		next = segment->end;
		while (row < count) {
			next = rows[row] - segment->offset + segment->start;
			if (next > address)
				break;
			row++;
		}
		if (row == count)
			next = segment->end;
		/* A hole of ours may hide descriptions: try every byte. */
		if (end == 0)
			end = address + 1;
		address = end < next ? end : next;
	}
}

static bool truth_open(struct truth *truth, const char *path)
{
	struct unwind_file file;

	*truth = (struct truth){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	file = (struct unwind_file){.fd = truth->fd};
	if (truth->fd < 0 || unwind_build(&truth->table, &file) < 0)
		return false;
	assert_int_equal(unwind_elf_read(&truth->own, &file), 0);
	truth->elf = elf_begin(truth->fd, ELF_C_READ_MMAP, NULL);
	truth->cfi = truth->elf != NULL ? dwarf_getcfi_elf(truth->elf) : NULL;
	return truth->cfi != NULL;
}

static void truth_close(struct truth *truth)
{
	if (truth->cfi != NULL)
		dwarf_cfi_end(truth->cfi);
	elf_end(truth->elf);
	unwind_elf_deinit(&truth->own);
	unwind_table_destroy(truth->table);
	if (truth->fd >= 0)
		close(truth->fd);
}

static void file_compare(const char *path, struct totals *totals)
{
	struct truth truth;

	if (truth_open(&truth, path)) {
		totals->files++;
		totals->rows += truth.table->row_count;
		totals->bytes += unwind_table_bytes(truth.table);
		for (size_t i = 0; i < truth.own.segment_count; i++)
			segment_compare(path, &truth, &truth.own.segments[i], totals);
	}
	truth_close(&truth);
}

static const char *const patterns[] = {
	"/lib/*-linux-gnu/libc.so.6",
	"/lib/*-linux-gnu/libm.so.6",
	"/lib*/*/ld-linux-*.so.*",
	"/usr/lib/*-linux-gnu/libstdc++.so.6",
	"/usr/lib/*-linux-gnu/libsqlite3.so.0",
	"/usr/lib/*-linux-gnu/libcrypto.so.3",
	"/lib/*-linux-gnu/libgcc_s.so.1",
	"/lib/*-linux-gnu/libz.so.1",
	"/usr/bin/python3.11",
	"/usr/bin/bash",
	"/usr/bin/perl",
};

/* The argument, a pattern of files, replaces the list; for more than a test needs to cover. */
static void rows_are_those_of_elfutils(void **state)
{
	struct totals totals = {.files = 0};
	const char *own = getenv("UNWIND_FILES");
	size_t count = own != NULL ? 1 : sizeof(patterns) / sizeof(*patterns);

	(void)state;
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < count; i++) {
		glob_t found = {.gl_pathc = 0};

		if (glob(own != NULL ? own : patterns[i], 0, NULL, &found) == 0) {
			for (size_t k = 0; k < found.gl_pathc; k++)
				file_compare(found.gl_pathv[k], &totals);
		}
		globfree(&found);
	}
	print_message("%zu files, %zu rows, %.2f bytes each, %zu addresses compared, %zu differ, "
		      "%zu not supported\n",
		      totals.files, totals.rows, (double)totals.bytes / (double)totals.rows,
		      totals.compared, totals.differences, totals.unknown);
	assert_true(totals.files >= 3 || own != NULL);
	assert_true(totals.compared >= totals.rows);
	assert_int_equal(totals.differences, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_elfutils),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
