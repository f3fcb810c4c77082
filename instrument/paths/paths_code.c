// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_code.h"

#include <stddef.h>

#include "instrument/codegen/block_code.h"
#include "instrument/codegen/liveness.h"
#include "instrument/paths/paths_trace.h"

#define CHARGED_BYTES 64 /* one word on a separate cache line */

#define BIT(reg) (1U << (reg))

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
	struct scratch_regs scratch;
	unsigned int reg;

	if ((point->live & LIVENESS_FLAGS & ~LIVENESS_CARRY) == 0) {
		block_code_increment(code, mem_operand(at));
		return;
	}
	scratch_acquire(code, point, 0, 1, false, &scratch);
	reg = scratch.registers[0];
	block_code_move(code, BLOCK_LOAD, reg, mem_operand(at));
	block_code_address(code, reg, reg, 1);
	block_code_move(code, BLOCK_STORE, reg, mem_operand(at));
	scratch_release(code, &scratch);
}

/* Compute the time since the path began into %rax, and charge it. */
static void charge(struct machine_code *code, const struct paths_places *places)
{
	block_code_time(code, MACHINE_RAX);
	block_code_move(code, BLOCK_SUBTRACT, MACHINE_RAX, mem_operand(places->charged));
	block_code_move(code, BLOCK_SUBTRACT, MACHINE_RAX,
			mem_operand(places->number + PATHS_NUMBER_BEGAN));
	block_code_move(code, BLOCK_ADD_TO, MACHINE_RAX, mem_operand(places->charged));
}

/*
 * Begin a group at the cursor, or at the start of the ring. The fence makes earlier instructions
 * complete, so that their time is in the group that has ended. Changes %rax and %rdx.
 */
static void begin_group(struct machine_code *code, const struct paths_places *places)
{
	uint32_t first = places->trace + (uint32_t)sizeof(struct paths_trace_head);
	uint32_t end = first + PATHS_TRACE_CELLS * PATHS_TRACE_CELL_BYTES;
	struct mem_operand cursor = mem_operand(places->trace);
	struct mem_operand began = {.at = 0, .index = MACHINE_RDX, .scale = 1};
	uint32_t in_ring = machine_code_label(code);

	block_code_fence(code);
	block_code_time(code, MACHINE_RAX);
	block_code_move(code, BLOCK_LOAD32, MACHINE_RDX, cursor);
	block_code_alu32(code, BLOCK_ALU_COMPARE, MACHINE_RDX, end);
	machine_code_branch(code, MACHINE_BELOW, in_ring);
	block_code_number(code, MACHINE_RDX, first);
	machine_code_bind_label(code, in_ring);
	block_code_move(code, BLOCK_STORE, MACHINE_RAX, began);
	block_code_move(code, BLOCK_LOAD, MACHINE_RAX, mem_operand(places->charged));
	block_code_move(code, BLOCK_ADD_TO, MACHINE_RAX, began);
	block_code_address(code, MACHINE_RDX, MACHINE_RDX, sizeof(uint64_t));
	block_code_move(code, BLOCK_STORE, MACHINE_RDX, cursor);
}

/* Append the word in %rdx to the trace, and begin a group after a full one. Changes %rax and %rdx.
 */
static void append_to_trace(struct machine_code *code, const struct paths_places *places)
{
	uint32_t done = machine_code_label(code);
	struct mem_operand cursor = mem_operand(places->trace);
	struct mem_operand entry = {.at = 0, .index = MACHINE_RAX, .scale = 1};

	block_code_move(code, BLOCK_LOAD32, MACHINE_RAX, cursor);
	block_code_move(code, BLOCK_STORE32, MACHINE_RDX, entry);
	block_code_address(code, MACHINE_RAX, MACHINE_RAX, sizeof(uint32_t));
	block_code_move(code, BLOCK_STORE, MACHINE_RAX, cursor);
	block_code_shift(code, MACHINE_RAX, -2);
	block_code_number(code, MACHINE_RDX, PATHS_TRACE_STARTS);
	block_code_test_bit(code, MACHINE_RDX, MACHINE_RAX);
	machine_code_branch(code, MACHINE_NOT_BELOW, done);
	begin_group(code, places);
	machine_code_bind_label(code, done);
}

/* --- beginnings of paths, and increments ---------------------------------- */

