/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sampler keeps for each CPU; private to sampler.c and drain.c. */
#ifndef DCPI_SAMPLER_CPU_H
#define DCPI_SAMPLER_CPU_H

#include <linux/irq_work.h>
#include <linux/perf_event.h>

#include <asm/local.h>

#include "core/period.h"
#include "core/sample_store.h"

struct sampler_cpu;

/**
 * struct sampler_event - one event on one CPU: the overflow handler's context
 * @period:     draws the sampling periods
 * @tag:        dcpi_tag() of the event number alone
 * @cpu:        whose it is
 * @interrupts: overflows; a local_t because an event that is not an interrupt
 *              itself (page faults) may nest
 * @period_sum: periods drawn so far
 * @counter:    NULL while not counting
 *
 * One cache line, so that a sample touches three: this, the store's first, and
 * its bucket.
 */
struct sampler_event {
	struct period period;
	u64 tag;
	struct sampler_cpu *cpu;
	local_t interrupts;
	u64 period_sum;
	struct perf_event *counter;
} __aligned(64);

static_assert(sizeof(struct sampler_event) == 64);

/**
 * struct sampler_cpu - one CPU
 * @store:     written by the overflow handlers on this CPU
 * @event:     the events
 * @memory:    of @store; NULL if this CPU was not sampled in this session
 * @delivered: samples given to the reader
 * @delivered_entries: entries given to the reader
 * @stale:     the CPU was unplugged and came back, its counters are dead
 * @wake:      wakes the reader from where the handler cannot
 *
 * All but @stale, and what the handlers write, is protected by the sampler's
 * mutex.
 */
struct sampler_cpu {
	struct sample_store store __aligned(64);
	struct sampler_event event[DCPI_EVENTS_MAX];
	void *memory;
	u64 delivered;
	u64 delivered_entries;
	bool stale;
	struct irq_work wake;
};

#endif
