// SPDX-License-Identifier: GPL-2.0-only
#include "x86_operand.h"

u32 x86_operand_bytes(const struct machine *m)
{
	if (m->insn.wide)
		return 8;
	return has_prefix(m, X86_OPERAND_SIZE) ? 2 : 4;
}

static u32 byte_mask(u32 bytes)
{
	return (1U << bytes) - 1;
}

u32 x86_byte_register(const struct machine *m, u32 reg, u32 bytes)
{
	return bytes == 1 && !m->insn.rex && reg >= 4 && reg < 8 ? reg - 4 + REG_AH : reg;
}

struct operand x86_read_register(const struct machine *m, u32 reg, u32 bytes)
{
	if (reg >= REG_AH) {
		reg -= REG_AH;
		return m->known[reg] & 2 ? operand(m->state->reg[reg] >> 8 & 0xff) : unknown();
	}
	if (byte_mask(bytes) & ~(u32)m->known[reg])
		return unknown();
	return operand(low_bytes(m->state->reg[reg], bytes));
}

void x86_write_register(struct machine *m, u32 reg, u32 bytes, struct operand value)
{
	u32 shift = 0, mask = byte_mask(bytes);
	u64 bits, *to;

	if (reg >= REG_AH) {
		reg -= REG_AH;
		shift = 8;
		mask = 2;
	}
	to = &m->state->reg[reg];
	bits = low_bytes(~0ULL, bytes) << shift;
	if (bytes == 4) {
		*to = 0;
		m->known[reg] = 0xff;
	}
	*to = (*to & ~bits) | (value.value << shift & bits);
	m->known[reg] = (u8)(value.known ? m->known[reg] | mask : m->known[reg] & ~mask);
}

/* Add one part of an address. */
static void address_add(const struct machine *m, struct operand *address, u32 reg, u32 scale)
{
	if (reg == X86_REG_NONE)
		return;
	if (reg == X86_REG_IP) {
		address->value += m->next;
		return;
	}
	address->value += m->state->reg[reg] << scale;
	address->known = address->known && m->known[reg] == 0xff;
}

struct operand x86_address(const struct machine *m)
{
	struct operand address = operand(m->insn.displacement);

	address_add(m, &address, m->insn.base, 0);
	address_add(m, &address, m->insn.index, m->insn.scale);
	if (has_prefix(m, X86_ADDRESS_SIZE))
		address.value = (u32)address.value;
	if (has_prefix(m, X86_FS))
		address_add(m, &address, X86_REG_FS_BASE, 0);
	if (has_prefix(m, X86_GS))
		address_add(m, &address, X86_REG_GS_BASE, 0);
	return address;
}

struct operand x86_load(struct machine *m, struct operand address, u32 bytes)
{
	struct operand value = unknown();

	if (address.known)
		value.known = interpret_memory_load(&m->memory, address.value, bytes, &value.value);
	return value;
}

void x86_store(struct machine *m, struct operand address, u32 bytes, struct operand value)
{
	if (!address.known)
		interpret_memory_hide(&m->memory);
	else if (value.known)
		interpret_memory_store(&m->memory, address.value, bytes, value.value);
	else
		interpret_memory_smear(&m->memory, address.value, bytes);
}

struct operand x86_read_rm(struct machine *m, u32 bytes)
{
	if (m->insn.mod != 3)
		return x86_load(m, x86_address(m), bytes);
	return x86_read_register(m, x86_byte_register(m, m->insn.rm, bytes), bytes);
}

void x86_write_rm(struct machine *m, u32 bytes, struct operand value)
{
	if (m->insn.mod != 3)
		x86_store(m, x86_address(m), bytes, value);
	else
		x86_write_register(m, x86_byte_register(m, m->insn.rm, bytes), bytes, value);
}

struct operand x86_read_reg(const struct machine *m, u32 bytes)
{
	return x86_read_register(m, x86_byte_register(m, m->insn.reg, bytes), bytes);
}

void x86_write_reg(struct machine *m, u32 bytes, struct operand value)
{
	x86_write_register(m, x86_byte_register(m, m->insn.reg, bytes), bytes, value);
}

static struct operand stack_move(struct machine *m, u64 distance)
{
	struct operand rsp = x86_read_register(m, REG_RSP, 8);

	rsp.value += distance;
	x86_write_register(m, REG_RSP, 8, rsp);
	return rsp;
}

void x86_push(struct machine *m, u32 bytes, struct operand value)
{
	x86_store(m, stack_move(m, -(u64)bytes), bytes, value);
}

struct operand x86_pop(struct machine *m, u32 bytes)
{
	struct operand value = x86_load(m, x86_read_register(m, REG_RSP, 8), bytes);

	stack_move(m, bytes);
	return value;
}

void x86_set_flags(struct machine *m, u64 mask, u64 flags)
{
	m->state->flags = (m->state->flags & ~mask) | (flags & mask);
	m->state->flags_known |= mask;
	if (mask & FLAG_ZF)
		m->has_result = false;
}

void x86_forget_flags(struct machine *m, u64 mask)
{
	m->state->flags_known &= ~mask;
	if (mask & FLAG_ZF)
		m->has_result = false;
}

struct operand x86_condition(const struct machine *m, u32 condition)
{
	static const u32 needs[8] = {
		FLAG_OF, FLAG_CF, FLAG_ZF,	     FLAG_CF | FLAG_ZF,
		FLAG_SF, FLAG_PF, FLAG_SF | FLAG_OF, FLAG_SF | FLAG_OF | FLAG_ZF};
	u64 flags = m->state->flags;
	bool holds, less = !(flags & FLAG_SF) != !(flags & FLAG_OF);

	if (needs[condition >> 1] & ~m->state->flags_known)
		return unknown();
	if (condition >> 1 == 6)
		holds = less;
	else if (condition >> 1 == 7)
		holds = less || flags & FLAG_ZF;
	else
		holds = flags & needs[condition >> 1];
	return operand(holds != (condition & 1));
}
