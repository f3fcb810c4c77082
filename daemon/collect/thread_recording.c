// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/thread_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/thread_store.h"
#include "lib/array.h"

/* Texts are compressed, so that equal names need not be shared. */
static void thread_row_fill(struct thread_recording *recording, size_t index,
			    const struct thread_total *thread)
{
	uint64_t *row = &recording->rows[index * PROFILE_THREAD_COLUMNS];

	row[PROFILE_THREAD_PID] = thread->key.pid;
	row[PROFILE_THREAD_TID] = thread->key.tid;
	row[PROFILE_THREAD_COMMAND] = 2 * index;
	row[PROFILE_THREAD_NAME] = 2 * index + 1;
	row[PROFILE_THREAD_STACKS] = thread->stacks;
	row[PROFILE_THREAD_OFF_CPU_NS] = thread->off_cpu_ns;
	recording->texts[2 * index] = thread->key.command;
	recording->texts[2 * index + 1] = thread->key.thread;
}

int thread_recording_make(struct thread_recording *ret, const struct thread_store *threads,
			  uint64_t every)
{
	size_t count;
	const struct thread_total *rows = thread_store_rows(threads, &count);

	if (array_reserve(&ret->rows, &ret->row_capacity, (count + 1) * PROFILE_THREAD_COLUMNS,
			  sizeof(*ret->rows)) < 0 ||
	    array_reserve(&ret->texts, &ret->text_capacity, 2 * count + 1, sizeof(*ret->texts)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		thread_row_fill(ret, i, &rows[i]);
	memset(ret->head, 0, sizeof(ret->head));
	ret->head[PROFILE_STACKS_EVERY] = every;
	ret->count = count;
	ret->recording = (struct profile_recording){
		.mode = PROFILE_RECORDING_THREADS,
		.metric = "",
		.tables = {{PROFILE_STACKS_HEAD_COLUMNS, 1, ret->head},
			   {PROFILE_THREAD_COLUMNS, count, ret->rows}},
		.table_count = PROFILE_THREADS_TABLES,
		.texts = ret->texts,
		.text_count = 2 * count,
	};
	return 0;
}

void thread_recording_deinit(struct thread_recording *recording)
{
	free(recording->rows);
	free(recording->texts);
	*recording = (struct thread_recording){.count = 0};
}
