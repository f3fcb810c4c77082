// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_code.h"

#include <stddef.h>

#include "instrument/code/block_code.h"
#include "instrument/code/liveness.h"
#include "instrument/copy/burst_switch_code.h"

#define CHARGED_BYTES 64 /* one word on a separate cache line */

#define BIT(reg) (1U << (reg))
#define CONDITION_BELOW 2U
#define CONDITION_EQUAL 4U
#define CONDITION_NO_SIGN 9U
#define UNTIMED UINT64_MAX

/* Odd multipliers with evenly distributed bits (the golden ratio, Knuth; and a similar number). */
#define SPREAD_PATH UINT32_C(0x9e3779b1)
#define SPREAD_PROCEDURE UINT32_C(0x85ebca6b)
#define TABLE_BITS 16
#define ENTRY_BITS 5
_Static_assert(1 << TABLE_BITS == PATHS_TABLE_ENTRIES, "the table's size");
_Static_assert(1 << ENTRY_BITS == sizeof(struct paths_entry), "an entry's size");

static uint64_t kept_bytes(bool metric)
{
	return PATHS_STACK_BYTES * (metric ? UINT64_C(2) : UINT64_C(1));
}

static uint64_t number_bytes(bool metric)
{
	return metric ? PATHS_NUMBER_MEASURED_BYTES : PATHS_NUMBER_BYTES;
}

uint64_t paths_code_private_bytes(size_t procedures, bool metric)
{
	return CHARGED_BYTES + kept_bytes(metric) + procedures * number_bytes(metric);
}

struct paths_places paths_code_places(uint32_t at, size_t index, bool metric)
{
	return (struct paths_places){
		.charged = at,
		.kept = at + CHARGED_BYTES,
		.number = (uint32_t)(at + CHARGED_BYTES + kept_bytes(metric) +
				     index * number_bytes(metric)),
		.metric = metric,
		.measures = metric,
	};
}

/* --- counters ------------------------------------------------------------- */

static uint32_t word_at(const struct paths_places *places, enum paths_word word)
{
	return places->words + (uint32_t)word * 8;
}

/* Increment a word at a fixed address. Needs a register only if flags are live. */
static void add_one(struct machine_code *code, const struct point *point, uint32_t at)
{
	struct scratch_regs loan;
	unsigned int reg;

	if ((point->live & LIVENESS_FLAGS & ~LIVENESS_CARRY) == 0) {
		block_code_increment(code, mem_operand(at));
		return;
	}
	scratch_acquire(code, point, 0, 1, false, &loan);
	reg = loan.registers[0];
	block_code_move(code, BLOCK_LOAD, reg, mem_operand(at));
	block_code_address(code, reg, reg, 1);
	block_code_move(code, BLOCK_STORE, reg, mem_operand(at));
	point_give_back(code, &loan);
}

/*
 * Jump to @untimed unless the whole path was timed. %rax has the elapsed time. It is added to the
 * start time, so that another path begins here.
 */
static void leave_untimed(struct machine_code *code, const struct paths_places *places,
			  uint32_t untimed)
{
	uint32_t timed = machine_code_label(code);

	block_code_copy(code, MACHINE_RDX, MACHINE_RAX);
	block_code_shift(code, MACHINE_RDX, -BURST_SWITCH_CHARGE_BITS);
	machine_code_branch(code, CONDITION_EQUAL, timed);
	block_code_move(code, BLOCK_ADD_TO, MACHINE_RAX,
			mem_operand(places->number + PATHS_NUMBER_BEGAN));
	machine_code_branch(code, MACHINE_JUMP, untimed);
	machine_code_bind_label(code, timed);
}

/*
 * Compute the time since the path began into %rax, and charge it. @untimed: label to jump to if not
 * all of that time was in one burst.
 */
static void charge(struct machine_code *code, const struct paths_places *places, uint32_t untimed)
{
	if (places->runtime != NULL) {
		burst_switch_code_compare(code, burst_switch_code_checks(places->runtime, 0), 0);
		machine_code_branch(code, CONDITION_NO_SIGN, untimed);
	}
	block_code_time(code, MACHINE_RAX);
	block_code_move(code, BLOCK_SUBTRACT, MACHINE_RAX, mem_operand(places->charged));
	block_code_move(code, BLOCK_SUBTRACT, MACHINE_RAX,
			mem_operand(places->number + PATHS_NUMBER_BEGAN));
	if (places->runtime != NULL)
		leave_untimed(code, places, untimed);
	block_code_move(code, BLOCK_ADD_TO, MACHINE_RAX, mem_operand(places->charged));
}

