// SPDX-License-Identifier: GPL-2.0-only
#include "arm64_data.h"

enum shift {
	SHIFT_LSL,
	SHIFT_LSR,
	SHIFT_ASR,
	SHIFT_ROR
};

static u64 low_bits(u32 bits)
{
	return bits >= 64 ? ~0ULL : (1ULL << bits) - 1;
}

/* Shift by @count bits, less than the width. */
static u64 shifted(u64 value, enum shift how, u32 count, bool wide)
{
	u32 width = wide ? 64 : 32;
	u64 sign;

	value &= low_bits(width);
	if (count == 0)
		return value;
	switch (how) {
	case SHIFT_LSL:
		value <<= count;
		break;
	case SHIFT_LSR:
		value >>= count;
		break;
	case SHIFT_ASR:
		sign = value >> (width - 1) ? ~low_bits(width - count) : 0;
		value = value >> count | sign;
		break;
	case SHIFT_ROR:
		value = value >> count | value << (width - count);
		break;
	}
	return value & low_bits(width);
}

struct operand arm64_condition(const struct machine *m, u32 condition)
{
	static const u32 needs[8] = {FLAG_Z,
				     FLAG_C,
				     FLAG_N,
				     FLAG_V,
				     FLAG_C | FLAG_Z,
				     FLAG_N | FLAG_V,
				     FLAG_N | FLAG_V | FLAG_Z,
				     0};
	u64 flags = m->state->flags, need = needs[condition >> 1];
	bool n = flags & FLAG_N, z = flags & FLAG_Z, c = flags & FLAG_C, v = flags & FLAG_V;
	bool holds = true;

	if (need & ~m->state->flags_known)
		return unknown();
	switch (condition >> 1) {
	case 0:
		holds = z;
		break;
	case 1:
		holds = c;
		break;
	case 2:
		holds = n;
		break;
	case 3:
		holds = v;
		break;
	case 4:
		holds = c && !z;
		break;
	case 5:
		holds = n == v;
		break;
	case 6:
		holds = n == v && !z;
		break;
	default:
		return operand(1);
	}
	return operand(holds != (condition & 1));
}

static u64 flags_nz(u64 value, bool wide)
{
	u64 flags = value >> (wide ? 63 : 31) & 1 ? FLAG_N : 0;

	return flags | ((wide ? value : (u32)value) == 0 ? FLAG_Z : 0);
}

/* AddWithCarry() of the Arm ARM. */
static u64 add_with_carry(u64 a, u64 b, u64 carry, bool wide, u64 *flags)
{
	u32 top = wide ? 63 : 31;
	u64 sum = a + b + carry;

	if (!wide) {
		sum = (u32)a + (u64)(u32)b + carry;
		*flags = sum >> 32 ? FLAG_C : 0;
		sum = (u32)sum;
	} else {
		*flags = sum < a || (carry && sum == a) ? FLAG_C : 0;
	}
	*flags |= flags_nz(sum, wide);
	*flags |= (~(a ^ b) & (a ^ sum)) >> top & 1 ? FLAG_V : 0;
	return sum;
}

static void result_set(struct machine *m, u64 value, bool wide)
{
	m->result = wide ? (s64)value : (s64)(s32)(u32)value;
	m->has_result = true;
}

/* Addition and subtraction. Bits 31..29 of all encodings: width, subtract, set flags. */
static struct operand add(struct machine *m, struct operand a, struct operand b,
			  struct operand carry)
{
	bool wide = field(m, 31, 1), subtract = field(m, 30, 1), sets = field(m, 29, 1);
	u64 flags;
	struct operand sum;

	if (!a.known || !b.known || !carry.known) {
		if (sets)
			forget_flags(m);
		return unknown();
	}
	sum = operand(
		add_with_carry(a.value, subtract ? ~b.value : b.value, carry.value, wide, &flags));
	if (sets) {
		write_flags(m, flags);
		result_set(m, sum.value, wide);
	}
	return sum;
}

