/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a procedure that is being cloned. Internal to procedure_copy.c and these files:
 *
 * - copier_entry.c emits entries, copier_edge.c edges between blocks, copier_insn.c single
 *   instructions.
 * - copier_point.c asks the mode for code between instructions.
 * - copier_aside.c emits out-of-line code after all blocks.
 * - copier_turn.c switches between two clones.
 * - copier_way.c selects edges whose code is placed inline.
 * - copier_table.c makes jump tables.
 * - copier_fit.c aligns blocks for instruction fetch.
 */
#ifndef DCPI_INSTRUMENT_COPIER_H
#define DCPI_INSTRUMENT_COPIER_H

#include <Zydis/Zydis.h>
#include <errno.h>

#include "instrument/copy/procedure_copy.h"
#include "instrument/copy/turn_loops.h"
#include "instrument/copy/turn_strides.h"
#include "lib/error.h"

enum aside_kind {
	ASIDE_POINT,  /* code of the mode */
	ASIDE_ENTER,  /* runtime call if the thread is not ready */
	ASIDE_SITE,   /* landing site: check, then point */
	ASIDE_CROSS,  /* to the other clone */
	ASIDE_ARRIVE, /* from a back-edge check of the other clone */
};

/* Code that is emitted after all blocks, since it is rarely executed. */
struct aside {
	enum aside_kind kind;
	uint32_t label;
	uint32_t frame;
	uint32_t back; /* label of the block to continue at; COUNT_NONE: see @edge */
	uint32_t crossing;
	bool counts;	  /* ASIDE_CROSS: the check counts; label @back follows it */
	bool carries;	  /* ASIDE_CROSS: the carry is live */
	uint32_t counter; /* ASIDE_CROSS: index of the check counter */
	struct point point;
	struct point_loan loan;
	const struct cfg_edge *edge; /* an edge out of the procedure */
};

/**
 * struct copier_table - a jump table of the clone
 * @label: of the table; @base: address that its entries are relative to
 */
struct copier_table {
	const struct cfg_table *old;
	uint32_t label;
	uint64_t base;
};

/**
 * struct copier_again - the replica of a loop that is being emitted
 * @stride: NULL: no loop is being replicated; @number: index of the stride
 * @labels: for each block: its label in this replica; COUNT_NONE: the replica does not contain the
 *          block, or begins with it
 * @end:    label that back edges lead to
 * @turn:   number of the replica, from 1
 */
struct copier_again {
	const struct turn_stride *stride;
	uint32_t number;
	uint32_t *labels;
	uint32_t end;
	uint32_t turn;
};

/**
 * struct copier_fit - for each block: alignment of ranges of blocks; COUNT_NONE: none
 * @first: padding before this block aligns the range that begins with block @first
 * @end:   last block of the range that begins with this block
 * @begin_label, @end_label: of the range that begins with this block, once there is padding for it
 * @last:  first block of a range that ends with this block; @next: first block of another such
 *         range
 */
struct copier_fit {
	uint32_t first;
	uint32_t end;
	uint32_t begin_label;
	uint32_t end_label;
	uint32_t last;
	uint32_t next;
};

/**
 * struct copier - state of the cloning of a procedure
 * @entry: entry block
 * @labels: for each block
 * @edge_of: for each edge of @cfg: the edge of @graph
 * @ends_by: for each node: the edge of its last instruction, or COUNT_NONE
 * @back_to: for each node: the edge by which its call returns, or COUNT_NONE
 * @comes_by: for each block: the edge from a hub, or of an exception
 * @clash: a block has both
 * @starts_by: for each block: its only in-edge, if the code of that edge is at the block's start
 * @before_by: for each block: the in-edge whose code is before the block and falls through into it
 * @before_labels: for each block: label of that code
 * @case_labels: for each block: its target in jump tables of the clone
 * @fits: for each block
 * @table: index of the next table
 * @loops: for two clones
 * @checks: number of checks emitted so far
 * @stride_of: for each edge of @cfg: the index of the stride that it leads to, or COUNT_NONE
 * @stride_labels: for each stride: start of its replicas
 * @cut: index of the next cut
 */
