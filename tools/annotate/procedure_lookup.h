/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the procedures of an image that an operand may refer to, and the ranges of their samples.
 */
#ifndef DCPI_PROCEDURE_LOOKUP_H
#define DCPI_PROCEDURE_LOOKUP_H

#include "analysis/image/image_code.h"
#include "db/profile.h"

/**
 * struct procedure_lookup - zero-initialised: empty; freed by procedure_lookup_deinit()
 * @procedures: indices in image_code_procedures(), of complete procedures, each once
 * @ranges:     of procedure_lookup_ranges()
 */
struct procedure_lookup {
	size_t *procedures;
	size_t count;
	size_t capacity;
	struct profile_ranges ranges;
};

void procedure_lookup_deinit(struct procedure_lookup *lookup);

/**
 * procedure_lookup_at() - find the complete procedure that contains an address. Return: its index;
 * -ENOENT
 */
long procedure_lookup_at(const struct image_code *code, uint64_t address);

/**
 * procedure_lookup_by_name() - find the procedures of a name
 *
 * Procedures with this name come first, then procedures with this alias, then procedures that
 * contain a label of this name, then procedures that calc_names.h accepts. A version may follow the
 * name ("api@V1"); without a version, every version matches. The notes that reports show after a
 * name, " (a.c)" and " (+1 alias)", may be given too.
 *
 * Return: 0, also if none is found, or -ENOMEM.
 */
int procedure_lookup_by_name(struct procedure_lookup *lookup, const struct image_code *code,
			     const char *wanted);

/**
 * procedure_lookup_by_address() - find the procedure that contains an ELF virtual address
 *
 * Return: 0, also if none is found, or -ENOMEM.
 */
int procedure_lookup_by_address(struct procedure_lookup *lookup, const struct image_code *code,
				uint64_t address);

/**
 * procedure_lookup_ranges() - determine the file offsets of all parts of the procedures found
 * @offsets_are_addresses: see calc_profile.h
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_lookup_ranges(struct procedure_lookup *lookup, const struct image_code *code,
			    bool offsets_are_addresses);

#endif