/* and, orr, eor, ands, selected by @operation; @b is already inverted if needed */
static struct operand logical(struct machine *m, u32 operation, struct operand a, struct operand b)
{
	bool wide = field(m, 31, 1);
	struct operand result = {.known = a.known && b.known};

	if (!result.known) {
		if (operation == 3)
			forget_flags(m);
		return unknown();
	}
	if (operation == 1)
		result.value = a.value | b.value;
	else if (operation == 2)
		result.value = a.value ^ b.value;
	else
		result.value = a.value & b.value;
	result = narrow(result, wide);
	if (operation == 3) {
		write_flags(m, flags_nz(result.value, wide));
		result_set(m, result.value, wide);
	}
	return result;
}

/* DecodeBitMasks() of the Arm ARM: return false if the encoding is reserved. */
static bool bit_mask(const struct machine *m, u64 *mask)
{
	u32 n = field(m, 22, 1), ones = field(m, 10, 6), rotate = field(m, 16, 6), bits;
	u32 sizes = n << 6 | (~ones & 0x3f);
	u64 element;

	if (sizes < 2)
		return false;
	for (bits = 64; !(sizes & bits); bits /= 2)
		;
	ones &= bits - 1;
	rotate &= bits - 1;
	if (ones == bits - 1)
		return false;
	element = low_bits(ones + 1);
	if (rotate > 0)
		element = (element >> rotate | element << (bits - rotate)) & low_bits(bits);
	for (; bits < 64; bits *= 2)
		element |= element << bits;
	*mask = element;
	return true;
}

static enum step logical_immediate(struct machine *m)
{
	u32 operation = field(m, 29, 2);
	struct operand result;
	u64 mask;

	if ((!field(m, 31, 1) && field(m, 22, 1)) || !bit_mask(m, &mask))
		return STEP_UNSUPPORTED;
	result = logical(m, operation, read_x(m, field(m, 5, 5)), operand(mask));
	if (operation == 3)
		write_x(m, field(m, 0, 5), result);
	else
		write_sp(m, field(m, 0, 5), result);
	return STEP_NEXT;
}

static enum step move_wide(struct machine *m)
{
	u32 operation = field(m, 29, 2), shift = field(m, 21, 2) * 16;
	u64 immediate = (u64)field(m, 5, 16) << shift;
	bool wide = field(m, 31, 1);
	struct operand value = operand(immediate);

	if (operation == 1 || (!wide && shift > 16))
		return STEP_UNSUPPORTED;
	if (operation == 0)
		value.value = ~immediate;
	if (operation == 3) {
		value = read_x(m, field(m, 0, 5));
		value.value = (value.value & ~(0xffffULL << shift)) | immediate;
	}
	if (!value.known)
		value.value = 0;
	write_x(m, field(m, 0, 5), narrow(value, wide));
	return STEP_NEXT;
}

/* sbfm, bfm, ubfm: move a field of the source to the bottom or upwards */
static enum step bit_field(struct machine *m)
{
	u32 operation = field(m, 29, 2), rotate = field(m, 16, 6), last = field(m, 10, 6);
	bool wide = field(m, 31, 1);
	u32 bits = last >= rotate ? last - rotate + 1 : last + 1;
	u32 up = last >= rotate ? 0 : (wide ? 64 : 32) - rotate;
	u32 down = last >= rotate ? rotate : 0;
	struct operand value = read_x(m, field(m, 5, 5)), old = operand(0);
	u64 mask = low_bits(bits);

	if (operation == 3 || field(m, 22, 1) != wide || (!wide && (rotate | last) >= 32))
		return STEP_UNSUPPORTED;
	if (operation == 1) {
		old = read_x(m, field(m, 0, 5));
		old.value &= ~(mask << up);
	}
	value.known = value.known && old.known;
	value.value = value.value >> down & mask;
	if (operation == 0 && value.value >> (bits - 1))
		value.value |= ~mask;
	value.value = value.known ? value.value << up | old.value : 0;
	write_x(m, field(m, 0, 5), narrow(value, wide));
	return STEP_NEXT;
}