struct copier {
	const struct copy_source *source;
	const struct cfg *cfg;
	const struct count_graph *graph;
	struct procedure_copy *copy;
	struct machine_code *code;
	uint32_t entry;
	uint32_t *labels;
	uint32_t *edge_of;
	uint32_t *ends_by;
	uint32_t *back_to;
	uint32_t *comes_by;
	bool clash;
	uint32_t *starts_by;
	uint32_t *before_by;
	uint32_t *before_labels;
	uint32_t *case_labels;
	struct copier_fit *fits;
	struct copier_table *tables;
	uint32_t table_count;
	uint32_t table;
	struct turn_loops loops;
	uint32_t checks;
	struct turn_strides strides;
	uint32_t *stride_of;
	uint32_t *stride_labels;
	struct copier_again again;
	size_t cut;
	struct aside *asides;
	size_t aside_count;
	size_t aside_capacity;
	ZydisDecoder decoder;
	struct error *err;
};

/* Return true if this clone runs most of the time and contains code of the mode. */
static inline bool copier_is_usual(const struct copier *copier)
{
	const struct copy_source *source = copier->source;

	return source->variant == COPY_ONLY ||
	       (source->variant == COPY_CHECKING && source->mode->both);
}

/* The reason contains no address, so that equal reasons can be counted together. */
static inline int copier_refuse(const struct copier *copier, const char *why)
{
	error_set(copier->err, ENOTSUP, "%s", why);
	return -ENOTSUP;
}

static inline bool copier_is_system_call(const struct insn *insn)
{
	return insn->opcode == ZYDIS_MNEMONIC_SYSCALL;
}

/**
 * copier_add_aside() - add out-of-line code, to be emitted after all blocks
 * @aside: gets a new label and the current frame
 *
 * Return: the added code, valid until the next call; NULL: out of memory.
 */
struct aside *copier_add_aside(struct copier *copier, struct aside aside);

/** copier_entry_check() - emit a check that the thread is ready and the process has not forked. If
 * the check fails, out-of-line code calls the runtime and continues at @back. */
void copier_entry_check(struct copier *copier, uint32_t back, uint32_t live, bool red_zone);

/** copier_entry_block() - return the procedure's entry block, or -1 if there is no such block. */
long copier_entry_block(const struct copier *copier);

/**
 * copier_entry_emit() - emit the entry for code outside the clones with its check, then the entry
 * for calls of clones; the block is to be emitted next
 *
 * Return: 0, -ENOTSUP or -ENOMEM.
 */
int copier_entry_emit(struct copier *copier, uint32_t block);

/** copier_entry_site() - emit the check of a landing site directly before its block, if no code
 * falls through into the block. */
void copier_entry_site(struct copier *copier, uint32_t block);

/** copier_entry_sites() - emit landing sites for indirect jumps and exceptions. Return: 0 or
 * -ENOMEM. */
int copier_entry_sites(struct copier *copier);

/** copier_insn_decode() - decode an instruction. @bytes: out: its encoding. Return: 0 or
 * -ENOTSUP. */
int copier_insn_decode(const struct copier *copier, const struct insn *insn,
		       ZydisDecodedInstruction *ret, const uint8_t **bytes);

/** copier_insn_plain() - emit an instruction unchanged, except for a PC-relative operand. */
int copier_insn_plain(struct copier *copier, const struct insn *insn);

/** copier_insn_leave() - emit a jump, branch or call out of the procedure, or to a procedure's
 * entry. */
void copier_insn_leave(struct copier *copier, unsigned int kind, uint64_t target);

/** copier_insn_call() - emit a call; @index: of the instruction. */
int copier_insn_call(struct copier *copier, uint32_t index);

/** copier_insn_mark() - place all cuts up to an address here. copier_insn_mark_end(): all cuts up
 * to an instruction's end. */
void copier_insn_mark(struct copier *copier, uint64_t address);
void copier_insn_mark_end(struct copier *copier, const struct insn *insn);

