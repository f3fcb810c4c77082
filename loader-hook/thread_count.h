/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When does a process end? Perf reports the exit of threads, not of processes,
 * and the thread whose id is the process' may end first.
 *
 * For every process whose creation was recorded, the threads it has beside its
 * leader are counted; the process ends when its leader and all others have. Of
 * processes older than the recording, /proc is asked when the leader ends, and
 * from then on at the end of each thread: a leader that ends first stays as a zombie.
 */
#ifndef DCPI_THREAD_COUNT_H
#define DCPI_THREAD_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/u64_map.h"

/** struct thread_count - zero-initialised is empty; fields are private. */
struct thread_count {
	struct u64_map processes;
};

void thread_count_deinit(struct thread_count *threads);

/** thread_count_fork() - process @pid was created. */
void thread_count_fork(struct thread_count *threads, uint32_t pid);

/** thread_count_clone() - @pid has another thread. */
void thread_count_clone(struct thread_count *threads, uint32_t pid);

/** thread_count_exec() - @pid has one thread now, its leader, whoever called exec. */
void thread_count_exec(struct thread_count *threads, uint32_t pid);

/** thread_count_exit() - thread @tid ended. Return: whether the process did. */
bool thread_count_exit(struct thread_count *threads, uint32_t pid, uint32_t tid);

/** thread_count_knows() - whether its creation, or an exec, was recorded. */
bool thread_count_knows(const struct thread_count *threads, uint32_t pid);

/** Called for a process that turns out to have ended. */
typedef void (*thread_count_fn)(void *context, uint32_t pid);

/**
 * thread_count_verify() - after lost records: find processes that wait for
 * threads to end, but are gone
 */
void thread_count_verify(struct thread_count *threads, thread_count_fn ended, void *context);

#endif
