// SPDX-License-Identifier: GPL-2.0-only
/* Moves, and the dispatch of opcodes; arithmetic is in x86_arithmetic.c. */
#include "x86_data.h"

#include "x86_arithmetic.h"
#include "x86_operand.h"
#include "x86_string.h"

/* In most of the one-byte map, bit 0 of the opcode distinguishes bytes from wider operands. */
static u32 bytes_of(const struct machine *m)
{
	return m->insn.opcode & 1 ? x86_operand_bytes(m) : 1;
}

static struct operand immediate_of(const struct machine *m, u32 bytes)
{
	return operand(low_bytes(m->insn.immediate, bytes));
}

/* Return the register in the low three bits of the opcode, extended by REX. */
static u32 opcode_register(const struct machine *m)
{
	return m->insn.rm;
}

/* 00 .. 3d: r/m with reg, reg with r/m, rax with an immediate */
static enum step arithmetic(struct machine *m)
{
	u32 operation = m->insn.opcode >> 3 & 7, form = m->insn.opcode & 7, bytes = bytes_of(m);
	struct operand a, b, result;

	if (form > 5)
		return STEP_UNSUPPORTED;
	if (form > 3) {
		a = x86_read_register(m, REG_RAX, bytes);
		b = immediate_of(m, bytes);
	} else {
		a = form > 1 ? x86_read_reg(m, bytes) : x86_read_rm(m, bytes);
		b = form > 1 ? x86_read_rm(m, bytes) : x86_read_reg(m, bytes);
		/*
		 * The result does not depend on the value of a register combined with itself: sbb,
		 * sub, xor, cmp.
		 */
		if (m->insn.mod == 3 && m->insn.reg == m->insn.rm &&
		    (operation == 3 || operation >= 5))
			a = b = operand(0);
	}
	result = x86_arithmetic(m, operation, bytes, a, b);
	if (operation == 7)
		return STEP_NEXT;
	if (form > 3)
		x86_write_register(m, REG_RAX, bytes, result);
	else if (form > 1)
		x86_write_reg(m, bytes, result);
	else
		x86_write_rm(m, bytes, result);
	return STEP_NEXT;
}

static enum step arithmetic_immediate(struct machine *m)
{
	u32 operation = m->insn.reg & 7, bytes = bytes_of(m);
	struct operand result =
		x86_arithmetic(m, operation, bytes, x86_read_rm(m, bytes), immediate_of(m, bytes));

	if (operation != 7)
		x86_write_rm(m, bytes, result);
	return STEP_NEXT;
}

static void test(struct machine *m, u32 bytes, struct operand a, struct operand b)
{
	x86_arithmetic(m, 4, bytes, a, b);
}

/* Exchange a register with itself, or any two registers or memory operands. */
static enum step exchange(struct machine *m, u32 bytes)
{
	struct operand a = x86_read_rm(m, bytes), b = x86_read_reg(m, bytes);

	x86_write_rm(m, bytes, b);
	x86_write_reg(m, bytes, a);
	return STEP_NEXT;
}

static enum step exchange_rax(struct machine *m)
{
	u32 bytes = x86_operand_bytes(m), reg = opcode_register(m);
	struct operand a = x86_read_register(m, REG_RAX, bytes);
	struct operand b = x86_read_register(m, reg, bytes);

	if (m->insn.opcode == 0x90 && reg == REG_RAX)
		return STEP_NEXT; /* nop, pause */
	if (m->insn.opcode == 0x90 && has_prefix(m, X86_REP))
		return STEP_UNSUPPORTED; /* pause, or xchg with r8: depends on the machine */
	x86_write_register(m, REG_RAX, bytes, b);
	x86_write_register(m, reg, bytes, a);
	return STEP_NEXT;
}

/* inc, dec: set all flags except CF */
static void count(struct machine *m, u32 bytes, bool down)
{
	u64 carry = m->state->flags & FLAG_CF, carry_known = m->state->flags_known & FLAG_CF;
	struct operand one = operand(1), result;

	result = x86_arithmetic(m, down ? 5 : 0, bytes, x86_read_rm(m, bytes), one);
	x86_set_flags(m, FLAG_CF, carry);
	if (!carry_known)
		x86_forget_flags(m, FLAG_CF);
	x86_write_rm(m, bytes, result);
}

static enum step group_f6(struct machine *m)
{
	u32 bytes = bytes_of(m), operation = m->insn.reg & 7;
	struct operand value;

	if (operation >= 4)
		return x86_multiply_divide(m, bytes);
	value = x86_read_rm(m, bytes);
	if (operation < 2) {
		test(m, bytes, value, immediate_of(m, bytes));
		return STEP_NEXT;
	}
	if (operation == 2)
		value.value = value.known ? low_bytes(~value.value, bytes) : 0;
	else
		value = x86_arithmetic(m, 5, bytes, operand(0), value);
	x86_write_rm(m, bytes, value);
	return STEP_NEXT;
}

