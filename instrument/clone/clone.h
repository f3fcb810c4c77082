/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a procedure that is being cloned. Internal to procedure_clone.c and these files:
 *
 * - clone_entry.c emits entries, clone_edge.c edges between blocks, clone_insn.c single
 *   instructions.
 * - clone_point.c asks the mode for code between instructions.
 * - clone_cold_stub.c emits out-of-line code after all blocks.
 * - clone_switch.c switches between two clones.
 * - edge_layout.c selects edges whose code is placed inline.
 * - clone_table.c makes jump tables.
 * - clone_fit.c aligns blocks for instruction fetch.
 */
#ifndef DCPI_INSTRUMENT_CLONE_H
#define DCPI_INSTRUMENT_CLONE_H

#include <Zydis/Zydis.h>
#include <errno.h>

#include "instrument/clone/procedure_clone.h"
#include "instrument/clone/burst_switch_loops.h"
#include "instrument/clone/burst_switch_strides.h"
#include "lib/error.h"

enum cold_stub_kind {
	COLD_STUB_POINT,  /* code of the mode */
	COLD_STUB_ENTER,  /* runtime call if the thread is not ready */
	COLD_STUB_SITE,	  /* landing site: check, then point */
	COLD_STUB_CROSS,  /* to the other clone */
	COLD_STUB_ARRIVE, /* from a back-edge check of the other clone */
};

/* Code that is emitted after all blocks, since it is rarely executed. */
struct cold_stub {
	enum cold_stub_kind kind;
	uint32_t label;
	uint32_t frame;
	uint32_t back; /* label of the block to continue at; COUNT_NONE: see @edge */
	uint32_t crossing;
	bool counts;	  /* COLD_STUB_CROSS: the check counts; label @back follows it */
	bool carries;	  /* COLD_STUB_CROSS: the carry is live */
	uint32_t counter; /* COLD_STUB_CROSS: index of the check counter */
	struct point point;
	struct scratch_regs scratch;
	const struct cfg_edge *edge; /* an edge out of the procedure */
};

/**
 * struct clone_table - a jump table of the clone
 * @label: of the table; @base: address that its entries are relative to
 */
struct clone_table {
	const struct cfg_table *old;
	uint32_t label;
	uint64_t base;
};

/**
 * struct clone_replica - the replica of a loop that is being emitted
 * @stride: NULL: no loop is being replicated; @number: index of the stride
 * @labels: for each block: its label in this replica; COUNT_NONE: the replica does not contain the
 *          block, or begins with it
 * @end:    label that back edges lead to
 * @index:  number of the replica, from 1
 */
struct clone_replica {
	const struct burst_stride *stride;
	uint32_t number;
	uint32_t *labels;
	uint32_t end;
	uint32_t index;
};

/**
 * struct clone_fit - for each block: alignment of ranges of blocks; COUNT_NONE: none
 * @first: padding before this block aligns the range that begins with block @first
 * @end:   last block of the range that begins with this block
 * @begin_label, @end_label: of the range that begins with this block, once there is padding for it
 * @last:  first block of a range that ends with this block; @next: first block of another such
 *         range
 */
struct clone_fit {
	uint32_t first;
	uint32_t end;
	uint32_t begin_label;
	uint32_t end_label;
	uint32_t last;
	uint32_t next;
};

