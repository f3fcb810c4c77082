/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions of a procedure, all its bytes decoded in order of address, and
 * those that only a branch into the middle of another one reaches. Internal to
 * cfg_create.c and its parts.
 */
#ifndef DCPI_CFG_CODE_H
#define DCPI_CFG_CODE_H

#include "analysis/image/image_code.h"

#define CFG_CODE_NONE UINT32_MAX

/** struct cfg_code_part - code bytes of a range; @place: its first in cfg_code.places. */
struct cfg_code_part {
	struct image_range range;
	const uint8_t *bytes;
	size_t place;
};

/**
 * struct cfg_code - instructions
 * @image:     NULL: bare code
 * @entry:     address
 * @several:   nobody knows where its procedures begin: all that no branch leads to may
 *             be an entry
 * @parts:     by address
 * @insns:     by address; they may overlap
 * @places:    for each few bytes of each part, the first instruction there or behind
 * @wanted:    ranges to be added: see cfg_code_want()
 * @bad_bytes: no instruction could be made of, or are in two instructions
 * @twice:     of these, what is in two
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
 * @bytes: stay the caller's
 *
 * Return: 0; -ENOMEM; -E2BIG more instructions than can be numbered.
 */
int cfg_code_add(struct cfg_code *code, struct image_range range, const uint8_t *bytes);

/**
 * cfg_code_add_range() - decode a part of the image; what is not in it is left out
 *
 * Return: 0; as for cfg_code_add().
 */
int cfg_code_add_range(struct cfg_code *code, struct image_range range);

/**
 * cfg_code_want() - control leads to an address outside
 *
 * Where nothing but unwinding information tells of procedures, what is jumped into behind
 * its beginning, or jumps back behind ours, is a part that was split off; its range is
 * then wanted.
 *
 * Return: 1 it is a part; 0; -ENOMEM.
 */
int cfg_code_want(struct cfg_code *code, uint64_t address);

/** cfg_code_add_wanted() - decode all that is wanted. Return: as for cfg_code_add(). */
int cfg_code_add_wanted(struct cfg_code *code);

/** cfg_code_deinit() - free all but the bytes. */
void cfg_code_deinit(struct cfg_code *code);

/** cfg_code_sort() - after parts were added: brings all in order. Return: 0 or -ENOMEM. */
int cfg_code_sort(struct cfg_code *code);

/**
 * cfg_code_add_chain() - decode from an address inside other instructions, up to where
 * it meets one of these or goes elsewhere
 *
 * @sorted: how many instructions were there when they were sorted last. cfg_code_sort()
 *          must follow, by which their numbers change.
 *
 * Return: how many were added; or as for cfg_code_add().
 */
int cfg_code_add_chain(struct cfg_code *code, uint32_t sorted, uint64_t address);

/** cfg_code_find() - the instruction that begins at an address, or CFG_CODE_NONE; after sorting. */
uint32_t cfg_code_find(const struct cfg_code *code, uint64_t address);

/** cfg_code_contains() - whether an address is in a part. */
bool cfg_code_contains(const struct cfg_code *code, uint64_t address);

/** cfg_code_next() - the instruction right behind another one, or CFG_CODE_NONE. */
uint32_t cfg_code_next(const struct cfg_code *code, uint32_t insn);

/** cfg_code_is_padding() - what compilers fill gaps with: no-operations and traps. */
bool cfg_code_is_padding(const struct insn *insn);

#endif