/* --- beginnings of paths, and increments ---------------------------------- */

void paths_code_begin(struct machine_code *code, const struct point *point,
		      const struct paths_places *places, bool count)
{
	struct scratch_regs loan;

	if (count)
		add_one(code, point, word_at(places, PATHS_ENTERED));
	if (!places->measures)
		return;
	scratch_acquire(code, point, BIT(MACHINE_RAX) | BIT(MACHINE_RDX), 0, true, &loan);
	block_code_time(code, MACHINE_RAX);
	block_code_move(code, BLOCK_SUBTRACT, MACHINE_RAX, mem_operand(places->charged));
	block_code_move(code, BLOCK_STORE, MACHINE_RAX,
			mem_operand(places->number + PATHS_NUMBER_BEGAN));
	point_give_back(code, &loan);
}

void paths_code_arrive(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, bool begins)
{
	struct scratch_regs loan;

	if (begins) {
		paths_code_begin(code, point, places, false);
		return;
	}
	scratch_acquire(code, point, 0, 1, true, &loan);
	/* Use a start time far in the future, so that the path counts as untimed when it ends. */
	block_code_number(code, loan.registers[0], UINT64_C(1) << 63);
	block_code_move(code, BLOCK_SUBTRACT, loan.registers[0], mem_operand(places->charged));
	block_code_move(code, BLOCK_STORE, loan.registers[0],
			mem_operand(places->number + PATHS_NUMBER_BEGAN));
	point_give_back(code, &loan);
}

/* Set the number; in a narrow word, this clears the owner in the upper bits. */
static void set_number(struct machine_code *code, const struct paths_places *places,
		       uint32_t number)
{
	block_code_set(code, mem_operand(places->number),
		       places->narrow ? number & UINT16_MAX : number);
}

void paths_code_load(struct machine_code *code, const struct paths_places *places, unsigned int reg)
{
	block_code_move(code, places->narrow ? BLOCK_LOAD16 : BLOCK_LOAD, reg,
			mem_operand(places->number));
}

void paths_code_store(struct machine_code *code, const struct paths_places *places,
		      unsigned int reg)
{
	block_code_move(code, places->narrow ? BLOCK_STORE16 : BLOCK_STORE, reg,
			mem_operand(places->number));
}

static void change_register(struct machine_code *code, const struct path_edge *way)
{
	if (way->change == PATH_SET)
		block_code_number(code, way->writes, (uint64_t)(int64_t)(int32_t)way->number);
	if (way->change == PATH_ADD)
		block_code_address(code, way->writes, way->writes, (int32_t)way->number);
}

void paths_code_change(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, const struct path_edge *way)
{
	struct mem_operand number = mem_operand(places->number);
	struct scratch_regs loan;
	unsigned int reg;

	if (way->writes != PATH_IN_MEMORY) {
		change_register(code, way);
		return;
	}
	if (way->change == PATH_SET)
		set_number(code, places, way->number);
	if (way->change != PATH_ADD)
		return;
	if ((point->live & LIVENESS_FLAGS) == 0) {
		if (places->narrow)
			block_code_add16(code, number, way->number);
		else
			block_code_add(code, number, way->number);
		return;
	}
	scratch_acquire(code, point, 0, 1, false, &loan);
	reg = loan.registers[0];
	paths_code_load(code, places, reg);
	block_code_address(code, reg, reg, (int32_t)way->number);
	paths_code_store(code, places, reg);
	point_give_back(code, &loan);
}

void paths_code_leave(struct machine_code *code, const struct paths_places *places)
{
	set_number(code, places, places->nowhere);
}

/* --- ends of paths -------------------------------------------------------- */

static uint32_t array_of(const struct paths_places *places, const struct path_edge *way)
{
	return (way->counted == PATH_CUT ? places->cut : places->ended) + way->end * 8;
}

/* Add %rax to a path's sum, whose place is relative to that of its count. */
static void add_measured(struct machine_code *code, const struct paths_places *places,
			 struct mem_operand place)
{
	uint32_t at = place.at;

	place.at = at + places->sums;
	block_code_move(code, BLOCK_ADD_TO, MACHINE_RAX, place);
	place.at = at + places->timed;
	if (places->runtime != NULL)
		block_code_increment(code, place);
}

