// SPDX-License-Identifier: GPL-2.0-only
/* Instructions that set flags. Flags that a manual calls undefined become unknown. */
#include "x86_arithmetic.h"

#include "x86_operand.h"

enum {
	ADD,
	OR,
	ADC,
	SBB,
	AND,
	SUB,
	XOR,
	CMP
};

enum {
	ROL,
	ROR,
	RCL,
	RCR,
	SHL,
	SHR,
	SAL,
	SAR
};

static bool bit(u64 value, u32 number)
{
	return value >> number & 1;
}

/* Population count. The builtin would call libgcc, which the kernel does not have. */
static u32 ones(u64 value)
{
	value -= value >> 1 & 0x5555555555555555ULL;
	value = (value & 0x3333333333333333ULL) + (value >> 2 & 0x3333333333333333ULL);
	value = (value + (value >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (u32)(value * 0x0101010101010101ULL >> 56);
}

/* Return PF, ZF and SF of a result. */
static u64 result_flags(u64 result, u32 bytes)
{
	u64 flags = 0;

	if (!(ones(result & 0xff) & 1))
		flags |= FLAG_PF;
	if (low_bytes(result, bytes) == 0)
		flags |= FLAG_ZF;
	if (bit(result, 8 * bytes - 1))
		flags |= FLAG_SF;
	return flags;
}

static u64 flag_if(bool condition, u64 flag)
{
	return condition ? flag : 0;
}

static u64 result_of(struct machine *m, u32 bytes, u64 value)
{
	m->result = (s64)sign_extended(value, bytes);
	m->has_result = true;
	return low_bytes(value, bytes);
}

static u64 add(struct machine *m, u32 bytes, u64 a, u64 b, u64 carry)
{
	u64 sum = a + b + carry, carries = (a & b) | ((a | b) & ~sum);
	u32 top = 8 * bytes - 1;

	x86_set_flags(m, FLAGS_ALL,
		      result_flags(sum, bytes) | flag_if(bit(carries, top), FLAG_CF) |
			      flag_if(bit((a ^ sum) & (b ^ sum), top), FLAG_OF) |
			      ((a ^ b ^ sum) & FLAG_AF));
	return result_of(m, bytes, sum);
}

static u64 subtract(struct machine *m, u32 bytes, u64 a, u64 b, u64 borrow)
{
	u64 difference = a - b - borrow, borrows = (~a & b) | ((~a | b) & difference);
	u32 top = 8 * bytes - 1;

	x86_set_flags(m, FLAGS_ALL,
		      result_flags(difference, bytes) | flag_if(bit(borrows, top), FLAG_CF) |
			      flag_if(bit((a ^ b) & (a ^ difference), top), FLAG_OF) |
			      ((a ^ b ^ difference) & FLAG_AF));
	return result_of(m, bytes, difference);
}

static u64 logical(struct machine *m, u32 bytes, u64 result)
{
	x86_set_flags(m, FLAGS_ALL, result_flags(result, bytes));
	x86_forget_flags(m, FLAG_AF);
	return result_of(m, bytes, result);
}

struct operand x86_arithmetic(struct machine *m, u32 operation, u32 bytes, struct operand a,
			      struct operand b)
{
	u64 carry = m->state->flags & FLAG_CF;
	bool uses_carry = operation == ADC || operation == SBB;

	if (!a.known || !b.known || (uses_carry && !(m->state->flags_known & FLAG_CF))) {
		x86_forget_flags(m, FLAGS_ALL);
		return unknown();
	}
	switch (operation) {
	case ADD:
	case ADC:
		return operand(add(m, bytes, a.value, b.value, uses_carry ? carry : 0));
	case SUB:
	case SBB:
	case CMP:
		return operand(subtract(m, bytes, a.value, b.value, uses_carry ? carry : 0));
	case OR:
		return operand(logical(m, bytes, a.value | b.value));
	case AND:
		return operand(logical(m, bytes, a.value & b.value));
	default:
		return operand(logical(m, bytes, a.value ^ b.value));
	}
}

/* Compute the double-width product of two unsigned or signed numbers. */
static void product(u64 a, u64 b, u32 bytes, bool with_sign, u64 *low, u64 *high)
{
	unsigned __int128 wide;

	if (with_sign)
		wide = (unsigned __int128)((__int128)(int64_t)sign_extended(a, bytes) *
					   (int64_t)sign_extended(b, bytes));
	else
		wide = (unsigned __int128)a * b;
	*low = low_bytes((u64)wide, bytes);
	*high = low_bytes((u64)(wide >> 8 * bytes), bytes);
}

static void product_flags(struct machine *m, bool overflow)
{
	x86_forget_flags(m, FLAGS_ALL);
	x86_set_flags(m, FLAG_CF | FLAG_OF, overflow ? FLAG_CF | FLAG_OF : 0);
}

struct operand x86_multiply(struct machine *m, u32 bytes, struct operand a, struct operand b)
{
	u64 low, high;

	if (!a.known || !b.known) {
		x86_forget_flags(m, FLAGS_ALL);
		return unknown();
	}
	product(a.value, b.value, bytes, true, &low, &high);
	product_flags(m, high != low_bytes(bit(low, 8 * bytes - 1) ? ~0ULL : 0, bytes));
	return operand(low);
}

/* Write rdx:rax, or ax: two results, or the two halves of one. */
static void write_double(struct machine *m, u32 bytes, struct operand low, struct operand high)
{
	x86_write_register(m, REG_RAX, bytes, low);
	x86_write_register(m, bytes == 1 ? REG_AH : REG_RDX, bytes, high);
}

static void multiply(struct machine *m, u32 bytes, bool with_sign)
{
	struct operand a = x86_read_register(m, REG_RAX, bytes), b = x86_read_rm(m, bytes);
	u64 low, high;

	if (!a.known || !b.known) {
		x86_forget_flags(m, FLAGS_ALL);
		write_double(m, bytes, unknown(), unknown());
		return;
	}
	product(a.value, b.value, bytes, with_sign, &low, &high);
	product_flags(m,
		      high != (with_sign && bit(low, 8 * bytes - 1) ? low_bytes(~0ULL, bytes) : 0));
	write_double(m, bytes, operand(low), operand(high));
}

/* Divide, signed numbers via their magnitudes. Return false if the instruction traps. */
static bool divide(u64 a, u64 b, u32 bytes, bool with_sign, u64 *quotient, u64 *rest)
{
	bool negative_a = with_sign && a >> 63, negative_b = with_sign && b >> 63;
	bool negative = negative_a != negative_b;
	u64 limit = low_bytes(~0ULL, bytes), q;

	if (b == 0)
		return false;
	a = negative_a ? -a : a;
	b = negative_b ? -b : b;
	q = a / b;
	*rest = low_bytes(negative_a ? -(a % b) : a % b, bytes);
	*quotient = low_bytes(negative ? -q : q, bytes);
	if (with_sign)
		limit = limit / 2 + negative;
	return q <= limit;
}

static enum step divide_double(struct machine *m, u32 bytes, bool with_sign)
{
	struct operand low = x86_read_register(m, REG_RAX, bytes), by = x86_read_rm(m, bytes);
	struct operand high = x86_read_register(m, bytes == 1 ? REG_AH : REG_RDX, bytes);
	u64 quotient, rest, dividend = low.value;

	x86_forget_flags(m, FLAGS_ALL);
	if (bytes < 8) {
		dividend |= high.value << 8 * bytes;
		if (with_sign)
			dividend = sign_extended(dividend, 2 * bytes);
	} else if (high.value != (with_sign && dividend >> 63 ? ~0ULL : 0)) {
		high.known = false; /* dividends of more than 64 bits are not computed */
	}
	if (!low.known || !high.known || !by.known) {
		write_double(m, bytes, unknown(), unknown());
		return STEP_NEXT;
	}
	if (with_sign)
		by.value = sign_extended(by.value, bytes);
	if (!divide(dividend, by.value, bytes, with_sign, &quotient, &rest))
		return STEP_UNSUPPORTED;
	write_double(m, bytes, operand(quotient), operand(rest));
	return STEP_NEXT;
}

enum step x86_multiply_divide(struct machine *m, u32 bytes)
{
	u32 operation = m->insn.reg & 7;

	if (operation >= 6)
		return divide_double(m, bytes, operation == 7);
	multiply(m, bytes, operation == 5);
	return STEP_NEXT;
}

/* One bit at a time, because this is rare and takes at most 63 steps. */
static u64 rotate_through_carry(struct machine *m, u32 bytes, u64 value, bool left, u32 count)
{
	u32 top = 8 * bytes - 1;
	u64 carry = m->state->flags & FLAG_CF, out;
	bool overflow = false;

	while (count-- > 0) {
		out = bit(value, left ? top : 0);
		overflow = left ? bit(value, top) != bit(value, top - 1) : bit(value, top) != carry;
		value = left ? value << 1 | carry : value >> 1 | carry << top;
		value = low_bytes(value, bytes);
		carry = out;
	}
	x86_set_flags(m, FLAG_CF | FLAG_OF, carry | flag_if(overflow, FLAG_OF));
	return value;
}

static u64 rotate(struct machine *m, u32 bytes, u64 value, bool left, u32 count)
{
	u32 bits = 8 * bytes;
	u64 carry;

	count %= bits;
	if (!left)
		count = (bits - count) % bits;
	if (count > 0)
		value = low_bytes(value << count | value >> (bits - count), bytes);
	carry = bit(value, left ? 0 : bits - 1);
	if (left)
		x86_set_flags(m, FLAG_CF | FLAG_OF,
			      carry | flag_if(bit(value, bits - 1) != carry, FLAG_OF));
	else
		x86_set_flags(m, FLAG_CF | FLAG_OF,
			      carry | flag_if(bit(value, bits - 2) != carry, FLAG_OF));
	return value;
}

static u64 shift(struct machine *m, u32 bytes, u64 value, u32 operation, u32 count)
{
	u32 top = 8 * bytes - 1;
	u64 result, carry, overflow;

	if (operation == SAR) {
		value = sign_extended(value, bytes);
		carry = bit(value, count - 1);
		result = value >> count;
		if (value >> 63)
			result |= ~(~0ULL >> count);
		overflow = 0;
	} else if (operation == SHR) {
		carry = bit(value, count - 1);
		result = value >> count;
		overflow = bit(value, top);
	} else {
		carry = count <= top + 1 ? bit(value, top + 1 - count) : 0;
		result = value << count;
		overflow = bit(result, top) != carry;
	}
	x86_set_flags(m, FLAGS_ALL,
		      result_flags(result, bytes) | carry | flag_if(overflow, FLAG_OF));
	x86_forget_flags(m, FLAG_AF | flag_if(operation != SAR && count > top, FLAG_CF));
	return low_bytes(result, bytes);
}

enum step x86_shift(struct machine *m, u32 bytes, struct operand count)
{
	u32 operation = m->insn.reg & 7, by = (u32)count.value & (bytes == 8 ? 63 : 31);
	struct operand value = x86_read_rm(m, bytes);
	bool through = operation == RCL || operation == RCR;

	if (!value.known || !count.known || (through && !(m->state->flags_known & FLAG_CF))) {
		x86_forget_flags(m, FLAGS_ALL);
		x86_write_rm(m, bytes, unknown());
		return STEP_NEXT;
	}
	if (by == 0) {
		x86_write_rm(m, bytes, value);
		return STEP_NEXT;
	}
	if (through)
		value.value = rotate_through_carry(m, bytes, value.value, operation == RCL,
						   by % (8 * bytes + 1));
	else if (operation <= ROR)
		value.value = rotate(m, bytes, value.value, operation == ROL, by);
	else
		value.value = shift(m, bytes, value.value, operation, by);
	if (by != 1)
		x86_forget_flags(m, FLAG_OF);
	x86_write_rm(m, bytes, value);
	return STEP_NEXT;
}

enum step x86_shift_double(struct machine *m, struct operand count)
{
	u32 bytes = x86_operand_bytes(m), bits = 8 * bytes;
	u32 by = (u32)count.value & (bytes == 8 ? 63 : 31);
	struct operand value = x86_read_rm(m, bytes), fill = x86_read_reg(m, bytes);
	bool left = m->insn.opcode < 0xa8, carry;
	u64 result;

	if (!value.known || !fill.known || !count.known || by > bits) {
		x86_forget_flags(m, FLAGS_ALL);
		x86_write_rm(m, bytes, unknown());
		return STEP_NEXT;
	}
	if (by == 0) {
		x86_write_rm(m, bytes, value);
		return STEP_NEXT;
	}
	if (left) {
		result = value.value << by | fill.value >> (bits - by);
		carry = bit(value.value, bits - by);
	} else {
		result = value.value >> by | fill.value << (bits - by);
		carry = bit(value.value, by - 1);
	}
	result = low_bytes(result, bytes);
	x86_set_flags(m, FLAGS_ALL,
		      result_flags(result, bytes) | carry |
			      flag_if(bit(result ^ value.value, bits - 1), FLAG_OF));
	x86_forget_flags(m, FLAG_AF | flag_if(by != 1, FLAG_OF));
	x86_write_rm(m, bytes, operand(result));
	return STEP_NEXT;
}

static u64 bit_changed(u64 value, u32 operation, u64 mask)
{
	switch (operation) {
	case 1:
		return value | mask;
	case 2:
		return value & ~mask;
	default:
		return value ^ mask;
	}
}

/* A bit offset in a register may address memory far away from the operand. */
enum step x86_bit_test(struct machine *m, u32 operation, bool immediate)
{
	u32 bytes = x86_operand_bytes(m), bits = 8 * bytes;
	struct operand number = immediate ? operand(m->insn.immediate) : x86_read_reg(m, bytes);
	struct operand address = unknown(), value;
	u64 at = sign_extended(number.value, bytes), mask = 1ULL << (number.value & (bits - 1));

	if (m->insn.mod != 3) {
		address = x86_address(m);
		if (!immediate)
			address.value +=
				((at & ~(u64)(bits - 1)) >> 3) | (at >> 63 ? 7ULL << 61 : 0);
		address.known = address.known && number.known;
		value = x86_load(m, address, bytes);
	} else {
		value = x86_read_rm(m, bytes);
	}
	x86_forget_flags(m, FLAGS_ALL & ~FLAG_ZF);
	if (value.known && number.known)
		x86_set_flags(m, FLAG_CF, flag_if(value.value & mask, FLAG_CF));
	if (operation == 0)
		return STEP_NEXT;
	value.value = bit_changed(value.value, operation, mask);
	value.known = value.known && number.known;
	if (m->insn.mod != 3)
		x86_store(m, address, bytes, value);
	else
		x86_write_rm(m, bytes, value);
	return STEP_NEXT;
}

/*
 * On machines without tzcnt, the instruction is executed as bsf and sets other flags. Its result is
 * the same, except for an operand of zero.
 */
enum step x86_bit_scan(struct machine *m)
{
	u32 bytes = x86_operand_bytes(m), bits = 8 * bytes;
	bool rep = has_prefix(m, X86_REP), forward = m->insn.opcode == 0xbc;
	struct operand value = x86_read_rm(m, bytes), result = {.known = value.known};
	bool zero = value.value == 0;

	x86_forget_flags(m, FLAGS_ALL);
	if (m->insn.opcode == 0xb8) { /* popcnt */
		if (!rep)
			return STEP_UNSUPPORTED;
		result.value = ones(value.value);
		if (value.known)
			x86_set_flags(m, FLAGS_ALL, flag_if(zero, FLAG_ZF));
	} else if (value.known && !zero && (forward || !rep)) {
		result.value = forward ? (u64)__builtin_ctzll(value.value)
				       : 63 - (u64)__builtin_clzll(value.value);
	} else if (value.known && !forward && rep) { /* lzcnt */
		result.value = zero ? bits : (u64)__builtin_clzll(value.value) - (64 - bits);
	} else {
		result.known = false;
	}
	if (m->insn.opcode != 0xb8 && !rep && value.known)
		x86_set_flags(m, FLAG_ZF, flag_if(zero, FLAG_ZF));
	if (m->insn.opcode == 0xbd && rep && value.known)
		x86_set_flags(m, FLAG_CF | FLAG_ZF,
			      flag_if(zero, FLAG_CF) | flag_if(result.value == 0, FLAG_ZF));
	/* bsf and bsr of zero may leave even the upper half unchanged. */
	x86_write_register(m, m->insn.reg, result.known || bytes == 2 ? bytes : 8, result);
	return STEP_NEXT;
}
