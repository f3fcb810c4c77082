/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measures the cost of a sample on this machine, and derives a rate that keeps sampling cheap.
 *
 * A counter's interrupt takes one or two microseconds on bare metal and ten to forty in some
 * virtual machines: no fixed rate suits both. So the cost is measured: a fixed piece of work of a
 * tenth of a millisecond is timed repeatedly, while a counter samples it. At most one piece in four
 * has a sample. The cost of a sample is the additional time of its piece over the last one without;
 * the median counts. Because neighbouring pieces are compared, a changing clock does not matter.
 * Pieces in which the thread was preempted are discarded, so that other work on the machine does
 * not matter either. Few pieces are interrupted by something else, and the median ignores them.
 *
 * This is the cost to the interrupted program. The daemon's own work, a few hundred nanoseconds per
 * sample, is additional. Cache misses caused by the handler do not show in such a small piece of
 * work.
 */
#ifndef DCPI_OVERHEAD_H
#define DCPI_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/event/event.h"

struct error;

/* Minimum samples per second and CPU that overhead_rate() returns. */
#define OVERHEAD_RATE_MIN 100

/**
 * struct overhead_piece - one completed piece of work
 * @time_ns:   its duration
 * @samples:   number of samples during this time
 * @disturbed: the thread was preempted
 */
struct overhead_piece {
	uint64_t time_ns;
	uint64_t samples;
	bool disturbed;
};

/**
 * overhead_work_fn() - perform one piece of work
 *
 * Return: false if there is no time left for another one.
 */
typedef bool (*overhead_work_fn)(void *context, struct overhead_piece *ret);

/**
 * struct overhead_cost - the cost of a sample; 0: less than the noise
 * @ns:      the median of the measured costs
 * @low_ns:  their lower quartile
 * @high_ns: their upper quartile
 */
struct overhead_cost {
	uint64_t ns;
	uint64_t low_ns;
	uint64_t high_ns;
};

/**
 * overhead_estimate() - measure the cost of a sample with given work
 *
 * Return: 0; -EAGAIN if too few pieces were undisturbed.
 */
int overhead_estimate(overhead_work_fn work, void *context, struct overhead_cost *ret,
		      struct error *err);

/**
 * overhead_measure() - measure the cost of a sample of a real event on this CPU
 * @event:  determines the kind of counter: CPU cycles, or the CPU clock
 * @cpu_hz: clock of the CPUs
 *
 * Takes at most 0.2 s. Binds the thread to its CPU during this time.
 *
 * Return: 0; -EAGAIN; errors of perf_event_open(2) and sched_setaffinity(2).
 */
int overhead_measure(const struct source_event *event, uint64_t cpu_hz, struct overhead_cost *ret,
		     struct error *err);

/**
 * overhead_measure_all() - measure both kinds of events, clocks and counters, if both are used
 * @ret: @ns is that of a clock if there is one; the quartiles are the minimum and maximum of both
 *       kinds
 *
 * Return: as overhead_measure(). If one kind cannot be measured, the result is its error.
 */
int overhead_measure_all(const struct event_list *events, uint64_t cpu_hz,
			 struct overhead_cost *ret, struct error *err);

/**
 * overhead_rate() - return the samples per second and CPU whose cost is a share of the CPU
 * @cost_ns: of a sample
 * @percent: of a CPU; a tenth of it is reserved for the daemon's own work
 *
 * Return: in OVERHEAD_RATE_MIN .. EVENT_RATE, even if that costs more.
 */
uint64_t overhead_rate(uint64_t cost_ns, uint64_t percent);

/**
 * overhead_fit() - set default periods so that all events together keep to a share
 * @percent: of a CPU
 * @cost_ns: out: cost of a sample, mean over the events; 0 if not measured
 *
 * Specified periods are unchanged, and their cost is logged. If measuring fails, the rate of the
 * others is OVERHEAD_RATE_MIN. The result is logged.
 */
void overhead_fit(struct event_list *events, uint64_t cpu_hz, uint64_t percent, uint64_t *cost_ns);

/**
 * overhead_expected() - return the cost of the events, in permille of a busy CPU
 * @cost_ns: of a sample
 *
 * Events that are neither clocks nor cycles have unknown rates, and are left out.
 */
uint64_t overhead_expected(const struct event_list *events, uint64_t cpu_hz, uint64_t cost_ns);

#define OVERHEAD_LOOKS 3

/**
 * struct overhead_watch - results of repeated measurements
 *
 * Zero-initialised is empty. Fields are private.
 */
struct overhead_watch {
	uint64_t costs[OVERHEAD_LOOKS];
	size_t seen;
	uint64_t next_ns;
};

/**
 * overhead_watch_due() - return true if a measurement is due; if so, the next one is due after
 * @interval_ns.
 */
bool overhead_watch_due(struct overhead_watch *watch, uint64_t now_ns, uint64_t interval_ns);

/**
 * overhead_watch_note() - record a measured cost
 * @fitted_ns: the cost from which the present rate was derived
 * @cost_ns:   measured now
 *
 * The median of the last OVERHEAD_LOOKS costs is used, and only if it differs from @fitted_ns by a
 * quarter. So noise has no effect, and a lasting change takes effect after two measurements.
 *
 * Return: the cost for a new rate; 0: the rate stays.
 */
uint64_t overhead_watch_note(struct overhead_watch *watch, uint64_t fitted_ns, uint64_t cost_ns);

/**
 * overhead_again() - measure again and, if the cost has changed, set default periods
 * @events:  changed only if the result is 1
 * @cost_ns: cost from which the present periods were derived; updated if it has changed, even if
 *           the periods remain suitable
 *
 * Sampling may continue meanwhile: its interrupts affect pieces with and without a sample of the
 * measurement equally.
 *
 * Return: 1: there are new periods, which are logged; 0: nothing has changed, also if the
 * measurement failed.
 */
int overhead_again(struct overhead_watch *watch, struct event_list *events, uint64_t cpu_hz,
		   uint64_t percent, uint64_t *cost_ns);

#endif
