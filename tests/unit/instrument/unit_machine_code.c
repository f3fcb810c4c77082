// SPDX-License-Identifier: GPL-2.0-only
/* Generated code decodes to the intended instructions, at any address. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/insn/insn.h"
#include "instrument/codegen/machine_code.h"

#define LABELS 40
#define ITEMS 400

/* An item of code, compared with the decoded instruction. */
struct wanted {
	enum {
		WANT_BYTES,
		WANT_BRANCH,
		WANT_LEAVE,
		WANT_RELATIVE,
		WANT_LABEL,
		WANT_ALIGN
	} kind;
	unsigned int branch;
	uint32_t label;
	uint64_t address;
};

static uint64_t no_path(void *context, uint32_t other)
{
	(void)context;
	return 0x500000 + other;
}

static void put_random(struct machine_code *code, struct wanted *wanted, const uint32_t *labels)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8};
	static const uint8_t load[] = {0x48, 0x8b, 0x05, 0, 0, 0, 0};

	wanted->branch = (unsigned int)rand() % 18;
	wanted->label = labels[rand() % LABELS];
	wanted->address = 0x400000 + (uint64_t)(rand() % 100000);
	switch (rand() % 8) {
	case 0:
		wanted->kind = WANT_LEAVE;
		machine_code_leave(code, wanted->branch, wanted->address);
		break;
	case 1:
		wanted->kind = WANT_RELATIVE;
		machine_code_relative(code, load, sizeof(load), 3, wanted->address);
		break;
	case 2:
	case 3:
		wanted->kind = WANT_BRANCH;
		machine_code_branch(code, wanted->branch, wanted->label);
		break;
	default:
		wanted->kind = WANT_BYTES;
		machine_code_bytes(code, add, sizeof(add));
	}
}

static size_t check_one(const struct machine_code *code, const struct wanted *wanted,
			const uint8_t *bytes, uint64_t address, uint64_t base)
{
	struct insn insn;
	size_t length = insn_x86_decoder.decode(&insn, bytes, 15, address);

	assert_true(length > 0);
	switch (wanted->kind) {
	case WANT_BRANCH:
		assert_int_equal(insn.target, base + machine_code_offset(code, wanted->label));
		assert_int_equal(insn.flow, wanted->branch < 16		     ? INSN_FLOW_BRANCH
					    : wanted->branch == MACHINE_JUMP ? INSN_FLOW_JUMP
									     : INSN_FLOW_CALL);
		break;
	case WANT_LEAVE:
		assert_int_equal(insn.target, wanted->address);
		break;
	case WANT_RELATIVE:
		assert_int_equal(insn.memory.displacement, wanted->address);
		break;
	default:
		assert_int_equal(length, 3);
	}
	return length;
}

/* In half of the iterations, items from a random one on are put into the out-of-line part. */
static void test_random(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 200; round++) {
		struct machine_code code = {0};
		struct wanted wanted[ITEMS];
		uint32_t labels[LABELS];
		uint64_t base = 0x400000 + 64 * (uint64_t)(rand() % 1000), behind;
		int apart = round % 2 ? rand() % (ITEMS + 1) : -1;
		uint8_t *out;
		size_t at = 0;

		for (int i = 0; i < LABELS; i++)
			labels[i] = machine_code_label(&code);
		for (int i = 0; i < ITEMS; i++) {
			if (i == apart)
				machine_code_begin_cold(&code);
			if (i % (ITEMS / LABELS) == 0)
				machine_code_bind_label(&code, labels[i / (ITEMS / LABELS)]);
			put_random(&code, &wanted[i], labels);
		}
		if (apart == ITEMS)
			machine_code_begin_cold(&code);
		assert_int_equal(machine_code_layout(&code), 0);
		behind = code.parts[MACHINE_HOT].bytes + (uint64_t)(rand() % 100000);
		machine_code_place_cold(&code, behind);
		out = malloc(behind + code.parts[MACHINE_COLD].bytes + 16);
		assert_non_null(out);
		assert_int_equal(machine_code_write(&code, out, base, no_path, NULL), 0);
		for (int i = 0; i < ITEMS; i++) {
			if (i == apart) {
				assert_int_equal(at, code.parts[MACHINE_HOT].bytes);
				at = behind;
			}
			if (i % (ITEMS / LABELS) == 0)
				assert_int_equal(
					machine_code_offset(&code, labels[i / (ITEMS / LABELS)]),
					at);
			at += check_one(&code, &wanted[i], out + at, base + at, base);
		}
		if (apart >= 0 && apart < ITEMS)
			assert_int_equal(at, behind + code.parts[MACHINE_COLD].bytes);
		else
			assert_int_equal(at, code.parts[MACHINE_HOT].bytes);
		free(out);
		machine_code_deinit(&code);
	}
}

