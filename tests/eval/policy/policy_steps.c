// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/policy/policy_steps.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The empty function, each kind of hit, each kind of miss. */
#define TRIALS (1 + SAMPLE_WAYS + SAMPLE_WAYS + 1)
#define STEPS_MAX 10000

typedef unsigned int (*count_fn)(struct sample_store *store, u64 pc, u64 tag);

static unsigned int count_nothing(struct sample_store *store, u64 pc, u64 tag)
{
	(void)store;
	(void)pc;
	(void)tag;
	return SAMPLE_HIT;
}

/* Everything between the two stops is the same for each trial, except @count. */
static __attribute__((noinline)) unsigned int trial(count_fn volatile count,
						    struct sample_store *store, u64 pc)
{
	unsigned int result;

	raise(SIGSTOP);
	result = count(store, pc, dcpi_tag(1000, 1, 0));
	raise(SIGSTOP);
	return result;
}

/* Fill a table of one set, so that all program counters share the set. */
static void store_fill(struct sample_store *store, u64 entries)
{
	u64 pc;

	sample_store_flush_begin(store);
	sample_store_table_clear(store, 0, sample_store_table(store).count);
	sample_store_flush_end(store);
	store->bucket_mask = 0;
	for (pc = 1; pc <= entries; pc++)
		sample_store_count(store, pc, dcpi_tag(1000, 1, 0));
}

/* Return the pc of the entry at @place, so that a trial can hit it under any policy. */
static u64 pc_at(const struct sample_store *store, u32 place)
{
	return sample_store_table(store).entries[place].pc;
}

static _Noreturn void child(void)
{
	static struct sample_store store __attribute__((aligned(64)));
	size_t bytes = sample_store_bytes(64, 8192);
	void *memory = aligned_alloc(64, bytes);
	bool right = memory != NULL;
	u32 i;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || memory == NULL)
		_exit(1);
	memset(memory, 0, bytes);
	sample_store_init(&store, memory, 64, 8192);
	raise(SIGSTOP);
	trial(count_nothing, &store, 0);
	for (i = 0; i < SAMPLE_WAYS; i++) {
		store_fill(&store, SAMPLE_WAYS);
		right &= trial(sample_store_count, &store, pc_at(&store, i)) == SAMPLE_HIT;
	}
	for (i = 0; i < SAMPLE_WAYS; i++) {
		store_fill(&store, i);
		right &= trial(sample_store_count, &store, 1000) == SAMPLE_MISS;
	}
	store_fill(&store, SAMPLE_WAYS);
	right &= trial(sample_store_count, &store, 1000) == SAMPLE_MISS && store.evictions == 1;
	_exit(right ? 0 : 1);
}

/* Wait for a stop by signal @wanted. */
static int stop_wait(pid_t pid, int wanted)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFSTOPPED(status) && WSTOPSIG(status) == wanted ? 0 : -EIO;
}

static int trial_step(pid_t pid, uint32_t *ret)
{
	uint32_t steps;
	int status;

	if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0)
		return -errno;
	if (stop_wait(pid, SIGSTOP) < 0)
		return -EIO;
	for (steps = 0; steps < STEPS_MAX; steps++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0)
			return -errno;
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return -EIO;
		if (WSTOPSIG(status) == SIGSTOP) {
			*ret = steps;
			return 0;
		}
		if (WSTOPSIG(status) != SIGTRAP)
			return -EIO;
	}
	return -EIO;
}

static int child_measure(pid_t pid, struct policy_steps *steps)
{
	uint32_t taken[TRIALS];
	int i, rc, status;

	rc = stop_wait(pid, SIGSTOP);
	for (i = 0; i < TRIALS && rc == 0; i++)
		rc = trial_step(pid, &taken[i]);
	if (rc != 0)
		return rc;
	for (i = 0; i < SAMPLE_WAYS; i++) {
		steps->hit[i] = taken[1 + i] - taken[0];
		steps->free[i] = taken[1 + SAMPLE_WAYS + i] - taken[0];
	}
	steps->evict = taken[TRIALS - 1] - taken[0];
	if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int policy_steps_measure(struct policy_steps *steps)
{
	pid_t pid = fork();
	int rc;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		child();
	rc = child_measure(pid, steps);
	if (rc < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return rc;
}
