/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control-flow graph of a procedure (DCPI section 6.1.1).
 *
 * Blocks hold consecutive instructions, in order of address; edges are directed,
 * several between the same two blocks are possible (a branch to the next
 * instruction, cases of a switch) and kept apart by their kind and instruction.
 * Calls do not end blocks, unless they do not return; so all instructions of a
 * block execute equally often, but for exceptions and longjmp, which are ignored
 * as in the paper. Exceptions are caught in blocks of their own, to which control comes
 * from CFG_ENTRY.
 *
 * Two nodes that are no blocks: CFG_ENTRY before all entries, CFG_EXIT behind
 * returns, tail calls and whatever leaves. CFG_UNKNOWN stands between a jump whose
 * targets are not known and all that it may go to: blocks that nothing else reaches or
 * whose address is data, and the exit. (The paper gives up on the whole procedure; so
 * the rest of it keeps its equivalences.)
 */
#ifndef DCPI_CFG_H
#define DCPI_CFG_H

#include "analysis/insn/insn.h"

struct image_code;

/* Nodes that are no blocks, as ends of edges. */
#define CFG_ENTRY UINT32_MAX
#define CFG_EXIT (UINT32_MAX - 1)
#define CFG_UNKNOWN (UINT32_MAX - 2)

/** enum cfg_edge_kind - why control goes this way. */
enum cfg_edge_kind {
	CFG_EDGE_ENTRY,	  /* from CFG_ENTRY: the procedure's entry, or one that evidence proves */
	CFG_EDGE_HANDLER, /* from CFG_ENTRY: an exception that was thrown further in is caught */
	CFG_EDGE_NEXT,	  /* to the next instruction: no branch, or one not taken */
	CFG_EDGE_TAKEN,	  /* a conditional branch's target */
	CFG_EDGE_JUMP,	  /* a direct jump inside the procedure */
	CFG_EDGE_SWITCH,  /* a target of a jump table, or one seen: one edge for each block */
	CFG_EDGE_RETURN,  /* to CFG_EXIT: return */
	CFG_EDGE_TAIL,	  /* to CFG_EXIT: a jump or branch out of the procedure */
	CFG_EDGE_STOP, /* to CFG_EXIT: a call that never returns, a trap, the end of known code */
	CFG_EDGE_UNKNOWN, /* into or out of CFG_UNKNOWN */
};

/**
 * struct cfg_edge - an edge
 * @from, @to: blocks, or CFG_ENTRY, CFG_EXIT, CFG_UNKNOWN
 * @insn:      the last instruction of @from; UINT32_MAX from CFG_ENTRY and CFG_UNKNOWN
 * @target:    address it leads to, also outside; 0 if not known
 */
struct cfg_edge {
	uint32_t from;
	uint32_t to;
	uint32_t insn;
	enum cfg_edge_kind kind;
	uint64_t target;
};

/* cfg_block.flags */
#define CFG_BLOCK_ENTRY 1U	   /* the procedure begins here */
#define CFG_BLOCK_ADDRESS_TAKEN 2U /* its address is data (looked for if jumps are unresolved) */
#define CFG_BLOCK_SAMPLED 4U	   /* found only because samples say that it runs */
#define CFG_BLOCK_UNREACHED 8U	   /* no known way leads here (padding) */
#define CFG_BLOCK_HANDLER 16U	   /* exceptions lead here, by the tables of unwinders */

/**
 * struct cfg_block - a basic block; one that is not reached has no edges, any other one
 * has some in and some out
 * @first, @count: its instructions, @count > 0
 * @in, @in_count:   indices into cfg.in_edges, which hold indices of edges
 * @out, @out_count: edges[@out .. @out + @out_count - 1]
 */
struct cfg_block {
	uint32_t first;
	uint32_t count;
	uint32_t in;
	uint32_t in_count;
	uint32_t out;
	uint32_t out_count;
	uint32_t flags;
};

/**
 * struct cfg_call - a call, or a jump out of the procedure
 * @insn:    instruction
 * @target:  address; 0: indirect
 * @returns: false: it never does (known by name, by its code, or since no code follows)
 * @tail:    it is a jump
 */
struct cfg_call {
	uint64_t target;
	uint32_t insn;
	bool returns;
	bool tail;
};

/**
 * struct cfg_table - the one table that a jump looks its target up in, whose length is known
 * @address: of the first entry that is used
 * @base:    entry + @base is the target
 * @anchor:  what the base register of @load's memory operand always has, if @anchored
 * @jump, @load: instructions
 * @count:   entries, > 0
 * @bytes:   of an entry
 */
struct cfg_table {
	uint64_t address;
	uint64_t base;
	uint64_t anchor;
	uint32_t jump;
	uint32_t load;
	uint32_t count;
	uint8_t bytes;
	uint8_t scale; /* to shift entries to the left by */
	bool is_signed;
	bool anchored;
};

/**
 * struct cfg - a procedure's graph
 * @insns:    ascending by address, over all parts: cold parts are often the first. They
 *            may overlap (a jump behind a lock prefix): a block ends there
 * @edges:    those of a block together, in order of blocks; those from CFG_ENTRY, then
 *            those from CFG_UNKNOWN, last
 * @block_of: block of each instruction
 * @calls:    those that are reached, by instruction
 * @jump_tables: jumps whose targets are all known
 * @tables: by jump; of some of these jumps
 * @missing:  edges are missing: an indirect jump was not resolved
 * @bad_bytes: bytes that no instruction could be made of, or reached in two alignments
 * @twice:     of these, what was reached in two
 */
struct cfg {
	const struct insn_decoder *decoder;
	struct insn *insns;
	struct cfg_block *blocks;
	struct cfg_edge *edges;
	uint32_t *in_edges;
	uint32_t *block_of;
	struct cfg_call *calls;
	struct cfg_table *tables;
	uint32_t insn_count;
	uint32_t block_count;
	uint32_t edge_count;
	uint32_t call_count;
	uint32_t table_count;
	uint32_t unresolved_jumps;
	uint32_t jump_tables;
	bool missing;
	uint64_t bad_bytes;
	uint64_t twice;
};

/**
 * struct cfg_evidence - what is known beside the code, all optional
 * @sampled:     addresses that have samples, ascending: each proves that code runs there
 * @sampled_count: how many
 * @branches:    pairs (from, to) of edges that were seen, ascending
 * @branch_count: pairs
 */
struct cfg_evidence {
	const uint64_t *sampled;
	size_t sampled_count;
	const uint64_t (*branches)[2];
	size_t branch_count;
};

/** cfg_destroy() - free. NULL is fine. */
void cfg_destroy(struct cfg *cfg);

/** cfg_clear() - free all but the instructions, and forget these. */
void cfg_clear(struct cfg *cfg);

/** cfg_table_target() - where an entry leads. Return: 0 or -ENOENT: it cannot be read. */
int cfg_table_target(const struct cfg_table *table, struct image_code *image, int64_t index,
		     uint64_t *target);

/** cfg_find_insn() - the instruction at an address, O(log n). Return: -ENOENT if none begins there.
 */
long cfg_find_insn(const struct cfg *cfg, uint64_t address);

/** cfg_find_call() - the call, or jump out, that an instruction is, O(log n). Return: -ENOENT. */
long cfg_find_call(const struct cfg *cfg, uint32_t insn);

/** cfg_tail_edge() - the edge by which a jump out leaves. Return: -ENOENT: it is a call. */
long cfg_tail_edge(const struct cfg *cfg, const struct cfg_call *call);

#endif
