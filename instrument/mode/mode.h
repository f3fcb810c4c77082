/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a rewritten program is to record. The rewriter (rewriter.h) copies procedures and
 * asks the mode at each point of them (point.h) for code; the mode keeps in the rewritten
 * file what is needed to make sense of what the program will have recorded.
 *
 * A thread has memory for the image that begins with zeros, behind %gs' base
 * (profile_layout.h):
 *
 *	private		modes with a runtime of their own only, and not in the file; in the
 *			child of a fork as it was
 *	area		fixed, for tables
 *	words		of 8 bytes, as many as the procedures ask for
 *
 * All of an image's procedures are done one after the other: plan(), wants() and emit(),
 * then keep() unless it turned out that the procedure must stay as it is, then drop().
 */
#ifndef DCPI_INSTRUMENT_MODE_H
#define DCPI_INSTRUMENT_MODE_H

#include "instrument/code/liveness.h"
#include "instrument/code/point.h"
#include "instrument/code/runtime_code.h"
#include "instrument/mode/count_graph.h"
#include "instrument/mode/turn_placement.h"
#include "instrument/profile/profile_layout.h"

struct error;
struct instrument_mode;
struct reentry;

/* A number in memory that each turn of a loop changes takes longer than many loops' turns: so some
 * have several, by turns. */
#define MODE_LOOP_TURNS 4

/* More than what is measured between two bursts, in cycles: an hour and a half at 3 GHz. */
#define COPY_TURNS_CHARGE_BITS 44

/**
 * struct copy_turns - when which of two copies runs
 * @placement: where checks are; the rewriter sets it
 * @checks, @records: so many checks without, then with recording. Without: 0: from a
 *          thread's first check on all is recorded
 * @first:  before a thread's first burst; 0: as many as @checks
 * @counters: numbers that checks count down, up to PROFILE_LAYOUT_COUNTERS, each to bursts of
 *          its own; 0: one. With several there is no check but the first in a burst
 * @at: the thread's struct profile_layout_turns, by its offset from %gs' base; the rewriter
 *      sets it, to where the area begins
 * @charged: likewise, 8 bytes to which 2^COPY_TURNS_CHARGE_BITS is added when a burst
 *           begins; 0: none
 */
struct copy_turns {
	struct turn_placement placement;
	uint32_t checks;
	uint32_t records;
	uint32_t first;
	uint32_t counters;
	uint32_t at;
	uint32_t charged;
};

/**
 * struct mode_options - what the user asks for, all modes' together
 * @metric: what is measured beside how often; NULL: the mode's default. It is refused of a
 *          mode without
 *
 * @checks, @burst: of modes with bursts: checks between two, and in one; 0: the default
 * @all:    likewise, there are no checks between two
 * @room:   records or counters that a thread has room for; 0: the default
 * @whole:  of paths: they go on into loops
 * @placement: likewise, where checks are; NULL: TURN_PLACEMENT_DEFAULT
 *
 * A mode takes note of its own ones and does not mind the others.
 */
struct mode_options {
	const char *metric;
	uint32_t checks;
	uint32_t burst;
	uint32_t room;
	bool all;
	bool whole;
	const struct turn_placement *placement;
};

/**
 * struct mode_image - an image that is being rewritten
 * @number:    that the rewritten file's profiles have too
 * @path, @build_id: of the file it is made of; the build-id in hexadecimal
 * @area_bytes, @private_bytes: of a thread's memory, the mode's own; begin() sets them
 * @slack_bytes: likewise, behind the words, which nobody reads: where threads share their memory
 *             since there is none some may count there
 * @parameters: that the runtime is told; begin() sets them
 * @area_at:   the area's offset from %gs' base, and @words_at the first word's
 * @words:     8-byte words of a thread's block that were given to procedures, behind those that
 *             begin() keeps for the mode; @free_words: of these, those that nobody has taken
 * @reentry:   who calls whom (reentry.h), if the mode has asked for it
 * @turns:     of modes with two copies, whose area begins with struct profile_layout_turns;
 *             begin() sets how many checks there are
 * @data:      the mode's own
 */
struct mode_image {
	const struct mode_options *options;
	const struct runtime_code *runtime;
	uint64_t number;
	const char *path;
	const char *build_id;
	uint64_t area_bytes;
	uint64_t private_bytes;
	uint64_t slack_bytes;
	uint64_t parameters[PROFILE_LAYOUT_PARAMETERS];
	uint32_t area_at;
	uint32_t words_at;
	uint64_t words;
	uint64_t free_words;
	const struct reentry *reentry;
	struct copy_turns turns;
	void *data;
};

/**
 * struct mode_procedure - a procedure that is being copied
 * @candidate: its number (candidate.h)
 */
struct mode_procedure {
	const char *name;
	uint64_t address;
	size_t candidate;
	const struct cfg *cfg;
	const struct count_graph *graph;
	const struct liveness *liveness;
};

