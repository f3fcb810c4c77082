/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The resolved form of an event name: the fields of perf_event_attr that select the event, and the
 * scale that determines its default period.
 */
#ifndef DCPI_EVENT_CODE_H
#define DCPI_EVENT_CODE_H

#include <stdbool.h>
#include <stdint.h>

/** enum event_scale - approximate frequency of an event; see daemon/event/event.h */
enum event_scale {
	EVENT_CLOCK,  /* at most as frequent as cycles */
	EVENT_NS,     /* nanoseconds */
	EVENT_RARE,   /* an order of magnitude less frequent than cycles */
	EVENT_SCARCE, /* at most thousands per second */
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

/** event_code_scale() - guess the scale of an event from its name: misses are rare */
enum event_scale event_code_scale(const char *name);

/** event_code_unit() - return "cycles", "events" or "ns"; static */
const char *event_code_unit(const struct event_code *code);

/**
 * event_code_sampled() - return true if the caller can sample the event on this machine
 *
 * Opens the event for the calling thread, for user mode only where the event distinguishes modes.
 * This needs no privileges unless kernel.perf_event_paranoid is above 2.
 */
bool event_code_sampled(const struct event_code *code);

/** Called with a name, its event and a short description; the strings are valid during the call. */
typedef void (*event_visit_fn)(void *context, const char *name, const struct event_code *code,
			       const char *description);

#endif
