/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that one program's compiler made: what its perf map and its jitdump tell,
 * read as far as they have grown. The table's own (daemon/jit/jit_table.h).
 */
#ifndef DCPI_JIT_PROGRAM_H
#define DCPI_JIT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image/jit_file.h"
#include "daemon/jit/jit_code.h"
#include "loader-hook/jit_dump.h"
#include "loader-hook/jit_map.h"

struct image_place;
struct jit_images;

enum jit_program_file {
	JIT_PROGRAM_MAP,
	JIT_PROGRAM_DUMP,
	JIT_PROGRAM_FILES,
};

/**
 * struct jit_reading - what all programs share
 * @pieces:    of code, of all programs
 * @refused:   pieces beyond the bounds
 * @budget:    bytes that may still be read
 * @window_ns: samples are younger than that; @until_ns: and older than that
 */
struct jit_reading {
	size_t pieces;
	uint64_t refused;
	size_t budget;
	uint64_t window_ns;
	uint64_t until_ns;
};

/**
 * struct jit_program - fields but @image are private
 * @image:   number of its JIT image, 0: it has none yet
 * @read_ns: when its files were last read
 */
struct jit_program {
	uint32_t image;
	uint64_t read_ns;
	struct jit_file files[JIT_PROGRAM_FILES];
	struct jit_map map;
	struct jit_dump dump;
	bool dump_ended;
	struct jit_codes codes;
};

/** jit_program_init() - one without files; @program zeroed */
void jit_program_init(struct jit_program *program);

void jit_program_deinit(struct jit_program *program, struct jit_reading *reading);

bool jit_program_has_files(const struct jit_program *program);

/**
 * jit_program_set_file() - it has a file, or another one, whose code takes the place of all
 * that was told before
 * @file: becomes the program's, or is closed
 *
 * Return: whether it is another one than before.
 */
bool jit_program_set_file(struct jit_program *program, enum jit_program_file which,
			  const struct jit_file *file, struct jit_reading *reading);

/** jit_program_read() - read on. Return: whether code took the place of other code. */
bool jit_program_read(struct jit_program *program, struct jit_reading *reading);

/**
 * jit_program_place() - where a PC is in its image
 * @place:    replaced if it is known
 * @doubtful: added to, if it may be in what was there before
 *
 * Return: whether it is known.
 */
bool jit_program_place(struct jit_program *program, struct jit_images *images,
		       const struct jit_reading *reading, uint64_t pc, struct image_place *place,
		       uint64_t *doubtful);

#endif
