/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine on which event names are looked up: this one, or one that a test simulates. */
#ifndef DCPI_EVENT_MACHINE_H
#define DCPI_EVENT_MACHINE_H

#include <stdbool.h>

#include "daemon/event/event_code.h"
#include "daemon/event/event_pmu.h"

/**
 * struct event_machine - a machine
 * @devices: the directory of its PMUs
 * @sampled: returns true if the machine can sample an event
 */
struct event_machine {
	const char *devices;
	bool (*sampled)(const struct event_code *code);
};

/** EVENT_MACHINE_HERE - the machine that this program runs on. */
#define EVENT_MACHINE_HERE                                                                         \
	((const struct event_machine){.devices = EVENT_PMU_DEVICES, .sampled = event_code_sampled})

#endif
