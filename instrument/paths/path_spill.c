// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/path_spill.h"

#include <stdlib.h>

#include "instrument/codegen/block_code.h"
#include "instrument/codegen/liveness.h"
#include "lib/array.h"

#define CELL_STACK_BYTES 16
/* A cell is identified by the stack pointer after one push. */
#define CELL_BELOW 8U
/* struct cell { number, stack pointer, began } twice as large with a metric. */
#define CELL_OF 8
#define CELL_BEGAN 16

/* Bits of a cell that mark a saved word: no stack pointer has them. */
#define TAG_SHIFT 48
#define TAGS 0x7fffU

struct path_spill_stub {
	struct point point;
	uint32_t label;
	uint32_t done;
	bool after;
};

void path_spill_deinit(struct path_spill *spill)
{
	free(spill->cold_stubs);
	*spill = (struct path_spill){0};
}

/* --- saving at the call --------------------------------------------------- */

/*
 * Return the place of a cell, whose offset is in register @cell; cells have double size with a
 * metric.
 */
static struct mem_operand cell_at(const struct paths_places *places, unsigned int cell, uint32_t at)
{
	return (struct mem_operand){
		.at = places->kept + at, .index = (int)cell, .scale = places->metric ? 2 : 1};
}

/* Compute the program's stack pointer minus CELL_BELOW, and the offset of its cell. */
static void find_cell(struct machine_code *code, const struct scratch_regs *scratch)
{
	unsigned int stack = scratch->registers[0], cell = scratch->registers[1];

	block_code_address(code, stack, MACHINE_RSP, (int32_t)(scratch->depth - CELL_BELOW));
	block_code_copy(code, cell, stack);
	block_code_alu32(code, BLOCK_ALU_AND, cell, PATHS_STACK_BYTES - CELL_STACK_BYTES);
}

/* Save the number in a cell, whose mark is already stored. */
static void store_cell(struct machine_code *code, const struct paths_places *places,
		       unsigned int reg, unsigned int cell)
{
	paths_code_load(code, places, reg);
	block_code_move(code, BLOCK_STORE, reg, cell_at(places, cell, 0));
	if (!places->measures)
		return;
	block_code_move(code, BLOCK_LOAD, reg, mem_operand(places->number + PATHS_NUMBER_BEGAN));
	block_code_move(code, BLOCK_STORE, reg, cell_at(places, cell, CELL_BEGAN));
}

/* Restore the number from a cell, after its mark was compared. */
static void load_cell(struct machine_code *code, const struct paths_places *places,
		      unsigned int reg, unsigned int cell)
{
	uint32_t lost = machine_code_label(code);

	block_code_number(code, reg, places->no_path);
	machine_code_branch(code, MACHINE_NOT_EQUAL, lost);
	if (places->measures) {
		block_code_move(code, BLOCK_LOAD, reg, cell_at(places, cell, CELL_BEGAN));
		block_code_move(code, BLOCK_STORE, reg,
				mem_operand(places->number + PATHS_NUMBER_BEGAN));
	}
	block_code_move(code, BLOCK_LOAD, reg, cell_at(places, cell, 0));
	machine_code_bind_label(code, lost);
	paths_code_store(code, places, reg);
}

/* Return true if nothing is measured and flags are not live. */
static bool path_spill_is_plain(const struct point *point, const struct paths_places *places)
{
	return !places->measures && (point->live & LIVENESS_FLAGS) == 0;
}

/* The number is in its cell, so a narrow word must not be saved again. */
static void clear_narrow_word(struct machine_code *code, const struct paths_places *places)
{
	if (places->narrow)
		paths_code_leave(code, places);
}

/*
 * Used if all registers are live before a call: one is spilled, so the stack pointer has the value
 * that identifies the cell.
 */
static void save_using_stack(struct machine_code *code, const struct point *point,
			     const struct paths_places *places)
{
	struct scratch_regs scratch;
	unsigned int cell;

	scratch_acquire(code, point, 0, 1, true, &scratch);
	cell = scratch.registers[0];
	block_code_copy(code, cell, MACHINE_RSP);
	block_code_alu32(code, BLOCK_ALU_AND, cell, PATHS_STACK_BYTES - CELL_STACK_BYTES);
	block_code_move(code, BLOCK_STORE, MACHINE_RSP, cell_at(places, cell, CELL_OF));
	block_code_push(code, mem_operand(places->number));
	block_code_pop(code, cell_at(places, cell, 0));
	clear_narrow_word(code, places);
	scratch_release(code, &scratch);
}

