/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples added up by image, procedure, instruction, source line or source file, over
 * all profiles that a filter selects, one count an event.
 */
#ifndef DCPI_TALLY_H
#define DCPI_TALLY_H

#include <stdbool.h>

#include "analysis/image/debug_file.h"
#include "db/profile_read.h"

struct error;
struct event_scale;
struct tally;
struct u64_map;

/** enum tally_by - what a row is. */
enum tally_by {
	TALLY_BY_PROCEDURE,
	TALLY_BY_IMAGE,
	TALLY_BY_INSTRUCTION,
	TALLY_BY_LINE, /* of a source file, in one image */
	TALLY_BY_FILE, /* of source, likewise */
	TALLY_BY_NR,
};

/** tally_by_name() - "procedure", "image", "instruction", "line", "file". */
const char *tally_by_name(enum tally_by by);

/**
 * struct tally_count - how often an event was sampled
 * @samples: as taken
 * @extra:   what scaling adds to them
 */
struct tally_count {
	uint64_t samples;
	double extra;
};

/** tally_count_scaled() - the samples, scaled. */
uint64_t tally_count_scaled(const struct tally_count *count);

/** tally_count_add() - add samples that stand for @factor each. */
void tally_count_add(struct tally_count *count, uint64_t samples, double factor);

/**
 * struct tally_config - what to add up
 * @events:      names of events, one count each
 * @sets:        NULL, or by number of the epoch the set that it is in, 0 ..: then there
 *               are counts by set, and in each by event, and epochs in no set are left out
 * @set_count:   how many
 * @filter:      which profiles; its event and pid are looked at here, so that
 *               all samples are counted in tally_samples()
 * @image:       only rows of images whose path, or its last part, matches this
 *               pattern (fnmatch(3)); NULL: of all. Totals are of all images.
 * @by:          what a row is
 * @lines:       rows of instructions say which source line they are from
 * @scale:       of events that took turns
 * @demangle:    C++ names as the source has them
 * @debug:       where symbols may be
 * @tool:        name of the program, which says on a terminal how far it has got, or NULL
 */
struct tally_config {
	const char *const *events;
	size_t event_count;
	const struct u64_map *sets;
	size_t set_count;
	struct profile_filter filter;
	const char *image;
	enum tally_by by;
	bool lines;
	const struct event_scale *scale;
	bool demangle;
	struct debug_file_options debug;
	const char *tool;
};

/**
 * struct tally_row - a procedure, an image, an instruction, a source line or a source file
 * @procedure:   its name; of samples without one, the reason: "<no symbol>",
 *               "<image changed>", "<image missing>", ... NULL in rows of
 *               images; of lines and files, only a reason, where @source is NULL
 * @image:       path of the image, or what stands for it
 * @file:        what the image is; its path is the path alone, where @image also says
 *              which of several images
 * @identity:    its build-id or digest in hexadecimal, "" if it has none
 * @has_address: the procedure or instruction has an ELF virtual address,
 *               @address (of kept symbols: its offset), and an instruction is
 *               @inside bytes behind the beginning of its procedure
 * @offset:      of an instruction: in the image
 * @source:      of an instruction, line or file: the source file, or NULL; @line: in it,
 *               0 in rows of files
 * @counts:      samples by event, or by set and event
 */
struct tally_row {
	const char *procedure;
	const char *image;
	const struct profile_image *file;
	const char *identity;
	bool has_address;
	uint64_t address;
	uint64_t inside;
	uint64_t offset;
	const char *source;
	unsigned int line;
	const struct tally_count *counts;
};

/**
 * tally_create() - add up
 * @ret: out; freed by tally_destroy()
 *
 * Only images that have samples are opened, one at a time. Images of the same
 * path and different identities are told apart in the rows' @image.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int tally_create(struct tally **ret, struct profile_reader *reader,
		 const struct tally_config *config, struct error *err);

void tally_destroy(struct tally *tally);

/** tally_row_count() - rows that have samples. */
size_t tally_row_count(const struct tally *tally);

/** tally_rows() - the rows; may be sorted in place. */
struct tally_row *tally_rows(struct tally *tally);

/** tally_total() - samples of an event (of set * events + event) over all rows. */
const struct tally_count *tally_total(const struct tally *tally, size_t event);

/** tally_samples() - samples of all events and processes, and those of no image. */
uint64_t tally_samples(const struct tally *tally, uint64_t *unknown);

#endif
