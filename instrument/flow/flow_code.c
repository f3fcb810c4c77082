// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/flow/flow_code.h"

#include <stddef.h>

#include "instrument/codegen/block_code.h"
#include "instrument/calls/call_paths.h"

/* Odd multipliers with evenly distributed bits, for the halves of a key. */
#define SPREAD_LOW UINT32_C(0x9e3779b1)
#define SPREAD_HIGH UINT32_C(0x85ebca6b)
#define ENTRY_BITS 4
_Static_assert(PATH_COUNT_MAX <= 1U << CALL_PATHS_STATE_AT, "bits of a number");
_Static_assert(1 << ENTRY_BITS == sizeof(struct call_path), "an entry's size");

/* Complete the key, which is the path's number, by the state of the last frame. Changes %rax. */
static void complete_key(struct machine_code *code, const struct paths_places *places,
			 unsigned int key)
{
	struct mem_operand depth =
		mem_operand(places->area + (uint32_t)offsetof(struct call_area, head.depth));
	struct mem_operand state = {.at = (uint32_t)offsetof(struct call_frame, state),
				    .index = MACHINE_RAX,
				    .scale = 1};

	block_code_move(code, BLOCK_LOAD32, MACHINE_RAX, depth);
	block_code_move(code, BLOCK_LOAD32, MACHINE_RAX, state);
	block_code_shift(code, MACHINE_RAX, CALL_PATHS_STATE_AT);
	block_code_or(code, key, MACHINE_RAX);
	block_code_number(code, MACHINE_RAX, (uint64_t)places->id << CALL_PATHS_PROCEDURE_AT);
	block_code_or(code, key, MACHINE_RAX);
}

/* Compute the offset of the first entry of a key in the table. Changes %rax. */
static void find_entry(struct machine_code *code, unsigned int ret, unsigned int key)
{
	block_code_copy(code, MACHINE_RAX, key);
	block_code_upper_half(code, MACHINE_RAX);
	block_code_multiply32(code, MACHINE_RAX, MACHINE_RAX, SPREAD_HIGH);
	block_code_multiply32(code, ret, key, SPREAD_LOW);
	block_code_subtract(code, ret, MACHINE_RAX);
	block_code_shift(code, ret, -(32 - CALL_PATHS_BITS));
	block_code_shift(code, ret, ENTRY_BITS);
}

/*
 * Search the table from the entry on. A free entry is claimed atomically, so that a signal handler
 * cannot claim it, too. Changes %rax and @end.
 */
static void search_context_table(struct machine_code *code, const struct paths_places *places,
				 struct mem_operand entry, unsigned int key, unsigned int end,
				 uint32_t found)
{
	uint32_t next = machine_code_label(code);

	block_code_address(code, end, (unsigned int)entry.index, CALL_PATHS_PROBES << ENTRY_BITS);
	machine_code_bind_label(code, next);
	block_code_number(code, MACHINE_RAX, 0);
	block_code_move(code, BLOCK_EXCHANGE, key, entry);
	machine_code_branch(code, MACHINE_EQUAL, found);
	block_code_compare(code, MACHINE_RAX, key);
	machine_code_branch(code, MACHINE_EQUAL, found);
	block_code_alu(code, BLOCK_ALU_ADD, (unsigned int)entry.index, 1 << ENTRY_BITS);
	block_code_compare(code, (unsigned int)entry.index, end);
	machine_code_branch(code, MACHINE_NOT_EQUAL, next);
	paths_code_overflow(code, places);
}

void flow_code_end(struct machine_code *code, const struct point *point,
		   const struct paths_places *places, const struct path_edge *path_edge)
{
	struct mem_operand entry = {.at = places->contexts, .scale = 1};
	uint32_t found = machine_code_label(code), done;
	struct scratch_regs scratch;
	unsigned int key;

	scratch_acquire(code, point, 1U << MACHINE_RAX, 3, true, &scratch);
	key = scratch.registers[0];
	entry.index = scratch.registers[1];
	done = paths_code_number(code, places, path_edge, key);
	complete_key(code, places, key);
	find_entry(code, (unsigned int)entry.index, key);
	block_code_move(code, BLOCK_COMPARE, key, entry);
	machine_code_branch(code, MACHINE_EQUAL, found);
	search_context_table(code, places, entry, key, scratch.registers[2], found);
	machine_code_branch(code, MACHINE_JUMP, done);
	machine_code_bind_label(code, found);
	entry.at += (uint32_t)offsetof(struct call_path, count);
	block_code_increment(code, entry);
	machine_code_bind_label(code, done);
	scratch_release(code, &scratch);
}