/* A branch over 127 bytes is short, over 128 bytes it is not. */
static void test_branches_are_shortest(void **state)
{
	(void)state;
	for (size_t distance = 120; distance < 136; distance++) {
		struct machine_code code = {0};
		uint32_t label = machine_code_label(&code);

		machine_code_branch(&code, 4, label);
		for (size_t i = 0; i < distance; i++)
			machine_code_bytes(&code, "\x90", 1);
		machine_code_bind_label(&code, label);
		assert_int_equal(machine_code_layout(&code), 0);
		assert_int_equal(code.parts[MACHINE_HOT].bytes,
				 distance + (distance <= 127 ? 2 : 6));
		machine_code_deinit(&code);
	}
}

static void test_alignment(void **state)
{
	(void)state;
	for (unsigned int to = 2; to <= 64; to *= 2) {
		struct machine_code code = {0};
		uint32_t label = machine_code_label(&code);
		uint8_t out[256];
		struct insn insn;

		machine_code_bytes(&code, "\x90", 1);
		machine_code_align(&code, to);
		machine_code_bind_label(&code, label);
		machine_code_bytes(&code, "\xc3", 1);
		assert_int_equal(machine_code_layout(&code), 0);
		assert_int_equal(machine_code_offset(&code, label), to);
		assert_int_equal(machine_code_write(&code, out, 0x1000, no_path, NULL), 0);
		for (size_t at = 0; at < to; at += insn.bytes) {
			assert_true(insn_x86_decoder.decode(&insn, out + at, to - at, 0x1000 + at));
			assert_int_equal(insn.class, INSN_NOP);
		}
		assert_int_equal(out[to], 0xc3);
		machine_code_deinit(&code);
	}
}

static uint64_t lines(uint64_t from, uint64_t to)
{
	return from == to ? 0 : (to - 1) / MACHINE_LINE_BYTES - from / MACHINE_LINE_BYTES + 1;
}

/* Put a loop of @bytes bytes, @ahead bytes after a place for padding. */
static void put_loop(struct machine_code *code, uint32_t begin, uint32_t end, int ahead, int bytes)
{
	machine_code_fit(code, begin, end);
	for (int i = 0; i < ahead; i++)
		machine_code_bytes(code, "\x50", 1);
	machine_code_bind_label(code, begin);
	for (int i = 0; i < bytes; i++)
		machine_code_bytes(code, "\x51", 1);
	machine_code_branch(code, MACHINE_NOT_EQUAL, begin);
	machine_code_bind_label(code, end);
	machine_code_branch(code, MACHINE_JUMP, begin);
}

/*
 * Loops are in as few cache lines as possible for any start address, with few no-operations, only
 * at the permitted places.
 */
