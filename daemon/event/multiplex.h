/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Multiplexing: with more events than counters, the kernel rotates the events of each PMU once per
 * interval, perf_event_mux_interval_ms.
 */
#ifndef DCPI_MULTIPLEX_H
#define DCPI_MULTIPLEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/event/event.h"

#define MULTIPLEX_PMUS_MAX 8
#define MULTIPLEX_INTERVAL_MAX 1000

/**
 * struct multiplex - intervals that were changed; zero-initialised: none
 * @name:        of a PMU
 * @before:      its original interval, to be restored
 * @interval_ms: the new interval
 * @look_ns:     when to check whether events are multiplexed; 0: no more
 */
struct multiplex {
	struct {
		char name[EVENT_PMU_NAME_BYTES];
		unsigned int before;
	} pmu[MULTIPLEX_PMUS_MAX];
	size_t count;
	const char *devices;
	unsigned int interval_ms;
	uint64_t look_ns;
};

/**
 * multiplex_open() - change the interval of the PMUs that count the events
 * @devices:     EVENT_PMU_DEVICES; must stay valid until multiplex_close()
 * @interval_ms: 1 .. MULTIPLEX_INTERVAL_MAX; 0: leave them alone
 *
 * Logs each change, or the reason why it failed. Sampling works either way.
 */
void multiplex_open(struct multiplex *multiplex, const char *devices,
		    const struct event_list *events, unsigned int interval_ms);

/** multiplex_due() - return true when it is time to check, once, a minute after multiplex_open() */
bool multiplex_due(struct multiplex *multiplex, uint64_t now_ns);

/**
 * multiplex_describe() - describe which events are multiplexed
 * @times: of all events
 * @text:  out: a line for users: the share of the time that each event was on a counter
 *
 * Return: true if any event was off its counter for more than 1% of the time.
 */
bool multiplex_describe(const struct event_list *events, const struct source_time *times,
			char *text, size_t bytes);

/**
 * multiplex_close() - restore the intervals, except those that another process has changed since.
 */
void multiplex_close(struct multiplex *multiplex);

#endif
