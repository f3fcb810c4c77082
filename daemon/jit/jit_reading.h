/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory and reading time of all JIT programs, accounted by user.
 *
 * The programs of one user must not cost other users their names. If memory is short, the user with
 * the most loses the entries without samples for the longest time. The files of each user have a
 * separate reading budget.
 */
#ifndef DCPI_JIT_READING_H
#define DCPI_JIT_READING_H

#include <stddef.h>
#include <stdint.h>

#include "lib/u64_map.h"

/* Memory of code and names of all programs. */
#define JIT_BYTES_MAX ((size_t)64 << 20)
/* Budget of bytes per drain for reading a user's files; unused bytes are saved. */
#define JIT_USER_DRAIN_BYTES ((size_t)1 << 20)
#define JIT_USER_SAVED_BYTES ((size_t)256 << 20)
/* Maximum bytes in one drain, so that other work is not delayed. */
#define JIT_USER_BURST_BYTES ((size_t)8 << 20)

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
 * @users:     by user id; private
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
};

void jit_reading_deinit(struct jit_reading *reading);

/** jit_reading_user() - return a user's account. Return: NULL if out of memory. */
struct jit_user *jit_reading_user(struct jit_reading *reading, uint32_t uid);

/** jit_reading_spend() - subtract @bytes that were read from a budget. */
void jit_reading_spend(struct jit_user *user, size_t bytes);

/**
 * jit_reading_largest() - find the user with the most memory. Return: 0; -ENOENT if there is none.
 */
int jit_reading_largest(const struct jit_reading *reading, uint32_t *uid);

#endif
