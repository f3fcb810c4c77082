/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stack samples of the perf source: an event per CPU, in addition to those that count samples.
 *
 * The kernel copies the registers and the user-space stack into the record of a sample. Every
 * record of an event has room for a stack of the same size, so the event that counts samples cannot
 * have stacks in some of them. A second event of the same kind, with longer periods, has. The cost
 * of samples without stacks does not change.
 *
 * The kernel copies as much of the stack as is in memory, up to the size of the copy. A thread's
 * stack ends near its outermost frame, so a large size costs room in the ring, but rarely time. The
 * size is the largest that the ring allows. When records are moved from the ring to memory, the
 * part that the kernel did not fill is removed.
 */
#ifndef DCPI_PERF_STACK_H
#define DCPI_PERF_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/source.h"

struct error;
struct perf_stacks;

/**
 * perf_stacks_open() - prepare
 * @config: remains the caller's; with stack_every
 */
int perf_stacks_open(struct perf_stacks **ret, const struct source_config *config, uint32_t cpus,
		     struct error *err);

/** perf_stacks_close() - close all events; @stacks may be NULL, as in all functions below */
void perf_stacks_close(struct perf_stacks *stacks);

/** perf_stacks_cpu_open() - open the event of a CPU. A CPU without one has no stacks. */
void perf_stacks_cpu_open(struct perf_stacks *stacks, uint32_t cpu);
void perf_stacks_cpu_close(struct perf_stacks *stacks, uint32_t cpu);

/** perf_stacks_enable() - begin sampling on a CPU, if its event is open */
void perf_stacks_enable(struct perf_stacks *stacks, uint32_t cpu);

/** perf_stacks_disable() - end sampling on all CPUs */
void perf_stacks_disable(struct perf_stacks *stacks);

/** perf_stacks_set_period() - derive the periods from those of the first event */
void perf_stacks_set_period(struct perf_stacks *stacks, const struct source_event *event);

/** perf_stacks_drain() - pass on the stacks up to a time, as source_ops.drain */
void perf_stacks_drain(struct perf_stacks *stacks, uint64_t until_ns,
		       const struct source_sink *sink);

/** perf_stacks_report() - visit its counters, as source_ops.counters */
void perf_stacks_report(struct perf_stacks *stacks, source_counter_fn visit, void *context);

#endif