static u32 stack_bytes(const struct machine *m)
{
	return has_prefix(m, X86_OPERAND_SIZE) && !m->insn.wide ? 2 : 8;
}

/* fe, and the instructions of ff that are not branches */
static enum step group_fe(struct machine *m)
{
	u32 operation = m->insn.reg & 7, bytes = stack_bytes(m);

	if (operation < 2) {
		count(m, bytes_of(m), operation);
		return STEP_NEXT;
	}
	if (operation != 6 || m->insn.opcode == 0xfe)
		return STEP_UNSUPPORTED;
	x86_push(m, bytes, x86_read_rm(m, bytes));
	return STEP_NEXT;
}

/* cbw, cwde, cdqe; cwd, cdq, cqo */
static enum step widen(struct machine *m)
{
	u32 bytes = x86_operand_bytes(m), from = m->insn.opcode == 0x98 ? bytes / 2 : bytes;
	struct operand value = x86_read_register(m, REG_RAX, from);

	value.value = sign_extended(value.value, from);
	if (m->insn.opcode == 0x98) {
		x86_write_register(m, REG_RAX, bytes, value);
		return STEP_NEXT;
	}
	value.value = value.value >> 63 ? ~0ULL : 0;
	x86_write_register(m, REG_RDX, bytes, value);
	return STEP_NEXT;
}

/* All flags that may be set, except RF, which pushf stores as 0. */
#define FLAGS_PUSHED 0x247fd5ULL
#define FLAGS_AH (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF)

static enum step push_flags(struct machine *m)
{
	struct operand flags = unknown();

	if (has_prefix(m, X86_OPERAND_SIZE))
		return STEP_UNSUPPORTED;
	if ((m->state->flags_known & FLAGS_PUSHED) == FLAGS_PUSHED)
		flags = operand((m->state->flags & FLAGS_PUSHED) | 2);
	x86_push(m, 8, flags);
	return STEP_NEXT;
}

/* The privilege level determines which of the other flags are restored. */
static enum step pop_flags(struct machine *m)
{
	struct operand flags;

	if (has_prefix(m, X86_OPERAND_SIZE))
		return STEP_UNSUPPORTED;
	flags = x86_load(m, x86_read_register(m, REG_RSP, 8), 8);
	if (flags.value & FLAG_TF)
		return STEP_UNSUPPORTED;
	x86_pop(m, 8);
	x86_forget_flags(m, ~0ULL);
	if (flags.known)
		x86_set_flags(m, FLAGS_ALL | FLAG_DF, flags.value);
	return STEP_NEXT;
}

/* 9e sahf, 9f lahf */
static enum step flags_in_ah(struct machine *m)
{
	struct operand ah = x86_read_register(m, REG_AH, 1);

	if (m->insn.opcode == 0x9e) {
		x86_forget_flags(m, FLAGS_AH);
		if (ah.known)
			x86_set_flags(m, FLAGS_AH, ah.value);
		return STEP_NEXT;
	}
	ah = unknown();
	if ((m->state->flags_known & FLAGS_AH) == FLAGS_AH)
		ah = operand((m->state->flags & FLAGS_AH) | 2);
	x86_write_register(m, REG_AH, 1, ah);
	return STEP_NEXT;
}

/* cmc, clc, stc, cli, sti, cld, std */
static enum step one_flag(struct machine *m)
{
	switch (m->insn.opcode) {
	case 0xf5:
		m->state->flags ^= FLAG_CF;
		return STEP_NEXT;
	case 0xf8:
	case 0xf9:
		x86_set_flags(m, FLAG_CF, m->insn.opcode & 1 ? FLAG_CF : 0);
		return STEP_NEXT;
	case 0xfa:
	case 0xfb:
		x86_set_flags(m, FLAG_IF, m->insn.opcode & 1 ? FLAG_IF : 0);
		return STEP_NEXT;
	default:
		x86_set_flags(m, FLAG_DF, m->insn.opcode & 1 ? FLAG_DF : 0);
		return STEP_NEXT;
	}
}

static enum step leave(struct machine *m)
{
	if (has_prefix(m, X86_OPERAND_SIZE))
		return STEP_UNSUPPORTED;
	x86_write_register(m, REG_RSP, 8, x86_read_register(m, REG_RBP, 8));
	x86_write_register(m, REG_RBP, 8, x86_pop(m, 8));
	return STEP_NEXT;
}

/* mov of r/m, reg, a selector, an absolute address, an immediate; lea */
static enum step move(struct machine *m)
{
	u32 bytes = bytes_of(m);
	struct operand address;

