// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads and stores. Atomic instructions are interpreted as if no other thread accessed the memory.
 * A store-exclusive may always fail, so its status is unknown.
 */
#include "arm64_memory.h"

static struct operand load(struct machine *m, struct operand address, u32 bytes)
{
	struct operand value = unknown();

	if (address.known)
		value.known = interpret_memory_load(&m->memory, untagged(address.value), bytes,
						    &value.value);
	return value;
}

static void store(struct machine *m, struct operand address, u32 bytes, struct operand value)
{
	if (!address.known)
		interpret_memory_hide(&m->memory);
	else if (value.known)
		interpret_memory_store(&m->memory, untagged(address.value), bytes, value.value);
	else
		interpret_memory_smear(&m->memory, untagged(address.value), bytes);
}

static void smear(struct machine *m, struct operand address, u32 bytes)
{
	store(m, address, bytes, unknown());
}

static struct operand plus(struct operand address, u64 distance)
{
	address.value = address.known ? address.value + distance : 0;
	return address;
}

static struct operand sign_extended(struct operand value, u32 bytes, bool wide)
{
	u64 sign = 1ULL << (8 * bytes - 1);

	if (value.known)
		value.value = (value.value ^ sign) - sign;
	return narrow(value, wide);
}

/*
 * Load or store a general register. @size: log2 of the bytes in memory. @opc: 0 store, 1 load, 2
 * load and sign-extend to 64 bits, 3 to 32 bits. Size 3 with opc 2 is a prefetch.
 */
static enum step transfer(struct machine *m, u32 size, u32 opc, struct operand address)
{
	u32 rt = field(m, 0, 5), bytes = 1U << size;
	struct operand value;

	if (opc == 0) {
		store(m, address, bytes, read_x(m, rt));
		return STEP_NEXT;
	}
	if (size + opc >= 5)
		return size == 3 && opc == 2 ? STEP_NEXT : STEP_UNSUPPORTED;
	value = load(m, address, bytes);
	if (opc > 1)
		value = sign_extended(value, bytes, opc == 2);
	write_x(m, rt, value);
	return STEP_NEXT;
}

/* Load or store a SIMD register: only the address of a store matters. */
static enum step transfer_simd(struct machine *m, u32 size, u32 opc, struct operand address)
{
	u32 scale = size | (opc & 2) << 1;

	if (scale > 4)
		return STEP_UNSUPPORTED;
	if (!(opc & 1))
		smear(m, address, 1U << scale);
	return STEP_NEXT;
}

static enum step single(struct machine *m, struct operand address)
{
	u32 size = field(m, 30, 2), opc = field(m, 22, 2);

	return field(m, 26, 1) ? transfer_simd(m, size, opc, address)
			       : transfer(m, size, opc, address);
}

static enum step unsigned_offset(struct machine *m)
{
	u32 scale = field(m, 30, 2);

	if (field(m, 26, 1))
		scale |= field(m, 23, 1) << 2;
	return single(m, plus(read_sp(m, field(m, 5, 5)), (u64)field(m, 10, 12) << scale));
}

/* Unscaled, unprivileged, pre-indexed and post-indexed addressing. */
static enum step signed_offset(struct machine *m)
{
	u32 mode = field(m, 10, 2), rn = field(m, 5, 5);
	struct operand base = read_sp(m, rn), moved = plus(base, signed_field(m, 12, 9));
	bool writes_back = mode & 1, general = !field(m, 26, 1);
	enum step result;

	if (mode == 2 && !general)
		return STEP_UNSUPPORTED;
	if (writes_back && general &&
	    ((rn != REG_31 && rn == field(m, 0, 5)) || (field(m, 30, 2) == 3 && field(m, 23, 1))))
		return STEP_UNSUPPORTED;
	result = single(m, mode == 1 ? base : moved);
	if (writes_back && result == STEP_NEXT)
		write_sp(m, rn, moved);
	return result;
}

static enum step register_offset(struct machine *m)
{
	struct operand offset = read_x(m, field(m, 16, 5)), base = read_sp(m, field(m, 5, 5));
	u32 how = field(m, 13, 3), scale = field(m, 30, 2);

