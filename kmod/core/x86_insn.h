/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decode x86-64 instructions of 64-bit mode.
 *
 * After the manuals of Intel (SDM volume 2) and AMD (APM volume 3). Encodings that one manual calls
 * undefined, or that the manuals describe differently, are refused, as are XOP and APX.
 */
#ifndef DCPI_X86_INSN_H
#define DCPI_X86_INSN_H

#include "core_env.h"

#define X86_INSN_BYTES_MAX 15

/** enum x86_encoding - prefix that selects the opcode map */
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

/* Numbers of registers other than rax .. r15. */
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
 * @opcode:       opcode in its map
 * @prefixes:     prefixes present, or implied by VEX and EVEX
 * @wide:         REX.W, VEX.W or EVEX.W
 * @rex:          a REX prefix is present: register 4 is spl, not ah
 * @vector_bytes: VEX, EVEX: length of a vector; else 16
 * @vvvv:         VEX, EVEX: the additional register operand
 * @mod, @reg, @rm: ModRM; @reg and @rm extended. Without ModRM: 0, and in @rm the
 *                register that the opcode names
 * @base, @index: registers of the memory operand; X86_REG_*
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
 * @code:  bytes of the instruction
 * @bytes: number of bytes available, may be fewer than the instruction has
 *
 * Return: 0; -ENODATA if more bytes are needed; -EINVAL if it is refused.
 */
int x86_insn_decode(struct x86_insn *insn, const u8 *code, u32 bytes);

#endif