static enum step extract(struct machine *m)
{
	struct operand high = read_x(m, field(m, 5, 5)), low = read_x(m, field(m, 16, 5));
	u32 shift = field(m, 10, 6);
	bool wide = field(m, 31, 1);
	struct operand value = {.known = high.known && low.known};

	if (field(m, 29, 2) != 0 || field(m, 22, 1) != wide || field(m, 21, 1) ||
	    (!wide && shift >= 32))
		return STEP_UNSUPPORTED;
	if (value.known) {
		value.value = shifted(low.value, SHIFT_LSR, shift, wide);
		if (shift > 0)
			value.value |=
				shifted(high.value, SHIFT_LSL, (wide ? 64 : 32) - shift, wide);
	}
	write_x(m, field(m, 0, 5), value);
	return STEP_NEXT;
}

static enum step address(struct machine *m)
{
	u64 distance = signed_field(m, 5, 19) << 2 | field(m, 29, 2);
	u64 base = m->state->pc;

	if (field(m, 31, 1)) {
		distance <<= 12;
		base &= ~0xfffULL;
	}
	write_x(m, field(m, 0, 5), operand(base + distance));
	return STEP_NEXT;
}

static enum step add_immediate(struct machine *m)
{
	struct operand immediate = operand((u64)field(m, 10, 12) << (field(m, 22, 1) ? 12 : 0));
	struct operand sum =
		add(m, read_sp(m, field(m, 5, 5)), immediate, operand(field(m, 30, 1)));

	if (field(m, 29, 1))
		write_x(m, field(m, 0, 5), sum);
	else
		write_sp(m, field(m, 0, 5), sum);
	return STEP_NEXT;
}

enum step arm64_immediate(struct machine *m)
{
	switch (field(m, 23, 3)) {
	case 0:
	case 1:
		return address(m);
	case 2:
		return add_immediate(m);
	case 4:
		return logical_immediate(m);
	case 5:
		return move_wide(m);
	case 6:
		return bit_field(m);
	case 7:
		return extract(m);
	default: /* instructions with memory tags */
		return STEP_UNSUPPORTED;
	}
}

static enum step shifted_register(struct machine *m, bool arithmetic)
{
	struct operand a = read_x(m, field(m, 5, 5)), b = read_x(m, field(m, 16, 5));
	u32 how = field(m, 22, 2), count = field(m, 10, 6);
	bool wide = field(m, 31, 1);
	struct operand result;

	if ((!wide && count >= 32) || (arithmetic && how == SHIFT_ROR))
		return STEP_UNSUPPORTED;
	if (b.known)
		b.value = shifted(b.value, how, count, wide);
	if (arithmetic) {
		result = add(m, a, b, operand(field(m, 30, 1)));
	} else {
		if (field(m, 21, 1) && b.known)
			b.value = ~b.value;
		result = logical(m, field(m, 29, 2), a, b);
	}
	write_x(m, field(m, 0, 5), result);
	return STEP_NEXT;
}

static u64 extended(u64 value, u32 how)
{
	u32 bits = 8U << (how & 3);
	u64 mask = low_bits(bits), sign = 1ULL << (bits - 1);

	value &= mask;
	return how & 4 ? (value ^ sign) - sign : value;
}

static enum step extended_register(struct machine *m)
{
	struct operand b = read_x(m, field(m, 16, 5)), sum;
	u32 shift = field(m, 10, 3);

	if (shift > 4 || field(m, 22, 2) != 0)
		return STEP_UNSUPPORTED;
	if (b.known)
		b.value = extended(b.value, field(m, 13, 3)) << shift;
	sum = add(m, read_sp(m, field(m, 5, 5)), b, operand(field(m, 30, 1)));
	if (field(m, 29, 1))
		write_x(m, field(m, 0, 5), sum);
	else
		write_sp(m, field(m, 0, 5), sum);
	return STEP_NEXT;
}

static enum step with_carry(struct machine *m)
{
	struct operand carry = {.known = m->state->flags_known & FLAG_C ? true : false};

