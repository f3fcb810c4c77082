/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPUs that are online, as they come and go: for who has events on each of them. */
#ifndef DCPI_ONLINE_CPUS_H
#define DCPI_ONLINE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cpu_list.h"

struct error;

/**
 * struct online_cpus - the CPUs online when somebody last looked
 * @list: them
 * @end:  no number is as high, now or later
 * @fd:   of sysfs' list, -1 if not open
 * @asked_ns, @asked_before_ns: when events were last asked whether they stand, and before that
 *        (CLOCK_MONOTONIC); at first when they were opened
 */
struct online_cpus {
	struct cpu_list list;
	uint32_t end;
	int fd;
	uint64_t asked_ns;
	uint64_t asked_before_ns;
};

/** online_cpus_open() - look for the first time. @cpus->fd is -1 if it fails. */
int online_cpus_open(struct online_cpus *cpus, struct error *err);

/** online_cpus_close() - @cpus->fd may be -1. */
void online_cpus_close(struct online_cpus *cpus);

/** online_cpus_has() - whether a CPU was online. */
static inline bool online_cpus_has(const struct online_cpus *cpus, uint32_t cpu)
{
	return cpu_list_has(&cpus->list, cpu);
}

/**
 * struct online_cpus_user - who follows them
 * @came:   told of each CPU that was not online; if it fails, the CPU counts as
 *          not online and is told of again next time
 * @went:   told of each CPU that was
 * @stands: asked, once a second, of each CPU that was and is, whether its events do not
 *          count any more (perf_ring_stands()): then it was offline in between, after
 *          @asked_before_ns, and it went, and came
 */
struct online_cpus_user {
	int (*came)(void *context, uint32_t cpu);
	void (*went)(void *context, uint32_t cpu);
	bool (*stands)(void *context, uint32_t cpu);
};

/**
 * online_cpus_follow() - look again
 *
 * Return: 1 if any CPU came, or failed to, or went; 0 if none; -EIO or -EINVAL the list cannot
 * be read or understood, and nobody was told or asked.
 */
int online_cpus_follow(struct online_cpus *cpus, const struct online_cpus_user *user,
		       void *context);

#endif
