// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_program.h"

#include <dwarf.h>
#include <string.h>

#include "daemon/unwind/unwind_expression.h"
#include "lib/encoded_pointer.h"

/* Compilers nest DW_CFA_remember_state once. */
#define REMEMBERED_MAX 8
#define PRIMARY_OPCODE 0xc0
#define PRIMARY_OPERAND 0x3f

/*
 * @location: address from which the current rule applies
 * @failed:   an instruction could not be executed
 */
struct execution {
	const struct unwind_program *program;
	struct bounded_reader reader;
	struct unwind_rule rule;
	struct unwind_rule remembered[REMEMBERED_MAX];
	unsigned int depth;
	uint64_t location;
	bool failed;
};

/* Return: where the rule of a register is, or NULL for a register that is not tracked. */
static int16_t *saved_of(struct execution *run, uint64_t reg)
{
	int i = unwind_machine_saved(run->program->machine, reg);

	return i >= 0 ? &run->rule.saved[i] : NULL;
}

/* @by_frame: the slot is relative to the frame pointer, not to the CFA */
static void saved_set(struct execution *run, uint64_t reg, int64_t offset, bool by_frame)
{
	int16_t *saved = saved_of(run, reg);
	uint16_t bit;

	if (saved == NULL)
		return;
	bit = (uint16_t)(1U << (saved - run->rule.saved));
	run->rule.by_frame = (uint16_t)(run->rule.by_frame & ~bit);
	*saved = UNWIND_LOST;
	if (offset % 8 != 0 || offset / 8 < INT16_MIN || offset / 8 > UNWIND_SLOT_MAX)
		return;
	*saved = (int16_t)(offset / 8);
	if (by_frame)
		run->rule.by_frame |= bit;
}

static void saved_special(struct execution *run, uint64_t reg, int16_t value)
{
	int16_t *saved = saved_of(run, reg);

	if (saved == NULL)
		return;
	run->rule.by_frame = (uint16_t)(run->rule.by_frame & ~(1U << (saved - run->rule.saved)));
	*saved = value;
}

static void saved_restore(struct execution *run, uint64_t reg)
{
	const struct unwind_rule *initial = &run->program->cie->initial;
	int16_t *saved = saved_of(run, reg);
	uint16_t bit;

	if (saved == NULL)
		return;
	bit = (uint16_t)(1U << (saved - run->rule.saved));
	*saved = initial->saved[saved - run->rule.saved];
	run->rule.by_frame = (uint16_t)((run->rule.by_frame & ~bit) | (initial->by_frame & bit));
}

static int64_t factored(const struct execution *run, int64_t value)
{
	int64_t product;

	return __builtin_mul_overflow(value, run->program->cie->data_factor, &product) ? INT64_MAX
										       : product;
}

static void cfa_set(struct execution *run, uint64_t reg, int64_t offset)
{
	struct unwind_rule *rule = &run->rule;

	rule->kind = UNWIND_UNKNOWN;
	rule->reg = 0;
	rule->offset = rule->add = 0;
	if (reg >= run->program->machine->registers || offset < INT32_MIN || offset > INT32_MAX)
		return;
	rule->kind = UNWIND_REGISTER;
	rule->reg = (uint8_t)reg;
	rule->offset = (int32_t)offset;
}

/* A CFA that is not a register plus an offset cannot get another register or offset. */
static void cfa_set_register(struct execution *run, uint64_t reg)
{
	if (run->rule.kind == UNWIND_REGISTER)
		cfa_set(run, reg, run->rule.offset);
	else
		run->failed = true;
}

static void cfa_set_offset(struct execution *run, int64_t offset)
{
	if (run->rule.kind == UNWIND_REGISTER)
		cfa_set(run, run->rule.reg, offset);
	else
		run->failed = true;
}

/* Return: the next operand, a block of bytes. */
static struct bounded_reader block_read(struct execution *run)
{
	uint64_t bytes = bounded_reader_uleb128(&run->reader);
	struct bounded_reader block;
	const void *data;

	data = bytes <= bounded_reader_left(&run->reader)
		       ? bounded_reader_bytes(&run->reader, (size_t)bytes)
		       : NULL;
	run->failed |= data == NULL;
	bounded_reader_init(&block, data != NULL ? data : "", data != NULL ? (size_t)bytes : 0);
	return block;
}

