// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/a64_memory.h"

#include <string.h>

#define STACK 31

enum index_mode {
	INDEX_POST = 1,
	INDEX_OFFSET = 2, /* the base does not change */
	INDEX_PRE = 3,
};

/* struct access - a load or store, without its registers */
struct access {
	bool load;
	bool vector;
	uint8_t bytes; /* of memory, for all registers together */
};

static void access_apply(struct insn *insn, struct access access)
{
	insn->class = access.load ? INSN_LOAD : INSN_STORE;
	insn->flags |= access.load ? INSN_READS_MEMORY : INSN_WRITES_MEMORY;
	insn->memory.bytes = access.bytes;
	insn->operand_bytes = access.bytes;
	if (access.vector)
		insn->flags |= INSN_FP;
}

/* @t is loaded or stored. */
static void data_register(struct insn *insn, struct access access, unsigned int t)
{
	unsigned int reg = access.vector ? t + INSN_REG_FP : t;

	if (reg == 31)
		return;
	if (!access.load) {
		insn_regs_add(&insn->reads, reg);
		a64_source(insn, reg);
		return;
	}
	insn_regs_add(&insn->writes, reg);
	if (insn->destination == INSN_REG_NONE)
		insn->destination = (uint8_t)reg;
}

static void base_register(struct insn *insn, uint32_t word, int64_t displacement,
			  enum index_mode mode)
{
	unsigned int n = a64_bits(word, 5, 5);

	insn->memory.base = (uint8_t)n;
	insn->memory.displacement = mode == INDEX_POST ? 0 : displacement;
	insn_regs_add(&insn->reads, n);
	if (mode != INDEX_OFFSET) {
		insn_regs_add(&insn->writes, n);
		insn->memory.pushes = true;
		insn->immediate = displacement;
	}
}

static void prefetch(struct insn *insn)
{
	insn->class = INSN_PREFETCH;
	insn->memory.bytes = 0;
	insn->operand_bytes = 8;
}

/* Decode size and direction from size (30-31), V (26) and opc (22-23). */
static bool access_of_one(struct access *access, uint32_t word, bool *is_prefetch)
{
	unsigned int size = a64_bits(word, 30, 2), opc = a64_bits(word, 22, 2);

	*is_prefetch = false;
	access->vector = a64_bits(word, 26, 1) != 0;
	access->load = opc != 0;
	access->bytes = (uint8_t)(1U << size);
	if (access->vector) {
		access->load = (opc & 1) != 0;
		if (opc >= 2) {
			access->bytes = 16;
			return size == 0;
		}
		return true;
	}
	if (opc == 2 && size == 3)
		*is_prefetch = true;
	return opc < 3 || size < 2;
}

static void one_register(struct insn *insn, struct access access, uint32_t word)
{
	access_apply(insn, access);
	data_register(insn, access, a64_bits(word, 0, 5));
	if (!access.vector && access.load && a64_bits(word, 22, 2) == 2)
		insn->operand_bytes = 8; /* sign-extended to 64 bits */
}

static bool index_register(struct insn *insn, struct access access, uint32_t word)
{
	unsigned int m = a64_bits(word, 16, 5);

	if (a64_bits(word, 14, 1) == 0)
		return false;
	base_register(insn, word, 0, INDEX_OFFSET);
	if (m != 31) {
		insn_regs_add(&insn->reads, m);
		insn->memory.index = (uint8_t)m;
	}
	if (a64_bits(word, 12, 1) != 0)
		insn->memory.scale = (uint8_t)__builtin_ctz(access.bytes);
	return true;
}

static bool atomic(struct insn *insn, uint32_t word)
{
	unsigned int s = a64_bits(word, 16, 5), t = a64_bits(word, 0, 5),
		     opc = a64_bits(word, 12, 3);
	struct access access = {.load = true, .bytes = (uint8_t)(1U << a64_bits(word, 30, 2))};

	if (a64_bits(word, 26, 1) != 0)
		return false;
	base_register(insn, word, 0, INDEX_OFFSET);
	access_apply(insn, access);
	if (a64_bits(word, 15, 1) != 0 && opc != 0) { /* ldapr */
		data_register(insn, access, t);
		return opc == 4 && a64_bits(word, 22, 2) == 2 && s == 31;
	}
	insn->class = INSN_ATOMIC;
	insn->flags |= INSN_WRITES_MEMORY;
	a64_read(insn, s);
	a64_source(insn, s);
	data_register(insn, access, t);
	return true;
}

