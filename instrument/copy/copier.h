/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A procedure that is being copied. Internal to procedure_copy.c: copier_entry.c makes ways in,
 * copier_edge.c ways between blocks, copier_insn.c copies single instructions, copier_point.c asks
 * the mode for code between them, copier_aside.c has what is put behind all blocks, copier_turn.c
 * changes between two copies, copier_way.c knows which ways need not go aside for it,
 * copier_table.c makes jump tables, copier_fit.c puts blocks where they are fetched fast.
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
	ASIDE_POINT, /* code of the mode */
	ASIDE_ENTER, /* the thread may not be ready */
	ASIDE_SITE, /* from an old place of code: its turn, if there are two copies; then a point */
	ASIDE_CROSS,  /* to the other copy */
	ASIDE_ARRIVE, /* from it, on a way back */
};

/* Code that is put behind all blocks, since few go there. */
struct aside {
	enum aside_kind kind;
	uint32_t label;
	uint32_t frame;
	uint32_t back; /* block's label to go to; COUNT_NONE: see @edge */
	uint32_t crossing;
	bool counts;	  /* of ASIDE_CROSS: the check; @back: behind it */
	bool carries;	  /* likewise: the carry matters */
	uint32_t counter; /* likewise: what it counts down */
	struct point point;
	struct point_loan loan;
	const struct cfg_edge *edge; /* out of the procedure */
};

/**
 * struct copier_table - a jump table that the copy has one of its own for
 * @label: where that is; @base: what its entries are relative to
 */
struct copier_table {
	const struct cfg_table *old;
	uint32_t label;
	uint64_t base;
};

/**
 * struct copier_again - a loop that is put again
 * @stride: NULL: none is; @number: its own
 * @labels: of each block: where it is in this turn; COUNT_NONE: it is not, or it is the first
 * @end:    the label that ways back lead to
 * @turn:   which turn it is, of those that are put again
 */
struct copier_again {
	const struct turn_stride *stride;
	uint32_t number;
	uint32_t *labels;
	uint32_t end;
	uint32_t turn;
};

/**
 * struct copier_fit - of each block; COUNT_NONE: none
 * @first: before this block is padding for what begins with that one
 * @end:   what begins with this block ends with that one
 * @begin_label, @end_label: of what begins with this block, once there is padding for it
 * @last:  a block that what ends with this one begins with; @next: another one
 */
struct copier_fit {
	uint32_t first;
	uint32_t end;
	uint32_t begin_label;
	uint32_t end_label;
	uint32_t last;
	uint32_t next;
};

struct copier {
	const struct copy_source *source;
	const struct cfg *cfg;
	const struct count_graph *graph;
	struct procedure_copy *copy;
	struct machine_code *code;
	uint32_t entry;	    /* block */
	uint32_t *labels;   /* of each block */
	uint32_t *edge_of;  /* of each edge of cfg: that of the graph */
	uint32_t *ends_by;  /* of each node: the edge that its last instruction is, or COUNT_NONE */
	uint32_t *back_to;  /* likewise: the edge by which a call comes back */
	uint32_t *comes_by; /* of each block: the edge from a hub, or of an exception */
	bool clash;	    /* both */
	uint32_t *starts_by; /* of each block: the only way to it, if its code is at the start */
	uint32_t *before_by; /* of each block: the way whose code is before it and runs on */
	uint32_t *before_labels; /* where that is */
	uint32_t *case_labels;	 /* of each block: where this copy's own tables lead */
	struct copier_fit *fits; /* of each block */
	struct copier_table *tables;
	uint32_t table_count;
	uint32_t table;		 /* the next one */
	struct turn_loops loops; /* if there are two copies */
	uint32_t checks;	 /* that there are already */
	struct turn_strides strides;
	uint32_t *stride_of;	 /* of each edge of cfg: its number, or COUNT_NONE */
	uint32_t *stride_labels; /* of each: where the loop is put again */
	struct copier_again again;
	size_t cut; /* the next one */
	struct aside *asides;
	size_t aside_count;
	size_t aside_capacity;
	ZydisDecoder decoder;
	struct error *err;
};

/* Whether it is the copy that usually runs, and has code of the mode in it. */
static inline bool copier_is_usual(const struct copier *copier)
{
	const struct copy_source *source = copier->source;

	return source->variant == COPY_ONLY ||
	       (source->variant == COPY_CHECKING && source->mode->both);
}

/* Without the address, by which each would be a reason of its own. */
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
 * copier_add_aside() - have code put behind all blocks
 * @aside: gets a label of its own, and the frame of here
 *
 * Return: it, until the next one; NULL: no memory.
 */
