/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Determines when a process ends. Perf reports the exit of threads, not of processes, and the
 * leader (the thread whose id is the process id) may end first.
 *
 * For every process whose creation was recorded, the threads other than the leader are counted; the
 * process ends when its leader and all others have ended. For a process older than the recording,
 * /proc is read when the leader ends, and afterwards at the end of each thread: a leader that ends
 * first stays as a zombie.
 */
#ifndef DCPI_THREAD_COUNT_H
#define DCPI_THREAD_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/u64_map.h"

/** struct thread_count - zero-initialised: empty; fields are private */
struct thread_count {
	struct u64_map processes;
};

void thread_count_deinit(struct thread_count *threads);

/** thread_count_fork() - note that process @pid was created */
void thread_count_fork(struct thread_count *threads, uint32_t pid);

/** thread_count_clone() - note that @pid has another thread */
void thread_count_clone(struct thread_count *threads, uint32_t pid);

/**
 * thread_count_exec() - note that @pid has one thread, its leader, regardless of the thread that
 * called exec
 */
void thread_count_exec(struct thread_count *threads, uint32_t pid);

/** thread_count_exit() - note that thread @tid ended; return true if the process ended with it */
bool thread_count_exit(struct thread_count *threads, uint32_t pid, uint32_t tid);

/** thread_count_knows() - return true if the creation of a process, or an exec, was recorded */
bool thread_count_knows(const struct thread_count *threads, uint32_t pid);

/** thread_count_fn - called for a process that has been found to have ended */
typedef void (*thread_count_fn)(void *context, uint32_t pid);

/**
 * thread_count_verify() - after lost records: find processes that are gone although threads of them
 * are still counted
 */
void thread_count_verify(struct thread_count *threads, thread_count_fn ended, void *context);

#endif