/* ldraa, ldrab */
static bool authenticated_load(struct insn *insn, uint32_t word)
{
	struct access access = {.load = true, .bytes = 8};
	int64_t offset = (a64_signed(word, 22, 1) * 512 + a64_bits(word, 12, 9)) * 8;

	if (a64_bits(word, 30, 2) != 3 || a64_bits(word, 26, 1) != 0)
		return false;
	access_apply(insn, access);
	data_register(insn, access, a64_bits(word, 0, 5));
	base_register(insn, word, offset, a64_bits(word, 11, 1) ? INDEX_PRE : INDEX_OFFSET);
	return true;
}

/* Decode accesses of one register, and other instructions encoded in the same space. */
static bool single(struct insn *insn, uint32_t word)
{
	bool scaled = a64_bits(word, 24, 2) == 1, is_prefetch, defined;
	unsigned int mode = a64_bits(word, 10, 2);
	struct access access;

	if (a64_bits(word, 25, 1) != 0)
		return false;
	if (!scaled && a64_bits(word, 21, 1) != 0 && mode != 2)
		return mode == 0 ? atomic(insn, word) : authenticated_load(insn, word);
	defined = access_of_one(&access, word, &is_prefetch);
	if (!defined)
		return false;
	if (scaled) {
		base_register(insn, word, (int64_t)a64_bits(word, 10, 12) * access.bytes,
			      INDEX_OFFSET);
	} else if (a64_bits(word, 21, 1) != 0) {
		if (!index_register(insn, access, word))
			return false;
	} else {
		/* unscaled, post, unprivileged, pre */
		if ((mode != 0 && is_prefetch) || (mode == 2 && access.vector))
			return false;
		base_register(insn, word, a64_signed(word, 12, 9),
			      mode == 1 || mode == 3 ? (enum index_mode)mode : INDEX_OFFSET);
	}
	if (is_prefetch)
		prefetch(insn);
	else
		one_register(insn, access, word);
	return true;
}

static bool literal(struct insn *insn, uint32_t word)
{
	unsigned int opc = a64_bits(word, 30, 2);
	struct access access = {.load = true, .vector = a64_bits(word, 26, 1) != 0};

	if (a64_bits(word, 24, 1) != 0 || (access.vector && opc == 3))
		return false;
	insn->memory.pc_relative = true;
	insn->memory.displacement =
		(int64_t)(insn->address + (uint64_t)(a64_signed(word, 5, 19) * 4));
	if (opc == 3) {
		prefetch(insn);
		return true;
	}
	access.bytes = access.vector ? (uint8_t)(4U << opc) : opc == 1 ? 8 : 4;
	access_apply(insn, access);
	data_register(insn, access, a64_bits(word, 0, 5));
	if (opc == 2 && !access.vector)
		insn->operand_bytes = 8;
	return true;
}

static bool pair(struct insn *insn, uint32_t word)
{
	unsigned int opc = a64_bits(word, 30, 2), mode = a64_bits(word, 23, 2);
	struct access access = {
		.load = a64_bits(word, 22, 1) != 0,
		.vector = a64_bits(word, 26, 1) != 0,
	};
	unsigned int bytes = access.vector ? 4U << opc : opc == 2 ? 8 : 4;
	bool tagged = !access.vector && opc == 1 && !access.load; /* stgp */

	if (opc == 3 || (!access.vector && opc == 1 && mode == 0))
		return false;
	access.bytes = (uint8_t)(tagged ? 16 : 2 * bytes);
	access_apply(insn, access);
	insn->operand_bytes = (uint8_t)(!access.vector && opc == 1 ? 8 : bytes);
	data_register(insn, access, a64_bits(word, 0, 5));
	data_register(insn, access, a64_bits(word, 10, 5));
	base_register(insn, word, a64_signed(word, 15, 7) * (tagged ? 16 : bytes),
		      mode == 0 ? INDEX_OFFSET : (enum index_mode)mode);
	return true;
}

