/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writer of profiles in pprof's format, profile.proto (github.com/google/pprof). Files and requests
 * have the result compressed by gzip.
 *
 * Memory errors are kept in the writer; pprof_writer_end() returns them. Until then, numbers of
 * items are arbitrary. Strings are cleaned by lib/string_table.h.
 */
#ifndef DCPI_PPROF_WRITER_H
#define DCPI_PPROF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/protobuf_writer.h"
#include "lib/string_table.h"
#include "lib/u64_map.h"

/**
 * struct pprof_writer - a profile under construction; initialised by pprof_writer_init()
 * @out:       the profile; the other members are private
 * @functions: numbers of functions, by the numbers of name and file
 */
struct pprof_writer {
	struct protobuf_writer out;
	struct protobuf_writer inner;
	struct protobuf_writer part;
	struct string_table strings;
	struct u64_map functions;
	uint64_t mappings;
	uint64_t locations;
};

void pprof_writer_init(struct pprof_writer *writer);
void pprof_writer_deinit(struct pprof_writer *writer);

/** pprof_writer_type() - add the type of the next value of all samples */
void pprof_writer_type(struct pprof_writer *writer, const char *name, const char *unit);

/**
 * struct pprof_mapping - an image: file and addresses
 * @file_offset: offset in the file of the byte at @start
 * @functions, @lines: locations have their functions, and source lines
 */
struct pprof_mapping {
	uint64_t start;
	uint64_t limit;
	uint64_t file_offset;
	const char *file;
	const char *build_id;
	bool functions;
	bool lines;
};

/** pprof_writer_mapping() - add an image. Return: its number. */
uint64_t pprof_writer_mapping(struct pprof_writer *writer, const struct pprof_mapping *mapping);

/**
 * pprof_writer_function() - find or add a function
 * @system: false: the function has no linker name
 * @file:   of its source; NULL: unknown
 *
 * Return: its number; the same one for an equal name and file.
 */
uint64_t pprof_writer_function(struct pprof_writer *writer, const char *name, bool system,
			       const char *file);

/**
 * pprof_writer_location() - add an instruction
 * @function: 0: unknown
 * @line:     0: unknown
 *
 * Return: its number.
 */
uint64_t pprof_writer_location(struct pprof_writer *writer, uint64_t mapping, uint64_t address,
			       uint64_t function, uint64_t line);

/** struct pprof_label - @text: NULL: the value is @number */
struct pprof_label {
	const char *key;
	const char *text;
	uint64_t number;
};

/** struct pprof_sample - @stack: locations, the innermost first; @values: one for each type */
struct pprof_sample {
	const uint64_t *stack;
	size_t depth;
	const uint64_t *values;
	size_t value_count;
	const struct pprof_label *labels;
	size_t label_count;
};

/** pprof_writer_sample() - add a sample */
void pprof_writer_sample(struct pprof_writer *writer, const struct pprof_sample *sample);

/** pprof_writer_period() - set the distance of samples, in units of a type */
void pprof_writer_period(struct pprof_writer *writer, const char *name, const char *unit,
			 uint64_t period);

/**
 * pprof_writer_end() - complete the profile
 * @comment:      origin of the data, one line
 * @default_type: name of the type that programs show first
 *
 * Return: 0 or -ENOMEM.
 */
int pprof_writer_end(struct pprof_writer *writer, int64_t start_ns, int64_t end_ns,
		     const char *comment, const char *default_type);

#endif