	switch (m->insn.opcode) {
	case 0x88:
	case 0x89:
		x86_write_rm(m, bytes, x86_read_reg(m, bytes));
		return STEP_NEXT;
	case 0x8a:
	case 0x8b:
		x86_write_reg(m, bytes, x86_read_rm(m, bytes));
		return STEP_NEXT;
	case 0x8c:
		x86_write_rm(m, m->insn.mod == 3 ? 8 : 2, unknown());
		return STEP_NEXT;
	case 0x8d:
		if (m->insn.mod == 3)
			return STEP_UNSUPPORTED;
		m->insn.prefixes &= (u8) ~(X86_FS | X86_GS);
		address = x86_address(m);
		bytes = x86_operand_bytes(m);
		address.value = low_bytes(address.value, bytes);
		x86_write_reg(m, bytes, address);
		return STEP_NEXT;
	case 0xa0:
	case 0xa1:
		x86_write_register(m, REG_RAX, bytes, x86_load(m, x86_address(m), bytes));
		return STEP_NEXT;
	case 0xa2:
	case 0xa3:
		x86_store(m, x86_address(m), bytes, x86_read_register(m, REG_RAX, bytes));
		return STEP_NEXT;
	default: /* c6, c7 */
		if (m->insn.reg & 7)
			return STEP_UNSUPPORTED;
		x86_write_rm(m, bytes, immediate_of(m, bytes));
		return STEP_NEXT;
	}
}

static enum step move_immediate(struct machine *m)
{
	u32 bytes = m->insn.opcode & 8 ? x86_operand_bytes(m) : 1;

	x86_write_register(m, x86_byte_register(m, opcode_register(m), bytes), bytes,
			   immediate_of(m, bytes));
	return STEP_NEXT;
}

/* 50 .. 5f, 68, 6a, 8f */
static enum step stack(struct machine *m)
{
	u32 bytes = stack_bytes(m), opcode = m->insn.opcode;
	struct operand value;

	if (opcode == 0x68 || opcode == 0x6a) {
		x86_push(m, bytes, immediate_of(m, bytes));
	} else if (opcode == 0x8f) {
		value = x86_pop(m, bytes); /* an address based on rsp uses the incremented value */
		x86_write_rm(m, bytes, value);
	} else if (opcode < 0x58) {
		x86_push(m, bytes, x86_read_register(m, opcode_register(m), bytes));
	} else {
		value = x86_pop(m, bytes);
		x86_write_register(m, opcode_register(m), bytes, value);
	}
	return STEP_NEXT;
}

/* 0f b6, b7, be, bf, and 63 */
static enum step move_extended(struct machine *m, u32 from, bool with_sign)
{
	u32 bytes = x86_operand_bytes(m);
	struct operand value = x86_read_rm(m, from);

	if (from > bytes)
		return STEP_UNSUPPORTED;
	if (with_sign)
		value.value = low_bytes(sign_extended(value.value, from), bytes);
	x86_write_register(m, m->insn.reg, bytes, value);
	return STEP_NEXT;
}

static enum step multiply_immediate(struct machine *m)
{
	u32 bytes = x86_operand_bytes(m);

	x86_write_reg(m, bytes,
		      x86_multiply(m, bytes, x86_read_rm(m, bytes), immediate_of(m, bytes)));
	return STEP_NEXT;
}

static enum step shift(struct machine *m)
{
	u32 opcode = m->insn.opcode;

	if (opcode < 0xd0)
		return x86_shift(m, bytes_of(m), operand(m->insn.immediate & 0xff));
	if (opcode < 0xd2)
		return x86_shift(m, bytes_of(m), operand(1));
	return x86_shift(m, bytes_of(m), x86_read_register(m, REG_RCX, 1));
}

enum step x86_one_byte_data(struct machine *m)
{
	switch (m->insn.opcode) {
	case 0x00 ... 0x3f:
		return arithmetic(m);
	case 0x50 ... 0x5f:
	case 0x68:
	case 0x6a:
	case 0x8f:
		return stack(m);
	case 0x63:
		return move_extended(m, 4, true);
	case 0x69:
	case 0x6b:
		return multiply_immediate(m);
	case 0x80 ... 0x83:
		return arithmetic_immediate(m);
	case 0x84:
	case 0x85:
		test(m, bytes_of(m), x86_read_rm(m, bytes_of(m)), x86_read_reg(m, bytes_of(m)));
		return STEP_NEXT;
	case 0x86:
	case 0x87:
		return exchange(m, bytes_of(m));
	case 0x88 ... 0x8d:
	case 0xa0 ... 0xa3:
	case 0xc6:
	case 0xc7:
		return move(m);
	case 0x90 ... 0x97:
		return exchange_rax(m);
	case 0x98:
	case 0x99:
		return widen(m);
	case 0x9c:
		return push_flags(m);
	case 0x9d:
		return pop_flags(m);
	case 0x9e:
	case 0x9f:
		return flags_in_ah(m);
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
		return x86_string(m);
	case 0xa8:
	case 0xa9:
		test(m, bytes_of(m), x86_read_register(m, REG_RAX, bytes_of(m)),
		     immediate_of(m, bytes_of(m)));
		return STEP_NEXT;
	case 0xb0 ... 0xbf:
		return move_immediate(m);
	case 0xc0:
	case 0xc1:
	case 0xd0 ... 0xd3:
		return shift(m);
	case 0xc9:
		return leave(m);
	case 0xf5:
	case 0xf8 ... 0xfd:
		return one_flag(m);
	case 0xf6:
	case 0xf7:
		return group_f6(m);
	case 0xfe:
	case 0xff:
		return group_fe(m);
	default:
		return STEP_UNSUPPORTED;
	}
}

