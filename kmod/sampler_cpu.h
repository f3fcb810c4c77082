/* SPDX-License-Identifier: GPL-2.0-only */
/* The sampler's state of each CPU; private to kmod/, except kmod/core. */
#ifndef DCPI_SAMPLER_CPU_H
#define DCPI_SAMPLER_CPU_H

#include <linux/irq_work.h>
#include <linux/perf_event.h>

#include <asm/local.h>

#include "core/period.h"
#include "core/sample_store.h"
#include "core/snapshot_ring.h"
#include "examine.h"

struct examination;
struct sampler_cpu;

/**
 * struct sampler_event - one event on one CPU: the overflow handler's context
 * @period:     draws the sampling periods
 * @tag:        dcpi_tag() of the event number alone
 * @cpu:        the CPU that counts the event
 * @interrupts: overflows, excluding @refused
 * @period_sum: periods drawn so far
 * @until_examined: with DCPI_START_BRANCHES: samples until the next one for examine()
 * @counter:    NULL while the event is not counted
 * @refused:    overflows that interrupted another handler on this CPU; a local_t because these
 *              overflows may nest
 * @whole_registers: the handler gets all registers of the interrupted context
 * @enabled_ns, @running_ns: sums over counters that were released since the start
 * @examination: with DCPI_START_BRANCHES, otherwise NULL
 *
 * A sample touches the first cache line, besides the store's first and the sample's bucket. The
 * handler writes it only after sample_store_enter().
 */
struct sampler_event {
	struct period period;
	u64 tag;
	struct sampler_cpu *cpu;
	u64 interrupts;
	u64 period_sum;
	u32 until_examined;
	/* second line */
	local_t refused __aligned(64);
	struct perf_event *counter;
	bool whole_registers;
	u64 enabled_ns;
	u64 running_ns;
	struct examination *examination;
} __aligned(64);

static_assert(offsetof(struct sampler_event, refused) == 64);

/**
 * struct sampler_double - pairs of event 0, with DCPI_START_DOUBLE
 * @left:    drawn periods until the next short one
 * @every:   one in @every periods is short
 * @period:  the short period
 * @running: the running period is short: the next interrupt is the second of a pair
 * @task:    task that the first interrupt of the pair struck; NULL: the kernel
 * @pc, @process, @time_ns: program counter, process and time of the first interrupt
 * @second:  second interrupts
 *
 * Accessed only by the handler of event 0, which is a hardware event, so that its handler does not
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

/** struct sampler_times - see struct dcpi_times; handlers that update it may nest */
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
 * @twice, @times: state of the features enabled at the start
 * @table, @buffers: memory of @store; NULL if this CPU was not sampled in this
 *             session
 * @taken:     the buffer that DCPI_IOC_TAKE gave, or -1
 * @delivered: samples given to the reader
 * @delivered_edges: edges given to the reader
 * @delivered_entries: entries given to the reader
 * @edges_gone: edges lost because the reader was gone
 * @examined: counts of examinations whose memory was freed
 * @snapshots: written by the overflow handlers on this CPU; without room if not wanted
 * @snapshots_gone: snapshots that were not read before their memory was freed
 * @stale:     the CPU was unplugged and came back; its counters are inactive
 * @wake:      wakes the reader, which the handler cannot do itself
 *
 * All fields except @stale and those that the handlers write are protected by the sampler's mutex.
 * @buffers is also protected by the mutex of store_memory.c.
 */
struct sampler_cpu {
	struct sample_store store __aligned(64);
	struct sampler_event event[DCPI_EVENTS_MAX];
	struct sampler_double twice __aligned(64);
	struct sampler_times times;
	void *table;
	void *buffers;
	int taken;
	u64 delivered;
	u64 delivered_edges;
	u64 delivered_entries;
	u64 edges_gone;
	struct examine_counts examined;
	struct snapshot_ring snapshots;
	u64 snapshots_gone;
	bool stale;
	struct irq_work wake;
};

#endif