static void path_spill_save(struct machine_code *code, const struct point *point,
			    const struct paths_places *places)
{
	struct scratch_regs scratch;
	unsigned int reg, cell;

	if (path_spill_is_plain(point, places) && !point->red_zone && point_free(point, 0) == 0) {
		save_using_stack(code, point, places);
		return;
	}
	scratch_acquire(code, point, 0, 2, true, &scratch);
	reg = scratch.registers[0];
	cell = scratch.registers[1];
	find_cell(code, &scratch);
	block_code_move(code, BLOCK_STORE, reg, cell_at(places, cell, CELL_OF));
	store_cell(code, places, reg, cell);
	clear_narrow_word(code, places);
	scratch_release(code, &scratch);
}

/* Push the number, so that the stack pointer has the value that identifies the cell. */
static void restore_using_stack(struct machine_code *code, const struct point *point,
				const struct paths_places *places)
{
	uint32_t found = machine_code_label(code);
	struct scratch_regs scratch;
	unsigned int cell;

	scratch_acquire(code, point, 0, 1, true, &scratch);
	cell = scratch.registers[0];
	block_code_address(code, cell, MACHINE_RSP, -(int32_t)CELL_BELOW);
	block_code_alu32(code, BLOCK_ALU_AND, cell, PATHS_STACK_BYTES - CELL_STACK_BYTES);
	block_code_push(code, cell_at(places, cell, 0));
	block_code_move(code, BLOCK_COMPARE, MACHINE_RSP, cell_at(places, cell, CELL_OF));
	block_code_pop(code, mem_operand(places->number));
	machine_code_branch(code, MACHINE_EQUAL, found);
	paths_code_leave(code, places);
	machine_code_bind_label(code, found);
	scratch_release(code, &scratch);
}

static void path_spill_restore(struct machine_code *code, const struct point *point,
			       const struct paths_places *places)
{
	struct scratch_regs scratch;
	unsigned int reg, cell;

	if (path_spill_is_plain(point, places) && !point->red_zone && point_free(point, 0) > 0) {
		restore_using_stack(code, point, places);
		return;
	}
	scratch_acquire(code, point, 0, 2, true, &scratch);
	reg = scratch.registers[0];
	cell = scratch.registers[1];
	find_cell(code, &scratch);
	block_code_move(code, BLOCK_COMPARE, reg, cell_at(places, cell, CELL_OF));
	load_cell(code, places, reg, cell);
	scratch_release(code, &scratch);
}

/* --- saving lazily -------------------------------------------------------- */

static struct mem_operand owner_of(const struct paths_places *places)
{
	return mem_operand(places->number +
			   (places->narrow ? PATHS_NUMBER_OWNER_NARROW : PATHS_NUMBER_OWNER));
}

/*
 * Check if the word has an owner. In a narrow word, these are 32 bits of a stack address, which are
 * never all 0.
 */
static void compare_owner(struct machine_code *code, const struct paths_places *places)
{
	if (places->narrow)
		block_code_compare32(code, mem_operand(places->number + (uint32_t)sizeof(uint32_t)),
				     0);
	else
		block_code_compare_with(code, owner_of(places), 0);
}

static void add_cold_stub(struct path_spill *spill, struct machine_code *code,
			  struct path_spill_stub cold_stub)
{
	if (array_reserve(&spill->cold_stubs, &spill->capacity, spill->count + 1,
			  sizeof(*spill->cold_stubs)) < 0)
		code->failed = true;
	else
		spill->cold_stubs[spill->count++] = cold_stub;
}

/* Compute the owner's cell, and its mark for a saved word, in two scratch registers. */
static void find_owner(struct machine_code *code, const struct paths_places *places,
		       const struct scratch_regs *scratch)
{
	unsigned int tag = 1 + places->number / PATHS_NUMBER_BYTES % TAGS;
	unsigned int mark = scratch->registers[0], cell = scratch->registers[1];

	block_code_move(code, BLOCK_LOAD, cell, owner_of(places));
	block_code_number(code, mark, (uint64_t)tag << TAG_SHIFT);
	block_code_subtract(code, mark, cell);
	block_code_address(code, cell, cell, -(int32_t)CELL_BELOW);
	block_code_alu32(code, BLOCK_ALU_AND, cell, PATHS_STACK_BYTES - CELL_STACK_BYTES);
}