/* cas, casp */
static bool compare_and_swap(struct insn *insn, uint32_t word, bool paired)
{
	unsigned int s = a64_bits(word, 16, 5), t = a64_bits(word, 0, 5), i;
	unsigned int bytes = paired ? 4U << a64_bits(word, 30, 1) : 1U << a64_bits(word, 30, 2);
	struct access access = {.load = true, .bytes = (uint8_t)(paired ? 2 * bytes : bytes)};

	if (a64_bits(word, 10, 5) != 31 || (paired && ((s | t) & 1) != 0))
		return false;
	base_register(insn, word, 0, INDEX_OFFSET);
	access_apply(insn, access);
	insn->class = INSN_ATOMIC;
	insn->flags |= INSN_WRITES_MEMORY;
	insn->operand_bytes = (uint8_t)bytes;
	for (i = 0; i < (paired ? 2U : 1U); i++) {
		a64_source(insn, s + i);
		a64_source(insn, t + i);
		a64_read(insn, s + i);
		a64_read(insn, t + i);
		data_register(insn, access, s + i);
	}
	return true;
}

static bool exclusive(struct insn *insn, uint32_t word)
{
	bool ordered = a64_bits(word, 23, 1) != 0, paired = a64_bits(word, 21, 1) != 0;
	struct access access = {
		.load = a64_bits(word, 22, 1) != 0,
		.bytes = (uint8_t)(1U << a64_bits(word, 30, 2)),
	};

	if (ordered && paired)
		return compare_and_swap(insn, word, false);
	if (paired && word >> 31 == 0)
		return compare_and_swap(insn, word, true);
	base_register(insn, word, 0, INDEX_OFFSET);
	data_register(insn, access, a64_bits(word, 0, 5));
	if (paired) {
		data_register(insn, access, a64_bits(word, 10, 5));
		access.bytes *= 2;
	}
	access_apply(insn, access);
	if (ordered)
		return true;
	insn->class = INSN_ATOMIC;
	if (!access.load) { /* status result; memory is unchanged on failure */
		a64_write(insn, a64_bits(word, 16, 5));
		insn->destination = (uint8_t)(a64_bits(word, 16, 5) == 31 ? INSN_REG_NONE
									  : a64_bits(word, 16, 5));
		insn->flags |= INSN_CONDITIONAL;
	}
	return true;
}

/* Return the number of registers of whole structures, 0 if undefined. */
static unsigned int structure_registers(unsigned int opcode)
{
	static const uint8_t counts[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};

	return counts[opcode];
}

/* Return the size of a lane, 0 if undefined; 16: one element to all lanes (ld1r). */
static unsigned int lane_bytes(uint32_t word)
{
	unsigned int scale = a64_bits(word, 14, 2), size = a64_bits(word, 10, 2);
	bool s = a64_bits(word, 12, 1) != 0;

	switch (scale) {
	case 0:
		return 1;
	case 1:
		return (size & 1) == 0 ? 2 : 0;
	case 2:
		if (size == 0)
			return 4;
		return size == 1 && !s ? 8 : 0;
	default:
		return a64_bits(word, 22, 1) != 0 && !s ? 1U << size : 0;
	}
}

static bool structures(struct insn *insn, uint32_t word)
{
	bool lanes = a64_bits(word, 24, 1) != 0, post = a64_bits(word, 23, 1) != 0,
	     q = a64_bits(word, 30, 1) != 0;
	unsigned int opcode = a64_bits(word, 12, 4), m = a64_bits(word, 16, 5), i, count, bytes;
	struct access access = {.load = a64_bits(word, 22, 1) != 0, .vector = true};

	if (word >> 31 != 0 || (!post && (word & 0x1f0000) != 0) ||
	    (!lanes && a64_bits(word, 21, 1) != 0))
		return false;
	count = lanes ? (a64_bits(word, 13, 1) << 1 | a64_bits(word, 21, 1)) + 1
		      : structure_registers(opcode);
	bytes = lanes ? lane_bytes(word) : q ? 16 : 8;
	/* A structure needs more than one element per register. */
	if (count == 0 || bytes == 0 ||
	    (!lanes && (opcode & 2) == 0 && a64_bits(word, 10, 2) == 3 && !q))
		return false;
	access.bytes = (uint8_t)(count * bytes);
	access_apply(insn, access);
	insn->operand_bytes = q ? 16 : 8;
	for (i = 0; i < count; i++) {
		unsigned int t = (a64_bits(word, 0, 5) + i) % 32;

		data_register(insn, access, t);
		if (lanes && access.load && a64_bits(word, 14, 2) != 3)
			insn_regs_add(&insn->reads, INSN_REG_FP + t);
	}
	base_register(insn, word, post ? access.bytes : 0, post ? INDEX_POST : INDEX_OFFSET);
	if (post && m != 31) {
		insn_regs_add(&insn->reads, m);
		insn->immediate = 0;
	}
	return true;
}

