// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/thread_count.h"

#include "loader-hook/process_gone.h"
#include "loader-hook/process_stat.h"

/* A process' value: its threads beside the leader, and whether that has ended. */
#define LEADER_ENDED (1ULL << 32)

void thread_count_deinit(struct thread_count *threads)
{
	u64_map_deinit(&threads->processes);
}

static void set(struct thread_count *threads, uint32_t pid, uint64_t value)
{
	uint64_t *slot = u64_map_insert(&threads->processes, pid);

	if (slot != NULL)
		*slot = value;
}

void thread_count_fork(struct thread_count *threads, uint32_t pid)
{
	set(threads, pid, 0);
}

void thread_count_clone(struct thread_count *threads, uint32_t pid)
{
	uint64_t *slot = u64_map_find(&threads->processes, pid);

	if (slot != NULL)
		++*slot;
}

void thread_count_exec(struct thread_count *threads, uint32_t pid)
{
	set(threads, pid, 0);
}

bool thread_count_knows(const struct thread_count *threads, uint32_t pid)
{
	return u64_map_find(&threads->processes, pid) != NULL;
}

/* Threads of a process beside its leader, from /proc; 0 if it is gone. */
static uint64_t other_threads(uint32_t pid)
{
	struct process_stat stat;

	if (process_stat_read(&stat, pid) < 0)
		return 0;
	return stat.threads > 1 ? stat.threads - 1 : 0;
}

bool thread_count_exit(struct thread_count *threads, uint32_t pid, uint32_t tid)
{
	uint64_t *slot = u64_map_find(&threads->processes, pid);
	uint64_t others;

	if (slot == NULL && tid != pid)
		return false;
	if (slot == NULL) {
		others = other_threads(pid);
		if (others != 0)
			set(threads, pid, others | LEADER_ENDED);
		return others == 0;
	}
	if (tid == pid)
		*slot |= LEADER_ENDED;
	else if ((uint32_t)*slot != 0)
		--*slot;
	if (*slot != LEADER_ENDED)
		return false;
	u64_map_remove(&threads->processes, pid);
	return true;
}

/* Up to @max processes that are gone. */
static size_t find_gone(const struct thread_count *threads, uint32_t *gone, size_t max)
{
	uint64_t pid, value;
	size_t cursor = 0, count = 0;

	while (count < max && u64_map_next(&threads->processes, &cursor, &pid, &value)) {
		if (process_is_gone((uint32_t)pid))
			gone[count++] = (uint32_t)pid;
	}
	return count;
}

void thread_count_verify(struct thread_count *threads, thread_count_fn ended, void *context)
{
	uint32_t gone[256];
	size_t count, i;

	do {
		count = find_gone(threads, gone, sizeof(gone) / sizeof(gone[0]));
		for (i = 0; i < count; i++) {
			u64_map_remove(&threads->processes, gone[i]);
			ended(context, gone[i]);
		}
	} while (count > 0);
}
