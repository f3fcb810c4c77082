/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of a tally, and their counts. */
#ifndef DCPI_TALLY_ROW_H
#define DCPI_TALLY_ROW_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct procedure_names;
struct profile_image;

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
 * struct tally_row - a procedure, an image, an instruction, a source line or a source file
 * @procedure:   its name; of samples without one, the reason: "<no symbol>",
 *               "<image changed>", "<image missing>", ... NULL in rows of
 *               images; of lines and files, only a reason, where @source is NULL
 * @names:       of a procedure, also of one that an instruction is in: its aliases, and what
 *               text shows after @procedure; NULL: nothing more than @procedure is known
 * @note:        a mark of the profiler's own samples, after that of @names; NULL: none
 * @excluded:       profiling causes all of its samples, so that shares leave them out
 * @in_part:     profiling causes an unknown part of its samples, which may be any difference
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
	const struct procedure_names *names;
	const char *note;
	bool excluded;
	bool in_part;
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

/** tally_row_note() - text after the name of a row; NULL: none. */
const char *tally_row_note(const struct tally_row *row);

/** tally_row_alias_list() - its other names as one text: "a; b". */
const char *tally_row_alias_list(const struct tally_row *row);

/** tally_row_aliases() - its other names, an array. Return: NULL if out of memory. */
struct json_object *tally_row_aliases(const struct tally_row *row);

/** tally_row_build_id() - the build-id in an image's identity: what follows the digest. */
const char *tally_row_build_id(const struct tally_row *row);

#endif