/**
 * struct clone - state of the cloning of a procedure
 * @entry: entry block
 * @labels: for each block
 * @edge_of: for each edge of @cfg: the edge of @graph
 * @ends_by: for each node: the edge of its last instruction, or COUNT_NONE
 * @back_to: for each node: the edge by which its call returns, or COUNT_NONE
 * @landing_edge: for each block: the edge from a hub, or of an exception
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
struct clone {
	const struct clone_source *source;
	const struct cfg *cfg;
	const struct count_graph *graph;
	struct procedure_clone *result;
	struct machine_code *code;
	uint32_t entry;
	uint32_t *labels;
	uint32_t *edge_of;
	uint32_t *ends_by;
	uint32_t *back_to;
	uint32_t *landing_edge;
	bool clash;
	uint32_t *starts_by;
	uint32_t *before_by;
	uint32_t *before_labels;
	uint32_t *case_labels;
	struct clone_fit *fits;
	struct clone_table *tables;
	uint32_t table_count;
	uint32_t table;
	struct burst_switch_loops loops;
	uint32_t checks;
	struct burst_switch_strides strides;
	uint32_t *stride_of;
	uint32_t *stride_labels;
	struct clone_replica replica;
	size_t cut;
	struct cold_stub *cold_stubs;
	size_t cold_stub_count;
	size_t cold_stub_capacity;
	ZydisDecoder decoder;
	struct error *err;
};

/* Return true if this clone runs most of the time and contains code of the mode. */
static inline bool clone_is_usual(const struct clone *clone)
{
	const struct clone_source *source = clone->source;

	return source->variant == CLONE_ONLY ||
	       (source->variant == CLONE_CHECKING && source->mode->both);
}

/* The reason contains no address, so that equal reasons can be counted together. */
static inline int clone_refuse(const struct clone *clone, const char *why)
{
	error_set(clone->err, ENOTSUP, "%s", why);
	return -ENOTSUP;
}

static inline bool clone_is_system_call(const struct insn *insn)
{
	return insn->opcode == ZYDIS_MNEMONIC_SYSCALL;
}

/**
 * clone_add_cold_stub() - add out-of-line code, to be emitted after all blocks
 * @cold_stub: gets a new label and the current frame
 *
 * Return: the added code, valid until the next call; NULL: out of memory.
 */
struct cold_stub *clone_add_cold_stub(struct clone *clone, struct cold_stub cold_stub);

/** clone_entry_check() - emit a check that the thread is ready and the process has not forked. If
 * the check fails, out-of-line code calls the runtime and continues at @back. */
void clone_entry_check(struct clone *clone, uint32_t back, uint32_t live, bool red_zone);

/** clone_entry_block() - return the procedure's entry block, or -1 if there is no such block. */
long clone_entry_block(const struct clone *clone);

/**
 * clone_entry_emit() - emit the entry for code outside the clones with its check, then the entry
 * for calls of clones; the block is to be emitted next
 *
 * Return: 0, -ENOTSUP or -ENOMEM.
 */
int clone_entry_emit(struct clone *clone, uint32_t block);

/** clone_entry_site() - emit the check of a landing site directly before its block, if no code
 * falls through into the block. */
void clone_entry_site(struct clone *clone, uint32_t block);

/** clone_entry_sites() - emit landing sites for indirect jumps and exceptions. Return: 0 or
 * -ENOMEM. */
int clone_entry_sites(struct clone *clone);

/** clone_insn_decode() - decode an instruction. @bytes: out: its encoding. Return: 0 or
 * -ENOTSUP. */
int clone_insn_decode(const struct clone *clone, const struct insn *insn,
		      ZydisDecodedInstruction *ret, const uint8_t **bytes);

/** clone_insn_plain() - emit an instruction unchanged, except for a PC-relative operand. */
int clone_insn_plain(struct clone *clone, const struct insn *insn);

/** clone_insn_leave() - emit a jump, branch or call out of the procedure, or to a procedure's
 * entry. */
void clone_insn_leave(struct clone *clone, unsigned int kind, uint64_t target);

/** clone_insn_call() - emit a call; @index: of the instruction. */
int clone_insn_call(struct clone *clone, uint32_t index);

/** clone_insn_mark() - place all cuts up to an address here. clone_insn_mark_end(): all cuts up
 * to an instruction's end. */
void clone_insn_mark(struct clone *clone, uint64_t address);
void clone_insn_mark_end(struct clone *clone, const struct insn *insn);

/** clone_insn_frame() - give the following code the frame of an address, at any position. */
void clone_insn_frame(struct clone *clone, uint64_t address);

