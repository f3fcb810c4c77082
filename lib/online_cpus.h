/* SPDX-License-Identifier: GPL-2.0-only */
/* Follow the set of online CPUs, for users that have perf events on each CPU. */
#ifndef DCPI_ONLINE_CPUS_H
#define DCPI_ONLINE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cpu_list.h"

struct error;

/**
 * struct online_cpus - the CPUs that were online at the last check
 * @list: online CPUs
 * @end:  upper bound of CPU numbers, exclusive, now and later
 * @fd:   descriptor of the list in sysfs, -1 if not open
 * @asked_ns, @asked_before_ns: times of the last and the previous check whether events have stopped
 *        (CLOCK_MONOTONIC); initially the time when they were opened
 */
struct online_cpus {
	struct cpu_list list;
	uint32_t end;
	int fd;
	uint64_t asked_ns;
	uint64_t asked_before_ns;
};

/** online_cpus_open() - read the list for the first time. @cpus->fd is -1 if it fails. */
int online_cpus_open(struct online_cpus *cpus, struct error *err);

/** online_cpus_close() - close the list; @cpus->fd may be -1. */
void online_cpus_close(struct online_cpus *cpus);

/** online_cpus_has() - return true if a CPU was online */
static inline bool online_cpus_has(const struct online_cpus *cpus, uint32_t cpu)
{
	return cpu_list_has(&cpus->list, cpu);
}

/**
 * struct online_cpus_user - callbacks of the owner of the events
 * @came:   called for each CPU that came online; if it fails, the CPU counts as offline, and the
 *          callback is called again the next time
 * @went:   called for each CPU that went offline
 * @stands: called once a second for each CPU that was and is online. Return: true if its events
 *          have stopped (perf_ring_stands()). Then the CPU was offline in between, after
 *          @asked_before_ns, and @went and @came are called for it.
 */
struct online_cpus_user {
	int (*came)(void *context, uint32_t cpu);
	void (*went)(void *context, uint32_t cpu);
	bool (*stands)(void *context, uint32_t cpu);
};

/**
 * online_cpus_follow() - read the list again
 *
 * Return: 1 if any CPU came, failed to come, or went; 0 if none; -EIO or -EINVAL if the list cannot
 * be read or parsed, and no callback was called.
 */
int online_cpus_follow(struct online_cpus *cpus, const struct online_cpus_user *user,
		       void *context);

#endif
