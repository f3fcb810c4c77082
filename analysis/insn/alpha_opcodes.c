// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/alpha_opcodes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/insn/insn.h"

#define OPCODES 64
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Columns: name, function, form, qualifiers, class, bytes, flags. */
static const struct alpha_op arithmetic[] = {
	{"addl", 0x00, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 4, 0},
	{"s4addl", 0x02, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 4, 0},
	{"subl", 0x09, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 4, 0},
	{"s4subl", 0x0b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 4, 0},
	{"cmpbge", 0x0f, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"s8addl", 0x12, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 4, 0},
	{"s8subl", 0x1b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 4, 0},
	{"cmpult", 0x1d, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"addq", 0x20, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"s4addq", 0x22, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"subq", 0x29, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"s4subq", 0x2b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"cmpeq", 0x2d, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"s8addq", 0x32, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"s8subq", 0x3b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"cmpule", 0x3d, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"addl/v", 0x40, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 4, 0},
	{"subl/v", 0x49, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 4, 0},
	{"cmplt", 0x4d, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"addq/v", 0x60, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"subq/v", 0x69, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"cmple", 0x6d, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
};

static const struct alpha_op logic[] = {
	{"and", 0x00, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"andnot", 0x08, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"cmovlbs", 0x14, ALPHA_OPERATE, ALPHA_PLAIN, INSN_CMOV, 8, INSN_CONDITIONAL},
	{"cmovlbc", 0x16, ALPHA_OPERATE, ALPHA_PLAIN, INSN_CMOV, 8, INSN_CONDITIONAL},
	{"or", 0x20, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"cmoveq", 0x24, ALPHA_OPERATE, ALPHA_PLAIN, INSN_CMOV, 8, INSN_CONDITIONAL},
	{"cmovne", 0x26, ALPHA_OPERATE, ALPHA_PLAIN, INSN_CMOV, 8, INSN_CONDITIONAL},
	{"ornot", 0x28, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"xor", 0x40, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"cmovlt", 0x44, ALPHA_OPERATE, ALPHA_PLAIN, INSN_CMOV, 8, INSN_CONDITIONAL},
	{"cmovge", 0x46, ALPHA_OPERATE, ALPHA_PLAIN, INSN_CMOV, 8, INSN_CONDITIONAL},
	{"eqv", 0x48, ALPHA_OPERATE, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"amask", 0x61, ALPHA_UNARY, ALPHA_PLAIN, INSN_ALU, 8, 0},
	{"cmovle", 0x64, ALPHA_OPERATE, ALPHA_PLAIN, INSN_CMOV, 8, INSN_CONDITIONAL},
	{"cmovgt", 0x66, ALPHA_OPERATE, ALPHA_PLAIN, INSN_CMOV, 8, INSN_CONDITIONAL},
	{"implver", 0x6c, ALPHA_CONSTANT, ALPHA_PLAIN, INSN_ALU, 8, 0},
};

static const struct alpha_op shifts[] = {
	{"mskbl", 0x02, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"extbl", 0x06, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"insbl", 0x0b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"mskwl", 0x12, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"extwl", 0x16, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"inswl", 0x1b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"mskll", 0x22, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"extll", 0x26, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"insll", 0x2b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"zap", 0x30, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"zapnot", 0x31, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"mskql", 0x32, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"srl", 0x34, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"extql", 0x36, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"sll", 0x39, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"insql", 0x3b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"sra", 0x3c, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"mskwh", 0x52, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"inswh", 0x57, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"extwh", 0x5a, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"msklh", 0x62, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"inslh", 0x67, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"extlh", 0x6a, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"mskqh", 0x72, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"insqh", 0x77, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"extqh", 0x7a, ALPHA_OPERATE, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
};

static const struct alpha_op multiplies[] = {
	{"mull", 0x00, ALPHA_OPERATE, ALPHA_PLAIN, INSN_MULTIPLY, 4, 0},
	{"mulq", 0x20, ALPHA_OPERATE, ALPHA_PLAIN, INSN_MULTIPLY, 8, 0},
	{"umulh", 0x30, ALPHA_OPERATE, ALPHA_PLAIN, INSN_MULTIPLY, 8, 0},
	{"mull/v", 0x40, ALPHA_OPERATE, ALPHA_PLAIN, INSN_MULTIPLY, 4, 0},
	{"mulq/v", 0x60, ALPHA_OPERATE, ALPHA_PLAIN, INSN_MULTIPLY, 8, 0},
};

static const struct alpha_op to_fp[] = {
	{"itofs", 0x004, ALPHA_TO_FP, ALPHA_PLAIN, INSN_FP_TRANSFER, 4, INSN_FP},
	{"sqrtf", 0x08a, ALPHA_UNARY_FP, ALPHA_VAX, INSN_FP_SQRT, 4, INSN_FP},
	{"sqrts", 0x08b, ALPHA_UNARY_FP, ALPHA_IEEE, INSN_FP_SQRT, 4, INSN_FP},
	{"itoff", 0x014, ALPHA_TO_FP, ALPHA_PLAIN, INSN_FP_TRANSFER, 4, INSN_FP},
	{"itoft", 0x024, ALPHA_TO_FP, ALPHA_PLAIN, INSN_FP_TRANSFER, 8, INSN_FP},
	{"sqrtg", 0x0aa, ALPHA_UNARY_FP, ALPHA_VAX, INSN_FP_SQRT, 8, INSN_FP},
	{"sqrtt", 0x0ab, ALPHA_UNARY_FP, ALPHA_IEEE, INSN_FP_SQRT, 8, INSN_FP},
};

static const struct alpha_op vax_fp[] = {
	{"addf", 0x080, ALPHA_OPERATE_FP, ALPHA_VAX, INSN_FP_ADD, 4, INSN_FP},
	{"subf", 0x081, ALPHA_OPERATE_FP, ALPHA_VAX, INSN_FP_ADD, 4, INSN_FP},
	{"mulf", 0x082, ALPHA_OPERATE_FP, ALPHA_VAX, INSN_FP_MULTIPLY, 4, INSN_FP},
	{"divf", 0x083, ALPHA_OPERATE_FP, ALPHA_VAX, INSN_FP_DIVIDE, 4, INSN_FP},
	{"addg", 0x0a0, ALPHA_OPERATE_FP, ALPHA_VAX, INSN_FP_ADD, 8, INSN_FP},
	{"subg", 0x0a1, ALPHA_OPERATE_FP, ALPHA_VAX, INSN_FP_ADD, 8, INSN_FP},
	{"mulg", 0x0a2, ALPHA_OPERATE_FP, ALPHA_VAX, INSN_FP_MULTIPLY, 8, INSN_FP},
	{"divg", 0x0a3, ALPHA_OPERATE_FP, ALPHA_VAX, INSN_FP_DIVIDE, 8, INSN_FP},
	{"cmpgeq", 0x0a5, ALPHA_OPERATE_FP, ALPHA_VAX_COMPARE, INSN_FP_ADD, 8, INSN_FP},
	{"cmpglt", 0x0a6, ALPHA_OPERATE_FP, ALPHA_VAX_COMPARE, INSN_FP_ADD, 8, INSN_FP},
	{"cmpgle", 0x0a7, ALPHA_OPERATE_FP, ALPHA_VAX_COMPARE, INSN_FP_ADD, 8, INSN_FP},
	{"cvtdg", 0x09e, ALPHA_UNARY_FP, ALPHA_VAX, INSN_FP_CONVERT, 8, INSN_FP},
	{"cvtgf", 0x0ac, ALPHA_UNARY_FP, ALPHA_VAX, INSN_FP_CONVERT, 4, INSN_FP},
	{"cvtgd", 0x0ad, ALPHA_UNARY_FP, ALPHA_VAX, INSN_FP_CONVERT, 8, INSN_FP},
	{"cvtgq", 0x0af, ALPHA_UNARY_FP, ALPHA_VAX_TO_INT, INSN_FP_CONVERT, 8, INSN_FP},
	{"cvtqf", 0x0bc, ALPHA_UNARY_FP, ALPHA_VAX_FROM_INT, INSN_FP_CONVERT, 4, INSN_FP},
	{"cvtqg", 0x0be, ALPHA_UNARY_FP, ALPHA_VAX_FROM_INT, INSN_FP_CONVERT, 8, INSN_FP},
};

static const struct alpha_op ieee_fp[] = {
	{"adds", 0x080, ALPHA_OPERATE_FP, ALPHA_IEEE, INSN_FP_ADD, 4, INSN_FP},
	{"subs", 0x081, ALPHA_OPERATE_FP, ALPHA_IEEE, INSN_FP_ADD, 4, INSN_FP},
	{"muls", 0x082, ALPHA_OPERATE_FP, ALPHA_IEEE, INSN_FP_MULTIPLY, 4, INSN_FP},
	{"divs", 0x083, ALPHA_OPERATE_FP, ALPHA_IEEE, INSN_FP_DIVIDE, 4, INSN_FP},
	{"addt", 0x0a0, ALPHA_OPERATE_FP, ALPHA_IEEE, INSN_FP_ADD, 8, INSN_FP},
	{"subt", 0x0a1, ALPHA_OPERATE_FP, ALPHA_IEEE, INSN_FP_ADD, 8, INSN_FP},
	{"mult", 0x0a2, ALPHA_OPERATE_FP, ALPHA_IEEE, INSN_FP_MULTIPLY, 8, INSN_FP},
	{"divt", 0x0a3, ALPHA_OPERATE_FP, ALPHA_IEEE, INSN_FP_DIVIDE, 8, INSN_FP},
	{"cmptun", 0x0a4, ALPHA_OPERATE_FP, ALPHA_IEEE_COMPARE, INSN_FP_ADD, 8, INSN_FP},
	{"cmpteq", 0x0a5, ALPHA_OPERATE_FP, ALPHA_IEEE_COMPARE, INSN_FP_ADD, 8, INSN_FP},
	{"cmptlt", 0x0a6, ALPHA_OPERATE_FP, ALPHA_IEEE_COMPARE, INSN_FP_ADD, 8, INSN_FP},
	{"cmptle", 0x0a7, ALPHA_OPERATE_FP, ALPHA_IEEE_COMPARE, INSN_FP_ADD, 8, INSN_FP},
	{"cvtts", 0x0ac, ALPHA_UNARY_FP, ALPHA_IEEE, INSN_FP_CONVERT, 4, INSN_FP},
	{"cvttq", 0x0af, ALPHA_UNARY_FP, ALPHA_IEEE_TO_INT, INSN_FP_CONVERT, 8, INSN_FP},
	{"cvtqs", 0x0bc, ALPHA_UNARY_FP, ALPHA_IEEE_FROM_INT, INSN_FP_CONVERT, 4, INSN_FP},
	{"cvtqt", 0x0be, ALPHA_UNARY_FP, ALPHA_IEEE_FROM_INT, INSN_FP_CONVERT, 8, INSN_FP},
	{"cvtst", 0x2ac, ALPHA_UNARY_FP, ALPHA_PLAIN, INSN_FP_CONVERT, 8, INSN_FP},
	{"cvtst/s", 0x6ac, ALPHA_UNARY_FP, ALPHA_PLAIN, INSN_FP_CONVERT, 8, INSN_FP},
};

static const struct alpha_op fp[] = {
	{"cvtlq", 0x010, ALPHA_UNARY_FP, ALPHA_PLAIN, INSN_FP_CONVERT, 8, INSN_FP},
	{"cpys", 0x020, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_FP_MOVE, 8, INSN_FP},
	{"cpysn", 0x021, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_FP_MOVE, 8, INSN_FP},
	{"cpyse", 0x022, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_FP_MOVE, 8, INSN_FP},
	{"mt_fpcr", 0x024, ALPHA_FPCR, ALPHA_PLAIN, INSN_SYSTEM, 8, INSN_FP},
	{"mf_fpcr", 0x025, ALPHA_FPCR, ALPHA_PLAIN, INSN_SYSTEM, 8, INSN_FP},
	{"fcmoveq", 0x02a, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_CMOV, 8, INSN_FP | INSN_CONDITIONAL},
	{"fcmovne", 0x02b, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_CMOV, 8, INSN_FP | INSN_CONDITIONAL},
	{"fcmovlt", 0x02c, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_CMOV, 8, INSN_FP | INSN_CONDITIONAL},
	{"fcmovge", 0x02d, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_CMOV, 8, INSN_FP | INSN_CONDITIONAL},
	{"fcmovle", 0x02e, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_CMOV, 8, INSN_FP | INSN_CONDITIONAL},
	{"fcmovgt", 0x02f, ALPHA_OPERATE_FP, ALPHA_PLAIN, INSN_CMOV, 8, INSN_FP | INSN_CONDITIONAL},
	{"cvtql", 0x030, ALPHA_UNARY_FP, ALPHA_PLAIN, INSN_FP_CONVERT, 4, INSN_FP},
	{"cvtql/v", 0x130, ALPHA_UNARY_FP, ALPHA_PLAIN, INSN_FP_CONVERT, 4, INSN_FP},
	{"cvtql/sv", 0x530, ALPHA_UNARY_FP, ALPHA_PLAIN, INSN_FP_CONVERT, 4, INSN_FP},
};

static const struct alpha_op extensions[] = {
	{"sextb", 0x00, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_SHIFT, 1, 0},
	{"sextw", 0x01, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_SHIFT, 2, 0},
	{"ctpop", 0x30, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"perr", 0x31, ALPHA_REGISTERS, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"ctlz", 0x32, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"cttz", 0x33, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_SHIFT, 8, 0},
	{"unpkbw", 0x34, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"unpkbl", 0x35, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"pkwb", 0x36, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"pklb", 0x37, ALPHA_UNARY_REG, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"minsb8", 0x38, ALPHA_OPERATE, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"minsw4", 0x39, ALPHA_OPERATE, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"minub8", 0x3a, ALPHA_OPERATE, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"minuw4", 0x3b, ALPHA_OPERATE, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"maxub8", 0x3c, ALPHA_OPERATE, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"maxuw4", 0x3d, ALPHA_OPERATE, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"maxsb8", 0x3e, ALPHA_OPERATE, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"maxsw4", 0x3f, ALPHA_OPERATE, ALPHA_PLAIN, INSN_VECTOR_ALU, 8, 0},
	{"ftoit", 0x070, ALPHA_FROM_FP, ALPHA_PLAIN, INSN_FP_TRANSFER, 8, INSN_FP},
	{"ftois", 0x078, ALPHA_FROM_FP, ALPHA_PLAIN, INSN_FP_TRANSFER, 4, INSN_FP},
};

static const struct alpha_op miscellaneous[] = {
	{"trapb", 0x0000, ALPHA_NOTHING, ALPHA_PLAIN, INSN_BARRIER, 8, INSN_SERIALIZES},
	{"excb", 0x0400, ALPHA_NOTHING, ALPHA_PLAIN, INSN_BARRIER, 8, INSN_SERIALIZES},
	{"mb", 0x4000, ALPHA_NOTHING, ALPHA_PLAIN, INSN_BARRIER, 8, 0},
	{"wmb", 0x4400, ALPHA_NOTHING, ALPHA_PLAIN, INSN_BARRIER, 8, 0},
	{"fetch", 0x8000, ALPHA_MISC_AT_B, ALPHA_PLAIN, INSN_PREFETCH, 8, INSN_READS_MEMORY},
	{"fetch_m", 0xa000, ALPHA_MISC_AT_B, ALPHA_PLAIN, INSN_PREFETCH, 8, INSN_READS_MEMORY},
	{"rpcc", 0xc000, ALPHA_MISC_AB, ALPHA_PLAIN, INSN_SYSTEM, 8, 0},
	{"rc", 0xe000, ALPHA_MISC_A, ALPHA_PLAIN, INSN_SYSTEM, 8, 0},
	{"ecb", 0xe800, ALPHA_MISC_AT_B, ALPHA_PLAIN, INSN_PREFETCH, 8, 0},
	{"rs", 0xf000, ALPHA_MISC_A, ALPHA_PLAIN, INSN_SYSTEM, 8, 0},
	{"wh64", 0xf800, ALPHA_MISC_AT_B, ALPHA_PLAIN, INSN_PREFETCH, 8, INSN_WRITES_MEMORY},
	{"wh64en", 0xfc00, ALPHA_MISC_AT_B, ALPHA_PLAIN, INSN_PREFETCH, 8, INSN_WRITES_MEMORY},
};

static const struct alpha_op jumps[] = {
	{"jmp", 0, ALPHA_JUMP, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	{"jsr", 1, ALPHA_JUMP, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	{"ret", 2, ALPHA_JUMP, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	{"jcr", 3, ALPHA_JUMP, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
};

/* Instructions that have an opcode of their own. */
static const struct alpha_op whole_opcodes[OPCODES] = {
	[0x00] = {"call_pal", 0x00, ALPHA_PAL, ALPHA_PLAIN, INSN_SYSTEM, 8, INSN_SERIALIZES},
	[0x08] = {"lda", 0x00, ALPHA_LOAD_ADDRESS, ALPHA_PLAIN, INSN_ALU, 8, 0},
	[0x09] = {"ldah", 0x00, ALPHA_LOAD_ADDRESS, ALPHA_PLAIN, INSN_ALU, 8, 0},
	[0x0a] = {"ldbu", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_LOAD, 1, INSN_READS_MEMORY},
	[0x0b] = {"ldq_u", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_LOAD, 8, INSN_READS_MEMORY},
	[0x0c] = {"ldwu", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_LOAD, 2, INSN_READS_MEMORY},
	[0x0d] = {"stw", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_STORE, 2, INSN_WRITES_MEMORY},
	[0x0e] = {"stb", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_STORE, 1, INSN_WRITES_MEMORY},
	[0x0f] = {"stq_u", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_STORE, 8, INSN_WRITES_MEMORY},
	[0x20] = {"ldf", 0x00, ALPHA_MEMORY_FP, ALPHA_PLAIN, INSN_LOAD, 4,
		  INSN_READS_MEMORY | INSN_FP},
	[0x21] = {"ldg", 0x00, ALPHA_MEMORY_FP, ALPHA_PLAIN, INSN_LOAD, 8,
		  INSN_READS_MEMORY | INSN_FP},
	[0x22] = {"lds", 0x00, ALPHA_MEMORY_FP, ALPHA_PLAIN, INSN_LOAD, 4,
		  INSN_READS_MEMORY | INSN_FP},
	[0x23] = {"ldt", 0x00, ALPHA_MEMORY_FP, ALPHA_PLAIN, INSN_LOAD, 8,
		  INSN_READS_MEMORY | INSN_FP},
	[0x24] = {"stf", 0x00, ALPHA_MEMORY_FP, ALPHA_PLAIN, INSN_STORE, 4,
		  INSN_WRITES_MEMORY | INSN_FP},
	[0x25] = {"stg", 0x00, ALPHA_MEMORY_FP, ALPHA_PLAIN, INSN_STORE, 8,
		  INSN_WRITES_MEMORY | INSN_FP},
	[0x26] = {"sts", 0x00, ALPHA_MEMORY_FP, ALPHA_PLAIN, INSN_STORE, 4,
		  INSN_WRITES_MEMORY | INSN_FP},
	[0x27] = {"stt", 0x00, ALPHA_MEMORY_FP, ALPHA_PLAIN, INSN_STORE, 8,
		  INSN_WRITES_MEMORY | INSN_FP},
	[0x28] = {"ldl", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_LOAD, 4, INSN_READS_MEMORY},
	[0x29] = {"ldq", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_LOAD, 8, INSN_READS_MEMORY},
	[0x2a] = {"ldl_l", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_ATOMIC, 4, INSN_READS_MEMORY},
	[0x2b] = {"ldq_l", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_ATOMIC, 8, INSN_READS_MEMORY},
	[0x2c] = {"stl", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_STORE, 4, INSN_WRITES_MEMORY},
	[0x2d] = {"stq", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_STORE, 8, INSN_WRITES_MEMORY},
	[0x2e] = {"stl_c", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_ATOMIC, 4, INSN_WRITES_MEMORY},
	[0x2f] = {"stq_c", 0x00, ALPHA_MEMORY, ALPHA_PLAIN, INSN_ATOMIC, 8, INSN_WRITES_MEMORY},
	[0x30] = {"br", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x31] = {"fbeq", 0x00, ALPHA_BRANCH_FP, ALPHA_PLAIN, INSN_CONTROL, 8, INSN_FP},
	[0x32] = {"fblt", 0x00, ALPHA_BRANCH_FP, ALPHA_PLAIN, INSN_CONTROL, 8, INSN_FP},
	[0x33] = {"fble", 0x00, ALPHA_BRANCH_FP, ALPHA_PLAIN, INSN_CONTROL, 8, INSN_FP},
	[0x34] = {"bsr", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x35] = {"fbne", 0x00, ALPHA_BRANCH_FP, ALPHA_PLAIN, INSN_CONTROL, 8, INSN_FP},
	[0x36] = {"fbge", 0x00, ALPHA_BRANCH_FP, ALPHA_PLAIN, INSN_CONTROL, 8, INSN_FP},
	[0x37] = {"fbgt", 0x00, ALPHA_BRANCH_FP, ALPHA_PLAIN, INSN_CONTROL, 8, INSN_FP},
	[0x38] = {"blbc", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x39] = {"beq", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x3a] = {"blt", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x3b] = {"ble", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x3c] = {"blbs", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x3d] = {"bne", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x3e] = {"bge", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
	[0x3f] = {"bgt", 0x00, ALPHA_BRANCH, ALPHA_PLAIN, INSN_CONTROL, 8, 0},
};

struct op_group {
	const struct alpha_op *ops;
	size_t count;
};

#define GROUP(table)                                                                               \
	{                                                                                          \
		(table), ARRAY_SIZE(table)                                                         \
	}

static const struct op_group groups[OPCODES] = {
	[0x10] = GROUP(arithmetic), [0x11] = GROUP(logic),	[0x12] = GROUP(shifts),
	[0x13] = GROUP(multiplies), [0x14] = GROUP(to_fp),	[0x15] = GROUP(vax_fp),
	[0x16] = GROUP(ieee_fp),    [0x17] = GROUP(fp),		[0x18] = GROUP(miscellaneous),
	[0x1a] = GROUP(jumps),	    [0x1c] = GROUP(extensions),
};

/*
 * The 11 bits of an FP operation's function: trap mode (3), rounding (2), source and
 * operation (6). Rounding is chopped, minus infinity, normal, dynamic.
 */
#define FP_OPERATION 0x03fU
#define FP_ROUNDING(function) ((function) >> 6 & 3)
#define FP_TRAP(function) ((function) >> 8 & 7)
#define FP_ROUND_CHOPPED 0
#define FP_ROUND_NORMAL 2

/*
 * For each kind: the text of each trap mode, NULL if the mode does not exist, and the existing
 * roundings other than normal: none, chopped, all.
 */
static const struct {
	const char *traps[8];
	enum {
		ROUND_NONE,
		ROUND_CHOPPED,
		ROUND_ALL
	} rounding;
} qualifier_kinds[] = {
	[ALPHA_PLAIN] = {{""}, ROUND_NONE},
	[ALPHA_IEEE] = {{[0] = "", [1] = "u", [5] = "su", [7] = "sui"}, ROUND_ALL},
	[ALPHA_IEEE_COMPARE] = {{[0] = "", [5] = "su"}, ROUND_NONE},
	[ALPHA_IEEE_TO_INT] = {{[0] = "", [1] = "v", [5] = "sv", [7] = "svi"}, ROUND_ALL},
	[ALPHA_IEEE_FROM_INT] = {{[0] = "", [7] = "sui"}, ROUND_ALL},
	[ALPHA_VAX] = {{[0] = "", [1] = "u", [4] = "s", [5] = "su"}, ROUND_CHOPPED},
	[ALPHA_VAX_COMPARE] = {{[0] = "", [4] = "s"}, ROUND_NONE},
	[ALPHA_VAX_TO_INT] = {{[0] = "", [1] = "v", [4] = "s", [5] = "sv"}, ROUND_CHOPPED},
	[ALPHA_VAX_FROM_INT] = {{[0] = ""}, ROUND_CHOPPED},
};

static bool fp_function_matches(const struct alpha_op *op, unsigned int function)
{
	unsigned int rounding = FP_ROUNDING(function);

	if (op->qualifiers == ALPHA_PLAIN)
		return op->function == function;
	if ((op->function & FP_OPERATION) != (function & FP_OPERATION) ||
	    qualifier_kinds[op->qualifiers].traps[FP_TRAP(function)] == NULL)
		return false;
	switch (qualifier_kinds[op->qualifiers].rounding) {
	case ROUND_ALL:
		return true;
	case ROUND_CHOPPED:
		return rounding == FP_ROUND_NORMAL || rounding == FP_ROUND_CHOPPED;
	default:
		return rounding == FP_ROUND_NORMAL;
	}
}

void alpha_op_qualifier(char text[ALPHA_QUALIFIER_BYTES], const struct alpha_op *op, uint32_t word)
{
	static const char *const roundings[4] = {"c", "m", "", "d"};
	unsigned int function = word >> 5 & 0x7ff;
	const char *trap, *rounding;

	text[0] = '\0';
	if (op->qualifiers == ALPHA_PLAIN)
		return;
	trap = qualifier_kinds[op->qualifiers].traps[FP_TRAP(function)];
	rounding = roundings[FP_ROUNDING(function)];
	if (trap != NULL && (trap[0] != '\0' || rounding[0] != '\0'))
		snprintf(text, ALPHA_QUALIFIER_BYTES, "/%s%s", trap, rounding);
}

/* Return the function field, if the opcode has one. */
static unsigned int function_of(uint32_t word)
{
	switch (word >> 26) {
	case 0x18:
		return word & 0xffff;
	case 0x1a:
		return word >> 14 & 3;
	case 0x14:
	case 0x15:
	case 0x16:
	case 0x17:
		return word >> 5 & 0x7ff;
	default:
		return word >> 5 & 0x7f;
	}
}

/* Check the fields that must be 31 in this form; fields that only should be zero are ignored. */
static bool fields_are_valid(const struct alpha_op *op, uint32_t word)
{
	unsigned int ra = alpha_ra(word), rb = alpha_rb(word), r = alpha_rc(word);

	switch (op->form) {
	case ALPHA_UNARY:
	case ALPHA_UNARY_FP:
	case ALPHA_MISC_AT_B:
		return ra == ALPHA_ZERO;
	case ALPHA_UNARY_REG:
		return ra == ALPHA_ZERO && !alpha_has_literal(word);
	case ALPHA_REGISTERS:
		return !alpha_has_literal(word);
	case ALPHA_CONSTANT:
		return ra == ALPHA_ZERO && alpha_has_literal(word) && alpha_literal(word) == 1;
	case ALPHA_TO_FP:
		return rb == ALPHA_ZERO;
	case ALPHA_FROM_FP:
		return rb == ALPHA_ZERO && (word & 0xf000) == 0;
	case ALPHA_FPCR:
		return ra == rb && rb == r;
	default:
		return true;
	}
}

const struct alpha_op *alpha_op_find(uint32_t word)
{
	unsigned int opcode = word >> 26, function;
	const struct op_group *group = &groups[opcode];
	bool fp_function = opcode >= 0x14 && opcode <= 0x17;

	if (group->count == 0)
		return whole_opcodes[opcode].name != NULL ? &whole_opcodes[opcode] : NULL;
	function = function_of(word);
	for (size_t i = 0; i < group->count; i++) {
		const struct alpha_op *op = &group->ops[i];

		if (fp_function ? fp_function_matches(op, function) : op->function == function)
			return fields_are_valid(op, word) ? op : NULL;
	}
	return NULL;
}