/* There is room for any value that the register can have (path_range). */
static void end_in_array(struct machine_code *code, const struct point *point,
			 const struct paths_places *places, const struct path_edge *way)
{
	uint32_t named = places->measures ? BIT(MACHINE_RAX) | BIT(MACHINE_RDX) : 0;
	struct mem_operand place = mem_operand(array_of(places, way));
	uint32_t untimed = machine_code_label(code);
	bool load = !way->end_known && way->reads == PATH_IN_MEMORY;
	struct scratch_regs loan;

	scratch_acquire(code, point, named, load ? 1 : 0, true, &loan);
	if (!way->end_known) {
		place.index = load ? loan.registers[0] : way->reads;
		place.scale = 8;
	}
	if (load)
		block_code_move(code, places->narrow ? BLOCK_LOAD16_SIGNED : BLOCK_LOAD,
				loan.registers[0], mem_operand(places->number));
	if (places->measures) {
		charge(code, places, untimed);
		add_measured(code, places, place);
	}
	machine_code_bind_label(code, untimed);
	block_code_increment(code, place);
	point_give_back(code, &loan);
}

/*
 * Compute the byte offset of a path's first entry in the table; only the number in @key is needed.
 */
static void paths_code_find_entry(struct machine_code *code, const struct paths_places *places,
				  unsigned int ret, unsigned int key)
{
	block_code_multiply32(code, ret, key, SPREAD_PATH);
	block_code_alu32(code, BLOCK_ALU_ADD, ret, places->id * SPREAD_PROCEDURE);
	block_code_shift(code, ret, -(32 - TABLE_BITS));
	block_code_shift(code, ret, ENTRY_BITS);
}

/* Return true if %rax needs to be saved only for searching the table. */
static bool can_spare_rax(const struct point *point)
{
	return (point->live & LIVENESS_FLAGS) == 0 && (point->free & BIT(MACHINE_RAX)) == 0 &&
	       point_free(point, 0) >= 2;
}

/*
 * Search the table if the first entry belongs to another path, or is free. A free entry is claimed
 * atomically, so that a signal handler cannot claim it, too. %rax must be free, and @key complete.
 */
static void search_table(struct machine_code *code, const struct paths_places *places,
			 struct mem_operand entry, unsigned int key, uint32_t found)
{
	uint32_t next = machine_code_label(code);

	machine_code_bind_label(code, next);
	block_code_number(code, MACHINE_RAX, 0);
	block_code_move(code, BLOCK_EXCHANGE, key, entry);
	machine_code_branch(code, CONDITION_EQUAL, found);
	block_code_compare(code, MACHINE_RAX, key);
	machine_code_branch(code, CONDITION_EQUAL, found);
	block_code_alu(code, BLOCK_ALU_ADD, (unsigned int)entry.index, 1 << ENTRY_BITS);
	paths_code_find_entry(code, places, MACHINE_RAX, key);
	block_code_alu(code, BLOCK_ALU_ADD, MACHINE_RAX, PATHS_TABLE_PROBES << ENTRY_BITS);
	block_code_compare(code, (unsigned int)entry.index, MACHINE_RAX);
	machine_code_branch(code, MACHINE_NOT_EQUAL, next);
	block_code_increment(code, mem_operand(word_at(places, PATHS_OVERFLOW)));
}

static void complete_key(struct machine_code *code, const struct paths_places *places,
			 unsigned int key)
{
	block_code_number(code, MACHINE_RAX, (uint64_t)places->id << 32);
	block_code_or(code, key, MACHINE_RAX);
}

/* Code for a path that is found must follow; @done: label to jump to if it is not found. */
static void look_up(struct machine_code *code, const struct paths_places *places,
		    struct mem_operand entry, unsigned int key, uint32_t done)
{
	uint32_t hit = machine_code_label(code);

	complete_key(code, places, key);
	block_code_move(code, BLOCK_COMPARE, key, entry);
	machine_code_branch(code, CONDITION_EQUAL, hit);
	search_table(code, places, entry, key, hit);
	machine_code_branch(code, MACHINE_JUMP, done);
	machine_code_bind_label(code, hit);
}

