/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Macros for rows of FP and vector encodings. Only for a64_*_tables.c.
 */
#ifndef DCPI_A64_VECTOR_ROWS_H
#define DCPI_A64_VECTOR_ROWS_H

#include "analysis/insn/a64.h"

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
/* FP: bit 23 selects the operation, bit 22 single or double; there is no vector of one double. */
#define SIZE_FP 0xbb
#define SIZE_FP_SINGLE 0x33
#define SIZE_Q_ONLY 0xaa

/* By element: half precision, then words; FP also doubles. */
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

#define GROUP(mask, value, patterns)                                                               \
	{                                                                                          \
		mask, value, patterns, A64_COUNT(patterns)                                         \
	}

#endif
