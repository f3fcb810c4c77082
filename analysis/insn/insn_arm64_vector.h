/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of FP and vector encodings. For insn_arm64*.c alone. */
#ifndef DCPI_INSN_ARM64_VECTOR_H
#define DCPI_INSN_ARM64_VECTOR_H

#include "analysis/insn/insn_arm64.h"

#define V_N (A64_VN | A64_WV)
#define V_NM (V_N | A64_VM)
#define V_NMD (V_NM | A64_VD)
#define V_ND (V_N | A64_VD)

/* a64_pattern.sizes: a bit for 2 * size + Q. Scalars have Q set. */
#define SIZE_ANY 0xff
#define SIZE_B 0x03
#define SIZE_H 0x0c
#define SIZE_S 0x30
#define SIZE_D 0xc0
#define SIZE_BH (SIZE_B | SIZE_H)
#define SIZE_HS (SIZE_H | SIZE_S)
#define SIZE_BHS (SIZE_BH | SIZE_S)
#define SIZE_NOT_1D (SIZE_BHS | 0x80)
/* FP: bit 23 says which operation, bit 22 single or double, and no vector of one double. */
#define SIZE_FP 0xbb
#define SIZE_FP_SINGLE 0x33
#define SIZE_Q_ONLY 0xaa

/* By an element: of halves, then of words; FP also of doubles. */
#define BY_INT(mask, opcode, operands, class)                                                      \
	{                                                                                          \
		(mask) | 0x0fc0f400,                                                               \
		0x0f400000 | (opcode) << 12,                                                       \
		(operands) | A64_VM4,                                                              \
		class,                                                                             \
		A64_ANY,                                                                           \
		0},                                                                                \
	{                                                                                          \
		(mask) | 0x0fc0f400, 0x0f800000 | (opcode) << 12, operands, class, A64_ANY, 0      \
	}
#define BY_FP(mask, opcode, operands, class)                                                       \
	{                                                                                          \
		(mask) | 0x0fc0f400,                                                               \
		0x0f000000 | (opcode) << 12,                                                       \
		(operands) | A64_VM4,                                                              \
		class,                                                                             \
		A64_ANY,                                                                           \
		0},                                                                                \
		{(mask) | 0x0fc0f400, 0x0f800000 | (opcode) << 12, operands, class, A64_ANY, 0},   \
	{                                                                                          \
		(mask) | 0x4fe0f400, 0x4fc00000 | (opcode) << 12, operands, class, A64_ANY, 0      \
	}
#define SIGNED 0xb0000000
#define EITHER 0x90000000
#define UNSIGNED(opcode) ((opcode) | 0x20000)

/**
 * struct a64_group - encodings that have bits in common
 * A word that has them is one of @patterns or undefined.
 */
struct a64_group {
	uint32_t mask;
	uint32_t value;
	const struct a64_pattern *patterns;
	size_t count;
};

#define GROUP(mask, value, patterns)                                                               \
	{                                                                                          \
		mask, value, patterns, A64_COUNT(patterns)                                         \
	}

/** a64_group_match() - NULL: in none of the groups, or undefined. */
const struct a64_pattern *a64_group_match(const struct a64_group *search, size_t count,
					  uint32_t word);

/** a64_vector_match() - Advanced SIMD on vectors, AES, SHA-3 and others of its time. */
const struct a64_pattern *a64_vector_match(uint32_t word);

/** a64_scalar_match() - Advanced SIMD on scalars, SHA-1 and SHA-2. */
const struct a64_pattern *a64_scalar_match(uint32_t word);

/** a64_scalar_fp_match() - data processing of scalar FP, conversions left out. */
const struct a64_pattern *a64_scalar_fp_match(uint32_t word);

#endif