/* As look_up(), if %rax is not free: it is saved only for the search. */
static void look_up_sparing(struct machine_code *code, const struct point *point,
			    const struct paths_places *places, struct mem_operand entry,
			    unsigned int key, uint32_t done)
{
	uint32_t hit = machine_code_label(code), other = machine_code_label(code);
	uint32_t found = machine_code_label(code);
	struct mem_operand owner = entry;
	struct scratch_regs loan;

	owner.at += sizeof(uint32_t);
	block_code_move(code, BLOCK_COMPARE32, key, entry);
	machine_code_branch(code, MACHINE_NOT_EQUAL, other);
	block_code_compare32(code, owner, places->id);
	machine_code_branch(code, CONDITION_EQUAL, hit);
	machine_code_bind_label(code, other);
	scratch_acquire(code, point, BIT(MACHINE_RAX), 0, false, &loan);
	complete_key(code, places, key);
	search_table(code, places, entry, key, found);
	point_give_back(code, &loan);
	machine_code_branch(code, MACHINE_JUMP, done);
	machine_code_bind_label(code, found);
	point_give_back(code, &loan);
	machine_code_bind_label(code, hit);
}

/*
 * Load the path's number into a register. Return: label to place after the code for the path, where
 * control continues if the number is lost.
 */
static uint32_t find_number(struct machine_code *code, const struct paths_places *places,
			    const struct path_edge *way, unsigned int reg)
{
	uint32_t good = machine_code_label(code), done = machine_code_label(code);

	block_code_move(code, BLOCK_LOAD32, reg, mem_operand(places->number));
	if (way->end != 0)
		block_code_alu32(code, BLOCK_ALU_ADD, reg, way->end);
	block_code_alu32(code, BLOCK_ALU_COMPARE, reg, places->count);
	machine_code_branch(code, CONDITION_BELOW, good);
	block_code_increment(
		code, mem_operand(word_at(places, way->counted == PATH_CUT ? PATHS_LOST_CUT
									   : PATHS_LOST_END)));
	machine_code_branch(code, MACHINE_JUMP, done);
	machine_code_bind_label(code, good);
	return done;
}

/* Store the result of charge() in a register: UNTIMED, if the path was not timed. */
static void charge_into(struct machine_code *code, const struct paths_places *places,
			unsigned int ret)
{
	uint32_t untimed = machine_code_label(code);

	if (places->runtime != NULL)
		block_code_number(code, ret, UNTIMED);
	charge(code, places, untimed);
	block_code_copy(code, ret, MACHINE_RAX);
	machine_code_bind_label(code, untimed);
}

static void add_to_entry(struct machine_code *code, const struct paths_places *places,
			 struct mem_operand entry, unsigned int passed, uint32_t done)
{
	if (places->runtime != NULL) {
		block_code_alu(code, BLOCK_ALU_COMPARE, passed, (uint32_t)UNTIMED);
		machine_code_branch(code, CONDITION_EQUAL, done);
	}
	entry.at = places->table + (uint32_t)offsetof(struct paths_entry, metric);
	block_code_move(code, BLOCK_ADD_TO, passed, entry);
	entry.at = places->table + (uint32_t)offsetof(struct paths_entry, timed);
	if (places->runtime != NULL)
		block_code_increment(code, entry);
}

static void end_in_table(struct machine_code *code, const struct point *point,
			 const struct paths_places *places, const struct path_edge *way)
{
	bool spare = !places->measures && can_spare_rax(point);
	uint32_t named = (spare ? 0 : BIT(MACHINE_RAX)) | (places->measures ? BIT(MACHINE_RDX) : 0);
	struct mem_operand entry = {.at = places->table, .scale = 1};
	struct scratch_regs loan;
	unsigned int key, passed;
	uint32_t done;

	scratch_acquire(code, point, named, places->measures ? 3 : 2, true, &loan);
	key = loan.registers[0];
	entry.index = loan.registers[1];
	passed = loan.registers[2];
	if (places->measures)
		charge_into(code, places, passed);
	if (way->end_known) {
		done = machine_code_label(code);
		block_code_number(code, key, way->end);
	} else {
		done = find_number(code, places, way, key);
	}
	paths_code_find_entry(code, places, (unsigned int)entry.index, key);
	if (spare)
		look_up_sparing(code, point, places, entry, key, done);
	else
		look_up(code, places, entry, key, done);
	entry.at = places->table + (uint32_t)offsetof(struct paths_entry, count);
	block_code_increment(code, entry);
	if (places->measures)
		add_to_entry(code, places, entry, passed, done);
	machine_code_bind_label(code, done);
	point_give_back(code, &loan);
}

void paths_code_end(struct machine_code *code, const struct point *point,
		    const struct paths_places *places, const struct path_edge *way)
{
	if (!places->array)
		end_in_table(code, point, places, way);
	else if (way->end_known && !places->measures)
		add_one(code, point, array_of(places, way));
	else
		end_in_array(code, point, places, way);
}

void paths_code_count(struct machine_code *code, const struct point *point, uint32_t at)
{
	add_one(code, point, at);
}