/** clone_point_of_edge() - return the point on an edge; @number: in the count graph. */
struct point clone_point_of_edge(const struct clone *clone, uint32_t number);

bool clone_point_has_code(const struct clone *clone, const struct point *point);

/** clone_point_emit() - emit the mode's code for a point; @live: live registers and flags. */
void clone_point_emit(const struct clone *clone, struct point *point, uint32_t live);

/**
 * edge_layout_find() - find the edges whose code is placed inline, without an extra jump
 *
 * Code of a block's only in-edge is placed at the start of the block. If several branches lead to a
 * block, the most frequently taken one gets its code placed before the block. There is no such code
 * if control falls through from the previous block more often, since it would have to jump over it.
 */
void edge_layout_find(struct clone *clone);

/** edge_layout_label() - return the label of an edge's inline code; COUNT_NONE: the edge has none.
 */
uint32_t edge_layout_label(const struct clone *clone, uint32_t edge);

/** edge_layout_before() - emit the inline code before a block. edge_layout_start(): at its start.
 */
void edge_layout_before(struct clone *clone, uint32_t block);
void edge_layout_start(struct clone *clone, uint32_t block);

/** clone_point_start() - emit the mode's code at a node's start. clone_point_end(): at its end,
 * and on the edge of its last instruction, before or after @insn. clone_point_back(): where its
 * call returns. clone_point_reference(): before an instruction. */
void clone_point_start(const struct clone *clone, uint32_t number);
void clone_point_end(const struct clone *clone, uint32_t number, uint32_t insn, bool before);
void clone_point_back(const struct clone *clone, uint32_t number, uint32_t insn);
void clone_point_reference(const struct clone *clone, uint32_t number, uint32_t index);

/**
 * clone_point_early() - return the instruction of a node for clone_point_end()
 *
 * It is the node's last instruction, or an earlier one if the mode permits it
 * (instrument_mode.early) and more registers are free there.
 */
uint32_t clone_point_early(const struct clone *clone, uint32_t number);

/** clone_cold_stub_emit() - emit all rarely executed stubs, or all other out-of-line code, which
 * comes first. */
void clone_cold_stub_emit(struct clone *clone, bool rare);

/** clone_point_is_event() - return true if the mode records something at an instruction. */
bool clone_point_is_event(const struct clone *clone, uint32_t index);

/** clone_edge_has_fall_through() - return true if code before a block may fall through into the
 * block. */
bool clone_edge_has_fall_through(const struct clone *clone, uint32_t index);

/** clone_edge_live() - return the live set at an edge's destination. */
uint32_t clone_edge_live(const struct clone *clone, const struct cfg_edge *edge);

/** clone_edge_ends_replica() - return true for a back edge of the replica being emitted. */
bool clone_edge_ends_replica(const struct clone *clone, uint32_t cfg_edge);

/** clone_edge_branch() - emit a branch of @kind along an edge; code on the edge is placed out of
 * line. */
void clone_edge_branch(struct clone *clone, unsigned int kind, uint32_t cfg_edge);

/** clone_edge_fall() - continue at an edge's destination. @next: label of the code that follows.
 */
void clone_edge_fall(struct clone *clone, uint32_t cfg_edge, uint32_t next);

/** clone_edge_follows() - return true if an edge leads to the code emitted next, with no code on
 * it. */
bool clone_edge_follows(const struct clone *clone, uint32_t cfg_edge, uint32_t next);

/** clone_table_find() - choose the jump tables of the clone. Return: 0 or -ENOMEM. */
int clone_table_find(struct clone *clone);

/** clone_table_is_of() - return true if an indirect jump has a table of the clone; @jump:
 * instruction. */
bool clone_table_is_of(const struct clone *clone, uint32_t jump);

/**
 * clone_table_load() - emit the load of a table entry, which may be the jump itself
 * @index: of an instruction; to be called for all instructions in ascending order
 *
 * Return: 1; 0 if the instruction does not load from a table of the clone; -ENOTSUP.
 */