struct aside *copier_add_aside(struct copier *copier, struct aside aside);

/** copier_entry_check() - whether the thread is ready, and the process the one it was; on at
 * @back if it was not. */
void copier_entry_check(struct copier *copier, uint32_t back, uint32_t live, bool red_zone);

/** copier_entry_block() - the procedure's first; -1: there is none. */
long copier_entry_block(const struct copier *copier);

/**
 * copier_entry_emit() - the entry that others know, and behind its check the one that our own
 * calls take; behind it is to come the block
 *
 * Return: 0, -ENOTSUP or -ENOMEM.
 */
int copier_entry_emit(struct copier *copier, uint32_t block);

/** copier_entry_site() - where those lead to a block that has a check for it, right before it, if
 * that is in nobody's way. */
void copier_entry_site(struct copier *copier, uint32_t block);

/** copier_entry_sites() - where indirect jumps lead, and exceptions. Return: 0 or -ENOMEM. */
int copier_entry_sites(struct copier *copier);

/** copier_insn_decode() - @bytes: out: its own. Return: 0 or -ENOTSUP. */
int copier_insn_decode(const struct copier *copier, const struct insn *insn,
		       ZydisDecodedInstruction *ret, const uint8_t **bytes);

/** copier_insn_plain() - as it is, but for what it means relative to itself. */
int copier_insn_plain(struct copier *copier, const struct insn *insn);

/** copier_insn_leave() - a jump, branch or call out of the procedure, or to one's entry. */
void copier_insn_leave(struct copier *copier, unsigned int kind, uint64_t target);

/** copier_insn_call() - a call; @index: of the instruction. */
int copier_insn_call(struct copier *copier, uint32_t index);

/** copier_insn_mark() - all cuts up to an address are here; _end: up to an instruction's end. */
void copier_insn_mark(struct copier *copier, uint64_t address);
void copier_insn_mark_end(struct copier *copier, const struct insn *insn);

/** copier_insn_frame() - what follows is run as if at an address, wherever it is put. */
void copier_insn_frame(struct copier *copier, uint64_t address);

/** copier_point_of_edge() - @number: of the graph. */
struct point copier_point_of_edge(const struct copier *copier, uint32_t number);

bool copier_point_wants(const struct copier *copier, const struct point *point);

/** copier_point_emit() - what the mode wants there; @live: registers and flags that are. */
void copier_point_emit(const struct copier *copier, struct point *point, uint32_t live);

/**
 * copier_way_find() - of which ways the code is in the course of things, and need not jump
 *
 * That of an only way to a block is at the block's start; of the branches to another block the
 * likeliest has its code before it, unless control more often comes from above, which must go
 * past it then.
 */
void copier_way_find(struct copier *copier);

/** copier_way_label() - where such a way leads, by the edge's number; COUNT_NONE: it is another. */
uint32_t copier_way_label(const struct copier *copier, uint32_t edge);

/** copier_way_before() - the code before a block; _start: at its start. */
void copier_way_before(struct copier *copier, uint32_t block);
void copier_way_start(struct copier *copier, uint32_t block);

/** copier_point_start() - a node's start; _end: its end, and the edge that its last
 * instruction is, before or behind one; _back: where its call comes back; _reference: before
 * an instruction. */
void copier_point_start(const struct copier *copier, uint32_t number);
void copier_point_end(const struct copier *copier, uint32_t number, uint32_t insn, bool before);
void copier_point_back(const struct copier *copier, uint32_t number, uint32_t insn);
void copier_point_reference(const struct copier *copier, uint32_t number, uint32_t index);

/**
 * copier_point_early() - the instruction of a node that copier_point_end() is to come before
 *
 * Its last one; or an earlier one, if the mode does not mind and more registers are free there.
 */
uint32_t copier_point_early(const struct copier *copier, uint32_t number);

/** copier_aside_emit() - all asides that are rarely gone to, or all others, which come first. */
void copier_aside_emit(struct copier *copier, bool rare);

/** copier_point_is_event() - whether the mode records something at an instruction. */
bool copier_point_is_event(const struct copier *copier, uint32_t index);

/** copier_edge_is_fallen_into() - whether what is put before a block may go on into it. */
bool copier_edge_is_fallen_into(const struct copier *copier, uint32_t index);

/** copier_edge_live() - what is live where an edge leads. */
uint32_t copier_edge_live(const struct copier *copier, const struct cfg_edge *edge);

/** copier_edge_ends_turn() - whether an edge leads back, in a loop that is put again. */
bool copier_edge_ends_turn(const struct copier *copier, uint32_t cfg_edge);

/** copier_edge_branch() - a branch of some kind along an edge; code on it is put aside. */
void copier_edge_branch(struct copier *copier, unsigned int kind, uint32_t cfg_edge);

