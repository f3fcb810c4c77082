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

#include "daemon/event/event.h"

struct error;

/* Samples a second and CPU that overhead_rate() gives at least. */
#define OVERHEAD_RATE_MIN 100

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
 * overhead_estimate() - what a sample costs, by doing work
 *
 * Return: 0; -EAGAIN too few pieces were left undisturbed.
 */
int overhead_estimate(overhead_work_fn work, void *context, struct overhead_cost *ret,
		      struct error *err);

/**
 * overhead_measure() - the same, of a real event on this CPU
 * @event:  whose kind of counter to use: that of CPU cycles, or the CPU clock
 * @cpu_hz: clock of the CPUs
 *
 * Takes 0.2 s at most. Binds the thread to its CPU meanwhile.
 *
 * Return: 0; -EAGAIN; errors of perf_event_open(2) and sched_setaffinity(2).
 */
int overhead_measure(const struct source_event *event, uint64_t cpu_hz, struct overhead_cost *ret,
		     struct error *err);

/**
 * overhead_measure_all() - measure both kinds of events, clocks and counters, if both are there
 * @ret: @ns is that of a clock if there is one; the quartiles are the lowest and the highest
 *
 * Return: as overhead_measure(). If one kind cannot be measured, the result is its error.
 */
int overhead_measure_all(const struct event_list *events, uint64_t cpu_hz,
			 struct overhead_cost *ret, struct error *err);

/**
 * overhead_rate() - samples a second and CPU that cost a share of it
 * @cost_ns: of a sample
 * @percent: of a CPU; a tenth of it is left for the daemon's own work
 *
 * Return: in OVERHEAD_RATE_MIN .. EVENT_RATE, whatever that costs.
 */
uint64_t overhead_rate(uint64_t cost_ns, uint64_t percent);

/**
 * overhead_fit() - set default periods so that all events together keep to a share
 * @percent: of a CPU
 * @cost_ns: out: what a sample costs, mean over the events; 0 if not measured
 *
 * Periods that were given are left alone, and what they will cost is told. If
 * measuring fails, the rate of the others is OVERHEAD_RATE_MIN. What was found is
 * logged.
 */
void overhead_fit(struct event_list *events, uint64_t cpu_hz, uint64_t percent, uint64_t *cost_ns);

/**
 * overhead_expected() - what the events cost, in permille of a CPU that is busy
 * @cost_ns: of a sample
 *
 * Of events that are neither clocks nor cycles nobody knows how often they happen:
 * they are left out.
 */
uint64_t overhead_expected(const struct event_list *events, uint64_t cpu_hz, uint64_t cost_ns);

#define OVERHEAD_LOOKS 3

/**
 * struct overhead_watch - what measuring again now and then has found
 *
 * Zero-initialised has seen nothing. Fields are private.
 */
struct overhead_watch {
	uint64_t costs[OVERHEAD_LOOKS];
	size_t seen;
	uint64_t next_ns;
};

/** overhead_watch_due() - whether it is time to measure; if so, not again before @interval_ns. */
bool overhead_watch_due(struct overhead_watch *watch, uint64_t now_ns, uint64_t interval_ns);

/**
 * overhead_watch_note() - take note of a cost
 * @fitted_ns: the cost that the present rate was made for
 * @cost_ns:   found now
 *
 * The median of the last OVERHEAD_LOOKS counts, and only if it differs from
 * @fitted_ns by a quarter: so noise changes nothing, and a lasting change is
 * followed after two looks.
 *
 * Return: the cost to make a new rate for; 0: the rate stays.
 */
uint64_t overhead_watch_note(struct overhead_watch *watch, uint64_t fitted_ns, uint64_t cost_ns);

/**
 * overhead_again() - measure again and, if the cost has changed, set default periods
 * @events:  changed only if the result is 1
 * @cost_ns: what the present periods were made for; updated if it has changed, also
 *           where the periods are as good for the new one
 *
 * While sampling goes on, whose interrupts fall upon pieces with and without a
 * sample of the measurement alike.
 *
 * Return: 1 there are new periods, logged; 0 all stays as it is, also if it could
 * not be measured.
 */
int overhead_again(struct overhead_watch *watch, struct event_list *events, uint64_t cpu_hz,
		   uint64_t percent, uint64_t *cost_ns);

#endif
