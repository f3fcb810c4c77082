// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/code/code_mask.h"

#include <stdbool.h>
#include <string.h>

#include "db/profile.h"

#define INSN_BYTES 4
#define PAGE_MASK 0xfffULL

/*
 * struct wide - a sequence of move-wide instructions that loads a constant
 * @first: index of its first instruction
 * @count: 0: there is none
 */
struct wide {
	size_t first;
	size_t count;
	uint32_t reg;
	uint64_t value;
};

static uint32_t word_at(const uint8_t *code, size_t index)
{
	uint32_t word;

	memcpy(&word, code + index * INSN_BYTES, sizeof(word));
	return word;
}

static void word_set(uint8_t *code, size_t index, uint32_t word)
{
	memcpy(code + index * INSN_BYTES, &word, sizeof(word));
}

static uint64_t sign_extend(uint64_t value, unsigned int bits)
{
	uint64_t sign = 1ULL << (bits - 1);

	return (value ^ sign) - sign;
}

static bool is_inside(uint64_t target, const struct code_mask_image *image)
{
	return target >= image->start && target < image->end;
}

/* b, bl */
static uint32_t mask_branch(uint32_t word, uint64_t pc, const struct code_mask_image *image)
{
	uint64_t target = pc + sign_extend((uint64_t)(word & 0x3ffffff) << 2, 28);
	uint64_t distance = PROFILE_CODE_OUTSIDE_ARM64 - (pc - image->start);

	if (is_inside(target, image))
		return word;
	return (word & 0xfc000000) | (uint32_t)(distance >> 2 & 0x3ffffff);
}

/* adr, adrp */
static uint32_t mask_address(uint32_t word, uint64_t pc, const struct code_mask_image *image)
{
	uint64_t immediate = sign_extend((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
	bool pages = word >> 31;
	uint64_t target = pages ? (pc & ~PAGE_MASK) + (immediate << 12) : pc + immediate;
	uint64_t offset = pc - image->start, distance;

	if (is_inside(target, image) || (pages && is_inside(target | PAGE_MASK, image)))
		return word;
	if (pages)
		distance = (PROFILE_CODE_OUTSIDE_ARM64 - (offset & ~PAGE_MASK)) >> 12;
	else
		distance = 0;
	return (word & 0x9f00001f) | (uint32_t)(distance & 3) << 29 |
	       (uint32_t)(distance >> 2 & 0x7ffff) << 5;
}

static bool is_wide(uint32_t word)
{
	return (word & 0x9f800000) == 0x92800000 && (word >> 29 & 3) != 1;
}

/* movn and movz begin a sequence, movk continues one. */
static bool wide_continues(const struct wide *wide, size_t index, uint32_t word)
{
	return wide->count > 0 && wide->first + wide->count == index && (word >> 29 & 3) == 3 &&
	       (word & 31) == wide->reg;
}

static void wide_take(struct wide *wide, size_t index, uint32_t word)
{
	unsigned int shift = (word >> 21 & 3) * 16;
	uint64_t part = (uint64_t)(word >> 5 & 0xffff) << shift;

	if (wide_continues(wide, index, word)) {
		wide->value = (wide->value & ~(0xffffULL << shift)) | part;
		wide->count++;
		return;
	}
	*wide = (struct wide){.first = index, .count = 1, .reg = word & 31};
	wide->value = (word >> 29 & 3) == 0 ? ~part : part;
}

/* Replace the constant of a sequence that is an address: all parts become 0. */
static void wide_mask(const struct wide *wide, uint8_t *code, const struct code_mask_image *image)
{
	if (code_mask_operand(wide->value, image) == wide->value)
		return;
	for (size_t i = wide->first; i < wide->first + wide->count; i++) {
		uint32_t word = word_at(code, i) & ~(0xffffU << 5);

		word_set(code, i, word | 2U << 29); /* movn becomes movz */
	}
}

/* An address in code is a literal: no instruction has its upper half. */
static bool mask_literal(uint8_t *code, uint64_t address, const struct code_mask_image *image)
{
	uint64_t value, masked;

	if (address % sizeof(value) != 0)
		return false;
	memcpy(&value, code, sizeof(value));
	masked = code_mask_operand(value, image);
	if (value >> 48 != 0xffff || masked == value)
		return false;
	memcpy(code, &masked, sizeof(masked));
	return true;
}

void code_mask_arm64(uint8_t *code, size_t bytes, uint64_t address,
		     const struct code_mask_image *image)
{
	size_t count = bytes / INSN_BYTES;
	struct wide wide = {.count = 0};

	for (size_t i = 0; i < count; i++) {
		uint64_t pc = address + i * INSN_BYTES;
		uint32_t word = word_at(code, i);

		if (i + 1 < count && mask_literal(code + i * INSN_BYTES, pc, image)) {
			i++;
			continue;
		}
		if ((word & 0x7c000000) == 0x14000000)
			word_set(code, i, mask_branch(word, pc, image));
		else if ((word & 0x1f000000) == 0x10000000)
			word_set(code, i, mask_address(word, pc, image));
		if (is_wide(word)) {
			if (!wide_continues(&wide, i, word))
				wide_mask(&wide, code, image);
			wide_take(&wide, i, word);
		}
	}
	wide_mask(&wide, code, image);
}