/** copier_insn_frame() - give the following code the frame of an address, at any position. */
void copier_insn_frame(struct copier *copier, uint64_t address);

/** copier_point_of_edge() - return the point on an edge; @number: in the count graph. */
struct point copier_point_of_edge(const struct copier *copier, uint32_t number);

bool copier_point_wants(const struct copier *copier, const struct point *point);

/** copier_point_emit() - emit the mode's code for a point; @live: live registers and flags. */
void copier_point_emit(const struct copier *copier, struct point *point, uint32_t live);

/**
 * copier_way_find() - find the edges whose code is placed inline, without an extra jump
 *
 * Code of a block's only in-edge is placed at the start of the block. If several branches lead to a
 * block, the most frequently taken one gets its code placed before the block. There is no such code
 * if control falls through from the previous block more often, since it would have to jump over it.
 */
void copier_way_find(struct copier *copier);

/** copier_way_label() - return the label of an edge's inline code; COUNT_NONE: the edge has none.
 */
uint32_t copier_way_label(const struct copier *copier, uint32_t edge);

/** copier_way_before() - emit the inline code before a block. copier_way_start(): at its start. */
void copier_way_before(struct copier *copier, uint32_t block);
void copier_way_start(struct copier *copier, uint32_t block);

/** copier_point_start() - emit the mode's code at a node's start. copier_point_end(): at its end,
 * and on the edge of its last instruction, before or after @insn. copier_point_back(): where its
 * call returns. copier_point_reference(): before an instruction. */
void copier_point_start(const struct copier *copier, uint32_t number);
void copier_point_end(const struct copier *copier, uint32_t number, uint32_t insn, bool before);
void copier_point_back(const struct copier *copier, uint32_t number, uint32_t insn);
void copier_point_reference(const struct copier *copier, uint32_t number, uint32_t index);

/**
 * copier_point_early() - return the instruction of a node for copier_point_end()
 *
 * It is the node's last instruction, or an earlier one if the mode permits it
 * (instrument_mode.early) and more registers are free there.
 */
uint32_t copier_point_early(const struct copier *copier, uint32_t number);

/** copier_aside_emit() - emit all rarely executed stubs, or all other out-of-line code, which comes
 * first. */
void copier_aside_emit(struct copier *copier, bool rare);

/** copier_point_is_event() - return true if the mode records something at an instruction. */
bool copier_point_is_event(const struct copier *copier, uint32_t index);

/** copier_edge_is_fallen_into() - return true if code before a block may fall through into the
 * block. */
bool copier_edge_is_fallen_into(const struct copier *copier, uint32_t index);

/** copier_edge_live() - return the live set at an edge's destination. */
uint32_t copier_edge_live(const struct copier *copier, const struct cfg_edge *edge);

/** copier_edge_ends_turn() - return true for a back edge of the replica being emitted. */
bool copier_edge_ends_turn(const struct copier *copier, uint32_t cfg_edge);

/** copier_edge_branch() - emit a branch of @kind along an edge; code on the edge is placed out of
 * line. */
void copier_edge_branch(struct copier *copier, unsigned int kind, uint32_t cfg_edge);

/** copier_edge_fall() - continue at an edge's destination. @next: label of the code that follows.
 */
void copier_edge_fall(struct copier *copier, uint32_t cfg_edge, uint32_t next);

/** copier_edge_follows() - return true if an edge leads to the code emitted next, with no code on
 * it. */
bool copier_edge_follows(const struct copier *copier, uint32_t cfg_edge, uint32_t next);

/** copier_table_find() - choose the jump tables of the clone. Return: 0 or -ENOMEM. */
int copier_table_find(struct copier *copier);

/** copier_table_is_of() - return true if an indirect jump has a table of the clone; @jump:
 * instruction. */
bool copier_table_is_of(const struct copier *copier, uint32_t jump);

/**
 * copier_table_load() - emit the load of a table entry, which may be the jump itself
 * @index: of an instruction; to be called for all instructions in ascending order
 *
 * Return: 1; 0 if the instruction does not load from a table of the clone; -ENOTSUP.
 */
