/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory and reading time of all JIT programs, accounted by user.
 *
 * The programs of one user must not cost other users their names. If memory is short, the user with
 * the most loses the entries without samples for the longest time. The files of each user have a
 * separate budget of bytes per drain, so that other work is not delayed. The CPU time for them is
 * charged to the user in points (daemon/image/quota.h): files of a user without points are read
 * later.
 *
 * Processes in a sandbox parse the files (daemon/jit/jit_parser.h), one for root's and one for
 * those of all other users.
 */
#ifndef DCPI_JIT_READING_H
#define DCPI_JIT_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image/quota.h"
#include "daemon/jit/jit_parser.h"
#include "lib/u64_map.h"

/* Memory of code and names of all programs. */
#define JIT_BYTES_MAX ((size_t)64 << 20)
/* Budget of bytes per drain for reading a user's files; unused bytes are saved. */
#define JIT_USER_DRAIN_BYTES ((size_t)1 << 20)
#define JIT_USER_SAVED_BYTES ((size_t)256 << 20)
/* Maximum bytes in one drain, so that other work is not delayed. */
#define JIT_USER_BURST_BYTES ((size_t)8 << 20)
/* Points that an idle user accumulates: some 15 MB of a perf map. */
#define JIT_POINTS_MAX 300000
#define JIT_POINTS_PER_MS 1000
/* A flush that settles the samples of replaced code takes about a millisecond. */
#define JIT_FLUSH_POINTS 1000
/* A file whose parsing fails delays the daemon, and ends a process. */
#define JIT_FAILURE_POINTS JIT_POINTS_MAX

enum jit_parser_lane {
	JIT_PARSER_ROOT,
	JIT_PARSER_OTHERS,
	JIT_PARSERS,
};

/**
 * struct jit_user - account of a user
 * @bytes:  memory
 * @saved:  total bytes that may be read
 * @budget: bytes that may be read in this drain
 * @drain:  drain in which these two were last increased
 */
struct jit_user {
	size_t bytes;
	size_t saved;
	size_t budget;
	uint64_t drain;
};

/**
 * struct jit_reading - state shared by all programs
 * @bytes:     memory of all
 * @bytes_max: limit of @bytes
 * @evicted:   number of pieces of code dropped for lack of memory
 * @window_ns: samples are younger than this; @until_ns: and older than this
 * @now_ns:    time at which files are read, at least @until_ns
 * @drain:     number of the drain
 * @files:     number of open descriptors
 * @room:      frees memory until @bytes is below @bytes_max; @context: its argument
 * @users:     by user id; private, like all following fields
 * @quota:     accounts of the users' points
 * @uid:       finds the user of a process; NULL: users have no limit of points
 * @uid_context: its argument
 * @postponed: how often files were not read because their user had no points
 * @parsers:   see jit_reading_parser()
 */
struct jit_reading {
	size_t bytes;
	size_t bytes_max;
	uint64_t evicted;
	uint64_t window_ns;
	uint64_t until_ns;
	uint64_t now_ns;
	uint64_t drain;
	size_t files;
	void (*room)(void *context);
	void *context;
	struct u64_map users;
	struct quota quota;
	uint32_t (*uid)(void *context, uint32_t pid);
	void *uid_context;
	uint64_t postponed;
	struct jit_parser parsers[JIT_PARSERS];
};

/** struct jit_work - work for a user that is in progress; fields are private */
struct jit_work {
	const struct jit_reading *reading;
	struct quota_user *user;
	uint64_t began_ns;
	uint64_t parsed_ns;
	uint64_t failed;
};

void jit_reading_deinit(struct jit_reading *reading);

/** jit_reading_user() - return a user's account. Return: NULL if out of memory. */
struct jit_user *jit_reading_user(struct jit_reading *reading, uint32_t uid);

/** jit_reading_spend() - subtract @bytes that were read from a budget. */
void jit_reading_spend(struct jit_user *user, size_t bytes);

/**
 * jit_reading_begin() - begin work for a process
 * @work: out; pass it to jit_reading_end()
 *
 * Return: false if the user has no points: the work must be postponed.
 */
bool jit_reading_begin(struct jit_reading *reading, struct jit_work *work, uint32_t pid);

/** jit_reading_parser() - return the parser of the files of a user */
static inline struct jit_parser *jit_reading_parser(struct jit_reading *reading, uint32_t uid)
{
	return &reading->parsers[uid == 0 ? JIT_PARSER_ROOT : JIT_PARSER_OTHERS];
}

/** jit_reading_parsed_ns() - return the CPU time of the processes that parse files */
uint64_t jit_reading_parsed_ns(const struct jit_reading *reading);

/** jit_reading_failed() - return the number of requests to parse files that failed */
uint64_t jit_reading_failed(const struct jit_reading *reading);

/**
 * jit_reading_end() - charge the CPU time since jit_reading_begin(), with that of the processes
 * that parse files
 */
void jit_reading_end(const struct jit_work *work);

/** jit_reading_charge() - charge additional points for work. */
void jit_reading_charge(const struct jit_work *work, int64_t points);

/**
 * jit_reading_largest() - find the user with the most memory. Return: 0; -ENOENT if there is none.
 */
int jit_reading_largest(const struct jit_reading *reading, uint32_t *uid);

#endif
