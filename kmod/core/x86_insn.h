/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decoding of x86-64 instructions in 64-bit mode into their parts.
 *
 * After the manuals of Intel (SDM volume 2) and AMD (APM volume 3). What one of
 * them calls undefined, or what they do not agree about, is refused, as are XOP
 * and APX.
 */
#ifndef DCPI_X86_INSN_H
#define DCPI_X86_INSN_H

#include "core_env.h"

#define X86_INSN_BYTES_MAX 15

/** enum x86_encoding - where an opcode's map comes from */
enum x86_encoding {
	X86_LEGACY,
	X86_VEX,
	X86_EVEX,
};

/* x86_insn.prefixes */
#define X86_OPERAND_SIZE 1U /* 66 */
#define X86_REPNE 2U	    /* f2 */
#define X86_REP 4U	    /* f3 */
#define X86_LOCK 8U
#define X86_ADDRESS_SIZE 16U /* 67 */
#define X86_FS 32U
#define X86_GS 64U

/* Numbers of registers beside rax .. r15. */
#define X86_REG_FS_BASE 16
#define X86_REG_GS_BASE 17
#define X86_REG_IP 18
#define X86_REG_NONE 19

/**
 * struct x86_insn - a decoded instruction
 * @immediate:    sign-extended (unless of 8 bytes); relative branches: distance
 * @displacement: sign-extended; moffs: the address
 * @length:       bytes
 * @encoding:     enum x86_encoding
 * @map:          0: one byte, 1: 0f, 2: 0f 38, 3: 0f 3a; EVEX: also 5 and 6
 * @opcode:       in its map
 * @prefixes:     those there, or that VEX and EVEX stand for
 * @wide:         REX.W and the like
 * @rex:          there was a REX prefix: spl, not ah
 * @vector_bytes: VEX, EVEX: length of a vector; else 16
 * @vvvv:         VEX, EVEX: the other register
 * @mod, @reg, @rm: ModRM; @reg and @rm extended. Without: 0, and in @rm the
 *                register that the opcode names
 * @base, @index: of the operand in memory; X86_REG_*
 * @scale:        shift of @index
 */
struct x86_insn {
	u64 immediate;
	u64 displacement;
	u8 length;
	u8 encoding;
	u8 map;
	u8 opcode;
	u8 prefixes;
	bool wide;
	bool rex;
	u8 vector_bytes;
	u8 vvvv;
	u8 mod;
	u8 reg;
	u8 rm;
	u8 base;
	u8 index;
	u8 scale;
};

/**
 * x86_insn_decode() - decode one instruction
 * @code:  its bytes
 * @bytes: there, may be fewer than it has
 *
 * Return: 0; -ENODATA if more bytes are needed; -EINVAL if it is refused.
 */
int x86_insn_decode(struct x86_insn *insn, const u8 *code, u32 bytes);

#endif
