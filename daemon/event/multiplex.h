/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * More events than counters: the kernel lets them take turns, and changes turns
 * once in an interval of each PMU's, perf_event_mux_interval_ms.
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
 * @name:   of a PMU
 * @before: its interval, to be restored
 * @interval_ms: what they were changed to
 * @look_ns: when to look whether events take turns; 0: no more
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
 * Logs what it changed, or why it could not: sampling works all the same.
 */
void multiplex_open(struct multiplex *multiplex, const char *devices,
		    const struct event_list *events, unsigned int interval_ms);

/** multiplex_due() - whether to look now: once, a minute after multiplex_open() */
bool multiplex_due(struct multiplex *multiplex, uint64_t now_ns);

/**
 * multiplex_describe() - say which events take turns
 * @times: of all events
 * @text:  out: a line for people: how much of the time each was on a counter
 *
 * Return: whether any was off its counter for more than a hundredth of the time.
 */
bool multiplex_describe(const struct event_list *events, const struct source_time *times,
			char *text, size_t bytes);

/** multiplex_close() - put the intervals back, unless somebody else changed them since. */
void multiplex_close(struct multiplex *multiplex);

#endif
