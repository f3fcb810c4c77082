/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of a tally, and their counts. */
#ifndef DCPI_TALLY_ROW_H
#define DCPI_TALLY_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/report/profiler_class.h"

struct json_object;
struct procedure_names;

/**
 * struct tally_count - number of samples of an event
 * @samples: as taken
 * @extra:   number that scaling adds to them
 */
struct tally_count {
	uint64_t samples;
	double extra;
};

/** tally_count_scaled() - return the scaled number of samples */
uint64_t tally_count_scaled(const struct tally_count *count);

/** tally_count_add() - add samples that count @factor times each */
void tally_count_add(struct tally_count *count, uint64_t samples, double factor);

/**
 * struct tally_row - a procedure, an image, an instruction, a source line or a source file
 * @procedure:   its name; for samples without one, the reason: "<no symbol>", "<image changed>",
 *               "<image missing>", ... NULL in rows of images. In rows of lines and files, the
 *               reason if @source is NULL
 * @names:       of a procedure, or of the procedure that contains an instruction: its aliases, and
 *               the text shown after @procedure; NULL: only @procedure is known
 * @note:        the note of @names and a mark of the profiler's own samples; NULL: no mark
 * @class:       of its samples; an image has a row for each class that shares exclude
 * @excluded:    shares exclude its samples (profiler_class_excluded())
 * @of_profiler: the samples of the profiler's processes in the image of another program
 * @in_part:     profiling causes an unknown part of its samples, which may explain any difference
 * @image:       path of the image, or its replacement; with the identity if several images have the
 *               path
 * @file:        description of the image; its path is the path alone
 * @image_id:    its number in the database
 * @identity:    its build-id or digest in hexadecimal, "" if it has none
 * @has_address: the procedure or instruction has an ELF virtual address
 * @address:     this address (for symbols stored with the profile: the offset)
 * @inside:      for instructions: offset from the start of the procedure
 * @offset:      for instructions: offset in the image
 * @source:      for instructions, lines or files: the source file, or NULL
 * @line:        line in @source, 0 in rows of files
 * @counts:      samples by event, or by set or column of time, and event
 */
struct tally_row {
	const char *procedure;
	const struct procedure_names *names;
	const char *note;
	enum profiler_class class;
	bool excluded;
	bool of_profiler;
	bool in_part;
	const char *image;
	const struct profile_image *file;
	int64_t image_id;
	const char *identity;
	bool has_address;
	uint64_t address;
	uint64_t inside;
	uint64_t offset;
	const char *source;
	unsigned int line;
	const struct tally_count *counts;
};

/** tally_row_note() - return the text after the name of a row; NULL: none */
const char *tally_row_note(const struct tally_row *row);

/** tally_row_alias_list() - return its other names as one text: "a; b" */
const char *tally_row_alias_list(const struct tally_row *row);

/** tally_row_aliases() - make an array of its other names. Return: NULL if out of memory */
struct json_object *tally_row_aliases(const struct tally_row *row);

/** tally_row_build_id() - return the build-id in an image's identity: the part after the digest */
const char *tally_row_build_id(const struct tally_row *row);

#endif
