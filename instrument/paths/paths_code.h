/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that counts paths, at points of a procedure (point.h).
 *
 * Where possible (see path_webs.h) the number of the current path is in a register of the
 * processor. Otherwise it is in a word that each thread has for each procedure, in the private part
 * of the thread's block. So a procedure that ends without a return (longjmp, an exception, a
 * coroutine) needs no cleanup.
 *
 * If a call may re-enter the calling procedure (see path_spill.h), the word is saved in a cell that
 * depends on the value of the stack pointer at the call. It is restored when the call returns,
 * independent of other calls in between. Each 16 bytes of the stack have a cell, which also holds
 * the whole stack pointer. The same cells are used every 8 MiB of stack (PATHS_STACK_BYTES). If
 * another activation has overwritten the cell, the number is lost, which is counted.
 *
 * When a procedure is left, a word that may have been changed is set to path_range.no_path, a
 * number that no path has. A path may continue with that word nevertheless, because a signal
 * handler called the same procedure in between. The path is not mistaken for another one, because
 * the sum after any increments is no path's number.
 *
 * The metric is exclusive: anything that has been charged to any path of the thread since a path
 * began is not charged to that path again. For time, this is the difference of "time - charged" at
 * the end and at the beginning. If a path begins where another one ends, both use the same value.
 *
 * If time is measured in bursts, the procedure has two clones (see both in mode.h). One of them
 * only counts; the other one also adds each path to the thread's trace (paths_trace.h), and reads
 * the clock once for a group of paths.
 */
#ifndef DCPI_INSTRUMENT_PATHS_CODE_H
#define DCPI_INSTRUMENT_PATHS_CODE_H

#include "instrument/codegen/point.h"
#include "instrument/paths/path_graph.h"
#include "instrument/paths/paths_map.h"

#define PATHS_STACK_BYTES (UINT32_C(8) << 20)

/*
 * Offsets from the number: its owner (path_spill.h), and, with a metric, the start time of its
 * path.
 */
#define PATHS_NUMBER_BYTES 16
#define PATHS_NUMBER_MEASURED_BYTES 32
#define PATHS_NUMBER_OWNER 8
#define PATHS_NUMBER_OWNER_NARROW 2
#define PATHS_NUMBER_BEGAN 16

/**
 * struct paths_places - addresses of a procedure's words, as offsets from the base of %gs
 * @charged:  of the thread: the sum of everything charged
 * @kept:     of the thread: cells of the stack
 * @table:    of the thread
 * @number:   the path number, and the fields next to it
 * @words:    of the procedure (paths_map.h)
 * @end:      emits the code that counts a path elsewhere; NULL: in the words or the table
 * @contexts: for @end: its table
 * @id:       number of the procedure in the table
 * @count:    number of its paths
 * @no_path:  number that is no path's
 * @narrow:   the number has 16 bits of its word, and its owner (see path_spill.h) the others. One
 *            store sets the number and clears the owner.
 * @ended, @cut: if it has arrays (paths_map.h), where words of path 0 are in them
 * @sums:     distance from the counts to the sums of a metric
 * @area:     of the thread: base of the trace's offsets; @trace: struct paths_trace_head
 * @metric:   the time of each path is measured; @measures: also by the clone that the code is for
 * @traces:   the clone that the code is for adds paths to the trace
 */
struct paths_places {
	uint32_t charged;
	uint32_t kept;
	uint32_t table;
	paths_end_fn end;
	uint32_t contexts;
	uint32_t number;
	uint32_t words;
	uint32_t id;
	uint32_t count;
	uint32_t no_path;
	uint32_t ended;
	uint32_t cut;
	uint32_t sums;
	uint32_t area;
	uint32_t trace;
	bool array;
	bool narrow;
	bool metric;
	bool measures;
	bool traces;
};

/** paths_code_private_bytes() - return the size in a thread's block, for @procedures procedures */
uint64_t paths_code_private_bytes(size_t procedures, bool metric);

/** paths_code_places() - return the private places of procedure number @index, in a block at @at */
struct paths_places paths_code_places(uint32_t at, size_t index, bool metric);

/** paths_code_begin() - emit code for a path that begins without the end of another one */
void paths_code_begin(struct machine_code *code, const struct point *point,
		      const struct paths_places *places, bool count);

/** paths_code_end() - emit code that counts a path at its end, or before */
void paths_code_end(struct machine_code *code, const struct point *point,
		    const struct paths_places *places, const struct path_edge *path_edge);

/**
 * paths_code_number() - emit code that loads the number of the path that ends into a register
 *
 * Return: label to place after the code for the path, where control continues if the number is
 * lost.
 */
uint32_t paths_code_number(struct machine_code *code, const struct paths_places *places,
			   const struct path_edge *path_edge, unsigned int reg);

/** paths_code_overflow() - emit code that counts a path for which there is no room */
void paths_code_overflow(struct machine_code *code, const struct paths_places *places);

/** paths_code_count() - emit code that counts a path in its separate counter @at */
void paths_code_count(struct machine_code *code, const struct point *point, uint32_t at);

/** paths_code_change() - emit the operation of an edge on the path register */
void paths_code_change(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, const struct path_edge *path_edge);

/**
 * paths_code_load() - load the number from its word into a register; zero-extends a narrow number
 */
void paths_code_load(struct machine_code *code, const struct paths_places *places,
		     unsigned int reg);

/** paths_code_store() - store a register into the word; keeps the owner of a narrow word */
void paths_code_store(struct machine_code *code, const struct paths_places *places,
		      unsigned int reg);

/** paths_code_leave() - emit code for leaving the procedure */
void paths_code_leave(struct machine_code *code, const struct paths_places *places);

#endif
