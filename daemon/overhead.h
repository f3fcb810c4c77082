/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a sample costs on this machine, and the rate that keeps sampling cheap.
 *
 * An interrupt of the counters takes one or two microseconds on bare metal and
 * ten to forty in some virtual machines: no fixed rate suits both. So it is
 * measured: a fixed piece of work of a tenth of a millisecond is timed again and
 * again, while a counter samples it, at such a rate that one piece in four or
 * fewer has a sample. A sample costs what its piece takes longer than the last
 * one without; the median counts. Neighbours are compared, so that a clock that
 * changes does not matter; pieces in which the thread was preempted are thrown
 * away, so that other work on the machine does not either; nor do the few that
 * something else interrupts.
 *
 * That is the cost to what is interrupted. The daemon's own work, a few
 * hundred nanoseconds a sample, comes on top; caches that the handler displaces
 * do not show in so small a piece of work.
 */
#ifndef DCPI_OVERHEAD_H
#define DCPI_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/event.h"

struct error;

/* Samples a second and CPU that overhead_rate() gives at least. */
#define OVERHEAD_RATE_MIN 500

/**
 * struct overhead_piece - one piece of work, done
 * @time_ns:   how long it took
 * @samples:   taken meanwhile
 * @disturbed: something else ran meanwhile
 */
struct overhead_piece {
	uint64_t time_ns;
	uint64_t samples;
	bool disturbed;
};

/**
 * overhead_work_fn() - do the piece of work
 *
 * Return: false when there is no time left for another one.
 */
typedef bool (*overhead_work_fn)(void *context, struct overhead_piece *ret);

/**
 * overhead_estimate() - what a sample costs, by doing work
 * @cost_ns: out: nanoseconds; 0: too little to be told from noise
 *
 * Return: 0; -EAGAIN too few pieces were left undisturbed.
 */
int overhead_estimate(overhead_work_fn work, void *context, uint64_t *cost_ns, struct error *err);

/**
 * overhead_measure() - the same, of a real event on this CPU
 * @event:  whose kind of counter to use: that of CPU cycles, or the CPU clock
 * @cpu_hz: clock of the CPUs
 *
 * Takes 0.2 s at most. Binds the thread to its CPU meanwhile.
 *
 * Return: 0; -EAGAIN; errors of perf_event_open(2) and sched_setaffinity(2).
 */
int overhead_measure(const struct source_event *event, uint64_t cpu_hz, uint64_t *cost_ns,
		     struct error *err);

/**
 * overhead_rate() - samples a second and CPU that cost a share of it
 * @cost_ns: of a sample
 * @percent: of a CPU
 *
 * Return: in OVERHEAD_RATE_MIN .. EVENT_RATE, whatever that costs.
 */
uint64_t overhead_rate(uint64_t cost_ns, uint64_t percent);

/**
 * overhead_fit() - set default periods so that all events together keep to a share
 * @percent: of a CPU
 * @cost_ns: out: what a sample costs, mean over the events; 0 if not measured
 *
 * Without default periods nothing is measured or changed. If measuring fails,
 * the rate is OVERHEAD_RATE_MIN. What was found is logged.
 */
void overhead_fit(struct event_list *events, uint64_t cpu_hz, uint64_t percent, uint64_t *cost_ns);

#endif