	if (!(how & 2))
		return STEP_UNSUPPORTED;
	if (field(m, 26, 1))
		scale |= field(m, 23, 1) << 2;
	if (how == 2)
		offset.value = (u32)offset.value;
	if (how == 6)
		offset = sign_extended(narrow(offset, false), 4, true);
	if (field(m, 12, 1))
		offset.value <<= scale;
	if (!offset.known)
		base = unknown();
	return single(m, plus(base, offset.value));
}

static struct operand combined(u32 operation, struct operand old, struct operand value)
{
	value.known = value.known && old.known;
	switch (operation) {
	case 0:
		value.value = old.value + value.value;
		break;
	case 1:
		value.value = old.value & ~value.value;
		break;
	case 2:
		value.value = old.value ^ value.value;
		break;
	case 3:
		value.value = old.value | value.value;
		break;
	default: /* minimum and maximum operations */
		value.known = false;
		break;
	}
	return value;
}

/* ldadd and other atomic memory operations, swp, ldapr */
static enum step atomic(struct machine *m)
{
	struct operand address = read_sp(m, field(m, 5, 5)), old, value;
	u32 bytes = 1U << field(m, 30, 2), operation = field(m, 12, 3);

	if (field(m, 26, 1) || (field(m, 15, 1) && operation != 0 && operation != 4))
		return STEP_UNSUPPORTED;
	old = load(m, address, bytes);
	value = read_x(m, field(m, 16, 5));
	if (!field(m, 15, 1))
		store(m, address, bytes, combined(operation, old, value));
	else if (operation == 0)
		store(m, address, bytes, value);
	else if (field(m, 16, 5) != 31 || field(m, 22, 2) != 2)
		return STEP_UNSUPPORTED;
	write_x(m, field(m, 0, 5), old);
	return STEP_NEXT;
}

static enum step one_register(struct machine *m)
{
	if (field(m, 24, 1))
		return unsigned_offset(m);
	if (!field(m, 21, 1))
		return signed_offset(m);
	switch (field(m, 10, 2)) {
	case 0:
		return atomic(m);
	case 2:
		return register_offset(m);
	default: /* ldraa, ldrab */
		return STEP_UNSUPPORTED;
	}
}

static enum step literal(struct machine *m)
{
	struct operand address = operand(m->state->pc + signed_field(m, 5, 19) * 4), value;
	u32 size = field(m, 30, 2);

	if (field(m, 26, 1))
		return size == 3 ? STEP_UNSUPPORTED : STEP_NEXT;
	if (size == 3)
		return STEP_NEXT;
	value = load(m, address, size == 1 ? 8 : 4);
	if (size == 2)
		value = sign_extended(value, 4, true);
	write_x(m, field(m, 0, 5), value);
	return STEP_NEXT;
}

/* ldapur, stlur: interpreted as their variants without ordering */
static enum step unscaled_ordered(struct machine *m)
{
	struct operand address = plus(read_sp(m, field(m, 5, 5)), signed_field(m, 12, 9));
	u32 size = field(m, 30, 2), opc = field(m, 22, 2);

	if (field(m, 21, 1) || field(m, 10, 2) != 0 || field(m, 26, 1) || (size == 3 && opc > 1))
		return STEP_UNSUPPORTED;
	return transfer(m, size, opc, address);
}

static void transfer_pair(struct machine *m, struct operand address, u32 bytes, bool with_sign)
{
	u32 first = field(m, 0, 5), second = field(m, 10, 5);
	struct operand a, b;

	if (!field(m, 22, 1)) {
		store(m, address, bytes, read_x(m, first));
		store(m, plus(address, bytes), bytes, read_x(m, second));
		return;
	}
	a = load(m, address, bytes);
	b = load(m, plus(address, bytes), bytes);
	write_x(m, first, with_sign ? sign_extended(a, bytes, true) : a);
	write_x(m, second, with_sign ? sign_extended(b, bytes, true) : b);
}

static enum step pair(struct machine *m)
{
	u32 opc = field(m, 30, 2), mode = field(m, 23, 2), rn = field(m, 5, 5);
	u32 first = field(m, 0, 5), second = field(m, 10, 5);
	bool simd = field(m, 26, 1), loads = field(m, 22, 1), writes_back = mode & 1;
	u32 scale = simd ? opc + 2 : opc == 2 ? 3 : 2;
	struct operand base = read_sp(m, rn);
	struct operand moved = plus(base, signed_field(m, 15, 7) << scale);
	struct operand address = mode == 1 ? base : moved;