/* ldapur and similar: single registers with an offset */
static bool ordered_unscaled(struct insn *insn, uint32_t word)
{
	struct access access;
	bool is_prefetch;

	if (a64_bits(word, 10, 2) != 0 || !access_of_one(&access, word, &is_prefetch) ||
	    is_prefetch || access.vector)
		return false;
	base_register(insn, word, a64_signed(word, 12, 9), INDEX_OFFSET);
	one_register(insn, access, word);
	return true;
}

/* Memory tags: ldg, stg and similar */
static bool tags(struct insn *insn, uint32_t word)
{
	unsigned int opc = a64_bits(word, 22, 2), mode = a64_bits(word, 10, 2),
		     t = a64_bits(word, 0, 5);
	bool load = mode == 0 && (opc == 1 || opc == 3), whole = mode == 0 && opc != 1;
	struct access access = {.load = load};

	if (whole && a64_bits(word, 12, 9) != 0) /* stzgm, stgm, ldgm */
		return false;
	access_apply(insn, access);
	insn->operand_bytes = 8;
	if (load) {
		data_register(insn, access, t);
		if (!whole)
			a64_read(insn, t);
	} else if (whole) {
		data_register(insn, access, t);
	} else {
		insn_regs_add(&insn->reads, t);
		insn->sources[0] = (uint8_t)t;
	}
	base_register(insn, word, a64_signed(word, 12, 9) * 16,
		      mode == 1 || mode == 3 ? (enum index_mode)mode : INDEX_OFFSET);
	return true;
}

/* cpyp, setm and similar: sequences of three instructions that copy or set memory */
static bool copy(struct insn *insn, uint32_t word)
{
	bool set = a64_bits(word, 22, 2) == 3;
	unsigned int d = a64_bits(word, 0, 5), n = a64_bits(word, 5, 5), s = a64_bits(word, 16, 5);

	/* @n is the size, @s the source or the value to set */
	if (a64_bits(word, 30, 2) != 0 || d == 31 || (!set && s == 31) || d == n || d == s ||
	    n == s || (set && a64_bits(word, 14, 2) == 3))
		return false;
	insn->class = INSN_STRING;
	insn->flags |= INSN_WRITES_MEMORY | (set ? 0 : INSN_READS_MEMORY);
	insn->operand_bytes = 8;
	a64_read(insn, d);
	a64_read(insn, n);
	a64_read(insn, s);
	a64_write(insn, d);
	a64_write(insn, n);
	if (!set)
		a64_write(insn, s);
	/* The first of the three passes the algorithm to the others in the flags. */
	insn_regs_add(a64_bits(word, set ? 14 : 22, 2) == 0 ? &insn->writes : &insn->reads,
		      INSN_REG_FLAGS);
	return true;
}

bool a64_memory_decode(struct insn *insn, uint32_t word)
{
	bool vector = a64_bits(word, 26, 1) != 0;

	switch (a64_bits(word, 28, 2)) {
	case 0:
		if (vector)
			return structures(insn, word);
		return a64_bits(word, 24, 1) == 0 && exclusive(insn, word);
	case 1:
		if (a64_bits(word, 24, 1) == 0)
			return literal(insn, word);
		if (a64_bits(word, 10, 2) == 1 && a64_bits(word, 21, 1) == 0 && word >> 30 == 0)
			return copy(insn, word);
		if (!vector && word >> 24 == 0xd9 && a64_bits(word, 21, 1) != 0)
			return tags(insn, word);
		return a64_bits(word, 21, 1) == 0 && ordered_unscaled(insn, word);
	case 2:
		return pair(insn, word);
	default:
		return single(insn, word);
	}
}
