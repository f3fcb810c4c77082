/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an event is evidence of, by its name: the short names of the DCPI papers, and
 * those of perf, libpfm4 and the kernel that they stand for. Modifiers ("cycles:u")
 * change where an event counts, not what.
 */
#ifndef DCPI_EVENT_ROLE_H
#define DCPI_EVENT_ROLE_H

#include "analysis/frequency/procedure_profile.h"
#include "db/profile.h"

/** enum event_time - whether samples of an event are samples of time, the best first. */
enum event_time {
	EVENT_TIME_CYCLES, /* the cycle counter */
	EVENT_TIME_CLOCK,  /* a clock; periods are in nanoseconds */
	EVENT_TIME_NOT,
};

/** event_role_time() - by name and unit. */
enum event_time event_role_time(const struct profile_event *event);

/** event_role_find() - by name. Return: PROFILE_ROLES if it is evidence of nothing. */
enum profile_event_role event_role_find(const char *name);

#endif