static void cfa_expression(struct execution *run)
{
	struct bounded_reader block = block_read(run);

	cfa_set(run, UINT64_MAX, 0);
	unwind_expression_cfa(&run->rule, run->program->machine, block);
}

static void saved_expression(struct execution *run, bool is_value)
{
	uint64_t reg = bounded_reader_uleb128(&run->reader);
	struct bounded_reader block = block_read(run);
	int64_t offset;

	if (!is_value && unwind_expression_slot(&offset, run->program->machine, block))
		saved_set(run, reg, offset, true);
	else
		saved_special(run, reg, UNWIND_LOST);
}

static void rule_remember(struct execution *run)
{
	if (run->depth < REMEMBERED_MAX)
		run->remembered[run->depth++] = run->rule;
	else
		run->failed = true;
}

static void rule_recall(struct execution *run)
{
	if (run->depth > 0)
		run->rule = run->remembered[--run->depth];
	else
		run->failed = true;
}

/* The rule as it is stored: signal frames and the outermost frame are kinds of their own. */
static struct unwind_rule rule_reduce(const struct execution *run)
{
	const struct unwind_machine *machine = run->program->machine;
	static const struct unwind_rule unknown = {.kind = UNWIND_UNKNOWN};
	struct unwind_rule rule = run->rule;

	if (run->failed)
		return unknown;
	if (rule.saved[machine->saved_count - 1] == UNWIND_UNDEFINED)
		return (struct unwind_rule){.kind = UNWIND_END};
	if (run->program->cie->signal)
		return unwind_expression_is_signal(&rule, machine)
			       ? (struct unwind_rule){.kind = UNWIND_SIGNAL}
			       : unknown;
	if (rule.kind == UNWIND_UNKNOWN)
		return unknown;
	return rule;
}

static int row_end(struct execution *run, uint64_t next)
{
	const struct unwind_program *program = run->program;
	struct unwind_rule rule;

	if (program->row == NULL || next <= run->location || run->location >= program->end)
		return 0;
	rule = rule_reduce(run);
	return program->row(program->context, run->location, &rule);
}

static int location_advance(struct execution *run, uint64_t delta)
{
	uint64_t bytes, next;
	int r;

	if (__builtin_mul_overflow(delta, run->program->cie->code_factor, &bytes) ||
	    __builtin_add_overflow(run->location, bytes, &next)) {
		run->failed = true;
		return 0;
	}
	r = row_end(run, next);
	run->location = next;
	return r;
}

static int location_set(struct execution *run)
{
	uint8_t encoding = run->program->cie->address_encoding;
	uint64_t place =
		run->program->place + (uint64_t)(run->reader.position - run->program->data);
	uint64_t next = 0;
	int r;

	if (encoded_pointer_resolve(&next, &run->reader, encoding, 8, place) < 0 ||
	    next < run->location) {
		run->failed = true;
		return 0;
	}
	r = row_end(run, next);
	run->location = next;
	return r;
}

static void registers_op(struct execution *run, uint8_t op)
{
	struct bounded_reader *reader = &run->reader;
	uint64_t reg = bounded_reader_uleb128(reader);

	switch (op) {
	case DW_CFA_offset_extended:
		saved_set(run, reg, factored(run, (int64_t)bounded_reader_uleb128(reader)), false);
		break;
	case DW_CFA_offset_extended_sf:
		saved_set(run, reg, factored(run, bounded_reader_sleb128(reader)), false);
		break;
	case DW_CFA_GNU_negative_offset_extended:
		saved_set(run, reg, factored(run, -(int64_t)bounded_reader_uleb128(reader)), false);
		break;
	case DW_CFA_restore_extended:
		saved_restore(run, reg);
		break;
	case DW_CFA_undefined:
		saved_special(run, reg,
			      reg == run->program->machine->ra_column ? UNWIND_UNDEFINED
								      : UNWIND_LOST);
		break;
	case DW_CFA_same_value:
		saved_special(run, reg, UNWIND_SAME);
		break;
	case DW_CFA_val_offset:
	case DW_CFA_register:
		bounded_reader_uleb128(reader);
		saved_special(run, reg, UNWIND_LOST);
		break;
	default: /* DW_CFA_val_offset_sf */
		bounded_reader_sleb128(reader);
		saved_special(run, reg, UNWIND_LOST);
	}
}

