// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/codegen/block_code.h"

#include <string.h>

#define GS 0x65
#define SHORT 0x66 /* operands of 16 bits */
#define REX 0x40
#define REX_W 0x08
#define REX_R 0x04
#define REX_X 0x02
#define REX_B 0x01
#define NO_INDEX 4
#define BYTES_MAX 16

/* An instruction under construction. */
struct bytes {
	uint8_t all[BYTES_MAX];
	size_t count;
};

static void block_code_put(struct bytes *bytes, unsigned int byte)
{
	bytes->all[bytes->count++] = (uint8_t)byte;
}

static void block_code_put_u32(struct bytes *bytes, uint32_t value)
{
	memcpy(bytes->all + bytes->count, &value, sizeof(value));
	bytes->count += sizeof(value);
}

static bool is_byte(uint32_t number)
{
	return (int32_t)number == (int8_t)number;
}

/* Emit one byte if the number fits, else four; the opcode or ModRM byte encodes the size. */
static void put_shortest(struct bytes *bytes, uint32_t number)
{
	if (is_byte(number))
		block_code_put(bytes, number & 0xff);
	else
		block_code_put_u32(bytes, number);
}

static void emit(struct machine_code *code, const struct bytes *bytes)
{
	machine_code_bytes(code, bytes->all, bytes->count);
}

/*
 * Emit a memory operand: a base register and a displacement, which is omitted if it is 0. The
 * encodings for %rbp without a displacement, and for %rsp without a SIB byte, have other meanings.
 */
static void put_based(struct bytes *bytes, unsigned int reg, const struct mem_operand *place)
{
	unsigned int base = (unsigned int)place->index & 7;
	bool none = place->at == 0 && base != MACHINE_RBP;
	unsigned int mode = none ? 0 : is_byte(place->at) ? 0x40 : 0x80;

	block_code_put(bytes, mode | (reg & 7) << 3 | base);
	if (base == MACHINE_RSP)
		block_code_put(bytes, 0x24);
	if (!none)
		put_shortest(bytes, place->at);
}

/* Emit a memory operand: a displacement, and an optional index register with a scale. */
static void put_scaled(struct bytes *bytes, unsigned int reg, const struct mem_operand *place)
{
	unsigned int index = place->index >= 0 ? (unsigned int)place->index : NO_INDEX;

	block_code_put(bytes, (reg & 7) << 3 | 4);
	block_code_put(bytes,
		       (unsigned int)__builtin_ctz(place->scale) << 6 | (index & 7) << 3 | 5);
	block_code_put_u32(bytes, place->at);
}

/* Append prefixes, opcode (two bytes if above 255) and operands %reg, %gs:place. */
static struct bytes append_operands(struct bytes bytes, bool wide, unsigned int opcode,
				    unsigned int reg, struct mem_operand place)
{
	bool based = place.index >= 0 && place.scale == 1;
	unsigned int rex = (wide ? REX_W : 0) | (reg >= 8 ? REX_R : 0);

	if (place.index >= 8)
		rex |= based ? REX_B : REX_X;
	block_code_put(&bytes, GS);
	if (rex != 0)
		block_code_put(&bytes, REX | rex);
	if (opcode > 0xff)
		block_code_put(&bytes, opcode >> 8);
	block_code_put(&bytes, opcode & 0xff);
	if (based)
		put_based(&bytes, reg, &place);
	else
		put_scaled(&bytes, reg, &place);
	return bytes;
}

static struct bytes with_place(bool wide, unsigned int opcode, unsigned int reg,
			       struct mem_operand place)
{
	return append_operands((struct bytes){.count = 0}, wide, opcode, reg, place);
}

/* Return an instruction with an opcode and the operands %reg, %rm. */
static struct bytes with_registers(bool wide, unsigned int opcode, unsigned int reg,
				   unsigned int rm)
{
	unsigned int rex = (wide ? REX_W : 0) | (reg >= 8 ? REX_R : 0) | (rm >= 8 ? REX_B : 0);
	struct bytes bytes = {.count = 0};

	if (rex != 0)
		block_code_put(&bytes, REX | rex);
	block_code_put(&bytes, opcode);
	block_code_put(&bytes, 0xc0 | (reg & 7) << 3 | (rm & 7));
	return bytes;
}

void block_code_move(struct machine_code *code, enum block_move move, unsigned int reg,
		     struct mem_operand place)
{
	static const struct {
		uint16_t opcode;
		bool wide;
	} moves[] = {
		[BLOCK_LOAD] = {0x8b, true},	   [BLOCK_LOAD32] = {0x8b, false},
		[BLOCK_LOAD16] = {0x0fb7, false},  [BLOCK_LOAD16_SIGNED] = {0x0fbf, true},
		[BLOCK_STORE] = {0x89, true},	   [BLOCK_STORE32] = {0x89, false},
		[BLOCK_STORE16] = {0x89, false},   [BLOCK_ADD_TO] = {0x01, true},
		[BLOCK_SUBTRACT] = {0x2b, true},   [BLOCK_COMPARE] = {0x39, true},
		[BLOCK_COMPARE32] = {0x39, false}, [BLOCK_EXCHANGE] = {0x0fb1, true},
	};
	struct bytes bytes = {.count = 0};