/** copier_edge_fall() - on to where an edge leads. @next: the label that follows. */
void copier_edge_fall(struct copier *copier, uint32_t cfg_edge, uint32_t next);

/** copier_edge_follows() - whether an edge leads to what is put next, with no code on it. */
bool copier_edge_follows(const struct copier *copier, uint32_t cfg_edge, uint32_t next);

/** copier_table_find() - which tables there are to be. Return: 0 or -ENOMEM. */
int copier_table_find(struct copier *copier);

/** copier_table_is_of() - whether an indirect jump, by its instruction, has one of them. */
bool copier_table_is_of(const struct copier *copier, uint32_t jump);

/**
 * copier_table_load() - the load of an entry, which may be the jump itself
 * @index: of an instruction; all of them in order
 *
 * Return: 1; 0 it is none of a table that the copy has; -ENOTSUP.
 */
int copier_table_load(struct copier *copier, uint32_t index);

/** copier_table_emit() - the tables, once all sites have labels. */
void copier_table_emit(struct copier *copier);

/** copier_turn_count() - places where the other copy may go on; their numbers follow. */
uint32_t copier_turn_count(const struct copier *copier);
uint32_t copier_turn_of_block(const struct copier *copier, uint32_t block);
uint32_t copier_turn_of_entry(const struct copier *copier);
uint32_t copier_turn_of_site(const struct copier *copier, uint32_t block);
uint32_t copier_turn_of_edge(const struct copier *copier, uint32_t cfg_edge);

/** copier_turn_prepare() - if there are two copies: where checks are. Return: 0 or -ENOMEM. */
int copier_turn_prepare(struct copier *copier);

/** copier_turn_loops() - which loops are put again for the mode. Return: 0 or -ENOMEM. */
int copier_turn_loops(struct copier *copier);

/** copier_turn_is_of_stride() - whether an edge leads to where a loop is put again. */
bool copier_turn_is_of_stride(const struct copier *copier, uint32_t stride, uint32_t cfg_edge);

/** copier_turn_on_edge() - whether there is a check on an edge. */
bool copier_turn_on_edge(const struct copier *copier, uint32_t cfg_edge);

/** copier_turn_leads_back() - whether one of the checked edges leads to a block. */
bool copier_turn_leads_back(const struct copier *copier, uint32_t block);

/** copier_turn_on_site() - whether one of an indirect jump leads back to a block. */
bool copier_turn_on_site(const struct copier *copier, uint32_t block);

/** copier_turn_at_entry() - whether there is a check on each entry of a procedure. */
bool copier_turn_at_entry(const struct copier *copier, uint32_t number);

/** copier_turn_from_outside() - whether there is one on entry of this one by others only. */
bool copier_turn_from_outside(const struct copier *copier);

/**
 * struct turn - a check
 * @crossing: where the other copy goes on
 * @live:     what is, there
 * @red_zone: point.h's
 * @counts:   it is one of the checks that are counted; else it only looks whose turn it is
 * @landing:  indirect jumps lead there
 */
struct turn {
	uint32_t crossing;
	uint32_t live;
	bool red_zone;
	bool counts;
	bool landing;
};

/** copier_turn_emit() - make one; behind it, it is this copy's turn. */
void copier_turn_emit(struct copier *copier, const struct turn *turn);

/** copier_turn_emit_to() - likewise; then on to a label. */
void copier_turn_emit_to(struct copier *copier, const struct turn *turn, uint32_t label);

/** copier_turn_crosses() - whether this copy's checks always lead to the other one. */
bool copier_turn_crosses(const struct copier *copier);

/** copier_turn_place() - where the other copy goes on here. */
void copier_turn_place(struct copier *copier, uint32_t crossing, uint32_t label);

/** copier_turn_cross() - on to the other copy. */
void copier_turn_cross(struct copier *copier, const struct aside *aside);

/**
 * copier_fit_find() - what is to be in as few lines of the processor's cache as it can be
 *
 * Where nobody falls into a block there may be padding, for what is run from there on: of the loops
 * that begin there, before the next such block, the one that turns most, or if there is none the
 * first blocks themselves.
 */
void copier_fit_find(struct copier *copier);

/** copier_fit_emit() - that padding, before a block and whatever leads there. */
void copier_fit_emit(struct copier *copier, uint32_t block);

/**
 * copier_fit_begin() - where something may begin that is to fit, before a block's code; _end:
 * behind it. It begins where this is called first.
 */
void copier_fit_begin(struct copier *copier, uint32_t block);
void copier_fit_end(struct copier *copier, uint32_t block);

#endif
