/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine state on which x86-64 is interpreted. Private to interpret_x86_64.c and x86_*.c. */
#ifndef DCPI_X86_MACHINE_H
#define DCPI_X86_MACHINE_H

#include "interpret_memory.h"
#include "interpret_step.h"
#include "x86_insn.h"

#define FLAG_CF 0x1ULL
#define FLAG_PF 0x4ULL
#define FLAG_AF 0x10ULL
#define FLAG_ZF 0x40ULL
#define FLAG_SF 0x80ULL
#define FLAG_TF 0x100ULL
#define FLAG_IF 0x200ULL
#define FLAG_DF 0x400ULL
#define FLAG_OF 0x800ULL
#define FLAGS_RESULT (FLAG_PF | FLAG_ZF | FLAG_SF)
#define FLAGS_ALL (FLAGS_RESULT | FLAG_CF | FLAG_AF | FLAG_OF)

#define REG_RAX 0
#define REG_RCX 1
#define REG_RDX 2
#define REG_RSP 4
#define REG_RBP 5
#define REG_RSI 6
#define REG_RDI 7
#define X86_REGISTERS 18
#define REG_AH X86_REGISTERS /* ah .. bh: byte registers, not indices into a state */

/**
 * struct machine - interpreter state
 * @insn:  the instruction
 * @next:  address of the instruction to execute next
 * @known: mask of the known bytes of each register; state->known is set at the end
 * @has_result: the last instruction that set ZF computed @result
 */
struct machine {
	struct interpret_state *state;
	struct interpret_memory memory;
	struct x86_insn insn;
	u64 next;
	u8 known[X86_REGISTERS];
	bool conditional;
	bool has_result;
	s64 result;
};

static inline u64 sign_extended(u64 value, u32 bytes)
{
	u64 sign = 1ULL << (8 * bytes - 1);

	return (low_bytes(value, bytes) ^ sign) - sign;
}

static inline bool has_prefix(const struct machine *m, u32 prefixes)
{
	return m->insn.prefixes & prefixes;
}

#endif