static void cfa_op(struct execution *run, uint8_t op)
{
	struct bounded_reader *reader = &run->reader;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = bounded_reader_uleb128(reader);
		cfa_set(run, reg, (int64_t)bounded_reader_uleb128(reader));
		break;
	case DW_CFA_def_cfa_sf:
		reg = bounded_reader_uleb128(reader);
		cfa_set(run, reg, factored(run, bounded_reader_sleb128(reader)));
		break;
	case DW_CFA_def_cfa_register:
		cfa_set_register(run, bounded_reader_uleb128(reader));
		break;
	case DW_CFA_def_cfa_offset:
		cfa_set_offset(run, (int64_t)bounded_reader_uleb128(reader));
		break;
	case DW_CFA_def_cfa_offset_sf:
		cfa_set_offset(run, factored(run, bounded_reader_sleb128(reader)));
		break;
	default: /* DW_CFA_def_cfa_expression */
		cfa_expression(run);
	}
}

static uint64_t advance_operand(struct execution *run, uint8_t op)
{
	struct bounded_reader *reader = &run->reader;
	uint64_t low;

	if (op == DW_CFA_advance_loc4)
		return bounded_reader_u32(reader);
	low = bounded_reader_u8(reader);
	return op == DW_CFA_advance_loc2 ? low | (uint64_t)bounded_reader_u8(reader) << 8 : low;
}

static int other_op(struct execution *run, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		return location_set(run);
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		return location_advance(run, advance_operand(run, op));
	case DW_CFA_remember_state:
		rule_remember(run);
		break;
	case DW_CFA_restore_state:
		rule_recall(run);
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		saved_expression(run, op == DW_CFA_val_expression);
		break;
	case DW_CFA_GNU_args_size:
		bounded_reader_uleb128(&run->reader);
		break;
	case DW_CFA_AARCH64_negate_ra_state:
		if (run->program->machine == &unwind_machine_arm64)
			run->rule.by_frame ^= UNWIND_SIGNED;
		else
			run->failed = true;
		break;
	default:
		run->failed = true;
	}
	return 0;
}

static int one_op(struct execution *run)
{
	uint8_t op = bounded_reader_u8(&run->reader), operand = op & PRIMARY_OPERAND;

	switch (op & PRIMARY_OPCODE) {
	case DW_CFA_advance_loc:
		return location_advance(run, operand);
	case DW_CFA_offset:
		saved_set(run, operand,
			  factored(run, (int64_t)bounded_reader_uleb128(&run->reader)), false);
		return 0;
	case DW_CFA_restore:
		saved_restore(run, operand);
		return 0;
	}
	switch (op) {
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		cfa_op(run, op);
		return 0;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_register:
		registers_op(run, op);
		return 0;
	}
	return other_op(run, op);
}

static int execution_run(struct execution *run)
{
	int r = 0;

	while (r == 0 && !run->failed && bounded_reader_left(&run->reader) > 0 &&
	       run->location < run->program->end) {
		r = one_op(run);
		run->failed |= bounded_reader_failed(&run->reader);
	}
	return r == 0 ? row_end(run, run->program->end) : r;
}

void unwind_cie_start(struct unwind_cie *cie, const struct unwind_machine *machine)
{
	const struct unwind_program program = {
		.machine = machine, .cie = cie, .data = cie->program, .end = UINT64_MAX};
	struct execution run = {.program = &program, .rule.kind = UNWIND_UNKNOWN};

	for (int i = 0; i < UNWIND_SAVED_MAX; i++)
		run.rule.saved[i] = i < machine->saved_count ? UNWIND_SAME : 0;
	/* On x86-64 the return address is in no register that callees preserve. */
	if (machine->ra_column >= machine->registers)
		run.rule.saved[machine->saved_count - 1] = UNWIND_LOST;
	cie->initial = run.rule;
	bounded_reader_init(&run.reader, cie->program, cie->program_bytes);
	execution_run(&run);
	cie->initial = run.rule;
	if (run.failed)
		cie->initial.kind = UNWIND_UNKNOWN;
}

int unwind_program_run(const struct unwind_program *program)
{
	struct execution run = {
		.program = program, .rule = program->cie->initial, .location = program->start};

	bounded_reader_init(&run.reader, program->data, program->bytes);
	return execution_run(&run);
}
