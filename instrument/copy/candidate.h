/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The procedures of an image that is being rewritten, and whether each can be copied.
 * Internal to the rewriter.
 */
#ifndef DCPI_INSTRUMENT_CANDIDATE_H
#define DCPI_INSTRUMENT_CANDIDATE_H

#include "analysis/image/image_code.h"
#include "instrument/copy/old_code.h"
#include "instrument/elf/unwind_frames.h"

struct elf_image;
struct error;

#define CANDIDATE_WHY_BYTES 96

/**
 * struct candidate - a procedure
 * @cfg, @graph, @liveness, @copy, @old: what of these is made already
 * @calls:  what @liveness knows of other procedures (convention.h)
 * @bytes:  of code
 * @offset: of the new code, in the code that is added; @recording_offset: of the second copy
 * @taken:  its address is kept somewhere, other than by the program's beginning
 * @cases_known: so are addresses of places that its indirect jumps lead to
 * @kept:   it stays as it is: @why
 */
struct candidate {
	size_t index;
	const struct procedure *procedure;
	struct cfg *cfg;
	struct count_graph graph;
	struct liveness liveness;
	struct liveness_calls calls;
	struct procedure_copy copy;
	struct procedure_copy recording; /* the second copy, if there are two */
	struct old_code old;
	uint64_t bytes;
	uint64_t offset;
	uint64_t recording_offset;
	uint64_t *cuts; /* where its frames change, ascending */
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
 * @across: flags may matter across calls
 * @switches_stacks: stack_switch_find() of a procedure
 * @stubs: mode.h's
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
 * candidates_find() - make the graphs of all procedures, and look which can be copied:
 * all their jumps are known, and nobody jumps into them but to where a copy expects it
 * @ret: empty, but for @stubs
 *
 * Return: 0, -ENOTSUP (the program uses %gs) or -ENOMEM.
 */
int candidates_find(struct candidates *ret, struct image_code *code, const struct elf_image *image);

/**
 * candidates_find_liveness() - of those that can be copied, once conventions are known
 * Return: 0 or -ENOMEM.
 */
int candidates_find_liveness(struct candidates *candidates);

void candidates_deinit(struct candidates *candidates);

/**
 * candidates_find_frames() - find out where frames of those that can be copied change
 *
 * What cannot be unwound in a copy is kept. Return: 0 or -ENOMEM.
 */
int candidates_find_frames(struct candidates *candidates, const struct unwind_frames *frames);

/** candidate_visit_frames() - the frames of its code, by address. */
void candidate_visit_frames(const struct candidate *candidate, const struct unwind_frames *frames,
			    void (*visit)(void *context, const struct unwind_frame *frame),
			    void *context);

/** candidate_keep() - leave it as it is. */
void candidate_keep(struct candidate *candidate, const char *why);

/** candidate_drop_copies() - free @graph, @copy, @recording and @old, to be made again. */
void candidate_drop_copies(struct candidate *candidate);

/** candidates_of() - the one that has the code at an address. Return: its number, or -1. */
long candidates_of(const struct candidates *candidates, uint64_t address);

/** candidates_at() - the one that begins at an address. Return: its number, or -1. */
long candidates_at(const struct candidates *candidates, uint64_t address);

#endif
