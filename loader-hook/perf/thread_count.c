// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/perf/thread_count.h"

#include "loader-hook/proc/process_gone.h"
#include "loader-hook/proc/process_list.h"

/* Value of a process: the number of its threads other than the leader, and this flag. */
#define LEADER_ENDED (1ULL << 32)
/*
 * Value of a process whose threads are not counted: its leader has ended; /proc lists the others.
 */
#define NOT_COUNTED (1ULL << 33)

void thread_count_deinit(struct thread_count *threads)
{
	u64_map_deinit(&threads->processes);
}

static void thread_count_set(struct thread_count *threads, uint32_t pid, uint64_t value)
{
	uint64_t *slot = u64_map_insert(&threads->processes, pid);

	if (slot != NULL)
		*slot = value;
}

void thread_count_fork(struct thread_count *threads, uint32_t pid)
{
	thread_count_set(threads, pid, 0);
}

void thread_count_clone(struct thread_count *threads, uint32_t pid)
{
	uint64_t *slot = u64_map_find(&threads->processes, pid);

	if (slot != NULL && *slot != NOT_COUNTED)
		++*slot;
}

void thread_count_exec(struct thread_count *threads, uint32_t pid)
{
	thread_count_set(threads, pid, 0);
}

bool thread_count_knows(const struct thread_count *threads, uint32_t pid)
{
	return u64_map_find(&threads->processes, pid) != NULL;
}

/* A thread that ended; @others: its process has other threads besides the leader. */
struct ending {
	uint32_t pid;
	uint32_t tid;
	bool others;
};

static void thread_visit(void *context, uint32_t tid)
{
	struct ending *ending = context;

	ending->others = ending->others || (tid != ending->pid && tid != ending->tid);
}

/*
 * Return true if /proc lists no other thread. /proc is ahead of the records: threads that have
 * ended are not listed, although their records may not have been read yet.
 */
static bool is_last(uint32_t pid, uint32_t tid)
{
	struct ending ending = {.pid = pid, .tid = tid};

	process_list_threads(pid, thread_visit, &ending);
	return !ending.others;
}

bool thread_count_exit(struct thread_count *threads, uint32_t pid, uint32_t tid)
{
	uint64_t *slot = u64_map_find(&threads->processes, pid);
	bool counted = slot != NULL && *slot != NOT_COUNTED;

	if (slot == NULL && tid != pid)
		return false;
	if (!counted && !is_last(pid, tid)) {
		thread_count_set(threads, pid, NOT_COUNTED);
		return false;
	}
	if (!counted) {
		u64_map_remove(&threads->processes, pid);
		return true;
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

/* Find up to @max processes that are gone. */
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
