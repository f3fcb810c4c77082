/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JIT code of one program: what its perf map and its jitdump list, read as far
 * as they have grown. Private to the table (daemon/jit/jit_table.h).
 *
 * Names are copied when they are read, because a program may rewrite its files.
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
struct jit_reading;

enum jit_program_file {
	JIT_PROGRAM_MAP,
	JIT_PROGRAM_DUMP,
	JIT_PROGRAM_FILES,
};

/* Addresses whose names are looked for at a time. */
#define JIT_WANTED_MAX 64

/** enum jit_answer - result of looking a sample up */
enum jit_answer {
	JIT_NO_NAME, /* no file lists its address */
	JIT_NAMED,
	JIT_AMBIGUOUS, /* its code was replaced between two reads around the sample */
	JIT_LIMIT,     /* a limit on memory or time keeps its name away */
};

/**
 * struct jit_program - fields but @image and @keep_ns are private
 * @image:      number of its JIT image, 0: it has none yet
 * @user:       whose memory and time are used
 * @bytes:      of memory accounted
 * @keep_ns:    the oldest living child was forked then: the code of that time is kept;
 *              UINT64_MAX: the program has no child
 * @caught_ns:  the map was complete then; before the first read, when the program began
 * @behind:     there is more in the files than could be read so far
 * @rereading:  the map is read again from its beginning, as pass @pass, and had no end yet
 * @dump_ended: nothing more will come from the jitdump
 * @wanted:     sampled addresses whose names may be among those that memory does not hold:
 *              they are looked for in the map as it is read, or by reading it again
 *              (@search, while @searching)
 * @search_at:  drain in which it may be read again; @search_pause: and how many drains to wait
 *              if that finds nothing
 */
struct jit_program {
	uint32_t image;
	uint32_t user;
	size_t bytes;
	uint64_t keep_ns;
	uint64_t caught_ns;
	struct jit_file files[JIT_PROGRAM_FILES];
	struct jit_map map;
	struct jit_dump dump;
	struct jit_codes codes;
	uint8_t pass;
	bool behind;
	bool rereading;
	bool dump_ended;
	bool searching;
	struct jit_map search;
	uint64_t search_at;
	uint64_t search_pause;
	size_t wanted_count;
	uint64_t wanted[JIT_WANTED_MAX];
};

/** jit_program_init() - one without files that began at @since_ns; @program zeroed */
void jit_program_init(struct jit_program *program, uint64_t since_ns);

/** jit_program_deinit() - free everything; the program is as after jit_program_init(). */
void jit_program_deinit(struct jit_program *program, struct jit_reading *reading);

/** jit_program_has_files() - whether a file is open. */
bool jit_program_has_files(const struct jit_program *program);

/** jit_program_is_empty() - whether the program never listed any code. */
bool jit_program_is_empty(const struct jit_program *program);

/** jit_program_lacks() - whether memory does not hold all that the files list. */
bool jit_program_lacks(const struct jit_program *program);

/**
 * jit_program_set_file() - the program has a file, or another one instead of its last
 * @file: becomes the program's, or is closed
 *
 * Code listed in the last file stays until the new one has been read.
 *
 * Return: whether it is another file than before.
 */
bool jit_program_set_file(struct jit_program *program, enum jit_program_file which,
			  const struct jit_file *file, struct jit_reading *reading);

/** jit_program_follow() - continue in the perf map where the program before in @from stopped. */
void jit_program_follow(struct jit_program *program, struct jit_program *from);

/** jit_program_park() - close the files to save descriptors; the perf map can be set again. */
void jit_program_park(struct jit_program *program, struct jit_reading *reading);

/** jit_program_close() - nothing more will be read; the names read so far stay. */
void jit_program_close(struct jit_program *program, struct jit_reading *reading);

/** jit_program_end() - the program ended at @time_ns: read the rest of its files. */
void jit_program_end(struct jit_program *program, struct jit_reading *reading, uint64_t time_ns);

/** jit_program_read() - read on. Return: whether code replaced other code. */
bool jit_program_read(struct jit_program *program, struct jit_reading *reading);

/** jit_program_evict() - drop half of the code, which has gone unsampled longest. */
void jit_program_evict(struct jit_program *program, struct jit_reading *reading);

/**
 * jit_program_place() - find a PC in the program's image
 * @since_ns, @until_ns: the sample was taken between these times
 * @place:    set if the answer is JIT_NAMED
 */
enum jit_answer jit_program_place(struct jit_program *program, struct jit_images *images,
				  uint64_t since_ns, uint64_t until_ns, uint64_t pc,
				  struct image_place *place);

#endif
