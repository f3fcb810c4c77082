/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine state on which A64 is interpreted. Private to interpret_arm64.c and arm64_*.c. */
#ifndef DCPI_ARM64_MACHINE_H
#define DCPI_ARM64_MACHINE_H

#include "interpret_memory.h"
#include "interpret_step.h"

#define FLAG_N (1ULL << 31)
#define FLAG_Z (1ULL << 30)
#define FLAG_C (1ULL << 29)
#define FLAG_V (1ULL << 28)
#define FLAGS_NZCV (FLAG_N | FLAG_Z | FLAG_C | FLAG_V)

/* Register number 31 is sp or zero, depending on the instruction. */
#define REG_31 31

/**
 * struct machine - interpreter state
 * @state: state before the instruction at state->pc, until the instruction is known to be
 *         supported
 * @code:  the instruction
 * @next:  address of the instruction to execute next
 * @has_result: the last instruction that set flags computed @result
 */
struct machine {
	struct interpret_state *state;
	struct interpret_memory memory;
	u64 next;
	u32 code;
	bool conditional;
	bool has_result;
	s64 result;
};

/* Bits [low, low + bits) of the instruction. */
static inline u32 field(const struct machine *m, u32 low, u32 bits)
{
	return m->code >> low & ((1U << bits) - 1);
}

/* The same field as a signed number. */
static inline u64 signed_field(const struct machine *m, u32 low, u32 bits)
{
	u64 sign = 1ULL << (bits - 1);

	return (field(m, low, bits) ^ sign) - sign;
}

/* Read x0 .. x30 or sp. */
static inline struct operand read_sp(const struct machine *m, u32 reg)
{
	return m->state->known >> reg & 1 ? operand(m->state->reg[reg]) : unknown();
}

/* Read x0 .. x30 or zero. */
static inline struct operand read_x(const struct machine *m, u32 reg)
{
	return reg == REG_31 ? operand(0) : read_sp(m, reg);
}

static inline void write_sp(struct machine *m, u32 reg, struct operand value)
{
	m->state->known &= ~(1U << reg);
	m->state->known |= (u32)value.known << reg;
	m->state->reg[reg] = value.value;
}

static inline void write_x(struct machine *m, u32 reg, struct operand value)
{
	if (reg != REG_31)
		write_sp(m, reg, value);
}

/* Truncate to a w register, unless @wide. */
static inline struct operand narrow(struct operand value, bool wide)
{
	if (!wide)
		value.value = (u32)value.value;
	return value;
}

static inline void write_flags(struct machine *m, u64 flags)
{
	m->state->flags = (m->state->flags & ~FLAGS_NZCV) | flags;
	m->state->flags_known |= FLAGS_NZCV;
	m->has_result = false;
}

static inline void forget_flags(struct machine *m)
{
	m->state->flags &= ~FLAGS_NZCV;
	m->state->flags_known &= ~FLAGS_NZCV;
	m->has_result = false;
}

/* Remove the tag that user space may put into an address' top byte. */
static inline u64 untagged(u64 address)
{
	u64 sign = 1ULL << 55;

	return ((address & (2 * sign - 1)) ^ sign) - sign;
}

#endif