int clone_table_load(struct clone *clone, uint32_t index);

/** clone_table_emit() - emit the tables, once all sites have labels. */
void clone_table_emit(struct clone *clone);

/** clone_switch_of_block() and the next functions - return the index of a crossing, where the other
 * clone may continue. */
uint32_t clone_switch_of_block(const struct clone *clone, uint32_t block);
uint32_t clone_switch_of_entry(const struct clone *clone);
uint32_t clone_switch_of_site(const struct clone *clone, uint32_t block);
uint32_t clone_switch_of_edge(const struct clone *clone, uint32_t cfg_edge);

/** clone_switch_prepare() - place the checks, if there are two clones. Return: 0 or -ENOMEM. */
int clone_switch_prepare(struct clone *clone);

/** clone_switch_loops() - choose the loops that are unrolled for the mode. Return: 0 or -ENOMEM. */
int clone_switch_loops(struct clone *clone);

/** clone_switch_is_of_stride() - return true if an edge leads to the replicas of a loop. */
bool clone_switch_is_of_stride(const struct clone *clone, uint32_t stride, uint32_t cfg_edge);

/** clone_switch_on_edge() - return true if there is a check on an edge. */
bool clone_switch_on_edge(const struct clone *clone, uint32_t cfg_edge);

/** clone_switch_leads_back() - return true if a checked edge leads to a block. */
bool clone_switch_leads_back(const struct clone *clone, uint32_t block);

/** clone_switch_on_site() - return true if a checked edge of an indirect jump leads to a block. */
bool clone_switch_on_site(const struct clone *clone, uint32_t block);

/** clone_switch_at_entry() - return true if a procedure has a check on each entry. */
bool clone_switch_at_entry(const struct clone *clone, uint32_t number);

/** clone_switch_from_outside() - return true if this procedure has a check only on entry from code
 * outside the clones. */
bool clone_switch_from_outside(const struct clone *clone);

/**
 * struct clone_check - a check
 * @crossing: index of the point where the other clone continues
 * @live:     live set there
 * @red_zone: as in struct point
 * @counts:   the check counts down; false: it only tests which clone is to run
 * @landing:  the check is at a landing site of indirect jumps
 */
struct clone_check {
	uint32_t crossing;
	uint32_t live;
	bool red_zone;
	bool counts;
	bool landing;
};

/** clone_switch_emit() - emit a check, after which this clone continues. */
void clone_switch_emit(struct clone *clone, const struct clone_check *check);

/** clone_switch_emit_to() - emit a check, after which this clone continues at a label. */
void clone_switch_emit_to(struct clone *clone, const struct clone_check *check, uint32_t label);

/** clone_switch_crosses() - return true if this clone's checks always lead to the other clone. */
bool clone_switch_crosses(const struct clone *clone);

/** clone_switch_place() - set the label where this clone continues at a crossing. */
void clone_switch_place(struct clone *clone, uint32_t crossing, uint32_t label);

/** clone_switch_cross() - emit the transition to the other clone. */
void clone_switch_cross(struct clone *clone, const struct cold_stub *cold_stub);

/**
 * clone_fit_find() - choose the code that is aligned to occupy as few cache lines as possible
 *
 * Padding is possible before a block that no code falls into. It aligns the loop with the most
 * estimated iterations among the loops that begin before the next such block. Without a loop, it
 * aligns the first blocks.
 */
void clone_fit_find(struct clone *clone);

/** clone_fit_emit() - emit that padding, before a block and the inline code that leads to it. */
void clone_fit_emit(struct clone *clone, uint32_t block);

/**
 * clone_fit_begin() - mark the start of an aligned range, before a block's code; only the first
 * call for the block has an effect
 *
 * clone_fit_end() marks the end of a range, after the block's code.
 */
void clone_fit_begin(struct clone *clone, uint32_t block);
void clone_fit_end(struct clone *clone, uint32_t block);

#endif