static void test_fit(void **state)
{
	(void)state;
	srand(2);
	for (int round = 0; round < 300; round++) {
		struct machine_code code = {0};
		uint32_t begin[20], end[20], bytes, put = 0, pads = 0;
		uint32_t at = (uint32_t)rand() % 4 * 16;
		uint8_t *out;

		for (int i = 0; i < 20; i++) {
			int ahead = rand() % 50, size = rand() % 200;

			begin[i] = machine_code_label(&code);
			end[i] = machine_code_label(&code);
			put_loop(&code, begin[i], end[i], ahead, size);
			put += (uint32_t)(ahead + size);
		}
		assert_int_equal(machine_code_layout(&code), 0);
		machine_code_begin(&code, 0x10000 + at);
		bytes = (uint32_t)code.parts[MACHINE_HOT].bytes;
		out = calloc(1, bytes);
		assert_non_null(out);
		assert_int_equal(machine_code_write(&code, out, 0x10000 + at, no_path, NULL), 0);
		for (int i = 0; i < 20; i++) {
			uint64_t from = machine_code_offset(&code, begin[i]);
			uint64_t to = machine_code_offset(&code, end[i]);

			assert_int_equal(lines(at + from, at + to), lines(0, to - from));
		}
		for (uint32_t done = 0, length; done < bytes; done += length) {
			const uint8_t *here = out + done;
			struct insn insn;

			length = (uint32_t)insn_x86_decoder.decode(&insn, here, bytes - done, done);
			assert_true(length > 0);
			pads += insn.class == INSN_NOP ? length : 0;
			put -= length == 1 && (*here == 0x50 || *here == 0x51);
		}
		assert_int_equal(put, 0);
		assert_true(pads < 20 * MACHINE_LINE_BYTES);
		free(out);
		machine_code_deinit(&code);
	}
}

static void test_too_far(void **state)
{
	struct machine_code code = {0};
	uint8_t out[16];

	(void)state;
	machine_code_leave(&code, MACHINE_JUMP, UINT64_C(1) << 40);
	assert_int_equal(machine_code_layout(&code), 0);
	assert_int_equal(machine_code_write(&code, out, 0x1000, no_path, NULL), -ERANGE);
	machine_code_deinit(&code);
}

/* mov TABLE(,%rax,8), %rax, with entries that lead to the following code and to the mov itself. */
static void test_table(void **state)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x04, 0xc5, 0, 0, 0, 0};
	struct machine_code code = {0};
	uint32_t table, first;
	uint64_t address = 0x700000, pointer;
	uint8_t out[64] = {0};
	int32_t displacement, entry;

	(void)state;
	table = machine_code_label(&code);
	first = machine_code_label(&code);
	machine_code_bind_label(&code, first);
	machine_code_absolute(&code, load, sizeof(load), table, UINT64_C(0) - 0x1000);
	machine_code_align(&code, 16);
	machine_code_bind_label(&code, table);
	machine_code_entry(&code, 4, first, 0x600000);
	machine_code_entry(&code, 4, table, 0x800000);
	machine_code_entry(&code, 8, table, 0);
	assert_int_equal(machine_code_layout(&code), 0);
	assert_int_equal(code.parts[MACHINE_HOT].bytes, 32);
	assert_int_equal(machine_code_write(&code, out, address, no_path, NULL), 0);
	assert_memory_equal(out, load, 4);
	memcpy(&displacement, out + 4, 4);
	assert_int_equal(displacement, 0x700010 - 0x1000);
	memcpy(&entry, out + 16, 4);
	assert_int_equal(entry, 0x100000);
	memcpy(&entry, out + 20, 4);
	assert_int_equal(entry, 0x700010 - 0x800000);
	memcpy(&pointer, out + 24, 8);
	assert_int_equal(pointer, 0x700010);
	assert_int_equal(machine_code_write(&code, out, UINT64_C(1) << 32, no_path, NULL), -ERANGE);
	machine_code_deinit(&code);
}