	if (move == BLOCK_STORE16)
		block_code_put(&bytes, SHORT);
	bytes = append_operands(bytes, moves[move].wide, moves[move].opcode, reg, place);
	emit(code, &bytes);
}

static void emit_number(struct machine_code *code, bool wide, unsigned int opcode, unsigned int reg,
			struct mem_operand place, uint32_t number)
{
	struct bytes bytes = with_place(wide, opcode, reg, place);

	block_code_put_u32(&bytes, number);
	emit(code, &bytes);
}

void block_code_set(struct machine_code *code, struct mem_operand place, uint32_t number)
{
	emit_number(code, true, 0xc7, 0, place, number);
}

void block_code_set32(struct machine_code *code, struct mem_operand place, uint32_t number)
{
	emit_number(code, false, 0xc7, 0, place, number);
}

static void emit_alu_place(struct machine_code *code, bool wide, enum block_alu alu,
			   struct mem_operand place, uint32_t number)
{
	struct bytes bytes = with_place(wide, is_byte(number) ? 0x83 : 0x81, alu, place);

	put_shortest(&bytes, number);
	emit(code, &bytes);
}

void block_code_add32(struct machine_code *code, struct mem_operand place, uint32_t number)
{
	emit_alu_place(code, false, BLOCK_ALU_ADD, place, number);
}

void block_code_add(struct machine_code *code, struct mem_operand place, uint32_t number)
{
	emit_alu_place(code, true, BLOCK_ALU_ADD, place, number);
}

void block_code_add16(struct machine_code *code, struct mem_operand place, uint32_t number)
{
	struct bytes bytes = {.count = 0};

	block_code_put(&bytes, SHORT);
	bytes = append_operands(bytes, false, is_byte(number) ? 0x83 : 0x81, BLOCK_ALU_ADD, place);
	block_code_put(&bytes, number & 0xff);
	if (!is_byte(number))
		block_code_put(&bytes, number >> 8 & 0xff);
	emit(code, &bytes);
}

void block_code_push(struct machine_code *code, struct mem_operand place)
{
	struct bytes bytes = with_place(false, 0xff, 6, place);

	emit(code, &bytes);
	machine_code_stack(code, 8);
}

void block_code_pop(struct machine_code *code, struct mem_operand place)
{
	struct bytes bytes = with_place(false, 0x8f, 0, place);

	emit(code, &bytes);
	machine_code_stack(code, -8);
}

void block_code_compare32(struct machine_code *code, struct mem_operand place, uint32_t number)
{
	emit_alu_place(code, false, BLOCK_ALU_COMPARE, place, number);
}

void block_code_compare_with(struct machine_code *code, struct mem_operand place, uint32_t number)
{
	emit_alu_place(code, true, BLOCK_ALU_COMPARE, place, number);
}

void block_code_increment(struct machine_code *code, struct mem_operand place)
{
	struct bytes bytes = with_place(true, 0xff, 0, place);

	emit(code, &bytes);
}

static void emit_alu(struct machine_code *code, bool wide, enum block_alu alu, unsigned int reg,
		     uint32_t number)
{
	struct bytes bytes = with_registers(wide, is_byte(number) ? 0x83 : 0x81, alu, reg);

	put_shortest(&bytes, number);
	emit(code, &bytes);
}

void block_code_alu32(struct machine_code *code, enum block_alu alu, unsigned int reg,
		      uint32_t number)
{
	emit_alu(code, false, alu, reg, number);
}

void block_code_alu(struct machine_code *code, enum block_alu alu, unsigned int reg,
		    uint32_t number)
{
	emit_alu(code, true, alu, reg, number);
}

void block_code_number(struct machine_code *code, unsigned int reg, uint64_t number)
{
	bool is_signed = (int64_t)number < 0 && (int64_t)number == (int32_t)number;
	bool wide = number > UINT32_MAX;
	unsigned int rex = (wide ? REX_W : 0) | (reg >= 8 ? REX_B : 0);
	struct bytes bytes = {.count = 0};

	if (rex != 0)
		block_code_put(&bytes, REX | rex);
	block_code_put(&bytes, is_signed ? 0xc7 : 0xb8 | (reg & 7));
	if (is_signed)
		block_code_put(&bytes, 0xc0 | (reg & 7));
	block_code_put_u32(&bytes, (uint32_t)number);
	if (wide && !is_signed)
		block_code_put_u32(&bytes, (uint32_t)(number >> 32));
	emit(code, &bytes);
}