/**
 * struct mode_plan - what a mode means to do in a procedure
 * @first_word: of the words that are the procedure's
 * @words:      how many; plan() sets it
 * @data:       the mode's own
 */
struct mode_plan {
	const struct mode_image *image;
	const struct mode_procedure *procedure;
	uint64_t first_word;
	uint64_t words;
	void *data;
};

/**
 * struct instrument_mode - a mode
 * @name:    as users give it
 * @section: of the rewritten file, not loaded, that holds what encode() makes
 * @number:  that the runtime knows it by; PROFILE_LAYOUT_COUNTS: it has none of its own
 * @bursts: two copies of each procedure, of which only one records: copy_turns of the image
 * @both:   likewise, but both do; only one measures (point.h)
 * @sampled: the mode it is where something is measured in bursts, as it is unless all is
 *           asked for; NULL: it has no such
 * @stubs:  what linkers add (stubs of the linkage table, .init, .fini) is copied, too
 * @references: points before instructions that use memory are asked for too
 * @reentry: it needs to know who calls whom
 * @metric:  it measures
 * @room:    it can be told how much room a thread is to have
 * @whole:   it can be told to have whole paths
 * @reader:  the program that reports what was recorded; NULL: dcpix itself does
 * @early:   what is put where a node ends in a return or an indirect jump may as well come
 *           some instructions before, where more registers are free
 * @shared:  for shared objects too: all it puts into code that is relative to %gs' base is put
 *           there by machine_code_thread(), and the runtime knows nothing of the mode
 *
 * Those that may be NULL say so. Errors are negative errno values, with @err set.
 */
struct instrument_mode {
	const char *name;
	const char *section;
	const char *reader;
	const struct instrument_mode *sampled;
	enum profile_layout_mode number;
	bool references;
	bool reentry;
	bool metric;
	bool room;
	bool whole;
	bool early;
	bool bursts;
	bool both;
	bool stubs;
	bool shared;

	/** @begin: an image. Return: 0, or an error that ends the rewriting. */
	int (*begin)(struct mode_image *image, struct error *err);

	/**
	 * @plan: look at a procedure
	 *
	 * Return: 0; -ENOTSUP it must stay as it is, @err says why without telling where;
	 * -ENOMEM.
	 */
	int (*plan)(struct mode_plan *plan, struct error *err);

	/** @wants: whether there is to be code at a point. */
	bool (*wants)(const struct mode_plan *plan, const struct point *point);

	/**
	 * @loops: whether a loop of one block is to be put MODE_LOOP_TURNS times, one behind the
	 * other. NULL: none is
	 * @edge: of the graph of counts, back to the block that it comes from
	 *
	 * Of modes without two copies. Code at its edge is asked for as often (struct point, turn).
	 */
	bool (*loops)(const struct mode_plan *plan, uint32_t edge);

	/** @emit: put it there. Asked for once for each point that is wanted. */
	void (*emit)(const struct mode_plan *plan, const struct point *point,
		     struct machine_code *code);

	/**
	 * @aside: what emit() wants to be out of the way, at labels of its own, behind all
	 * other code of the procedure. Called once; may be NULL.
	 */
	void (*aside)(const struct mode_plan *plan, struct machine_code *code);

	/** @keep: the procedure is copied; @plan->words are its own. Return: 0 or -ENOMEM. */
	int (*keep)(struct mode_image *image, const struct mode_plan *plan);

	/** @drop: free @plan->data. */
	void (*drop)(struct mode_plan *plan);

	/** @encode: what @section is to hold, malloc'd. Return: 0 or -ENOMEM. */
	int (*encode)(const struct mode_image *image, uint8_t **ret, size_t *bytes);

	/** @end: free @image->data; NULL is fine. */
	void (*end)(struct mode_image *image);
};

/** mode_refine() - what a mode is with options, which it may not have: see @sampled */
static inline const struct instrument_mode *mode_refine(const struct instrument_mode *mode,
							const struct mode_options *options)
{
	bool sampled = mode->sampled != NULL && options->metric != NULL && !options->all;

	return sampled ? mode->sampled : mode;
}

/** mode_image_word_at() - the offset of an image's word from %gs' base. */
static inline uint32_t mode_image_word_at(const struct mode_image *image, uint64_t word)
{
	return image->words_at + (uint32_t)(word * sizeof(uint64_t));
}

/** mode_word_at() - likewise of a procedure's word. */
static inline uint32_t mode_word_at(const struct mode_plan *plan, uint64_t word)
{
	return mode_image_word_at(plan->image, plan->first_word + word);
}

/** mode_private_at() - likewise of a thread's private memory. */
static inline uint32_t mode_private_at(void)
{
	return PROFILE_LAYOUT_RANGE;
}

#endif
