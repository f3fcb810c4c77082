/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The jump tables of an indirect jump: a backward slice from the jump through the computation of
 * its target, to loads of table entries at a constant address plus an index. It recognises the code
 * that gcc and clang generate for switches and computed gotos. Dyninst uses slices, too; here
 * definitions are searched in the graph itself, not in copies of it.
 *
 * Internal to the resolution of jumps.
 */
#ifndef DCPI_JUMP_TABLE_H
#define DCPI_JUMP_TABLE_H

#include "analysis/graph/jump_bound.h"

#define JUMP_TABLES_MAX 64

/**
 * struct jump_table - a jump table
 *
 * Entry i is at @address + i * @bytes; its target is @base + (entry << @scale).
 *
 * @insn:    the load
 * @bounded: i is in @bound; otherwise it starts at 0
 * @most:    if not 0: i is a byte and at most @most
 * @anchor:  see struct cfg_table
 */
struct jump_table {
	uint64_t address;
	uint64_t base;
	uint64_t anchor;
	struct jump_bound bound;
	int64_t most;
	uint32_t insn;
	uint8_t bytes;
	uint8_t scale;
	bool is_signed;
	bool bounded;
	bool anchored;
};

/**
 * struct jump_tables - the tables of one jump
 * @constants: targets that do not come from a table
 * @slot:      address that the target is always loaded from, or 0
 * @pointer:   the target is loaded from an arbitrary place or was passed in, not taken from a table
 */
struct jump_tables {
	struct jump_table tables[JUMP_TABLES_MAX];
	uint32_t count;
	uint64_t constants[JUMP_TABLES_MAX];
	uint32_t constant_count;
	uint64_t slot;
	bool pointer;
};

/**
 * jump_table_find() - find the tables of a jump
 * @insn: the jump
 *
 * Return: 0; -ENOENT if some are unknown (then @ret is empty).
 */
int jump_table_find(struct jump_tables *ret, struct jump_search *search, uint32_t insn);

#endif
