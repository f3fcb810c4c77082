/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler: on every online CPU, one kernel perf counter for each event
 * (counters.c), whose overflow handler (handler.c) counts the interrupted
 * (process, PC) in the CPU's sample store.
 *
 * There is one sampler. A session is everything between sampler_start() and sampler_leave(); its
 * counters stay readable until the next session starts. All functions sleep unless their comment
 * says otherwise, and are serialized by one mutex.
 */
#ifndef DCPI_SAMPLER_H
#define DCPI_SAMPLER_H

#include <linux/types.h>
#include <linux/wait.h>

#include "uapi/dcpi_uapi.h"

struct vm_area_struct;

/** sampler_init() - start to follow CPU hotplug. Return: 0 or a negative errno. */
int sampler_init(void);

/** sampler_exit() - undo sampler_init(); after sampler_leave(). */
void sampler_exit(void);

/**
 * sampler_start() - begin a session
 * @config: see the uapi; checked by the caller
 *
 * Discards the previous session. Every CPU that is online is sampled on return; CPUs that come
 * online later are added automatically.
 *
 * Return: 0; -EBUSY sampling already; -ENOMEM; the error that perf returned for an event.
 */
int sampler_start(const struct dcpi_config *config);

/** sampler_stop() - stop the counters; on return no handler is running */
void sampler_stop(void);

/** sampler_leave() - stop, count samples that were not drained as lost, free memory */
void sampler_leave(void);

/**
 * sampler_drain() - DCPI_IOC_DRAIN
 * @request: as read from the caller
 * @count:   user address for the number of entries delivered
 */
int sampler_drain(const struct dcpi_drain *request, u32 __user *count);

/** sampler_take() - DCPI_IOC_TAKE; @take->cpu and @take->flags come from the caller */
int sampler_take(struct dcpi_take *take);

/** sampler_release() - DCPI_IOC_RELEASE. */
int sampler_release(u32 cpu);

/** sampler_map() - mmap() of a CPU's buffers into the whole of @vma. */
int sampler_map(u32 cpu, struct vm_area_struct *vma);

/** sampler_stats() - DCPI_IOC_STATS for the CPU @stats->cpu */
int sampler_stats(struct dcpi_stats *stats);

/** sampler_event_stats() - DCPI_IOC_EVENT_STATS; CPU and event come from the caller */
int sampler_event_stats(struct dcpi_event_stats *stats);

/** sampler_times() - DCPI_IOC_TIMES for the CPU @times->cpu */
int sampler_times(struct dcpi_times *times);

/** sampler_snapshots() - DCPI_IOC_SNAPSHOTS; CPU, address and capacity come from the caller */
int sampler_snapshots(struct dcpi_snapshots *request);

/**
 * sampler_readable() - return true if any CPU has a full buffer, or half a ring of snapshots. Does
 * not sleep.
 */
bool sampler_readable(void);

/** sampler_waiters() - return the wait queue that is woken when sampler_readable() becomes true */
wait_queue_head_t *sampler_waiters(void);

#endif
