/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JIT code of one program: the contents of its perf map and its jitdump, which are read as they
 * grow. Private to the table (daemon/jit/jit_table.h).
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
#include "loader-hook/jit/jit_dump.h"
#include "loader-hook/jit/jit_map.h"

struct image_place;
struct jit_images;
struct jit_reading;

enum jit_program_file {
	JIT_PROGRAM_MAP,
	JIT_PROGRAM_DUMP,
	JIT_PROGRAM_FILES,
};

/* Maximum number of addresses whose names are searched for at a time. */
#define JIT_WANTED_MAX 64

/** enum jit_answer - result of looking a sample up */
enum jit_answer {
	JIT_NO_NAME, /* no file lists its address */
	JIT_NAMED,
	JIT_AMBIGUOUS, /* its code was replaced between two reads around the sample */
	JIT_LIMIT,     /* its name is not known because of a limit on memory or time */
};

/*
 * Limit of the code that is read from a program's memory, because its map has only names. Each
 * piece costs JIT_PIECE_COST more, for the time that reading takes.
 */
#define JIT_MEMORY_BYTES_MAX (4U << 20)
#define JIT_MEMORY_PIECE_MAX (64U << 10)
#define JIT_PIECE_COST 2048U
/* The files of a program are not read further after this number of failures to parse them. */
#define JIT_FAILURES_MAX 3

/**
 * struct jit_program - fields except @image, @pid and @keep_ns are private
 * @pid:          process whose memory has the code; 0: none
 * @image:        number of its JIT image, 0: it has none yet
 * @user:         account of its memory and time
 * @bytes:        of memory accounted
 * @memory_read:  cost of code that was read from the process, for the slots of @memory_version
 * @begun_ns:     start of the program; 0: before the start of the daemon
 * @keep_ns:      time of the fork of the oldest living child: code of that time is kept;
 *                UINT64_MAX: the program has no child
 * @caught_ns:    time at which the map was read completely; before the first read, start of the
 *                program
 * @behind:       the files contain more than could be read so far
 * @rereading:    the map is read again from its beginning, as pass @pass, and its end was not
 *                reached yet
 * @dump_ended:   the jitdump is complete
 * @failures:     how often parsing the files failed
 * @given_up:     the files are not read any further
 * @wanted:       sampled addresses whose names may not be in memory: they are searched for in the
 *                map as it is read, or by reading it again (@search, while @searching)
 * @search_number: of this or the last search, in the pieces that it finds; 0: there was none
 * @search_at:    drain in which the map may be read again
 * @search_pause: number of drains to wait if that finds nothing
 */
struct jit_program {
	uint32_t pid;
	uint32_t image;
	uint32_t user;
	size_t bytes;
	size_t memory_read;
	uint64_t begun_ns;
	uint32_t memory_version;
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
	uint8_t failures;
	bool given_up;
	bool searching;
	uint16_t search_number;
	struct jit_map search;
	uint64_t search_at;
	uint64_t search_pause;
	size_t wanted_count;
	uint64_t wanted[JIT_WANTED_MAX];
};

/**
 * jit_program_init() - initialise a program that began at @since_ns, without files; @program is
 * zeroed
 */
void jit_program_init(struct jit_program *program, uint64_t since_ns);

/** jit_program_deinit() - free everything; the program is as after jit_program_init(). */
void jit_program_deinit(struct jit_program *program, struct jit_reading *reading);

/** jit_program_has_files() - return true if a file is open. */
bool jit_program_has_files(const struct jit_program *program);

/** jit_program_is_empty() - return true if the program never listed any code. */
bool jit_program_is_empty(const struct jit_program *program);

/** jit_program_lacks() - return true if some of the code that the files list is not in memory. */
bool jit_program_lacks(const struct jit_program *program);

/**
 * jit_program_set_file() - set a file of the program, or replace it
 * @file: ownership passes to the program, which may close it
 *
 * Code listed in the previous file stays until the new one has been read.
 *
 * Return: true if it is not the same file as before.
 */
bool jit_program_set_file(struct jit_program *program, enum jit_program_file which,
			  const struct jit_file *file, struct jit_reading *reading);

/**
 * jit_program_follow() - continue reading the perf map where the previous program, @from, stopped.
 */
void jit_program_follow(struct jit_program *program, struct jit_program *from);

/** jit_program_park() - close the files to save descriptors; the perf map can be set again. */
void jit_program_park(struct jit_program *program, struct jit_reading *reading);

/** jit_program_postpone() - the files were not read: samples without a name are JIT_LIMIT. */
void jit_program_postpone(struct jit_program *program);

/** jit_program_close() - stop reading; the names read so far are kept. */
void jit_program_close(struct jit_program *program, struct jit_reading *reading);

/** jit_program_end() - the program ended at @time_ns: read the rest of its files. */
void jit_program_end(struct jit_program *program, struct jit_reading *reading, uint64_t time_ns);

/** jit_program_read() - continue reading. Return: true if code replaced other code. */
bool jit_program_read(struct jit_program *program, struct jit_reading *reading);

/**
 * jit_program_evict() - drop the half of the code without samples for the longest time
 *
 * The files of a program without any code are closed.
 */
void jit_program_evict(struct jit_program *program, struct jit_reading *reading);

/**
 * struct jit_window - an interval of time
 *
 * A sample was taken between @since_ns and @until_ns. Or: code was not there before @since_ns, and
 * was there by @until_ns.
 */
struct jit_window {
	uint64_t since_ns;
	uint64_t until_ns;
};

/**
 * jit_program_place() - find a PC in the program's image
 * @window: time of the sample
 * @place:  set if the answer is JIT_NAMED
 * @begin:  time when the code appeared, set if the answer is JIT_NAMED
 */
enum jit_answer jit_program_place(struct jit_program *program, struct jit_images *images,
				  const struct jit_window *window, uint64_t pc,
				  struct image_place *place, struct jit_window *begin);

#endif