void paths_code_begin(struct machine_code *code, const struct point *point,
		      const struct paths_places *places, bool count)
{
	struct scratch_regs scratch;

	if (count)
		add_one(code, point, word_at(places, PATHS_ENTERED));
	if (!places->measures)
		return;
	scratch_acquire(code, point, BIT(MACHINE_RAX) | BIT(MACHINE_RDX), 0, true, &scratch);
	block_code_time(code, MACHINE_RAX);
	block_code_move(code, BLOCK_SUBTRACT, MACHINE_RAX, mem_operand(places->charged));
	block_code_move(code, BLOCK_STORE, MACHINE_RAX,
			mem_operand(places->number + PATHS_NUMBER_BEGAN));
	scratch_release(code, &scratch);
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

static void change_register(struct machine_code *code, const struct path_edge *path_edge)
{
	if (path_edge->change == PATH_SET)
		block_code_number(code, path_edge->writes,
				  (uint64_t)(int64_t)(int32_t)path_edge->number);
	if (path_edge->change == PATH_ADD)
		block_code_address(code, path_edge->writes, path_edge->writes,
				   (int32_t)path_edge->number);
}

void paths_code_change(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, const struct path_edge *path_edge)
{
	struct mem_operand number = mem_operand(places->number);
	struct scratch_regs scratch;
	unsigned int reg;

	if (path_edge->writes != PATH_IN_MEMORY) {
		change_register(code, path_edge);
		return;
	}
	if (path_edge->change == PATH_SET)
		set_number(code, places, path_edge->number);
	if (path_edge->change != PATH_ADD)
		return;
	if ((point->live & LIVENESS_FLAGS) == 0) {
		if (places->narrow)
			block_code_add16(code, number, path_edge->number);
		else
			block_code_add(code, number, path_edge->number);
		return;
	}
	scratch_acquire(code, point, 0, 1, false, &scratch);
	reg = scratch.registers[0];
	paths_code_load(code, places, reg);
	block_code_address(code, reg, reg, (int32_t)path_edge->number);
	paths_code_store(code, places, reg);
	scratch_release(code, &scratch);
}

void paths_code_leave(struct machine_code *code, const struct paths_places *places)
{
	set_number(code, places, places->no_path);
}

/* --- ends of paths -------------------------------------------------------- */

static uint32_t array_of(const struct paths_places *places, const struct path_edge *path_edge)
{
	return (path_edge->counted == PATH_CUT ? places->cut : places->ended) + path_edge->end * 8;
}

/* Add %rax to a path's sum, whose place is relative to that of its count. */
static void add_measured(struct machine_code *code, const struct paths_places *places,
			 struct mem_operand place)
{
	place.at += places->sums;
	block_code_move(code, BLOCK_ADD_TO, MACHINE_RAX, place);
}

/* There is room for any value that the register can have (path_range). */
static void end_in_array(struct machine_code *code, const struct point *point,
			 const struct paths_places *places, const struct path_edge *path_edge)
{
	bool clock = places->measures || places->traces;
	uint32_t named = clock ? BIT(MACHINE_RAX) | BIT(MACHINE_RDX) : 0;
	struct mem_operand place = mem_operand(array_of(places, path_edge));
	bool load = !path_edge->end_known && path_edge->reads == PATH_IN_MEMORY;
	struct scratch_regs scratch;

	scratch_acquire(code, point, named, load ? 1 : 0, true, &scratch);
	if (!path_edge->end_known) {
		place.index = load ? scratch.registers[0] : path_edge->reads;
		place.scale = 8;
	}
	if (load)
		block_code_move(code, places->narrow ? BLOCK_LOAD16_SIGNED : BLOCK_LOAD,
				scratch.registers[0], mem_operand(places->number));
	if (places->measures) {
		charge(code, places);
		add_measured(code, places, place);
	}
	block_code_increment(code, place);
	if (places->traces) {
		place.at -= places->area;
		block_code_address_of(code, MACHINE_RDX, place);
		append_to_trace(code, places);
	}
	scratch_release(code, &scratch);
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
	machine_code_branch(code, MACHINE_EQUAL, found);
	block_code_compare(code, MACHINE_RAX, key);
	machine_code_branch(code, MACHINE_EQUAL, found);
	block_code_alu(code, BLOCK_ALU_ADD, (unsigned int)entry.index, 1 << ENTRY_BITS);
	paths_code_find_entry(code, places, MACHINE_RAX, key);
	block_code_alu(code, BLOCK_ALU_ADD, MACHINE_RAX, PATHS_TABLE_PROBES << ENTRY_BITS);
	block_code_compare(code, (unsigned int)entry.index, MACHINE_RAX);
	machine_code_branch(code, MACHINE_NOT_EQUAL, next);
	paths_code_overflow(code, places);
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
	machine_code_branch(code, MACHINE_EQUAL, hit);
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
	struct scratch_regs scratch;

	owner.at += sizeof(uint32_t);
	block_code_move(code, BLOCK_COMPARE32, key, entry);
	machine_code_branch(code, MACHINE_NOT_EQUAL, other);
	block_code_compare32(code, owner, places->id);
	machine_code_branch(code, MACHINE_EQUAL, hit);
	machine_code_bind_label(code, other);
	scratch_acquire(code, point, BIT(MACHINE_RAX), 0, false, &scratch);
	complete_key(code, places, key);
	search_table(code, places, entry, key, found);
	scratch_release(code, &scratch);
	machine_code_branch(code, MACHINE_JUMP, done);
	machine_code_bind_label(code, found);
	scratch_release(code, &scratch);
	machine_code_bind_label(code, hit);
}

uint32_t paths_code_number(struct machine_code *code, const struct paths_places *places,
			   const struct path_edge *path_edge, unsigned int reg)
{
	uint32_t good = machine_code_label(code), done = machine_code_label(code);

	if (path_edge->end_known) {
		block_code_number(code, reg, path_edge->end);
		return done;
	}
	block_code_move(code, BLOCK_LOAD32, reg, mem_operand(places->number));
	if (path_edge->end != 0)
		block_code_alu32(code, BLOCK_ALU_ADD, reg, path_edge->end);
	block_code_alu32(code, BLOCK_ALU_COMPARE, reg, places->count);
	machine_code_branch(code, MACHINE_BELOW, good);
	block_code_increment(code, mem_operand(word_at(places, path_edge->counted == PATH_CUT
								       ? PATHS_LOST_CUT
								       : PATHS_LOST_END)));
	machine_code_branch(code, MACHINE_JUMP, done);
	machine_code_bind_label(code, good);
	return done;
}

void paths_code_overflow(struct machine_code *code, const struct paths_places *places)
{
	block_code_increment(code, mem_operand(word_at(places, PATHS_OVERFLOW)));
}

static void end_in_table(struct machine_code *code, const struct point *point,
			 const struct paths_places *places, const struct path_edge *path_edge)
{
	bool clock = places->measures || places->traces;
	bool spare = !clock && can_spare_rax(point);
	uint32_t named = (spare ? 0 : BIT(MACHINE_RAX)) | (clock ? BIT(MACHINE_RDX) : 0);
	struct mem_operand entry = {.at = places->table, .scale = 1};
	struct scratch_regs scratch;
	unsigned int key, passed;
	uint32_t done;

	scratch_acquire(code, point, named, places->measures ? 3 : 2, true, &scratch);
	key = scratch.registers[0];
	entry.index = scratch.registers[1];
	passed = scratch.registers[2];
	if (places->measures) {
		charge(code, places);
		block_code_copy(code, passed, MACHINE_RAX);
	}
	done = paths_code_number(code, places, path_edge, key);
	paths_code_find_entry(code, places, (unsigned int)entry.index, key);
	if (spare)
		look_up_sparing(code, point, places, entry, key, done);
	else
		look_up(code, places, entry, key, done);
	entry.at = places->table + (uint32_t)offsetof(struct paths_entry, count);
	block_code_increment(code, entry);
	if (places->measures) {
		entry.at = places->table + (uint32_t)offsetof(struct paths_entry, metric);
		block_code_move(code, BLOCK_ADD_TO, passed, entry);
	}
	if (places->traces) {
		block_code_address(code, MACHINE_RDX, (unsigned int)entry.index,
				   (int32_t)(places->table +
					     (uint32_t)offsetof(struct paths_entry, count) -
					     places->area));
		append_to_trace(code, places);
	}
	machine_code_bind_label(code, done);
	scratch_release(code, &scratch);
}

void paths_code_end(struct machine_code *code, const struct point *point,
		    const struct paths_places *places, const struct path_edge *path_edge)
{
	if (places->end != NULL)
		places->end(code, point, places, path_edge);
	else if (!places->array)
		end_in_table(code, point, places, path_edge);
	else if (path_edge->end_known && !places->measures && !places->traces)
		add_one(code, point, array_of(places, path_edge));
	else
		end_in_array(code, point, places, path_edge);
}

void paths_code_count(struct machine_code *code, const struct point *point, uint32_t at)
{
	add_one(code, point, at);
}
