/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks and the off-CPU time of each thread of an epoch.
 *
 * Samples have no thread: their number is estimated from the stacks, which stand for several
 * samples. The table is bounded. When it is full, the threads with the smallest totals are added to
 * rows that have only names, but no process and no thread. If there are too many names, the
 * smallest rows become THREAD_STORE_OTHER. So the sums over all rows are exact.
 */
#ifndef DCPI_THREAD_STORE_H
#define DCPI_THREAD_STORE_H

#include <stddef.h>
#include <stdint.h>

#define THREAD_STORE_MAX 4096
#define THREAD_STORE_NAME_BYTES 16
/* The name of a process and its threads. */
#define THREAD_STORE_OTHER "(other)"

struct thread_store;

/** struct thread_key - a thread, or with @pid and @tid 0 all threads with these names */
struct thread_key {
	uint32_t pid;
	uint32_t tid;
	char command[THREAD_STORE_NAME_BYTES];
	char thread[THREAD_STORE_NAME_BYTES];
};

/** struct thread_total - a row */
struct thread_total {
	struct thread_key key;
	uint64_t stacks;
	uint64_t off_cpu_ns;
};

/** thread_store_create() - Return: NULL if out of memory. Freed by thread_store_destroy(). */
struct thread_store *thread_store_create(size_t max);
void thread_store_destroy(struct thread_store *store);

/** thread_key_make() - make a key; names that are too long are cut */
struct thread_key thread_key_make(uint32_t pid, uint32_t tid, const char *command,
				  const char *thread);

/** thread_store_add() - add to the row of a thread. O(1), amortized */
void thread_store_add(struct thread_store *store, const struct thread_key *key, uint64_t stacks,
		      uint64_t off_cpu_ns);

/** thread_store_rows() - return the rows; valid until the store changes */
const struct thread_total *thread_store_rows(const struct thread_store *store, size_t *count);

/** thread_store_refused() - return the number of stacks since the start that are in no row: no
 * memory */
uint64_t thread_store_refused(const struct thread_store *store);

/** thread_store_clear() - forget all threads: an epoch begins */
void thread_store_clear(struct thread_store *store);

/** thread_store_bytes() - memory in use */
size_t thread_store_bytes(const struct thread_store *store);

#endif
