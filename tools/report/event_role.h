/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classifies events by name, as evidence for the analysis: the short names of the DCPI papers, and
 * the equivalent names of perf, libpfm4 and the kernel. Modifiers ("cycles:u") restrict where an
 * event counts and do not change its class.
 */
#ifndef DCPI_EVENT_ROLE_H
#define DCPI_EVENT_ROLE_H

#include "analysis/frequency/procedure_profile.h"
#include "db/profile.h"

/** enum event_time - kinds of events whose samples measure time, the best first */
enum event_time {
	EVENT_TIME_CYCLES, /* the cycle counter */
	EVENT_TIME_CLOCK,  /* a clock; periods are in nanoseconds */
	EVENT_TIME_NOT,
};

/** event_role_time() - classify an event by name and unit */
enum event_time event_role_time(const struct profile_event *event);

/** event_role_find() - classify an event by name. Return: PROFILE_ROLES if it is not evidence */
enum profile_event_role event_role_find(const char *name);

#endif
