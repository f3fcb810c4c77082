/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a name of an event comes to: the part of perf_event_attr that says which
 * event it is, and how its default period is found.
 */
#ifndef DCPI_EVENT_CODE_H
#define DCPI_EVENT_CODE_H

#include <stdbool.h>
#include <stdint.h>

/** enum event_scale - about how often an event happens; see daemon/event/event.h */
enum event_scale {
	EVENT_CLOCK,  /* as often as there are cycles, at most */
	EVENT_NS,     /* nanoseconds */
	EVENT_RARE,   /* an order of magnitude less often than cycles */
	EVENT_SCARCE, /* thousands of times a second, at most */
};

/**
 * struct event_code - an event
 * @type:    perf_event_attr.type
 * @flags:   DCPI_EVENT_EXCLUDE_*
 * @config:  perf_event_attr.config, config1, config2
 * @scale:   see above
 */
struct event_code {
	uint32_t type;
	uint32_t flags;
	uint64_t config[3];
	enum event_scale scale;
};

/** event_code_scale() - of an event of which only the name is known: misses are rare */
enum event_scale event_code_scale(const char *name);

/** event_code_unit() - "cycles", "events" or "ns"; static */
const char *event_code_unit(const struct event_code *code);

/**
 * event_code_sampled() - whether this machine, and the caller, can sample it
 *
 * Opens it for the caller, user mode only where the event knows modes: allowed
 * to everybody unless kernel.perf_event_paranoid is above 2.
 */
bool event_code_sampled(const struct event_code *code);

/** A name, the event, and a few words about it; valid during the call. */
typedef void (*event_visit_fn)(void *context, const char *name, const struct event_code *code,
			       const char *description);

#endif
