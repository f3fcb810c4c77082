/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executes programs of call frame information (DWARF 5 section 6.4.2), and reduces each of their
 * rows to a rule.
 *
 * All input is untrusted: instructions are bounded by the bytes of the program.
 */
#ifndef DCPI_UNWIND_PROGRAM_H
#define DCPI_UNWIND_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/unwind/unwind_rule.h"
#include "lib/bounded_reader.h"

/**
 * struct unwind_cie - the common part of frame descriptions
 * @code_factor, @data_factor: alignment factors
 * @address_encoding: of addresses in frame descriptions
 * @augmented:        frame descriptions have augmentation data
 * @signal:           frames are signal frames
 * @program, @program_bytes: initial instructions
 * @initial:          rule after these
 */
struct unwind_cie {
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t address_encoding;
	bool augmented;
	bool signal;
	const uint8_t *program;
	size_t program_bytes;
	struct unwind_rule initial;
};

/** unwind_row_fn() - a rule applies from an address on. Return: 0 or an error, which ends it */
typedef int (*unwind_row_fn)(void *context, uint64_t address, const struct unwind_rule *rule);

/**
 * struct unwind_program - a program to execute
 * @place:  address of @data in the image; for relative addresses
 * @start, @end: range of code that it describes
 * @row:    called with @context for each row in the range, ascending
 */
struct unwind_program {
	const struct unwind_machine *machine;
	const struct unwind_cie *cie;
	const uint8_t *data;
	size_t bytes;
	uint64_t place;
	uint64_t start;
	uint64_t end;
	unwind_row_fn row;
	void *context;
};

/** unwind_cie_start() - execute the initial instructions of a CIE, which set @cie->initial */
void unwind_cie_start(struct unwind_cie *cie, const struct unwind_machine *machine);

/**
 * unwind_program_run() - report the rows of a frame description
 *
 * From an instruction on that cannot be executed, the rule is UNWIND_UNKNOWN. O(bytes).
 *
 * Return: 0, or the error of @row.
 */
int unwind_program_run(const struct unwind_program *program);

#endif
