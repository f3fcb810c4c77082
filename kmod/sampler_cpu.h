/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sampler keeps for each CPU; private to kmod/, but for the core. */
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
 * @interrupts: overflows, without @refused
 * @period_sum: periods drawn so far
 * @until_branch: with DCPI_START_BRANCHES: samples up to the next one that is interpreted
 * @counter:    NULL while not counting
 * @refused:    overflows that interrupted another handler on this CPU, which
 *              may nest: a local_t
 * @whole_registers: the handler gets all registers of what it interrupted
 * @enabled_ns, @running_ns: of counters that were released since the start
 *
 * The first cache line is what a sample touches, beside the store's first and
 * the sample's bucket. The handler writes it only after sample_store_enter().
 */
struct sampler_event {
	struct period period;
	u64 tag;
	struct sampler_cpu *cpu;
	u64 interrupts;
	u64 period_sum;
	u32 until_branch;
	/* second line */
	local_t refused __aligned(64);
	struct perf_event *counter;
	bool whole_registers;
	u64 enabled_ns;
	u64 running_ns;
} __aligned(64);

static_assert(offsetof(struct sampler_event, refused) == 64);

/**
 * struct sampler_branches - with DCPI_START_BRANCHES
 * @every: of an event's samples one in so many is interpreted
 * @tried: samples interpreted
 */
struct sampler_branches {
	u32 every;
	u64 tried;
};

/**
 * struct sampler_double - pairs of event 0, with DCPI_START_DOUBLE
 * @left:    drawn periods up to the next short one
 * @every:   one in so many
 * @period:  the short one
 * @running: the period that is running is short: a second interrupt follows
 * @task:    what the first interrupt of the pair struck; NULL: the kernel
 * @pc, @process, @time_ns: its program counter, process and time
 * @second:  second interrupts
 *
 * Belongs to the handler of event 0, which is a hardware event's and does not
 * nest.
 */
struct sampler_double {
	u32 left;
	u32 every;
	u32 period;
	bool running;
	const void *task;
	u64 pc;
	u64 process;
	u64 time_ns;
	u64 second;
};

/** struct sampler_times - see struct dcpi_times; handlers may nest here. */
struct sampler_times {
	local_t count[2][DCPI_TIME_BUCKETS];
	local_t sum_ns[2];
};

enum {
	SAMPLER_TIME_HIT,
	SAMPLER_TIME_MISS
};

/**
 * struct sampler_cpu - one CPU
 * @store:     written by the overflow handlers on this CPU
 * @event:     the events
 * @branches, @twice, @times: what was asked for at the start
 * @table, @buffers: memory of @store; NULL if this CPU was not sampled in this
 *             session
 * @taken:     the buffer that DCPI_IOC_TAKE gave, or -1
 * @delivered: samples given to the reader
 * @delivered_edges: edges given to the reader
 * @delivered_entries: entries given to the reader
 * @edges_gone: edges lost because the reader had gone
 * @stale:     the CPU was unplugged and came back, its counters are dead
 * @wake:      wakes the reader from where the handler cannot
 *
 * All but @stale, and what the handlers write, is protected by the sampler's
 * mutex. @buffers is also protected by store_memory.c's.
 */
struct sampler_cpu {
	struct sample_store store __aligned(64);
	struct sampler_event event[DCPI_EVENTS_MAX];
	struct sampler_branches branches __aligned(64);
	struct sampler_double twice;
	struct sampler_times times;
	void *table;
	void *buffers;
	int taken;
	u64 delivered;
	u64 delivered_edges;
	u64 delivered_entries;
	u64 edges_gone;
	bool stale;
	struct irq_work wake;
};

#endif
