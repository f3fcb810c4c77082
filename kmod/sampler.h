/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler: on every online CPU, one kernel perf counter for each event
 * (counters.c), whose overflow handler (handler.c) counts the interrupted
 * (process, PC) in the CPU's sample store.
 *
 * There is one sampler. A session is everything between sampler_start() and
 * sampler_leave(); its counters stay readable until the next one starts. All
 * functions sleep, unless they say otherwise, and serialize themselves by one
 * mutex.
 */
#ifndef DCPI_SAMPLER_H
#define DCPI_SAMPLER_H

#include <linux/types.h>
#include <linux/wait.h>

#include "uapi/dcpi_uapi.h"

struct vm_area_struct;

/** sampler_init() - follow CPU hotplug. Return: 0 or a negative errno. */
int sampler_init(void);

/** sampler_exit() - undo sampler_init(); after sampler_leave(). */
void sampler_exit(void);

/**
 * sampler_start() - begin a session
 * @config: see the uapi; checked by the caller
 *
 * Forgets the previous session. Every CPU online now is sampled on return;
 * CPUs that come online follow by themselves.
 *
 * Return: 0; -EBUSY sampling already; -ENOMEM; what perf says of the event.
 */
int sampler_start(const struct dcpi_config *config);

/** sampler_stop() - stop the counters; on return no handler runs any more. */
void sampler_stop(void);

/** sampler_leave() - stop, count what was not drained as lost, free memory. */
void sampler_leave(void);

/**
 * sampler_drain() - DCPI_IOC_DRAIN
 * @request: as read from the caller
 * @count:   where to tell the caller how many entries there are
 */
int sampler_drain(const struct dcpi_drain *request, u32 __user *count);

/** sampler_take() - DCPI_IOC_TAKE; @take->cpu and @take->flags are the caller's. */
int sampler_take(struct dcpi_take *take);

/** sampler_release() - DCPI_IOC_RELEASE. */
int sampler_release(u32 cpu);

/** sampler_map() - mmap() of a CPU's buffers into the whole of @vma. */
int sampler_map(u32 cpu, struct vm_area_struct *vma);

/** sampler_stats() - DCPI_IOC_STATS; @stats->cpu says of which CPU. */
int sampler_stats(struct dcpi_stats *stats);

/** sampler_event_stats() - DCPI_IOC_EVENT_STATS; CPU and event are the caller's. */
int sampler_event_stats(struct dcpi_event_stats *stats);

/** sampler_times() - DCPI_IOC_TIMES; @times->cpu says of which CPU. */
int sampler_times(struct dcpi_times *times);

/** sampler_readable() - whether some CPU has a full buffer. Doesn't sleep. */
bool sampler_readable(void);

/** sampler_waiters() - woken whenever a buffer becomes full. */
wait_queue_head_t *sampler_waiters(void);

#endif
