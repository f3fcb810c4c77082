/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64 code that is being made: bytes, branches to labels, and references to
 * addresses, which get their places when all is known. Branches between labels are as
 * short as they can be.
 *
 * What hardly ever runs can be a part of its own that is put somewhere else, so that it takes
 * no room between what does.
 */
#ifndef DCPI_INSTRUMENT_MACHINE_CODE_H
#define DCPI_INSTRUMENT_MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Conditions are those of the instruction set, 0 .. 15 (jo .. jg). */
enum machine_branch {
	MACHINE_NO_OVERFLOW = 1,
	MACHINE_NOT_EQUAL = 5,
	MACHINE_JUMP = 16,
	MACHINE_CALL = 17,
};

/* Register numbers of the instruction set. */
enum machine_register {
	MACHINE_RAX,
	MACHINE_RCX,
	MACHINE_RDX,
	MACHINE_RBX,
	MACHINE_RSP,
	MACHINE_RBP,
	MACHINE_RSI,
	MACHINE_RDI,
	MACHINE_R8,
};

struct machine_item;
struct machine_label;

/** enum machine_part - all before machine_code_apart(), and all behind. */
enum machine_part {
	MACHINE_NEAR,
	MACHINE_APART,
	MACHINE_PARTS,
};

/**
 * struct machine_range - of a part
 * @offset, @bytes: once laid out; from the code's begin
 * @first_item, @first_row: where it begins in these
 */
struct machine_range {
	uint64_t offset;
	uint64_t bytes;
	size_t first_item;
	size_t first_row;
};

/* What processors fetch at once, and what is worth being made to fit. */
#define MACHINE_LINE_BYTES 64
#define MACHINE_FIT_LINES 4

/**
 * struct machine_row - how the stack is from an offset on, once laid out
 * @frame: what machine_code_frame() was given
 * @depth: bytes that the stack pointer is below where the frame has it
 */
struct machine_row {
	uint64_t offset;
	uint32_t frame;
	uint32_t depth;
};

/**
 * struct machine_code - zero-initialised is empty; freed by machine_code_deinit()
 * @rows:   in order; of some with the same offset the last one is right. Each part has its own
 * @parts:  MACHINE_APART: of no bytes if there is none
 * @begin:  where the code does, in a line; @fits: something has to fit
 * @apart:  there is one
 * @frame, @depth: as of the end
 * @failed: memory ran out; all else is then without effect
 */
struct machine_code {
	uint8_t *pool;
	size_t pool_bytes;
	size_t pool_capacity;
	struct machine_item *items;
	size_t item_count;
	size_t item_capacity;
	struct machine_label *labels;
	size_t label_count;
	size_t label_capacity;
	struct machine_row *rows;
	size_t row_count;
	size_t row_capacity;
	uint32_t frame;
	uint32_t depth;
	struct machine_range parts[MACHINE_PARTS];
	uint64_t begin;
	bool fits;
	bool apart;
	bool failed;
};

void machine_code_deinit(struct machine_code *code);

/** machine_code_label() - a new label, not placed yet. */
uint32_t machine_code_label(struct machine_code *code);

/** machine_code_place() - place a label here. Frame and depth are those of the first branch. */
void machine_code_place(struct machine_code *code, uint32_t label);

/** machine_code_bytes() - some instructions, as they are. */
void machine_code_bytes(struct machine_code *code, const void *bytes, size_t count);

/**
 * machine_code_relative() - an instruction with a 32-bit operand relative to its end
 * @at:      of the operand in the instruction
 * @address: what it means
 */
void machine_code_relative(struct machine_code *code, const void *bytes, size_t count, size_t at,
			   uint64_t address);

/** machine_code_refer() - the same for the address of a number that @where knows. */
void machine_code_refer(struct machine_code *code, const void *bytes, size_t count, size_t at,
			uint32_t other);

/**
 * machine_code_absolute() - an instruction that ends in a 32-bit displacement
 * @bias: with the label's address added, what that is
 */