/* After a jump the frame is that of the jump, for any code before the target in memory. */
static void test_rows(void **state)
{
	static const uint8_t push[] = {0x50}, pop[] = {0x58};
	static const struct machine_row want[] = {
		{0, 3, 0}, {1, 3, 8}, {8, 3, 0}, {8, 5, 0}, {14, 3, 8}, {15, 3, 0},
	};
	struct machine_code code = {0};
	uint32_t cold_stub = machine_code_label(&code), back = machine_code_label(&code);

	(void)state;
	machine_code_frame(&code, 3);
	machine_code_bytes(&code, push, sizeof(push));
	machine_code_stack(&code, 8);
	machine_code_bytes(&code, push, sizeof(push));
	machine_code_bytes(&code, pop, sizeof(pop));
	machine_code_branch(&code, MACHINE_NOT_EQUAL, cold_stub);
	machine_code_bytes(&code, push, sizeof(push));
	machine_code_bytes(&code, pop, sizeof(pop));
	machine_code_bytes(&code, pop, sizeof(pop));
	machine_code_stack(&code, -8);
	machine_code_bind_label(&code, back);
	machine_code_frame(&code, 5);
	machine_code_bytes(&code, push, sizeof(push));
	machine_code_leave(&code, MACHINE_JUMP, 0x700000);
	machine_code_bind_label(&code, cold_stub);
	machine_code_bytes(&code, pop, sizeof(pop));
	machine_code_stack(&code, -8);
	machine_code_branch(&code, MACHINE_JUMP, back);
	assert_int_equal(machine_code_layout(&code), 0);
	assert_int_equal(code.row_count, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < code.row_count; i++) {
		assert_int_equal(code.rows[i].offset, want[i].offset);
		assert_int_equal(code.rows[i].frame, want[i].frame);
		assert_int_equal(code.rows[i].depth, want[i].depth);
	}
	machine_code_deinit(&code);
}

static void see(void *context, uint64_t offset)
{
	uint64_t *last = context;

	assert_true(offset > *last);
	*last = offset;
}

/* Each part has its own rows, starting at its begin, and its own list of offsets. */
static void test_parts(void **state)
{
	static const uint8_t push[] = {0x50}, load[] = {0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0};
	struct machine_code code = {0};
	uint32_t cold_stub = machine_code_label(&code);
	const struct machine_row *rows;
	uint64_t last = 0;

	(void)state;
	machine_code_frame(&code, 3);
	machine_code_branch(&code, MACHINE_NOT_EQUAL, cold_stub);
	machine_code_thread(&code, load, sizeof(load), 5);
	machine_code_begin_cold(&code);
	machine_code_bind_label(&code, cold_stub);
	machine_code_bytes(&code, push, sizeof(push));
	machine_code_stack(&code, 8);
	machine_code_thread(&code, load, sizeof(load), 5);
	assert_int_equal(machine_code_layout(&code), 0);
	machine_code_place_cold(&code, 0x1000);
	assert_int_equal(code.parts[MACHINE_HOT].bytes, 6 + sizeof(load));
	assert_int_equal(code.parts[MACHINE_COLD].bytes, 1 + sizeof(load));
	assert_int_equal(machine_code_offset(&code, cold_stub), 0x1000);
	assert_int_equal(machine_code_rows(&code, MACHINE_HOT, &rows), 1);
	assert_int_equal(rows[0].frame, 3);
	assert_int_equal(machine_code_rows(&code, MACHINE_COLD, &rows), 2);
	assert_int_equal(rows[0].offset, 0x1000);
	assert_int_equal(rows[0].frame, 3);
	assert_int_equal(rows[0].depth, 0);
	assert_int_equal(rows[1].offset, 0x1001);
	assert_int_equal(rows[1].depth, 8);
	machine_code_visit_thread(&code, MACHINE_HOT, see, &last);
	assert_int_equal(last, 6 + 5);
	machine_code_visit_thread(&code, MACHINE_COLD, see, &last);
	assert_int_equal(last, 0x1001 + 5);
	machine_code_deinit(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	  cmocka_unit_test(test_branches_are_shortest),
		cmocka_unit_test(test_alignment), cmocka_unit_test(test_too_far),
		cmocka_unit_test(test_table),	  cmocka_unit_test(test_rows),
		cmocka_unit_test(test_parts),	  cmocka_unit_test(test_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