static void save_owner(struct machine_code *code, const struct paths_places *places,
		       const struct scratch_regs *scratch)
{
	unsigned int reg = scratch->registers[0], cell = scratch->registers[1];

	find_owner(code, places, scratch);
	block_code_move(code, BLOCK_STORE, reg, cell_at(places, cell, CELL_OF));
	store_cell(code, places, reg, cell);
	block_code_set(code, owner_of(places), 0);
}

/* The word may hold the number of another activation, which is saved first. */
static void acquire_word(struct machine_code *code, const struct paths_places *places,
			 const struct scratch_regs *scratch)
{
	uint32_t unowned = machine_code_label(code);
	unsigned int reg = scratch->registers[0], cell = scratch->registers[1];

	compare_owner(code, places);
	machine_code_branch(code, MACHINE_EQUAL, unowned);
	save_owner(code, places, scratch);
	machine_code_bind_label(code, unowned);
	block_code_address(code, reg, MACHINE_RSP, (int32_t)scratch->depth);
	block_code_move(code, BLOCK_STORE, reg, owner_of(places));
	find_owner(code, places, scratch);
	block_code_move(code, BLOCK_COMPARE, reg, cell_at(places, cell, CELL_OF));
	load_cell(code, places, reg, cell);
	block_code_set(code, owner_of(places), 0);
}

void path_spill_before(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, bool lazily)
{
	if (lazily)
		block_code_move(code, BLOCK_STORE, MACHINE_RSP, owner_of(places));
	else
		path_spill_save(code, point, places);
}

void path_spill_after(struct path_spill *spill, struct machine_code *code,
		      const struct point *point, const struct paths_places *places, bool lazily)
{
	struct path_spill_stub cold_stub = {.point = *point, .after = true};

	if (!lazily) {
		path_spill_restore(code, point, places);
		return;
	}
	cold_stub.label = machine_code_label(code);
	cold_stub.done = machine_code_label(code);
	block_code_move(code, BLOCK_COMPARE, MACHINE_RSP, owner_of(places));
	machine_code_branch(code, MACHINE_NOT_EQUAL, cold_stub.label);
	if (!places->narrow)
		block_code_set(code, owner_of(places), 0);
	machine_code_bind_label(code, cold_stub.done);
	add_cold_stub(spill, code, cold_stub);
}

void path_spill_begin(struct path_spill *spill, struct machine_code *code,
		      const struct point *point, const struct paths_places *places)
{
	struct path_spill_stub cold_stub = {.point = *point,
					    .label = machine_code_label(code),
					    .done = machine_code_label(code)};
	struct scratch_regs scratch;

	scratch_acquire(code, point, 0, 0, true, &scratch);
	compare_owner(code, places);
	if (scratch.flags) {
		/* Flags are saved for the comparison; the cold stub saves them itself. */
		uint32_t free = machine_code_label(code);

		machine_code_branch(code, MACHINE_EQUAL, free);
		scratch_release(code, &scratch);
		machine_code_branch(code, MACHINE_JUMP, cold_stub.label);
		machine_code_bind_label(code, free);
		scratch_release(code, &scratch);
	} else {
		machine_code_branch(code, MACHINE_NOT_EQUAL, cold_stub.label);
	}
	machine_code_bind_label(code, cold_stub.done);
	add_cold_stub(spill, code, cold_stub);
}

void path_spill_emit_cold_stubs(struct path_spill *spill, struct machine_code *code,
				const struct paths_places *places)
{
	for (size_t i = 0; i < spill->count; i++) {
		const struct path_spill_stub *cold_stub = &spill->cold_stubs[i];
		struct scratch_regs scratch;

		machine_code_bind_label(code, cold_stub->label);
		scratch_acquire(code, &cold_stub->point, 0, 2, true, &scratch);
		if (cold_stub->after)
			acquire_word(code, places, &scratch);
		else
			save_owner(code, places, &scratch);
		scratch_release(code, &scratch);
		machine_code_branch(code, MACHINE_JUMP, cold_stub->done);
	}
	spill->count = 0;
}
