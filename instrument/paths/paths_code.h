/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that counts paths, at points of a procedure (point.h).
 *
 * The register that says which path is being gone is one of the processor's where that can be
 * (path_webs.h), else a word of the thread's own for each procedure, in the private part of the
 * thread's block: so leaving a procedure for ever
 * (longjmp, an exception, a coroutine) costs nothing and needs nobody to clear up. Where a
 * call may come back into the procedure that makes it (paths_keep.h), the word is kept in a
 * place that belongs to the stack pointer's value at the call, and is taken back when the
 * call returns there, whatever happened in between: each 16 bytes of the stack have a cell,
 * with the whole stack pointer in it. Cells repeat every PATHS_STACK_BYTES; who finds that
 * another one has used its cell has lost its number, which is counted.
 *
 * A word that may have been changed is made another number (path_range, path_graph.h) when a
 * procedure is left. So a
 * path that goes on with it after all (a signal's handler came in between and called the
 * same procedure) is not mistaken for another one: whatever is added, no path has the sum.
 *
 * The metric is exclusive: what has been charged to any path of the thread since a path
 * began is not charged to it again. Of time that is "time - charged" when it begins and
 * when it ends; of a path that begins where another one ends it is the same as of that one.
 *
 * If it is measured in bursts, there are two copies, of which one only counts (mode.h, both): so
 * the paths of what was called need not have been charged. A path is timed only if one burst went
 * on from its beginning to its end: when one begins so much is charged (COPY_TURNS_CHARGE_BITS)
 * that it is seen at the end.
 */
#ifndef DCPI_INSTRUMENT_PATHS_CODE_H
#define DCPI_INSTRUMENT_PATHS_CODE_H

#include "instrument/code/point.h"
#include "instrument/paths/path_graph.h"
#include "instrument/paths/paths_map.h"

#define PATHS_STACK_BYTES (UINT32_C(8) << 20)

/* Beside the register: whose it is (paths_keep.h), and, with a metric, when its path began. */
#define PATHS_NUMBER_BYTES 16
#define PATHS_NUMBER_MEASURED_BYTES 32
#define PATHS_NUMBER_OWNER 8
#define PATHS_NUMBER_OWNER_NARROW 2
#define PATHS_NUMBER_BEGAN 16

/**
 * struct paths_places - where a procedure's words are; offsets from %gs' base
 * @charged:  of the thread: all that was charged
 * @kept:     of the thread: cells of the stack
 * @table:    of the thread
 * @number:   the register, and what is beside it
 * @words:    of the procedure (paths_map.h)
 * @id:       of the procedure, in the table
 * @count:    of its paths
 * @nowhere:  number that is no path's
 * @narrow:   the number has 16 bits of its word, and its owner (paths_keep.h) the others: who sets
 *            the number says in one instruction that it is nobody's
 * @ended, @cut: if it has arrays (paths_map.h), where words of path 0 are in them
 * @sums:     from there to those of a metric, and @timed: to how many are in that
 * @metric:   time is measured; @measures: by the copy that the code is put into, too
 * @runtime:  that tells whether there is a burst, if it is measured in bursts; else NULL
 */
struct paths_places {
	uint32_t charged;
	uint32_t kept;
	uint32_t table;
	uint32_t number;
	uint32_t words;
	uint32_t id;
	uint32_t count;
	uint32_t nowhere;
	uint32_t ended;
	uint32_t cut;
	uint32_t sums;
	uint32_t timed;
	const struct runtime_code *runtime;
	bool array;
	bool narrow;
	bool metric;
	bool measures;
};

/** paths_code_private_bytes() - of a thread's block, for so many procedures. */
uint64_t paths_code_private_bytes(size_t procedures, bool metric);

/** paths_code_places() - those of procedure number @index that are private, from @at on. */
struct paths_places paths_code_places(uint32_t at, size_t index, bool metric);

/** paths_code_begin() - a path begins without another one's end. */
void paths_code_begin(struct machine_code *code, const struct point *point,
		      const struct paths_places *places, bool count);

/**
 * paths_code_arrive() - from the copy that only counts
 * @begins: a path does; else one goes on, which is not timed
 */
void paths_code_arrive(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, bool begins);

/** paths_code_end() - a path ends, or is counted before. */
void paths_code_end(struct machine_code *code, const struct point *point,
		    const struct paths_places *places, const struct path_way *way);

/** paths_code_count() - a path ends that has a counter of its own there, @at. */
void paths_code_count(struct machine_code *code, const struct point *point, uint32_t at);

/** paths_code_change() - the register changes as a way says. */
void paths_code_change(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, const struct path_way *way);

/** paths_code_load() - the word's number into a register; upper bits of a narrow one are 0. */
void paths_code_load(struct machine_code *code, const struct paths_places *places,
		     unsigned int reg);

/** paths_code_store() - from there; whose a narrow word is stays as it is. */
void paths_code_store(struct machine_code *code, const struct paths_places *places,
		      unsigned int reg);

/** paths_code_leave() - the procedure is left. */
void paths_code_leave(struct machine_code *code, const struct paths_places *places);

#endif
