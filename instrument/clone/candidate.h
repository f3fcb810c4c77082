/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The procedures of an image that is being rewritten, and which of them can be cloned. Internal to
 * the rewriter.
 */
#ifndef DCPI_INSTRUMENT_CANDIDATE_H
#define DCPI_INSTRUMENT_CANDIDATE_H

#include "analysis/image/image_code.h"
#include "instrument/clone/old_code.h"
#include "instrument/elf/unwind_frames.h"

struct elf_image;
struct error;

#define CANDIDATE_WHY_BYTES 96

/**
 * struct candidate - a procedure
 * @cfg, @graph, @liveness, @clone, @old: each is empty until it is made
 * @calls:  facts about other procedures for @liveness (reg_summary.h)
 * @bytes:  size of the code
 * @offset: of the clone, in the added code; @recording_offset: of the recording clone
 * @taken:  the address is known to more than direct calls and the program's start
 * @cases_known: the same holds for addresses of targets of its indirect jumps
 * @kept:   the procedure is not rewritten: @why
 */
struct candidate {
	size_t index;
	const struct procedure *procedure;
	struct cfg *cfg;
	struct count_graph graph;
	struct liveness liveness;
	struct liveness_calls calls;
	struct procedure_clone clone;
	struct procedure_clone recording; /* the recording clone, if there are two clones */
	struct old_code old;
	uint64_t bytes;
	uint64_t offset;
	uint64_t recording_offset;
	uint64_t *cuts; /* addresses where its frames change, ascending */
	size_t cut_count;
	size_t cut_capacity;
	bool taken;
	bool cases_known;
	bool kept;
	char why[CANDIDATE_WHY_BYTES];
};

/**
 * struct candidates - zero-initialised is empty; freed by candidates_deinit()
 * @of: for each procedure of the image its candidate, or -1
 * @across: flags may be live across calls
 * @switches_stacks: stack_switch_find() is true for a procedure
 * @stubs: as in struct instrument_mode
 */
struct candidates {
	struct candidate *all;
	size_t count;
	long *of;
	struct image_code *code;
	const struct elf_image *image;
	bool across;
	bool switches_stacks;
	bool stubs;
};

/**
 * candidates_find() - build the graphs of all procedures and find those that can be cloned: all
 * their jumps are resolved, and control arrives only where a clone expects it
 * @ret: empty, except for @stubs
 *
 * Return: 0, -ENOTSUP (the program uses %gs) or -ENOMEM.
 */
int candidates_find(struct candidates *ret, struct image_code *code, const struct elf_image *image);

/**
 * candidates_find_liveness() - find the liveness of procedures that can be cloned, once conventions
 * are known
 *
 * Return: 0 or -ENOMEM.
 */
int candidates_find_liveness(struct candidates *candidates);

void candidates_deinit(struct candidates *candidates);

/**
 * candidates_find_frames() - find the addresses where frames of procedures that can be cloned
 * change
 *
 * A procedure whose clone could not be unwound is excluded from rewriting. Return: 0 or -ENOMEM.
 */
int candidates_find_frames(struct candidates *candidates, const struct unwind_frames *frames);

/** candidate_keep() - exclude a procedure from rewriting. */
void candidate_keep(struct candidate *candidate, const char *why);

/** candidate_drop_clones() - free @graph, @clone, @recording and @old, so that they can be made
 * again. */
void candidate_drop_clones(struct candidate *candidate);

/** candidates_of() - find the candidate that contains an address. Return: its number, or -1. */
long candidates_of(const struct candidates *candidates, uint64_t address);

/** candidates_at() - find the candidate that begins at an address. Return: its number, or -1. */
long candidates_at(const struct candidates *candidates, uint64_t address);

#endif
