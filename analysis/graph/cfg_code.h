/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions of a procedure: all its bytes decoded in order of address, and instructions
 * inside others that are reached only by a branch. Internal to cfg_create.c and its parts.
 */
#ifndef DCPI_CFG_CODE_H
#define DCPI_CFG_CODE_H

#include "analysis/image/image_code.h"

#define CFG_CODE_NONE UINT32_MAX

/** struct cfg_code_part - code bytes of a range; @place: its first index in cfg_code.places. */
struct cfg_code_part {
	struct image_range range;
	const uint8_t *bytes;
	size_t place;
};

/**
 * struct cfg_code - instructions
 * @image:     NULL: bare code
 * @entry:     address
 * @several:   the beginnings of procedures are unknown: any code without a branch to it may be an
 *             entry
 * @parts:     by address
 * @insns:     by address; they may overlap
 * @places:    index: for each few bytes of each part, the first instruction at or after them
 * @wanted:    ranges to be added: see cfg_code_want()
 * @bad_bytes: bytes that cannot be decoded or are in two instructions
 * @twice:     those of them that are in two instructions
 */
struct cfg_code {
	const struct insn_decoder *decoder;
	struct image_code *image;
	uint64_t entry;
	bool several;
	struct cfg_code_part *parts;
	size_t part_count;
	size_t part_capacity;
	struct insn *insns;
	uint32_t count;
	size_t capacity;
	uint32_t *places;
	struct image_range *wanted;
	size_t wanted_count;
	size_t wanted_capacity;
	uint64_t bad_bytes;
	uint64_t twice;
};

/**
 * cfg_code_add() - decode a part
 * @bytes: owned by the caller
 *
 * Return: 0; -ENOMEM; -E2BIG if there are more instructions than indices.
 */
int cfg_code_add(struct cfg_code *code, struct image_range range, const uint8_t *bytes);

/**
 * cfg_code_add_range() - decode a part of the image; bytes outside of the image are skipped
 *
 * Return: 0 or an error of cfg_code_add().
 */
int cfg_code_add_range(struct cfg_code *code, struct image_range range);

/**
 * cfg_code_want() - request code at an address outside that control leads to
 *
 * Where procedures are known from unwinding information only, some of them are parts that were
 * split off. A target is in a split-off part if it is not at a procedure's beginning, or if its
 * code jumps back into this procedure after the entry. The range of that part is then requested.
 *
 * Return: 1 if it is a part; 0; -ENOMEM.
 */
int cfg_code_want(struct cfg_code *code, uint64_t address);

/** cfg_code_add_wanted() - decode all requested ranges. Return: 0 or an error of cfg_code_add(). */
int cfg_code_add_wanted(struct cfg_code *code);

/** cfg_code_deinit() - free all except the bytes. */
void cfg_code_deinit(struct cfg_code *code);

/** cfg_code_sort() - sort all instructions after parts were added. Return: 0 or -ENOMEM. */
int cfg_code_sort(struct cfg_code *code);

/**
 * cfg_code_add_chain() - decode from an address inside other instructions, until an existing
 * instruction or the end of straight-line code
 *
 * @sorted: number of instructions at the last cfg_code_sort(). Another cfg_code_sort() must follow,
 *          which changes the indices.
 *
 * Return: the number of added instructions, or an error of cfg_code_add().
 */
int cfg_code_add_chain(struct cfg_code *code, uint32_t sorted, uint64_t address);

/**
 * cfg_code_find() - find the instruction that begins at an address, or CFG_CODE_NONE; after
 * sorting.
 */
uint32_t cfg_code_find(const struct cfg_code *code, uint64_t address);

/** cfg_code_contains() - return true if an address is in a part. */
bool cfg_code_contains(const struct cfg_code *code, uint64_t address);

/** cfg_code_next() - find the instruction directly after another one, or CFG_CODE_NONE. */
uint32_t cfg_code_next(const struct cfg_code *code, uint32_t insn);

/**
 * cfg_code_is_padding() - return true for the compilers' filling of gaps: no-operations and traps.
 */
bool cfg_code_is_padding(const struct insn *insn);

#endif
