/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emit instructions on the thread's block of memory, at the %gs base, and on scratch registers
 * (point.h). Register numbers are those of the instruction set.
 */
#ifndef DCPI_INSTRUMENT_BLOCK_CODE_H
#define DCPI_INSTRUMENT_BLOCK_CODE_H

#include "instrument/codegen/machine_code.h"

#define BLOCK_CODE_NONE (-1)

/**
 * struct mem_operand - a word of the block
 * @at:    offset from the %gs base, less than 2^31
 * @index: register that is added to @at, times @scale; BLOCK_CODE_NONE: none
 * @scale: 1, 2, 4 or 8
 */
struct mem_operand {
	uint32_t at;
	int index;
	unsigned int scale;
};

/** mem_operand() - return the word at an offset. */
static inline struct mem_operand mem_operand(uint32_t at)
{
	return (struct mem_operand){.at = at, .index = BLOCK_CODE_NONE, .scale = 1};
}

/** enum block_move - operations on a register and a word of 64 bits */
enum block_move {
	BLOCK_LOAD,
	BLOCK_LOAD32, /* zero-extended */
	BLOCK_LOAD16,
	BLOCK_LOAD16_SIGNED,
	BLOCK_STORE, /* also of the stack pointer */
	BLOCK_STORE32,
	BLOCK_STORE16,
	BLOCK_ADD_TO,	/* to the word; this and all that follow change flags */
	BLOCK_SUBTRACT, /* the word from the register */
	BLOCK_COMPARE,	/* the word with the register */
	BLOCK_COMPARE32,
	BLOCK_EXCHANGE, /* if the word equals %rax, store the register, else load %rax */
};

void block_code_move(struct machine_code *code, enum block_move move, unsigned int reg,
		     struct mem_operand place);

/** block_code_set() - store a number of 32 bits in a word of 64 bits, sign-extended. */
void block_code_set(struct machine_code *code, struct mem_operand place, uint32_t number);

/** block_code_set32() - store a number in a word of 32 bits. */
void block_code_set32(struct machine_code *code, struct mem_operand place, uint32_t number);

/** block_code_compare32() - compare a word of 32 bits with a number. Changes flags. */
void block_code_compare32(struct machine_code *code, struct mem_operand place, uint32_t number);

/** block_code_compare_with() - compare a word of 64 bits with a sign-extended number. Changes
 * flags. */
void block_code_compare_with(struct machine_code *code, struct mem_operand place, uint32_t number);

/** block_code_add32() - add a number to a word of 32 bits. Changes flags. */
void block_code_add32(struct machine_code *code, struct mem_operand place, uint32_t number);

/** block_code_add() - add a sign-extended number to a word of 64 bits. Changes flags. */
void block_code_add(struct machine_code *code, struct mem_operand place, uint32_t number);

/** block_code_add16() - add a number to a word of 16 bits. Changes flags. */
void block_code_add16(struct machine_code *code, struct mem_operand place, uint32_t number);

/** block_code_push() - push a word of 64 bits on the stack; block_code_pop() pops it. Flags stay.
 */
void block_code_push(struct machine_code *code, struct mem_operand place);
void block_code_pop(struct machine_code *code, struct mem_operand place);

/** block_code_increment() - increment a word of 64 bits. Changes all flags but the carry. */
void block_code_increment(struct machine_code *code, struct mem_operand place);

/** enum block_alu - operations on a register and a number of 32 bits; all change flags. */
enum block_alu {
	BLOCK_ALU_ADD = 0,
	BLOCK_ALU_AND = 4,
	BLOCK_ALU_COMPARE = 7,
};

/** block_code_alu32() - the upper half of the register becomes 0, except by a comparison. */
void block_code_alu32(struct machine_code *code, enum block_alu alu, unsigned int reg,
		      uint32_t number);

/** block_code_alu() - the 64-bit operation, with the number sign-extended. */
void block_code_alu(struct machine_code *code, enum block_alu alu, unsigned int reg,
		    uint32_t number);

/** block_code_number() - load a number into a register. Flags stay. */
void block_code_number(struct machine_code *code, unsigned int reg, uint64_t number);

/** block_code_copy() - copy a register. Flags stay. */
void block_code_copy(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_low_byte() - copy the lowest byte of a register, zero-extended. Flags stay. */
void block_code_low_byte(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_address() - @to = @from + @number. Flags stay. */
void block_code_address(struct machine_code *code, unsigned int to, unsigned int from,
			int32_t number);

/** block_code_address_of() - @to = the place's offset, without the %gs base; 32 bits. Flags stay.
 */
void block_code_address_of(struct machine_code *code, unsigned int to, struct mem_operand place);

/** block_code_triple() - @to = 3 * @from. Flags stay. */
void block_code_triple(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_or() - @to |= @from, 64 bits. Changes flags. */
void block_code_or(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_compare() - compare two registers of 64 bits. Changes flags. */
void block_code_compare(struct machine_code *code, unsigned int a, unsigned int b);

/** block_code_test_bit() - copy bit @bit modulo 64 of @of to the carry. Changes flags. */
void block_code_test_bit(struct machine_code *code, unsigned int of, unsigned int bit);

/** block_code_multiply32() - @reg = @from * @number, modulo 2^32. Changes flags. */
void block_code_multiply32(struct machine_code *code, unsigned int reg, unsigned int from,
			   uint32_t number);

/** block_code_subtract() - @to -= @from, 64 bits. Changes flags. */
void block_code_subtract(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_shift() - shift 64 bits left by @bits, or 32 bits right by -@bits if @bits is
 * negative. Changes flags. */
void block_code_shift(struct machine_code *code, unsigned int reg, int bits);

/** block_code_upper_half() - shift 64 bits right by 32. Changes flags. */
void block_code_upper_half(struct machine_code *code, unsigned int reg);

/** block_code_fence() - lfence: earlier instructions complete first, but their stores may still be
 * in the store buffer. Flags stay. */
void block_code_fence(struct machine_code *code);

/** block_code_time() - read the time stamp counter into @reg, which is %rax or %rdx. Changes both
 * registers and flags. */
void block_code_time(struct machine_code *code, unsigned int reg);

#endif