	if (field(m, 10, 6) != 0) { /* rmif, setf: flags from a register */
		if (field(m, 29, 3) != (field(m, 10, 5) == 1 ? 5U : 1U) ||
		    (field(m, 10, 5) != 1 && (field(m, 10, 4) != 2 || field(m, 15, 6) != 0)) ||
		    field(m, 4, 1))
			return STEP_UNSUPPORTED;
		forget_flags(m);
		return STEP_NEXT;
	}
	carry.value = m->state->flags & FLAG_C ? 1 : 0;
	write_x(m, field(m, 0, 5),
		add(m, read_x(m, field(m, 5, 5)), read_x(m, field(m, 16, 5)), carry));
	return STEP_NEXT;
}

static enum step conditional_compare(struct machine *m)
{
	struct operand holds = arm64_condition(m, field(m, 12, 4));
	struct operand b = field(m, 11, 1) ? operand(field(m, 16, 5)) : read_x(m, field(m, 16, 5));

	if (!field(m, 29, 1) || field(m, 10, 1) || field(m, 4, 1))
		return STEP_UNSUPPORTED;
	if (!holds.known)
		forget_flags(m);
	else if (holds.value)
		add(m, read_x(m, field(m, 5, 5)), b, operand(field(m, 30, 1)));
	else
		write_flags(m, (u64)field(m, 0, 4) << 28);
	return STEP_NEXT;
}

static enum step conditional_select(struct machine *m)
{
	struct operand holds = arm64_condition(m, field(m, 12, 4)), value;
	bool inverts = field(m, 30, 1), increments = field(m, 10, 1);

	if (field(m, 29, 1) || field(m, 11, 1))
		return STEP_UNSUPPORTED;
	value = read_x(m, field(m, holds.value ? 5 : 16, 5));
	if (!holds.known)
		value = unknown();
	if (value.known && !holds.value) {
		value.value = inverts ? ~value.value : value.value;
		value.value += increments;
	}
	write_x(m, field(m, 0, 5), narrow(value, field(m, 31, 1)));
	return STEP_NEXT;
}

static u64 divided(u64 a, u64 b, bool with_sign, bool wide)
{
	bool negative = false;

	if (!wide) {
		a = with_sign ? extended(a, 6) : (u32)a;
		b = with_sign ? extended(b, 6) : (u32)b;
	}
	if (b == 0)
		return 0;
	if (with_sign) {
		negative = (a ^ b) >> 63;
		a = a >> 63 ? -a : a;
		b = b >> 63 ? -b : b;
	}
	a /= b;
	return negative ? -a : a;
}

static enum step two_sources(struct machine *m)
{
	struct operand a = read_x(m, field(m, 5, 5)), b = read_x(m, field(m, 16, 5));
	struct operand result = {.known = a.known && b.known};
	bool wide = field(m, 31, 1);
	u32 operation = field(m, 10, 6);

	if (field(m, 29, 1))
		return STEP_UNSUPPORTED;
	switch (operation) {
	case 2:
	case 3:
		result.value = divided(a.value, b.value, operation == 3, wide);
		break;
	case 8:
	case 9:
	case 10:
	case 11:
		result.value = shifted(a.value, operation - 8, b.value & (wide ? 63 : 31), wide);
		break;
	case 16: /* crc32 */
	case 17:
	case 18:
	case 20:
	case 21:
	case 22:
		if (wide)
			return STEP_UNSUPPORTED;
		result.known = false;
		break;
	case 12: /* pacga */
	case 19:
	case 23:
		if (!wide)
			return STEP_UNSUPPORTED;
		result.known = false;
		break;
	default:
		return STEP_UNSUPPORTED;
	}
	write_x(m, field(m, 0, 5), result.known ? narrow(result, wide) : unknown());
	return STEP_NEXT;
}

/* Reverse the bytes in each unit of 2^@scale bytes. */
static u64 bytes_reversed(u64 value, u32 scale)
{
	u64 result = 0;
	u32 i;

	for (i = 0; i < 8; i++)
		result |= (value >> 8 * i & 0xff) << 8 * (i ^ ((1U << scale) - 1));
	return result;
}

