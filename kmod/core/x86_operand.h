/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands of x86-64: registers, memory, the stack, flags. */
#ifndef DCPI_X86_OPERAND_H
#define DCPI_X86_OPERAND_H

#include "x86_machine.h"

/** x86_operand_bytes() - return the operand size, 2, 4 or 8, according to the prefixes */
u32 x86_operand_bytes(const struct machine *m);

/**
 * x86_read_register(), x86_write_register() - access the low 1, 2, 4 or 8 bytes
 *
 * Writing 4 bytes clears the upper ones, writing fewer leaves them.
 */
struct operand x86_read_register(const struct machine *m, u32 reg, u32 bytes);
void x86_write_register(struct machine *m, u32 reg, u32 bytes, struct operand value);

/** x86_byte_register() - return the register that a register number means in a byte instruction */
u32 x86_byte_register(const struct machine *m, u32 reg, u32 bytes);

/** x86_address() - return the address of the memory operand */
struct operand x86_address(const struct machine *m);

struct operand x86_load(struct machine *m, struct operand address, u32 bytes);
void x86_store(struct machine *m, struct operand address, u32 bytes, struct operand value);

/** x86_read_rm(), x86_write_rm() - access the operand that ModRM.rm names */
struct operand x86_read_rm(struct machine *m, u32 bytes);
void x86_write_rm(struct machine *m, u32 bytes, struct operand value);

/** x86_read_reg(), x86_write_reg() - access the register that ModRM.reg names */
struct operand x86_read_reg(const struct machine *m, u32 bytes);
void x86_write_reg(struct machine *m, u32 bytes, struct operand value);

/** x86_push(), x86_pop() - push or pop 2 or 8 bytes */
void x86_push(struct machine *m, u32 bytes, struct operand value);
struct operand x86_pop(struct machine *m, u32 bytes);

/** x86_set_flags() - set the flags in @mask; x86_forget_flags() - mark them as unknown */
void x86_set_flags(struct machine *m, u64 mask, u64 flags);
void x86_forget_flags(struct machine *m, u64 mask);

/** x86_condition() - evaluate a condition (0 .. 15) */
struct operand x86_condition(const struct machine *m, u32 condition);

#endif
