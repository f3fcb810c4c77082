/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mode defines the data that a rewritten program records. The rewriter (rewriter.h) clones
 * procedures and asks the mode for code at each point of a clone (point.h). The mode stores in the
 * rewritten file the data that is needed to interpret the recording.
 *
 * Each thread has memory for the image at offsets from the %gs base (profile_layout.h). It starts
 * as zeros and has three parts:
 *
 * 	private		for modes that request it; not in the profile file; the child of a fork
 * 			keeps it unchanged
 * 	area		of fixed size, for tables
 * 	words		of 8 bytes, as many as the procedures request
 *
 * Procedures of an image are processed one at a time: plan(), has_code() and emit(), then commit()
 * if the procedure is rewritten, then drop().
 */
#ifndef DCPI_INSTRUMENT_MODE_H
#define DCPI_INSTRUMENT_MODE_H

#include "instrument/codegen/liveness.h"
#include "instrument/codegen/point.h"
#include "instrument/codegen/runtime_code.h"
#include "instrument/mode/count_graph.h"
#include "instrument/mode/burst_switch_placement.h"
#include "instrument/profile/profile_layout.h"

struct error;
struct instrument_mode;
struct recursion;

/* Updating one memory counter per iteration would bound short loops by store-to-load latency.
 * Therefore some loops are unrolled this many times, with one counter for each iteration. */
#define MODE_LOOP_UNROLL 4

/* Exceeds the cycles that can be measured between two bursts: it is an hour and a half at 3 GHz. */
#define BURST_SWITCH_CHARGE_BITS 44

/**
 * struct burst_switch - when each of the two clones of a procedure runs
 * @placement: placement of checks; the rewriter sets it
 * @checks, @records: number of checks without recording, then with recording. If the first number
 *                    is 0, everything is recorded from a thread's first check on
 * @first:  checks before a thread's first burst; 0: as many as @checks
 * @counters: number of check counters, up to PROFILE_LAYOUT_COUNTERS; 0: one. Each counter starts
 *            bursts of its own. With several counters a burst contains no check but its first one
 * @at: offset of the thread's struct profile_layout_switch from the %gs base; the rewriter sets it,
 *      to the start of the area
 * @charged: offset from the %gs base of 8 bytes to which 2^BURST_SWITCH_CHARGE_BITS is added when a
 *           burst begins; 0: none
 */
struct burst_switch {
	struct burst_switch_placement placement;
	uint32_t checks;
	uint32_t records;
	uint32_t first;
	uint32_t counters;
	uint32_t at;
	uint32_t charged;
};

/**
 * struct mode_options - the user's options, for all modes
 * @metric: quantity that is measured in addition to execution counts; NULL: the mode's default. An
 *          error for a mode that measures nothing
 * @checks, @burst: for modes with bursts: checks between two bursts, and in a burst; 0: the default
 * @all:    for modes with bursts: no checks between two bursts
 * @room:   number of records or counters for which a thread has room; 0: the default
 * @whole:  for modes that record paths: paths continue into loops
 * @sites:  for modes that record contexts: call sites of a caller are distinguished
 * @frames: for modes that record contexts: every procedure has a frame
 * @placement: for modes with bursts: placement of checks; NULL: BURST_SWITCH_PLACEMENT_DEFAULT
 *
 * A mode uses its own options and ignores the others.
 */
struct mode_options {
	const char *metric;
	uint32_t checks;
	uint32_t burst;
	uint32_t room;
	bool all;
	bool whole;
	bool sites;
	bool frames;
	const struct burst_switch_placement *placement;
};

