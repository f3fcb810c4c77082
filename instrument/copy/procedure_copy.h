/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A procedure's code again, to run somewhere else, with code of a mode in between.
 *
 * What it computes with addresses stays as it was: pointers to procedures, return
 * addresses' users aside. So do jump tables, but a jump gets one of its own
 * (copier_table.c) if all that it does with an entry is understood. Other jumps lead to
 * the old places of blocks, where a jump to the new ones is put (struct copy_site).
 */
#ifndef DCPI_INSTRUMENT_PROCEDURE_COPY_H
#define DCPI_INSTRUMENT_PROCEDURE_COPY_H

#include "instrument/mode/mode.h"

struct error;

/* Entries are aligned, and nothing to more. What compilers align in a procedure is not: of
 * no-operations that are run there were more than it gained. */
#define COPY_ALIGN 16

/** enum copy_variant - whether there is one copy, which records, or two (copier_turn.c). */
enum copy_variant {
	COPY_ONLY,
	COPY_CHECKING,	   /* looks whether it is time to record */
	COPY_INSTRUMENTED, /* records */
};

/*
 * What machine_code_write() is asked for: the other copy's place of that number; the entry
 * of the recording copy of that procedure.
 */
#define COPY_CROSSING 0x80000000U
#define COPY_RECORDING 0x40000000U

/**
 * struct copy_site - an old place of code that is to jump to a new one
 * @address: old
 * @label:   new
 */
struct copy_site {
	uint64_t address;
	uint32_t label;
};

/** struct copy_mark - where an old address has gone: a label before what is there now. */
struct copy_mark {
	uint64_t address;
	uint32_t label;
};

/**
 * struct procedure_copy - zero-initialised is empty; freed by procedure_copy_deinit()
 * @code:     the new code
 * @inside:   label: the entry for those who know that the thread is ready
 * @blocks_end: label: behind all blocks, and those of loops that are put again
 * @sites:    the procedure's entry first
 * @crossings: labels, if there are two copies: where it goes on when it is its turn
 * @marks:    of @source->cuts, ascending; the last is that of all addresses behind
 */
struct procedure_copy {
	struct machine_code code;
	uint32_t inside;
	uint32_t blocks_end;
	struct copy_site *sites;
	size_t site_count;
	size_t site_capacity;
	uint32_t *crossings;
	struct copy_mark *marks;
	size_t mark_count;
	size_t mark_capacity;
};

/**
 * struct copy_source - what is copied
 * @bytes:  the bytes of an address of code; NULL if there are none
 * @find:   number of the procedure that begins at an address and is copied too; or -1
 * @entry_of: where an entry of a jump table leads. Return: 0, or -ENOENT
 * @fixed:  the image is not position-independent
 * @forks:  whether a call may come back in another process
 * @plan:   of @mode, for this procedure
 * @turns:  if there are two copies; @checked: then, enum turn_entry (turn_entries.h) of a
 *          procedure of a number; @number: this one's
 * @cases_known: others may know where indirect jumps lead
 * @cuts:   addresses whose new places are asked for, ascending
 */
struct copy_source {
	const struct cfg *cfg;
	const struct count_graph *graph;
	const struct liveness *liveness;
	const struct runtime_code *runtime;
	const struct instrument_mode *mode;
	const struct mode_plan *plan;
	enum copy_variant variant;
	struct copy_turns turns;
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
 * procedure_copy_make() - copy a procedure
 * @ret: out; laid out, not placed yet
 *
 * Return: 0; -ENOTSUP something in it cannot be moved (the message says what); -ENOMEM.
 */
int procedure_copy_make(struct procedure_copy *ret, const struct copy_source *source,
			struct error *err);

void procedure_copy_deinit(struct procedure_copy *copy);

#endif
