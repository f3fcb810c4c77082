/* SPDX-License-Identifier: GPL-2.0-only */
/* Where names of events are looked up: this machine, or what a test makes of one. */
#ifndef DCPI_EVENT_MACHINE_H
#define DCPI_EVENT_MACHINE_H

#include <stdbool.h>

#include "daemon/event/event_code.h"
#include "daemon/event/event_pmu.h"

/**
 * struct event_machine - a machine
 * @devices: the directory of its PMUs
 * @sampled: whether it can sample an event
 */
struct event_machine {
	const char *devices;
	bool (*sampled)(const struct event_code *code);
};

/** EVENT_MACHINE_HERE - the one that this runs on. */
#define EVENT_MACHINE_HERE                                                                         \
	((const struct event_machine){.devices = EVENT_PMU_DEVICES, .sampled = event_code_sampled})

#endif