int copier_table_load(struct copier *copier, uint32_t index);

/** copier_table_emit() - emit the tables, once all sites have labels. */
void copier_table_emit(struct copier *copier);

/** copier_turn_count() - return the number of crossings, where the other clone may continue; the
 * next functions return their indices. */
uint32_t copier_turn_count(const struct copier *copier);
uint32_t copier_turn_of_block(const struct copier *copier, uint32_t block);
uint32_t copier_turn_of_entry(const struct copier *copier);
uint32_t copier_turn_of_site(const struct copier *copier, uint32_t block);
uint32_t copier_turn_of_edge(const struct copier *copier, uint32_t cfg_edge);

/** copier_turn_prepare() - place the checks, if there are two clones. Return: 0 or -ENOMEM. */
int copier_turn_prepare(struct copier *copier);

/** copier_turn_loops() - choose the loops that are unrolled for the mode. Return: 0 or -ENOMEM. */
int copier_turn_loops(struct copier *copier);

/** copier_turn_is_of_stride() - return true if an edge leads to the replicas of a loop. */
bool copier_turn_is_of_stride(const struct copier *copier, uint32_t stride, uint32_t cfg_edge);

/** copier_turn_on_edge() - return true if there is a check on an edge. */
bool copier_turn_on_edge(const struct copier *copier, uint32_t cfg_edge);

/** copier_turn_leads_back() - return true if a checked edge leads to a block. */
bool copier_turn_leads_back(const struct copier *copier, uint32_t block);

/** copier_turn_on_site() - return true if a checked edge of an indirect jump leads to a block. */
bool copier_turn_on_site(const struct copier *copier, uint32_t block);

/** copier_turn_at_entry() - return true if a procedure has a check on each entry. */
bool copier_turn_at_entry(const struct copier *copier, uint32_t number);

/** copier_turn_from_outside() - return true if this procedure has a check only on entry from code
 * outside the clones. */
bool copier_turn_from_outside(const struct copier *copier);

/**
 * struct turn - a check
 * @crossing: index of the point where the other clone continues
 * @live:     live set there
 * @red_zone: as in struct point
 * @counts:   the check counts down; false: it only tests which clone is to run
 * @landing:  the check is at a landing site of indirect jumps
 */
struct turn {
	uint32_t crossing;
	uint32_t live;
	bool red_zone;
	bool counts;
	bool landing;
};

/** copier_turn_emit() - emit a check, after which this clone continues. */
void copier_turn_emit(struct copier *copier, const struct turn *turn);

/** copier_turn_emit_to() - emit a check, after which this clone continues at a label. */
void copier_turn_emit_to(struct copier *copier, const struct turn *turn, uint32_t label);

/** copier_turn_crosses() - return true if this clone's checks always lead to the other clone. */
bool copier_turn_crosses(const struct copier *copier);

/** copier_turn_place() - set the label where this clone continues at a crossing. */
void copier_turn_place(struct copier *copier, uint32_t crossing, uint32_t label);

/** copier_turn_cross() - emit the transition to the other clone. */
void copier_turn_cross(struct copier *copier, const struct aside *aside);

/**
 * copier_fit_find() - choose the code that is aligned to occupy as few cache lines as possible
 *
 * Padding is possible before a block that no code falls into. It aligns the loop with the most
 * estimated iterations among the loops that begin before the next such block. Without a loop, it
 * aligns the first blocks.
 */
void copier_fit_find(struct copier *copier);

/** copier_fit_emit() - emit that padding, before a block and the inline code that leads to it. */
void copier_fit_emit(struct copier *copier, uint32_t block);

/**
 * copier_fit_begin() - mark the start of an aligned range, before a block's code; only the first
 * call for the block has an effect
 *
 * copier_fit_end() marks the end of a range, after the block's code.
 */
void copier_fit_begin(struct copier *copier, uint32_t block);
void copier_fit_end(struct copier *copier, uint32_t block);

#endif
