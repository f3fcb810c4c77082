/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions of the Alpha architecture, as tables. Source: the Alpha Architecture Handbook
 * (version 4), with the byte/word, FIX, CIX and MVI extensions. Instructions that exist only in
 * PALcode are not included.
 */
#ifndef DCPI_ALPHA_OPCODES_H
#define DCPI_ALPHA_OPCODES_H

#include <stdint.h>

/** enum alpha_form - fields of an instruction. */
enum alpha_form {
	ALPHA_PAL,	    /* 26 bits of function */
	ALPHA_LOAD_ADDRESS, /* Ra, displacement(Rb) */
	ALPHA_MEMORY,
	ALPHA_MEMORY_FP,
	ALPHA_BRANCH, /* Ra, displacement */
	ALPHA_BRANCH_FP,
	ALPHA_JUMP,	  /* Ra, (Rb), hint */
	ALPHA_OPERATE,	  /* Ra, Rb or literal, Rc */
	ALPHA_UNARY,	  /* Rb or literal, Rc; Ra is 31 */
	ALPHA_UNARY_REG,  /* Rb, Rc; Ra is 31 */
	ALPHA_REGISTERS,  /* Ra, Rb, Rc */
	ALPHA_CONSTANT,	  /* Rc; Ra is 31, the literal 1 (implver) */
	ALPHA_OPERATE_FP, /* Fa, Fb, Fc */
	ALPHA_UNARY_FP,	  /* Fb, Fc; Fa is 31 */
	ALPHA_TO_FP,	  /* Ra, Fc; Rb is 31 */
	ALPHA_FROM_FP,	  /* Fa, Rc; Fb is 31 */
	ALPHA_FPCR,	  /* Fa, three times */
	ALPHA_NOTHING,	  /* miscellaneous: no operands */
	ALPHA_MISC_A,	  /* Ra */
	ALPHA_MISC_AB,	  /* Ra, Rb */
	ALPHA_MISC_AT_B,  /* (Rb); Ra is 31 */
};

/** enum alpha_qualifiers - trap and rounding qualifiers that an FP operation may have. */
enum alpha_qualifiers {
	ALPHA_PLAIN,	     /* none */
	ALPHA_IEEE,	     /* /u /su /sui, each with /c /m /d */
	ALPHA_IEEE_COMPARE,  /* /su */
	ALPHA_IEEE_TO_INT,   /* /v /sv /svi, each with /c /m /d */
	ALPHA_IEEE_FROM_INT, /* /sui, each with /c /m /d */
	ALPHA_VAX,	     /* /u /s /su, each with /c */
	ALPHA_VAX_COMPARE,   /* /s */
	ALPHA_VAX_TO_INT,    /* /v /s /sv, each with /c */
	ALPHA_VAX_FROM_INT,  /* /c */
};

/**
 * struct alpha_op - an instruction
 * @name:       as in objdump, without qualifiers
 * @function:   in its opcode; for FP operations, without qualifiers and with normal rounding
 * @form:       enum alpha_form
 * @qualifiers: enum alpha_qualifiers
 * @class:      enum insn_class
 * @bytes:      width of the operation or memory operand
 * @flags:      INSN_READS_MEMORY, ...
 */
struct alpha_op {
	const char *name;
	uint16_t function;
	uint8_t form;
	uint8_t qualifiers;
	uint8_t class;
	uint8_t bytes;
	uint8_t flags;
};

/**
 * alpha_op_find() - find the instruction of a word
 *
 * Fields that must be 31 are checked.
 *
 * Return: NULL if there is none.
 */
const struct alpha_op *alpha_op_find(uint32_t word);

#define ALPHA_QUALIFIER_BYTES 8

/** alpha_op_qualifier() - format "/suc"; "" if the word of instruction @op has no qualifier. */
void alpha_op_qualifier(char text[ALPHA_QUALIFIER_BYTES], const struct alpha_op *op, uint32_t word);

/* Fields. */
static inline unsigned int alpha_ra(uint32_t word)
{
	return word >> 21 & 31;
}

static inline unsigned int alpha_rb(uint32_t word)
{
	return word >> 16 & 31;
}

static inline unsigned int alpha_rc(uint32_t word)
{
	return word & 31;
}

static inline int alpha_has_literal(uint32_t word)
{
	return (word & 0x1000) != 0;
}

static inline unsigned int alpha_literal(uint32_t word)
{
	return word >> 13 & 0xff;
}

#define ALPHA_ZERO 31U /* the register that reads as zero */

/* ldq_u to the zero register, the universal no-operation */
static inline int alpha_is_unop(uint32_t word)
{
	return word >> 26 == 0x0b && alpha_ra(word) == ALPHA_ZERO;
}

/* Return the target of a branch at @address. */
static inline uint64_t alpha_branch_target(uint32_t word, uint64_t address)
{
	int64_t displacement = (int64_t)((uint64_t)(word & 0x1fffff) << 43) >> 41;

	return address + 4 + (uint64_t)displacement;
}

#endif
