/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clone a procedure: emit its code again for another address, with code of a mode in between.
 *
 * Addresses that the code computes stay the original ones, except for return addresses. Jump tables
 * stay the same, but a jump gets a new table (clone_table.c) if all uses of the table's entries
 * are understood. Other indirect jumps lead to original addresses of blocks, where jumps to the
 * clone are written (struct clone_site).
 */
#ifndef DCPI_INSTRUMENT_PROCEDURE_COPY_H
#define DCPI_INSTRUMENT_PROCEDURE_COPY_H

#include "instrument/mode/mode.h"

struct error;

/* Alignment of entries, and the largest one used. Alignment inside procedures is not preserved:
 * executing its nops costs more than the alignment saves. */
#define CLONE_ALIGN 16

/** enum clone_variant - a single clone, which records, or one of two clones (clone_switch.c). */
enum clone_variant {
	CLONE_ONLY,
	CLONE_CHECKING,	    /* tests if it is time to record */
	CLONE_INSTRUMENTED, /* records */
};

/*
 * Flags of numbers passed to @where of machine_code_write(): a crossing in the other clone; the
 * entry of a procedure's recording clone.
 */
#define CLONE_CROSSING 0x80000000U
#define CLONE_RECORDING 0x40000000U

/**
 * struct clone_site - landing site: an original address where a jump to the clone is needed
 * @address: in the original code
 * @label:   in the clone
 */
struct clone_site {
	uint64_t address;
	uint32_t label;
};

/** struct clone_mark - new position of an original address: a label before the code that is there.
 */
struct clone_mark {
	uint64_t address;
	uint32_t label;
};

/**
 * struct procedure_clone - zero-initialised is empty; freed by procedure_clone_deinit()
 * @code:     the clone
 * @inside:   label of the entry for callers that know that the thread is ready
 * @blocks_end: label after all blocks and replicas of loops
 * @sites:    the procedure's entry first
 * @crossings: for two clones: labels where this clone continues after a switch
 * @marks:    for @source->cuts, ascending; the last one also applies to all later addresses
 */
struct procedure_clone {
	struct machine_code code;
	uint32_t inside;
	uint32_t blocks_end;
	struct clone_site *sites;
	size_t site_count;
	size_t site_capacity;
	uint32_t *crossings;
	struct clone_mark *marks;
	size_t mark_count;
	size_t mark_capacity;
};

/**
 * struct clone_source - the procedure to clone
 * @bytes:  returns the bytes of code at an address; NULL if they do not exist
 * @find:   returns the number of the procedure that begins at an address and is cloned too; or -1
 * @entry_of: finds the target of a jump table's entry. Return: 0, or -ENOENT
 * @fixed:  the image is not position-independent
 * @forks:  returns true if a call may return in another process
 * @plan:   plan of @mode for this procedure
 * @bursts: for two clones
 * @checked: for two clones: enum burst_switch_entry (burst_switch_entries.h) of each procedure
 * @number: of this procedure
 * @cases_known: other code may know the targets of indirect jumps
 * @cuts:   addresses whose new positions are needed, ascending
 */
struct clone_source {
	const struct cfg *cfg;
	const struct count_graph *graph;
	const struct liveness *liveness;
	const struct runtime_code *runtime;
	const struct instrument_mode *mode;
	const struct mode_plan *plan;
	enum clone_variant variant;
	struct burst_switch bursts;
	const uint8_t *checked;
	uint32_t number;
	const uint8_t *(*bytes)(void *context, uint64_t address, size_t count);
	long (*find)(void *context, uint64_t address);
	int (*entry_of)(void *context, const struct cfg_table *table, uint32_t index,
			uint64_t *target);
	bool (*forks)(void *context, const struct insn *call);
	void *context;
	uint64_t entry;
	bool fixed;
	bool cases_known;
	const uint64_t *cuts;
	size_t cut_count;
};

/**
 * procedure_clone_make() - clone a procedure
 * @ret: out; laid out, not placed yet
 *
 * Return: 0; -ENOTSUP if the code contains something that cannot be moved (the message names it);
 * -ENOMEM.
 */
int procedure_clone_make(struct procedure_clone *ret, const struct clone_source *source,
			 struct error *err);

void procedure_clone_deinit(struct procedure_clone *result);

#endif
