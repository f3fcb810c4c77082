/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables that an indirect jump looks its target up in: slices back from the jump
 * through what computes the target, to loads of table entries at a constant address plus
 * an index. Shapes: what gcc and clang make of switches and of computed gotos. (Dyninst's
 * way too; here definitions are looked for in the graph, not through copies of it.)
 *
 * Internal to the resolution of jumps.
 */
#ifndef DCPI_JUMP_TABLE_H
#define DCPI_JUMP_TABLE_H

#include "analysis/graph/jump_bound.h"

#define JUMP_TABLES_MAX 64

/**
 * struct jump_table - entry i is at @address + i * @bytes; it leads to
 * @base + (entry << @scale)
 * @insn:    the load
 * @bounded: i is in @bound; else from 0 on
 * @most:    if not 0: i is a byte, which has no larger values
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
 * struct jump_tables - those of one jump
 * @constants: targets that no table is looked at for
 * @slot:    0, or where the target is loaded from, always
 * @pointer: the target is just loaded from somewhere, or handed over: no table
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
 * jump_table_find() - the tables of a jump
 * @insn: the jump
 *
 * Return: 0; -ENOENT they are not all known (then there are none).
 */
int jump_table_find(struct jump_tables *ret, struct jump_search *search, uint32_t insn);

#endif
