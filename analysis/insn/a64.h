/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The A64 instruction set as tables of encodings. Only for insn_arm64.c and a64_*.c.
 *
 * Written from the Arm Architecture Reference Manual (DDI 0487), section C4, up to Armv8.8; checked
 * against LLVM's tables.
 */
#ifndef DCPI_A64_H
#define DCPI_A64_H

#include "analysis/insn/insn.h"

#define A64_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Effects of an encoding on the registers in its usual fields: D (or T) in bits 0-4, N in 5-9, A in
 * 10-14, M in 16-20. Number 31 is the zero register, or the stack pointer if the name ends in S.
 */
#define A64_N 0x00001U /* reads */
#define A64_NS 0x00002U
#define A64_M 0x00004U
#define A64_MS 0x00008U
#define A64_A 0x00010U
#define A64_D 0x00020U
#define A64_DS 0x00040U
#define A64_WD 0x00080U /* writes */
#define A64_WDS 0x00100U
#define A64_VN 0x00200U /* reads FP and vector registers */
#define A64_VM 0x00400U
#define A64_VA 0x00800U
#define A64_VD 0x01000U
#define A64_WV 0x02000U /* writes D */
#define A64_FR 0x04000U /* reads, writes flags */
#define A64_FW 0x08000U
#define A64_VM4 0x10000U    /* M has four bits: elements of 16 bits */
#define A64_NARROW 0x20000U /* preserves the lower half of D if Q is set */

/* Checks for undefined encodings that match a pattern. */
enum a64_check {
	A64_ANY,
	A64_SHIFT,	/* 32 bits: a shift below 32. */
	A64_NO_ROR,	/* A64_SHIFT, and no rotation. */
	A64_EXTEND,	/* Shift of at most 4. */
	A64_BITMASK,	/* Logical immediate. */
	A64_WIDE,	/* 32 bits: shift of at most 16. */
	A64_BITFIELD,	/* N as sf, 32 bits: positions below 32. */
	A64_CRC,	/* 8, 16 or 32 bits. */
	A64_SIZES,	/* a64_pattern.sizes. */
	A64_FP_TYPE,	/* Half, single, double. */
	A64_SHIFT_ALL,	/* Vector shift by an immediate: elements as Q allows. */
	A64_SHIFT_HALF, /* Elements of at most 32 bits: narrowing, widening. */
	A64_SHIFT_FP,	/* 16 bits and more. */
	A64_SHIFT_64,	/* Scalar: 64 bits only. */
	A64_SHIFT_ANY,	/* Scalar: any. */
};

/**
 * struct a64_pattern - an encoding, or several similar ones
 * @operands: A64_*
 * @sizes:    for A64_SIZES: bit 2 * size (bits 22-23) + Q (bit 30)
 */
struct a64_pattern {
	uint32_t mask;
	uint32_t value;
	uint32_t operands;
	uint8_t class;
	uint8_t check; /* enum a64_check */
	uint8_t sizes;
};

static inline uint32_t a64_bits(uint32_t word, unsigned int low, unsigned int count)
{
	return word >> low & ((1U << count) - 1);
}

static inline int64_t a64_signed(uint32_t word, unsigned int low, unsigned int count)
{
	return (int64_t)((uint64_t)a64_bits(word, low, count) << (64 - count)) >> (64 - count);
}

/** a64_read(), a64_write() - add a register; number 31 is not a register. */
static inline void a64_read(struct insn *insn, unsigned int number)
{
	if (number != 31)
		insn_regs_add(&insn->reads, number);
}

static inline void a64_write(struct insn *insn, unsigned int number)
{
	if (number != 31)
		insn_regs_add(&insn->writes, number);
}

/** a64_source() - append to insn.sources, if there is space; 31 is ignored. */
void a64_source(struct insn *insn, unsigned int reg);

/** a64_match() - find the first pattern that matches; NULL if there is none or it is undefined. */
const struct a64_pattern *a64_match(const struct a64_pattern *patterns, size_t count,
				    uint32_t word);

/**
 * struct a64_group - encodings that have bits in common
 *
 * A word with these bits matches one of @patterns or is undefined.
 */
struct a64_group {
	uint32_t mask;
	uint32_t value;
	const struct a64_pattern *patterns;
	size_t count;
};

/** a64_group_match() - find the pattern of a word. NULL: in none of the groups, or undefined. */
const struct a64_pattern *a64_group_match(const struct a64_group *search, size_t count,
					  uint32_t word);

/** a64_apply() - set class and registers according to a pattern. */
void a64_apply(struct insn *insn, const struct a64_pattern *pattern, uint32_t word);

/** a64_logical_immediate() - decode the value; @wide: 64 bits. Return: false if undefined. */
bool a64_logical_immediate(uint64_t *value, uint32_t word, bool wide);

#endif
