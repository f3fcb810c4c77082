/* SPDX-License-Identifier: GPL-2.0-only */
/* The recording (enum profile_threads_table) of the threads of an epoch. */
#ifndef DCPI_THREAD_RECORDING_H
#define DCPI_THREAD_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile_write.h"

struct thread_store;

/** struct thread_recording - zero-initialised is empty; memory is reused. @count: of threads */
struct thread_recording {
	struct profile_recording recording;
	uint64_t head[PROFILE_STACKS_HEAD_COLUMNS];
	uint64_t *rows;
	size_t row_capacity;
	const char **texts;
	size_t text_capacity;
	size_t count;
};

/**
 * thread_recording_make() - fill in @ret->recording, which refers to names in the store
 * @every: value of PROFILE_STACKS_EVERY
 *
 * Return: 0 or -ENOMEM.
 */
int thread_recording_make(struct thread_recording *ret, const struct thread_store *threads,
			  uint64_t every);

/** thread_recording_deinit() - free the memory */
void thread_recording_deinit(struct thread_recording *recording);

#endif
