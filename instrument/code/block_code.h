/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions of code that works on the thread's block of memory, at %gs' base, and on
 * registers that it has borrowed (point.h). Register numbers are the instruction set's.
 */
#ifndef DCPI_INSTRUMENT_BLOCK_CODE_H
#define DCPI_INSTRUMENT_BLOCK_CODE_H

#include "instrument/code/machine_code.h"

#define BLOCK_CODE_NONE (-1)

/**
 * struct block_place - a word of the block
 * @at:    offset, less than 2^31
 * @index: register with what is to be added to that, times @scale; BLOCK_CODE_NONE: none
 * @scale: 1, 2, 4 or 8
 */
struct block_place {
	uint32_t at;
	int index;
	unsigned int scale;
};

/** block_place() - the word at an offset. */
static inline struct block_place block_place(uint32_t at)
{
	return (struct block_place){.at = at, .index = BLOCK_CODE_NONE, .scale = 1};
}

/** enum block_move - with a register and a place, 64 bits */
enum block_move {
	BLOCK_LOAD,
	BLOCK_LOAD32, /* zero-extended */
	BLOCK_LOAD16,
	BLOCK_LOAD16_SIGNED,
	BLOCK_STORE, /* the stack pointer as well */
	BLOCK_STORE32,
	BLOCK_STORE16,
	BLOCK_ADD_TO,	/* the place; changes flags, as all that follow */
	BLOCK_SUBTRACT, /* the place from the register */
	BLOCK_COMPARE,	/* the place with the register */
	BLOCK_COMPARE32,
	BLOCK_EXCHANGE, /* if the place is %rax, it gets the register, else %rax gets it */
};

void block_code_move(struct machine_code *code, enum block_move move, unsigned int reg,
		     struct block_place place);

/** block_code_set() - a number of 32 bits into a place of 64, sign-extended. */
void block_code_set(struct machine_code *code, struct block_place place, uint32_t number);

/** block_code_set32() - into one of 32. */
void block_code_set32(struct machine_code *code, struct block_place place, uint32_t number);

/** block_code_compare32() - a place of 32 bits with a number. Changes flags. */
void block_code_compare32(struct machine_code *code, struct block_place place, uint32_t number);

/** block_code_compare_with() - one of 64 bits with a number, sign-extended. Changes flags. */
void block_code_compare_with(struct machine_code *code, struct block_place place, uint32_t number);

/** block_code_add32() - to one of 32. Changes flags. */
void block_code_add32(struct machine_code *code, struct block_place place, uint32_t number);

/** block_code_add() - to one of 64, sign-extended. Changes flags. */
void block_code_add(struct machine_code *code, struct block_place place, uint32_t number);

/** block_code_add16() - to one of 16. Changes flags. */
void block_code_add16(struct machine_code *code, struct block_place place, uint32_t number);

/** block_code_push() - a place of 64 bits on the stack; _pop: from there. No flags. */
void block_code_push(struct machine_code *code, struct block_place place);
void block_code_pop(struct machine_code *code, struct block_place place);

/** block_code_increment() - of 64 bits. Changes flags but the carry. */
void block_code_increment(struct machine_code *code, struct block_place place);

/** enum block_alu - on a register and a number of 32 bits; changes flags. */
enum block_alu {
	BLOCK_ALU_ADD = 0,
	BLOCK_ALU_AND = 4,
	BLOCK_ALU_COMPARE = 7,
};

/** block_code_alu32() - the upper half becomes 0 (but by a comparison). */
void block_code_alu32(struct machine_code *code, enum block_alu alu, unsigned int reg,
		      uint32_t number);

/** block_code_alu() - of 64 bits, the number sign-extended. */
void block_code_alu(struct machine_code *code, enum block_alu alu, unsigned int reg,
		    uint32_t number);

/** block_code_number() - a register gets a number. No flags. */
void block_code_number(struct machine_code *code, unsigned int reg, uint64_t number);

/** block_code_copy() - a register gets another's value. No flags. */
void block_code_copy(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_low_byte() - a register gets another's lowest byte. No flags. */
void block_code_low_byte(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_address() - a register gets another's value and a number. No flags. */
void block_code_address(struct machine_code *code, unsigned int to, unsigned int from,
			int32_t number);

/** block_code_triple() - a register gets three times another's value. No flags. */
void block_code_triple(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_or() - 64 bits: @to |= @from. Changes flags. */
void block_code_or(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_compare() - 64 bits. Changes flags. */
void block_code_compare(struct machine_code *code, unsigned int a, unsigned int b);

/** block_code_multiply32() - @reg = @from * @number, modulo 2^32. Changes flags. */
void block_code_multiply32(struct machine_code *code, unsigned int reg, unsigned int from,
			   uint32_t number);

/** block_code_subtract() - 64 bits: @to -= @from. Changes flags. */
void block_code_subtract(struct machine_code *code, unsigned int to, unsigned int from);

/** block_code_shift() - 64 bits left, or with less than 0 32 bits right. Changes flags. */
void block_code_shift(struct machine_code *code, unsigned int reg, int bits);

/** block_code_fence() - lfence: all before is done, but stores may be under way. No flags. */
void block_code_fence(struct machine_code *code);

/** block_code_time() - the time stamp counter into @reg, %rax or %rdx; both change, and flags. */
void block_code_time(struct machine_code *code, unsigned int reg);

#endif