static enum step conditional_move(struct machine *m)
{
	struct operand holds = x86_condition(m, m->insn.opcode & 15), value;
	u32 bytes = x86_operand_bytes(m);

	value = holds.value ? x86_read_rm(m, bytes) : x86_read_reg(m, bytes);
	x86_write_reg(m, bytes, holds.known ? value : unknown());
	return STEP_NEXT;
}

/* Interpreted as if no other thread wrote to the operand meanwhile. */
static enum step compare_and_exchange(struct machine *m)
{
	u32 bytes = bytes_of(m);
	struct operand old = x86_read_rm(m, bytes), rax = x86_read_register(m, REG_RAX, bytes);
	struct operand difference = x86_arithmetic(m, 7, bytes, rax, old);

	if (!difference.known) {
		x86_write_rm(m, bytes, unknown());
		x86_write_register(m, REG_RAX, 8, unknown());
	} else if (difference.value == 0) {
		x86_write_rm(m, bytes, x86_read_reg(m, bytes));
	} else {
		x86_write_register(m, REG_RAX, bytes, old);
		if (m->insn.mod == 3) /* the upper half may be cleared or not */
			x86_write_register(m, m->insn.rm, 8, unknown());
	}
	return STEP_NEXT;
}

/* The register that receives the old value may be part of the address. */
static enum step exchange_and_add(struct machine *m)
{
	u32 bytes = bytes_of(m);
	struct operand address = x86_address(m), old = x86_read_rm(m, bytes);
	struct operand sum = x86_arithmetic(m, 0, bytes, old, x86_read_reg(m, bytes));

	x86_write_reg(m, bytes, old);
	if (m->insn.mod == 3)
		x86_write_rm(m, bytes, sum);
	else
		x86_store(m, address, bytes, sum);
	return STEP_NEXT;
}

static enum step swap_bytes(struct machine *m)
{
	u32 bytes = x86_operand_bytes(m), reg = opcode_register(m);
	struct operand value = x86_read_register(m, reg, bytes);

	value.value = __builtin_bswap64(value.value) >> (64 - 8 * bytes);
	if (bytes == 2)
		value.known = false;
	x86_write_register(m, reg, bytes, value);
	return STEP_NEXT;
}

enum step x86_two_byte_data(struct machine *m)
{
	u32 opcode = m->insn.opcode;
	struct operand holds;

	switch (opcode) {
	case 0x40 ... 0x4f:
		return conditional_move(m);
	case 0x90 ... 0x9f:
		holds = x86_condition(m, opcode & 15);
		x86_write_rm(m, 1, holds);
		return STEP_NEXT;
	case 0xa3:
	case 0xab:
	case 0xb3:
	case 0xbb:
		return x86_bit_test(m, opcode >> 3 & 3, false);
	case 0xba:
		return m->insn.reg & 4 ? x86_bit_test(m, m->insn.reg & 3, true) : STEP_UNSUPPORTED;
	case 0xa4:
	case 0xac:
		return x86_shift_double(m, operand(m->insn.immediate & 0xff));
	case 0xa5:
	case 0xad:
		return x86_shift_double(m, x86_read_register(m, REG_RCX, 1));
	case 0xaf:
		x86_write_reg(m, x86_operand_bytes(m),
			      x86_multiply(m, x86_operand_bytes(m),
					   x86_read_reg(m, x86_operand_bytes(m)),
					   x86_read_rm(m, x86_operand_bytes(m))));
		return STEP_NEXT;
	case 0xb0:
	case 0xb1:
		return compare_and_exchange(m);
	case 0xb6:
	case 0xbe:
		return move_extended(m, 1, opcode & 8);
	case 0xb7:
	case 0xbf:
		return move_extended(m, 2, opcode & 8);
	case 0xb8:
	case 0xbc:
	case 0xbd:
		return x86_bit_scan(m);
	case 0xc0:
	case 0xc1:
		return exchange_and_add(m);
	case 0xc8 ... 0xcf:
		return swap_bytes(m);
	default:
		return STEP_UNSUPPORTED;
	}
}