void block_code_copy(struct machine_code *code, unsigned int to, unsigned int from)
{
	struct bytes bytes = with_registers(true, 0x89, from, to);

	emit(code, &bytes);
}

void block_code_low_byte(struct machine_code *code, unsigned int to, unsigned int from)
{
	/* Without a REX prefix, numbers 4 to 7 would mean %ah to %bh. */
	uint8_t bytes[] = {(uint8_t)(REX | (to >= 8 ? REX_R : 0) | (from >= 8 ? REX_B : 0)), 0x0f,
			   0xb6, (uint8_t)(0xc0 | (to & 7) << 3 | (from & 7))};

	machine_code_bytes(code, bytes, sizeof(bytes));
}

void block_code_address(struct machine_code *code, unsigned int to, unsigned int from,
			int32_t number)
{
	struct bytes bytes = {.count = 0};

	block_code_put(&bytes, REX | REX_W | (to >= 8 ? REX_R : 0) | (from >= 8 ? REX_B : 0));
	block_code_put(&bytes, 0x8d);
	block_code_put(&bytes,
		       (is_byte((uint32_t)number) ? 0x40 : 0x80) | (to & 7) << 3 | (from & 7));
	if ((from & 7) == MACHINE_RSP)
		block_code_put(&bytes, 0x24);
	put_shortest(&bytes, (uint32_t)number);
	emit(code, &bytes);
}

void block_code_address_of(struct machine_code *code, unsigned int to, struct mem_operand place)
{
	unsigned int rex = (to >= 8 ? REX_R : 0) | (place.index >= 8 ? REX_X : 0);
	struct bytes bytes = {.count = 0};

	if (rex != 0)
		block_code_put(&bytes, REX | rex);
	block_code_put(&bytes, 0x8d);
	put_scaled(&bytes, to, &place);
	emit(code, &bytes);
}

void block_code_triple(struct machine_code *code, unsigned int to, unsigned int from)
{
	struct bytes bytes = {.count = 0};

	block_code_put(&bytes,
		       REX | REX_W | (to >= 8 ? REX_R : 0) | (from >= 8 ? REX_B | REX_X : 0));
	block_code_put(&bytes, 0x8d);
	block_code_put(&bytes, 0x44 | (to & 7) << 3);
	block_code_put(&bytes, 0x40 | (from & 7) << 3 | (from & 7));
	block_code_put(&bytes, 0);
	emit(code, &bytes);
}

void block_code_or(struct machine_code *code, unsigned int to, unsigned int from)
{
	struct bytes bytes = with_registers(true, 0x09, from, to);

	emit(code, &bytes);
}

void block_code_subtract(struct machine_code *code, unsigned int to, unsigned int from)
{
	struct bytes bytes = with_registers(true, 0x29, from, to);

	emit(code, &bytes);
}

void block_code_compare(struct machine_code *code, unsigned int a, unsigned int b)
{
	struct bytes bytes = with_registers(true, 0x39, b, a);

	emit(code, &bytes);
}

void block_code_test_bit(struct machine_code *code, unsigned int of, unsigned int bit)
{
	uint8_t bytes[] = {(uint8_t)(REX | REX_W | (bit >= 8 ? REX_R : 0) | (of >= 8 ? REX_B : 0)),
			   0x0f, 0xa3, (uint8_t)(0xc0 | (bit & 7) << 3 | (of & 7))};

	machine_code_bytes(code, bytes, sizeof(bytes));
}

void block_code_multiply32(struct machine_code *code, unsigned int reg, unsigned int from,
			   uint32_t number)
{
	struct bytes bytes = with_registers(false, 0x69, reg, from);

	block_code_put_u32(&bytes, number);
	emit(code, &bytes);
}

void block_code_shift(struct machine_code *code, unsigned int reg, int bits)
{
	bool left = bits >= 0;
	struct bytes bytes = with_registers(left, 0xc1, left ? 4 : 5, reg);

	block_code_put(&bytes, (unsigned int)(left ? bits : -bits));
	emit(code, &bytes);
}

void block_code_upper_half(struct machine_code *code, unsigned int reg)
{
	struct bytes bytes = with_registers(true, 0xc1, 5, reg);

	block_code_put(&bytes, 32);
	emit(code, &bytes);
}

void block_code_fence(struct machine_code *code)
{
	static const uint8_t lfence[] = {0x0f, 0xae, 0xe8};

	machine_code_bytes(code, lfence, sizeof(lfence));
}

void block_code_time(struct machine_code *code, unsigned int reg)
{
	static const uint8_t rdtsc[] = {0x0f, 0x31};

	machine_code_bytes(code, rdtsc, sizeof(rdtsc));
	block_code_shift(code, MACHINE_RDX, 32);
	block_code_or(code, reg, reg == MACHINE_RAX ? MACHINE_RDX : MACHINE_RAX);
}