static u64 bits_reversed(u64 value, u32 bits)
{
	u64 result = 0;

	while (bits-- > 0) {
		result = result << 1 | (value & 1);
		value >>= 1;
	}
	return result;
}

static u64 leading_zeros(u64 value, u32 bits)
{
	value &= low_bits(bits);
	return value == 0 ? bits : (u64)__builtin_clzll(value) - (64 - bits);
}

static enum step one_source(struct machine *m)
{
	struct operand a = read_x(m, field(m, 5, 5));
	bool wide = field(m, 31, 1);
	u32 operation = field(m, 10, 6), bits = wide ? 64 : 32;

	if (field(m, 29, 1) || field(m, 16, 5) > 1)
		return STEP_UNSUPPORTED;
	if (field(m, 16, 5) == 1) { /* pointer authentication */
		if (!wide || operation > 17 || (operation > 7 && field(m, 5, 5) != 31))
			return STEP_UNSUPPORTED;
		write_x(m, field(m, 0, 5), unknown());
		return STEP_NEXT;
	}
	switch (operation) {
	case 0:
		a.value = bits_reversed(a.value, bits);
		break;
	case 1:
	case 2:
	case 3:
		if (operation == 3 && !wide)
			return STEP_UNSUPPORTED;
		a.value = bytes_reversed(a.value, operation);
		break;
	case 4:
		a.value = leading_zeros(a.value, bits);
		break;
	case 5:
		a.value = shifted(a.value, SHIFT_ASR, 1, wide) ^ a.value;
		a.value = leading_zeros(a.value & low_bits(bits - 1), bits) - 1;
		break;
	default:
		return STEP_UNSUPPORTED;
	}
	write_x(m, field(m, 0, 5), a.known ? narrow(a, wide) : unknown());
	return STEP_NEXT;
}

static u64 product_high(u64 a, u64 b, bool with_sign)
{
	u64 high = (u64)((unsigned __int128)a * b >> 64);

	if (with_sign)
		high -= (a >> 63 ? b : 0) + (b >> 63 ? a : 0);
	return high;
}

static enum step three_sources(struct machine *m)
{
	struct operand a = read_x(m, field(m, 5, 5)), b = read_x(m, field(m, 16, 5));
	struct operand c = read_x(m, field(m, 10, 5)), result;
	u32 operation = field(m, 21, 3);
	bool wide = field(m, 31, 1), with_sign = operation < 4;

	if (field(m, 29, 2) != 0 || (operation != 0 && !wide) || operation == 3 || operation == 4 ||
	    operation == 7 || ((operation & 3) == 2 && field(m, 15, 1)))
		return STEP_UNSUPPORTED;
	result.known = a.known && b.known && ((operation & 3) == 2 || c.known);
	if ((operation & 3) == 2) {
		result.value = product_high(a.value, b.value, with_sign);
	} else {
		if (operation != 0) {
			a.value = extended(a.value, with_sign ? 6 : 2);
			b.value = extended(b.value, with_sign ? 6 : 2);
		}
		result.value = a.value * b.value;
		result.value = field(m, 15, 1) ? c.value - result.value : c.value + result.value;
	}
	write_x(m, field(m, 0, 5), result.known ? narrow(result, wide) : unknown());
	return STEP_NEXT;
}

enum step arm64_register(struct machine *m)
{
	if (!field(m, 28, 1)) {
		if (!field(m, 24, 1))
			return shifted_register(m, false);
		return field(m, 21, 1) ? extended_register(m) : shifted_register(m, true);
	}
	if (field(m, 24, 1))
		return three_sources(m);
	switch (field(m, 21, 3)) {
	case 0:
		return with_carry(m);
	case 2:
		return conditional_compare(m);
	case 4:
		return conditional_select(m);
	case 6:
		return field(m, 30, 1) ? one_source(m) : two_sources(m);
	default:
		return STEP_UNSUPPORTED;
	}
}
