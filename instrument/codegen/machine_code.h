/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An assembler for x86-64 code: bytes, branches to labels, and references to addresses, which are
 * resolved when all code is known. Branches between labels get their shortest form.
 *
 * Rarely executed code can form a cold part, which is placed separately, so that it takes no space
 * between the hot instructions.
 */
#ifndef DCPI_INSTRUMENT_MACHINE_CODE_H
#define DCPI_INSTRUMENT_MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Condition codes of the instruction set are 0 .. 15 (jo .. jg); these are in use. */
enum machine_branch {
	MACHINE_NO_OVERFLOW = 1,
	MACHINE_CARRY = 2,
	MACHINE_BELOW = MACHINE_CARRY,
	MACHINE_NO_CARRY = 3,
	MACHINE_NOT_BELOW = MACHINE_NO_CARRY,
	MACHINE_EQUAL = 4,
	MACHINE_NOT_EQUAL = 5,
	MACHINE_BELOW_EQUAL = 6,
	MACHINE_SIGN = 8,
	MACHINE_NO_SIGN = 9,
	MACHINE_NOT_LESS = 13,
	MACHINE_LESS_EQUAL = 14,
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

/** enum machine_part - the hot part, before machine_code_begin_cold(), and the cold part after it.
 */
enum machine_part {
	MACHINE_HOT,
	MACHINE_COLD,
	MACHINE_PARTS,
};

/**
 * struct machine_range - range of a part
 * @offset, @bytes: known after layout; relative to the start of the code
 * @first_item, @first_row: index of its first item and row
 */
struct machine_range {
	uint64_t offset;
	uint64_t bytes;
	size_t first_item;
	size_t first_row;
};

/* Line size of instruction fetch, and the largest number of lines for which alignment pays. */
#define MACHINE_LINE_BYTES 64
#define MACHINE_FIT_LINES 4

/**
 * struct machine_row - stack layout from an offset on, known after layout
 * @frame: argument of machine_code_frame()
 * @depth: number of bytes by which the stack pointer is below the frame's
 */
struct machine_row {
	uint64_t offset;
	uint32_t frame;
	uint32_t depth;
};

/**
 * struct machine_code - zero-initialised is empty; freed by machine_code_deinit()
 * @rows:   in order; the last of several rows with the same offset applies. Each part has its own
 * @parts:  MACHINE_COLD has no bytes if there is no cold part
 * @begin:  offset of the code's start in a line; @fits: machine_code_fit() was called
 * @has_cold:  there is a cold part
 * @frame, @depth: at the current end
 * @failed: out of memory; all further calls are then without effect
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
	bool has_cold;
	bool failed;
};

void machine_code_deinit(struct machine_code *code);

/** machine_code_label() - make a new label, not placed yet. */
uint32_t machine_code_label(struct machine_code *code);

/** machine_code_bind_label() - place a label here. Frame and depth are those of the first branch to
 * it. */
void machine_code_bind_label(struct machine_code *code, uint32_t label);

/** machine_code_bytes() - add instructions, unchanged. */
void machine_code_bytes(struct machine_code *code, const void *bytes, size_t count);

/**
 * machine_code_relative() - add an instruction with a 32-bit operand relative to its end
 * @at:      offset of the operand in the instruction
 * @address: that the operand refers to
 */
void machine_code_relative(struct machine_code *code, const void *bytes, size_t count, size_t at,
			   uint64_t address);

/** machine_code_refer() - the same as machine_code_relative(), for the address that @where of
 * machine_code_write() returns for @other. */
void machine_code_refer(struct machine_code *code, const void *bytes, size_t count, size_t at,
			uint32_t other);

/**
 * machine_code_absolute() - add an instruction that ends in a 32-bit displacement
 * @bias: the displacement is the label's address plus @bias
 */
void machine_code_absolute(struct machine_code *code, const void *bytes, size_t count,
			   uint32_t label, uint64_t bias);

/** machine_code_entry() - add data of @bytes (4 or 8) bytes: a label's address minus @base. */
void machine_code_entry(struct machine_code *code, size_t bytes, uint32_t label, uint64_t base);

/** machine_code_thread() - add an instruction with a 32-bit offset from the %gs base at @at. */
void machine_code_thread(struct machine_code *code, const void *bytes, size_t count, size_t at);

/** machine_code_frame() - set the frame number of the following code, which the caller defines. */
void machine_code_frame(struct machine_code *code, uint32_t frame);

/** machine_code_stack() - record that the stack pointer has decreased by @bytes. */
void machine_code_stack(struct machine_code *code, int32_t bytes);

/** machine_code_branch() - add a branch, jump or call to a label; @kind: a condition, or
 * machine_branch. */
void machine_code_branch(struct machine_code *code, unsigned int kind, uint32_t label);

/** machine_code_leave() - add a branch, jump or call to an address outside. */
void machine_code_leave(struct machine_code *code, unsigned int kind, uint64_t address);

/**
 * machine_code_enter() - add a branch, jump or call to the code of another procedure
 * @other: number that @where of machine_code_write() resolves
 */
void machine_code_enter(struct machine_code *code, unsigned int kind, uint32_t other);

/** machine_code_align() - add nops up to a multiple of @bytes (a power of two, <= 64). */
void machine_code_align(struct machine_code *code, unsigned int bytes);

/**
 * machine_code_fit() - add nops so that the code between two labels occupies as few lines of
 * MACHINE_LINE_BYTES as possible
 * @begin, @end: labels, placed later, before the cold part
 *
 * Processors fetch one line per cycle, so a small loop that touches one line more takes one cycle
 * more per iteration. Code that occupies more than MACHINE_FIT_LINES in any alignment is not
 * aligned.
 */
void machine_code_fit(struct machine_code *code, uint32_t begin, uint32_t end);

/** machine_code_begin_cold() - begin the cold part, with the same frame. Called at most once. */
void machine_code_begin_cold(struct machine_code *code);

/**
 * machine_code_begin() - set the address of the code's start, a multiple of a line by default
 * @offset: only its value modulo MACHINE_LINE_BYTES matters
 *
 * Repeats the layout if machine_code_fit() was called. To be called before
 * machine_code_place_cold().
 */
void machine_code_begin(struct machine_code *code, uint64_t offset);

/**
 * machine_code_layout() - find the offsets of all labels, and @bytes of both parts
 *
 * The code starts at a multiple of the largest alignment in it.
 *
 * Return: 0 or -ENOMEM.
 */
int machine_code_layout(struct machine_code *code);

/**
 * machine_code_place_cold() - set the offset of the cold part; offsets are valid only afterwards
 * @offset: from the code's start; a multiple of the largest alignment in the cold part
 */
void machine_code_place_cold(struct machine_code *code, uint64_t offset);

/** machine_code_offset() - return a label's offset, after layout. */
uint64_t machine_code_offset(const struct machine_code *code, uint32_t label);

/** machine_code_rows() - find the rows of a part. @ret: out, the first one. Return: their number.
 */
size_t machine_code_rows(const struct machine_code *code, enum machine_part part,
			 const struct machine_row **ret);

/**
 * machine_code_visit_thread() - visit all offsets from the %gs base in a part, in order, after
 * layout
 * @visit: gets the offset of the operand from the code's start
 */
void machine_code_visit_thread(const struct machine_code *code, enum machine_part part,
			       void (*visit)(void *context, uint64_t offset), void *context);

/**
 * machine_code_write() - write the code for an address
 * @out:   room for both parts at their offsets
 * @where: returns the address for the number passed to machine_code_enter()
 *
 * Return: 0; -ERANGE if a target is too far away.
 */
int machine_code_write(const struct machine_code *code, uint8_t *out, uint64_t address,
		       uint64_t (*where)(void *context, uint32_t other), void *context);

#endif