void machine_code_absolute(struct machine_code *code, const void *bytes, size_t count,
			   uint32_t label, uint64_t bias);

/** machine_code_entry() - @bytes (4 or 8) of data: a label's address less @base. */
void machine_code_entry(struct machine_code *code, size_t bytes, uint32_t label, uint64_t base);

/** machine_code_thread() - an instruction with a 32-bit offset from %gs' base at @at. */
void machine_code_thread(struct machine_code *code, const void *bytes, size_t count, size_t at);

/** machine_code_frame() - what follows has the frame of that number, the caller's. */
void machine_code_frame(struct machine_code *code, uint32_t frame);

/** machine_code_stack() - the stack pointer is that much lower now. */
void machine_code_stack(struct machine_code *code, int32_t bytes);

/** machine_code_branch() - a branch, jump or call to a label; @kind: a condition, or
 * machine_branch. */
void machine_code_branch(struct machine_code *code, unsigned int kind, uint32_t label);

/** machine_code_leave() - the same to an address outside. */
void machine_code_leave(struct machine_code *code, unsigned int kind, uint64_t address);

/**
 * machine_code_enter() - the same to another procedure's code
 * @other: number that machine_code_write()'s @where understands
 */
void machine_code_enter(struct machine_code *code, unsigned int kind, uint32_t other);

/** machine_code_align() - no-operations up to a multiple of @bytes (a power of two, <= 64). */
void machine_code_align(struct machine_code *code, unsigned int bytes);

/**
 * machine_code_fit() - no-operations so that what is between two labels is in as few lines of
 * MACHINE_LINE_BYTES as it can be
 * @begin, @end: are placed later, and so is the other part
 *
 * Processors fetch a line in a cycle, so a small loop in one line more is a cycle longer each
 * turn. What takes more than MACHINE_FIT_LINES, however it lies, stays where it is.
 */
void machine_code_fit(struct machine_code *code, uint32_t begin, uint32_t end);

/** machine_code_apart() - what follows is the other part, of the same frame. Once. */
void machine_code_apart(struct machine_code *code);

/**
 * machine_code_begin() - say where the code begins, which is at a multiple of a line until then
 * @offset: whatever is a multiple of a line may be left out
 *
 * Lays it out again, if anything in it has to fit: before machine_code_put_apart().
 */
void machine_code_begin(struct machine_code *code, uint64_t offset);

/**
 * machine_code_layout() - find the places of all labels; @bytes of parts are then known
 *
 * The code begins at a multiple of whatever something in it is aligned to. Return: 0 or -ENOMEM.
 */
int machine_code_layout(struct machine_code *code);

/**
 * machine_code_put_apart() - say where the other part is, which has to be done before offsets
 * @offset: from the code's begin; a multiple of whatever something in it is aligned to
 */
void machine_code_put_apart(struct machine_code *code, uint64_t offset);

/** machine_code_offset() - a label's, once laid out. */
uint64_t machine_code_offset(const struct machine_code *code, uint32_t label);

/** machine_code_rows() - those of a part. @ret: out, the first. Return: how many. */
size_t machine_code_rows(const struct machine_code *code, enum machine_part part,
			 const struct machine_row **ret);

/**
 * machine_code_visit_thread() - where such offsets are in a part, in order, once laid out
 * @visit: is given the distance from the code's begin
 */
void machine_code_visit_thread(const struct machine_code *code, enum machine_part part,
			       void (*visit)(void *context, uint64_t offset), void *context);

/**
 * machine_code_write() - the code, as it is at an address
 * @out:   room for both parts where they are
 * @where: address of the number that machine_code_enter() was given
 *
 * Return: 0; -ERANGE something is too far away.
 */
int machine_code_write(const struct machine_code *code, uint8_t *out, uint64_t address,
		       uint64_t (*where)(void *context, uint32_t other), void *context);

#endif