	if (opc == 3 || (!simd && opc == 1 && (!loads || mode == 0)))
		return STEP_UNSUPPORTED;
	if (!simd && ((loads && first == second) ||
		      (writes_back && rn != REG_31 && (first == rn || second == rn))))
		return STEP_UNSUPPORTED;
	if (!simd)
		transfer_pair(m, address, 1U << scale, opc == 1);
	else if (!loads)
		smear(m, address, 2U << scale);
	if (writes_back)
		write_sp(m, rn, moved);
	return STEP_NEXT;
}

/* cas stores depending on the contents of memory; casp is not supported */
static enum step compare_and_swap(struct machine *m)
{
	struct operand address = read_sp(m, field(m, 5, 5)), old, expected;
	u32 size = field(m, 30, 2), bytes = 1U << size, rs = field(m, 16, 5);

	if (field(m, 10, 5) != 31)
		return STEP_UNSUPPORTED;
	if (!field(m, 23, 1)) { /* casp */
		if (size > 1 || rs & 1 || field(m, 0, 1))
			return STEP_UNSUPPORTED;
		smear(m, address, 8U << size);
		write_x(m, rs, unknown());
		write_x(m, rs + 1, unknown());
		return STEP_NEXT;
	}
	old = load(m, address, bytes);
	expected = read_x(m, rs);
	if (bytes < 8)
		expected.value &= (1ULL << 8 * bytes) - 1;
	if (!old.known || !expected.known)
		smear(m, address, bytes);
	else if (old.value == expected.value)
		store(m, address, bytes, read_x(m, field(m, 0, 5)));
	write_x(m, rs, old);
	return STEP_NEXT;
}

static void load_exclusive(struct machine *m, struct operand address, u32 bytes, bool both)
{
	write_x(m, field(m, 0, 5), load(m, address, bytes));
	if (both)
		write_x(m, field(m, 10, 5), load(m, plus(address, bytes), bytes));
}

/* Exclusive and ordered accesses, and compare-and-swap. */
static enum step exclusive(struct machine *m)
{
	struct operand address = read_sp(m, field(m, 5, 5));
	u32 size = field(m, 30, 2), bytes = 1U << size, rs = field(m, 16, 5);
	bool ordered = field(m, 23, 1), loads = field(m, 22, 1), both = field(m, 21, 1);

	if (both && (ordered || size < 2))
		return compare_and_swap(m);
	if (loads) {
		if (both && field(m, 0, 5) == field(m, 10, 5))
			return STEP_UNSUPPORTED;
		load_exclusive(m, address, bytes, both);
	} else if (ordered) {
		store(m, address, bytes, read_x(m, field(m, 0, 5)));
	} else {
		smear(m, address, bytes << both);
		write_x(m, rs, unknown());
	}
	return STEP_NEXT;
}

/* ld1 .. st4: at most four registers of 16 bytes, contiguous in memory */
static enum step structures(struct machine *m)
{
	struct operand base = read_sp(m, field(m, 5, 5)), step = read_x(m, field(m, 16, 5));

	if (!field(m, 22, 1))
		smear(m, base, 64);
	if (!field(m, 23, 1))
		return field(m, 31, 1) ? STEP_UNSUPPORTED : STEP_NEXT;
	/*
	 * Post-index by a register is handled; by the bytes transferred, the new base is unknown.
	 */
	if (field(m, 16, 5) == 31 || !step.known)
		base = unknown();
	write_sp(m, field(m, 5, 5), plus(base, step.value));
	return STEP_NEXT;
}

enum step arm64_memory(struct machine *m)
{
	switch (field(m, 28, 2)) {
	case 0:
		if (field(m, 26, 1))
			return structures(m);
		return field(m, 24, 1) ? STEP_UNSUPPORTED : exclusive(m);
	case 1:
		return field(m, 24, 1) ? unscaled_ordered(m) : literal(m);
	case 2:
		return pair(m);
	default:
		return one_register(m);
	}
}
