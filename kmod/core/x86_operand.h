/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands of x86-64: registers, memory, the stack, flags. */
#ifndef DCPI_X86_OPERAND_H
#define DCPI_X86_OPERAND_H

#include "x86_machine.h"

/** x86_operand_bytes() - 2, 4 or 8, as the prefixes say */
u32 x86_operand_bytes(const struct machine *m);

/**
 * x86_read_register(), x86_write_register() - the low 1, 2, 4 or 8 bytes
 *
 * Writing 4 bytes clears the upper ones, writing fewer leaves them.
 */
struct operand x86_read_register(const struct machine *m, u32 reg, u32 bytes);
void x86_write_register(struct machine *m, u32 reg, u32 bytes, struct operand value);

/** x86_byte_register() - what a byte instruction means by the number of a register */
u32 x86_byte_register(const struct machine *m, u32 reg, u32 bytes);

/** x86_address() - of the operand in memory */
struct operand x86_address(const struct machine *m);

struct operand x86_load(struct machine *m, struct operand address, u32 bytes);
void x86_store(struct machine *m, struct operand address, u32 bytes, struct operand value);

/** x86_read_rm(), x86_write_rm() - the operand that ModRM.rm names */
struct operand x86_read_rm(struct machine *m, u32 bytes);
void x86_write_rm(struct machine *m, u32 bytes, struct operand value);

/** x86_read_reg(), x86_write_reg() - the register that ModRM.reg names */
struct operand x86_read_reg(const struct machine *m, u32 bytes);
void x86_write_reg(struct machine *m, u32 bytes, struct operand value);

/** x86_push(), x86_pop() - 2 or 8 bytes */
void x86_push(struct machine *m, u32 bytes, struct operand value);
struct operand x86_pop(struct machine *m, u32 bytes);

/** x86_set_flags() - those in @mask; x86_forget_flags() - they are not known */
void x86_set_flags(struct machine *m, u64 mask, u64 flags);
void x86_forget_flags(struct machine *m, u64 mask);

/** x86_condition() - does a condition (0 .. 15) hold? */
struct operand x86_condition(const struct machine *m, u32 condition);

#endif
