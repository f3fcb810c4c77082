// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/code/code_mask.h"

#include <stdbool.h>
#include <string.h>

#include "db/profile.h"
#include "kmod/core/x86_insn.h"

/* struct place - an instruction: @code of it, @offset of the following one in the image */
struct place {
	uint8_t *code;
	struct x86_insn insn;
	uint64_t next_address;
	uint64_t next_offset;
	const struct code_mask_image *image;
};

enum field {
	FIELD_DISPLACEMENT,
	FIELD_IMMEDIATE,
};

static uint64_t field_of(const struct x86_insn *insn, enum field field)
{
	return field == FIELD_DISPLACEMENT ? insn->displacement : insn->immediate;
}

/* Return true if a field's lowest byte is at @at: changing the byte changes the field so. */
static bool field_is_at(const struct place *place, enum field field, size_t at)
{
	struct x86_insn changed;
	uint8_t copy[X86_INSN_BYTES_MAX];

	memcpy(copy, place->code, place->insn.length);
	copy[at] ^= 1;
	return x86_insn_decode(&changed, copy, place->insn.length) == 0 &&
	       changed.length == place->insn.length &&
	       (field_of(&changed, field) ^ field_of(&place->insn, field)) == 1;
}

/* mov of a constant of 8 bytes to a register, or between a register and an absolute address */
static bool is_wide(const struct x86_insn *insn)
{
	if (insn->encoding != X86_LEGACY || insn->map != 0)
		return false;
	return ((insn->opcode & 0xf8) == 0xb8 && insn->wide) || (insn->opcode & 0xfc) == 0xa0;
}

static void field_set(const struct place *place, enum field field, uint64_t value)
{
	uint64_t old = field_of(&place->insn, field);
	size_t length = place->insn.length, bytes = is_wide(&place->insn) ? 8 : 4;

	for (size_t at = 1; at + bytes <= length; at++) {
		if (memcmp(place->code + at, &old, bytes) == 0 && field_is_at(place, field, at)) {
			memcpy(place->code + at, &value, bytes);
			return;
		}
	}
	/* If the fields of an instruction cannot be found, it is not stored. */
	memset(place->code, 0x90, length);
}

static bool is_branch(const struct x86_insn *insn)
{
	if (insn->encoding != X86_LEGACY)
		return false;
	if (insn->map == 1)
		return (insn->opcode & 0xf0) == 0x80;
	return insn->map == 0 && (insn->opcode == 0xe8 || insn->opcode == 0xe9);
}

/* Replace a distance to an address outside of the image. */
static void mask_distance(const struct place *place, enum field field)
{
	uint64_t target = place->next_address + field_of(&place->insn, field);
	const struct code_mask_image *image = place->image;

	if (target >= image->start && target < image->end)
		return;
	if (field == FIELD_DISPLACEMENT && place->insn.prefixes & X86_GS && target < INT32_MAX)
		field_set(place, field, target - place->next_offset);
	else
		field_set(place, field, PROFILE_CODE_OUTSIDE_X86 - place->next_offset);
}

static void mask_absolute(const struct place *place, enum field field)
{
	uint64_t value = field_of(&place->insn, field);
	uint64_t masked = code_mask_operand(value, place->image);

	if (masked != value)
		field_set(place, field, masked);
}

static void mask_insn(const struct place *place)
{
	if (place->insn.base == X86_REG_IP)
		mask_distance(place, FIELD_DISPLACEMENT);
	else
		mask_absolute(place, FIELD_DISPLACEMENT);
	if (is_branch(&place->insn))
		mask_distance(place, FIELD_IMMEDIATE);
	else
		mask_absolute(place, FIELD_IMMEDIATE);
}

/* Data in the text may decode as instructions: search all bytes for addresses of the image. */
static void mask_own(uint8_t *code, size_t bytes, const struct code_mask_image *image)
{
	for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at++) {
		uint64_t value;

		memcpy(&value, code + at, sizeof(value));
		if (value >= image->start && value < image->end)
			memset(code + at, 0, sizeof(value));
	}
}

/* Search bytes that do not decode for addresses. */
static void mask_data(uint8_t *code, size_t bytes, const struct code_mask_image *image)
{
	for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at++) {
		uint64_t value, masked;

		memcpy(&value, code + at, sizeof(value));
		masked = code_mask_operand(value, image);
		if (masked != value)
			memcpy(code + at, &masked, sizeof(masked));
	}
}

void code_mask_x86(uint8_t *code, size_t bytes, uint64_t address,
		   const struct code_mask_image *image)
{
	struct place place = {.image = image};
	size_t at = 0;

	while (at < bytes) {
		size_t left = bytes - at < X86_INSN_BYTES_MAX ? bytes - at : X86_INSN_BYTES_MAX;

		if (x86_insn_decode(&place.insn, code + at, (uint32_t)left) < 0) {
			mask_data(code + at, left, image);
			at++;
			continue;
		}
		place.code = code + at;
		at += place.insn.length;
		place.next_address = address + at;
		place.next_offset = place.next_address - image->start;
		mask_insn(&place);
	}
	mask_own(code, bytes, image);
}
