/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the procedures of an image that an operand may refer to, and the ranges of their samples.
 */
#ifndef DCPI_CALC_MEANT_H
#define DCPI_CALC_MEANT_H

#include "analysis/image/image_code.h"
#include "db/profile.h"

/**
 * struct calc_meant - zero-initialised: empty; freed by calc_meant_deinit()
 * @procedures: indices in image_code_procedures(), of complete procedures, each once
 * @ranges:     of calc_meant_ranges()
 */
struct calc_meant {
	size_t *procedures;
	size_t count;
	size_t capacity;
	struct profile_ranges ranges;
};

void calc_meant_deinit(struct calc_meant *meant);

/**
 * calc_meant_at() - find the complete procedure that contains an address. Return: its index;
 * -ENOENT
 */
long calc_meant_at(const struct image_code *code, uint64_t address);

/**
 * calc_meant_by_name() - find the procedures of a name
 *
 * Procedures with this name come first, then procedures with this alias, then procedures that
 * contain a label of this name, then procedures that calc_names.h accepts. A version may follow the
 * name ("api@V1"); without a version, every version matches. The notes that reports show after a
 * name, " (a.c)" and " (+1 alias)", may be given too.
 *
 * Return: 0, also if none is found, or -ENOMEM.
 */
int calc_meant_by_name(struct calc_meant *meant, const struct image_code *code, const char *wanted);

/**
 * calc_meant_by_address() - find the procedure that contains an ELF virtual address
 *
 * Return: 0, also if none is found, or -ENOMEM.
 */
int calc_meant_by_address(struct calc_meant *meant, const struct image_code *code,
			  uint64_t address);

/**
 * calc_meant_ranges() - determine the file offsets of all parts of the procedures found
 * @offsets_are_addresses: see calc_profile.h
 *
 * Return: 0 or -ENOMEM.
 */
int calc_meant_ranges(struct calc_meant *meant, const struct image_code *code,
		      bool offsets_are_addresses);

#endif
