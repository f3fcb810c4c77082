/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control-flow graph of a procedure (DCPI section 6.1.1).
 *
 * Blocks hold consecutive instructions, in order of address. Edges are directed. Several edges
 * between the same two blocks are possible (a branch to the next instruction, cases of a switch);
 * they differ in kind or instruction. Calls do not end blocks unless they do not return, so all
 * instructions of a block execute equally often. Exceptions and longjmp break this rule; they are
 * ignored, as in the paper. Exceptions are caught in blocks of their own, with an edge from
 * CFG_ENTRY.
 *
 * Two nodes are not blocks: CFG_ENTRY comes before all entries, CFG_EXIT after returns, tail calls
 * and all other code that leaves the procedure. A third one, CFG_UNKNOWN, represents the targets of
 * unresolved jumps. Its successors are the exit, blocks that no other edge reaches, and blocks
 * whose address is data. The paper gives up on a procedure with such a jump; here the rest of the
 * procedure keeps its equivalences.
 */
#ifndef DCPI_CFG_H
#define DCPI_CFG_H

#include "analysis/insn/insn.h"

struct image_code;

/* Ends of edges that are not blocks. */
#define CFG_ENTRY UINT32_MAX
#define CFG_EXIT (UINT32_MAX - 1)
#define CFG_UNKNOWN (UINT32_MAX - 2)

/** enum cfg_edge_kind - reason why control follows an edge. */
enum cfg_edge_kind {
	CFG_EDGE_ENTRY,	  /* From CFG_ENTRY: the procedure's entry, or one that evidence proves. */
	CFG_EDGE_HANDLER, /* From CFG_ENTRY: a handler of exceptions thrown by callees. */
	CFG_EDGE_NEXT,	  /* To the next instruction: no branch, or one not taken. */
	CFG_EDGE_TAKEN,	  /* A conditional branch's target. */
	CFG_EDGE_JUMP,	  /* A direct jump inside the procedure. */
	CFG_EDGE_SWITCH,  /* A target in a jump table, or an observed one: one edge per block. */
	CFG_EDGE_RETURN,  /* To CFG_EXIT: return. */
	CFG_EDGE_TAIL,	  /* To CFG_EXIT: a jump or branch out of the procedure. */
	CFG_EDGE_STOP, /* To CFG_EXIT: a call that never returns, a trap, the end of known code. */
	CFG_EDGE_UNKNOWN, /* Into or out of CFG_UNKNOWN. */
};

/**
 * struct cfg_edge - an edge
 * @from, @to: blocks, or CFG_ENTRY, CFG_EXIT, CFG_UNKNOWN
 * @insn:      the last instruction of @from; UINT32_MAX from CFG_ENTRY and CFG_UNKNOWN
 * @target:    address of the target, which may be outside; 0 if unknown
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
#define CFG_BLOCK_SAMPLED 4U	   /* found only because it has samples */
#define CFG_BLOCK_UNREACHED 8U	   /* no known path leads here (padding) */
#define CFG_BLOCK_HANDLER 16U	   /* exceptions lead here, according to the unwind tables */

/**
 * struct cfg_block - a basic block
 *
 * An unreached block has no edges; any other block has incoming and outgoing edges.
 *
 * @first, @count: its instructions, @count > 0
 * @in, @in_count: indices into cfg.in_edges, which hold indices of edges
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
 * @returns: false: it never returns (known by name, by its code, or because no code follows)
 * @tail:    it is a jump
 */
struct cfg_call {
	uint64_t target;
	uint32_t insn;
	bool returns;
	bool tail;
};

/**
 * struct cfg_table - the only jump table of an indirect jump, of known length
 * @address:     address of the first entry in use
 * @base:        the target is entry + @base
 * @anchor:      constant value of the base register of @load's memory operand, if @anchored
 * @jump, @load: instructions
 * @count:       entries, > 0
 * @bytes:       size of an entry
 */
struct cfg_table {
	uint64_t address;
	uint64_t base;
	uint64_t anchor;
	uint32_t jump;
	uint32_t load;
	uint32_t count;
	uint8_t bytes;
	uint8_t scale; /* left shift of entries */
	bool is_signed;
	bool anchored;
};

/**
 * struct cfg - a procedure's graph
 * @insns:       ascending by address, over all parts; cold parts often come first. Instructions may
 *               overlap (a jump past a lock prefix); a block ends there
 * @edges:       grouped by source, in order of blocks; those from CFG_ENTRY, then those from
 *               CFG_UNKNOWN, come last
 * @block_of:    block of each instruction
 * @calls:       reached calls, by instruction
 * @jump_tables: number of jumps whose targets are all known
 * @tables:      tables of some of these jumps, by jump
 * @missing:     edges are missing because an indirect jump was not resolved
 * @bad_bytes:   bytes that could not be decoded, or were reached in two alignments
 * @twice:       those of them that were reached in two alignments
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
 * struct cfg_evidence - information beyond the code, all optional
 * @sampled:       addresses with samples, ascending: each proves that code runs there
 * @sampled_count: number of addresses
 * @branches:      pairs (from, to) of observed branches, ascending
 * @branch_count:  number of pairs
 */
struct cfg_evidence {
	const uint64_t *sampled;
	size_t sampled_count;
	const uint64_t (*branches)[2];
	size_t branch_count;
};

/** cfg_destroy() - free a graph. NULL is fine. */
void cfg_destroy(struct cfg *cfg);

/** cfg_clear() - free all except the instructions, and reset the graph. */
void cfg_clear(struct cfg *cfg);

/** cfg_table_target() - find the target of an entry. Return: 0 or -ENOENT if it cannot be read. */
int cfg_table_target(const struct cfg_table *table, struct image_code *image, int64_t index,
		     uint64_t *target);

/**
 * cfg_find_insn() - find the instruction at an address, O(log n). Return: -ENOENT if none begins
 * there.
 */
long cfg_find_insn(const struct cfg *cfg, uint64_t address);

/** cfg_find_call() - find the call or jump out at an instruction, O(log n). Return: -ENOENT. */
long cfg_find_call(const struct cfg *cfg, uint32_t insn);

/** cfg_tail_edge() - find the edge of a jump out. Return: -ENOENT if it is a call. */
long cfg_tail_edge(const struct cfg *cfg, const struct cfg_call *call);

#endif