/**
 * struct mode_image - an image that is being rewritten
 * @number:    identifies the rewritten file, also in its profiles
 * @path, @build_id: of the original file; the build-id in hexadecimal
 * @area_bytes, @private_bytes: size of the mode's parts of a thread's memory; begin() sets them
 * @slack_bytes: size of a part after the words that is never read; begin() sets it. Threads that
 *               share a block, for lack of memory, may compute indices out of bounds and count
 *               there
 * @parameters: passed to the runtime; begin() sets them
 * @area_at:   offset of the area from the %gs base, and @words_at that of the first word
 * @words:     number of 8-byte words of a thread's block: those that begin() reserves for the mode,
 *             then those of the procedures; @free_words: number of reserved words that are still
 *             unused
 * @recursion:   the call graph (recursion.h), if the mode has requested it
 * @bursts:    for modes with two clones, whose area begins with struct profile_layout_switch;
 *             begin() sets the numbers of checks
 * @data:      private data of the mode
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
	const struct recursion *recursion;
	struct burst_switch bursts;
	void *data;
};

/**
 * struct mode_procedure - a procedure that is being cloned
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
 * struct mode_plan - a mode's plan for one procedure
 * @first_word: first of the words that belong to the procedure
 * @words:      number of these words; plan() sets it
 * @data:       private data of the mode
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
 * @name:    as the user writes it
 * @section: name of the section of the rewritten file that holds the result of encode()
 * @number:  identifies the mode to the runtime; PROFILE_LAYOUT_COUNTS: the mode has no code there
 * @bursts: each procedure has two clones and only one of them records: see burst_switch of the
 * image
 * @both:   as @bursts, but both clones record and only one measures (point.h)
 * @sampled: the variant of this mode that measures in bursts, used if there is a metric and not all
 *           is measured (mode_refine()); NULL: there is no such variant
 * @stubs:  code that linkers add (PLT stubs, .init, .fini) is cloned as well
 * @references: emit() is also called for points before instructions that access memory
 * @recursion: the mode needs the call graph
 * @metric:  the mode can measure
 * @room:    the mode accepts the option for the room of a thread
 * @whole:   the mode accepts the option for whole paths
 * @sites:   the mode accepts the option for call sites
 * @reader:  the program that reports the recording; NULL: dcpix itself does
 * @early:   code at a node's end before a return or an indirect jump may be placed some
 *           instructions earlier, where more registers are free
 * @shared:  also for shared objects: all its code relative to the %gs base is emitted by
 *           machine_code_thread(), and the mode has no code in the runtime
 *
 * Members that may be NULL are described as such. Errors are negative errno values, with @err set.
 */
struct instrument_mode {
	const char *name;
	const char *section;
	const char *reader;
	const struct instrument_mode *sampled;
	enum profile_layout_mode number;
	bool references;
	bool recursion;
	bool metric;
	bool room;
	bool whole;
	bool sites;
	bool early;
	bool bursts;
	bool both;
	bool stubs;
	bool shared;

	/** @begin: begin an image. Return: 0, or an error that ends the rewriting. */
	int (*begin)(struct mode_image *image, struct error *err);

	/**
	 * @plan: examine a procedure
	 *
	 * Return: 0; -ENOTSUP if the procedure must not be rewritten: @err gives the reason,
	 * without an address; -ENOMEM.
	 */
	int (*plan)(struct mode_plan *plan, struct error *err);

	/** @has_code: return true if the mode has code for a point. */
	bool (*has_code)(const struct mode_plan *plan, const struct point *point);

	/**
	 * @loops: return true if a loop of one block is to be unrolled MODE_LOOP_UNROLL times.
	 * NULL: no loop is
	 * @edge:  the loop's back edge in the count graph
	 *
	 * For modes without two clones. The code on the edge is then requested once for each
	 * replica of the loop (struct point).
	 */
	bool (*loops)(const struct mode_plan *plan, uint32_t edge);

	/** @emit: emit the code of a point. Called once for each point that has_code() accepted. */
	void (*emit)(const struct mode_plan *plan, const struct point *point,
		     struct machine_code *code);

	/**
	 * @emit_cold_stubs: emit the out-of-line code that emit() has referred to by labels. This
	 * code follows all other code of the procedure. Called once; may be NULL.
	 */
	void (*emit_cold_stubs)(const struct mode_plan *plan, struct machine_code *code);

	/** @commit: the procedure is cloned and owns its words. Return: 0 or -ENOMEM. */
	int (*commit)(struct mode_image *image, const struct mode_plan *plan);

	/** @drop: free @plan->data. */
	void (*drop)(struct mode_plan *plan);

	/** @encode: make the contents of @section, malloc'd. Return: 0 or -ENOMEM. */
	int (*encode)(const struct mode_image *image, uint8_t **ret, size_t *bytes);

	/** @end: free @image->data, which may be NULL. */
	void (*end)(struct mode_image *image);
};

/** mode_refine() - return the variant of a mode that the options select: see @sampled */
static inline const struct instrument_mode *mode_refine(const struct instrument_mode *mode,
							const struct mode_options *options)
{
	bool sampled = mode->sampled != NULL && options->metric != NULL && !options->all;

	return sampled ? mode->sampled : mode;
}

/** mode_image_word_at() - return the offset of an image's word from the %gs base */
static inline uint32_t mode_image_word_at(const struct mode_image *image, uint64_t word)
{
	return image->words_at + (uint32_t)(word * sizeof(uint64_t));
}

/** mode_word_at() - return the offset of a procedure's word from the %gs base */
static inline uint32_t mode_word_at(const struct mode_plan *plan, uint64_t word)
{
	return mode_image_word_at(plan->image, plan->first_word + word);
}

/** mode_private_at() - return the offset of a thread's private memory from the %gs base */
static inline uint32_t mode_private_at(void)
{
	return PROFILE_LAYOUT_RANGE;
}

#endif
