/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events as the kernel describes them, below /sys/bus/event_source/devices:
 *
 *	PMU/type          perf_event_attr.type
 *	PMU/format/TERM   the bits of a term: "config:0-7,32-35"
 *	PMU/events/NAME   an event, as terms: "event=0xc0,umask=0x1"
 *
 * perf's syntax of such an event is
 *
 *	PMU/TERM[=VALUE][,...]/
 *
 * TERM is an event of the PMU (without a value); one of its formats (VALUE defaults to 1); config,
 * config1 or config2; or a raw code, rHEX. Values are decimal, or hexadecimal after "0x". Setting a
 * bit twice is an error, where perf would silently OR the values.
 *
 * The directory is a parameter, and its contents are not trusted.
 */
#ifndef DCPI_EVENT_PMU_H
#define DCPI_EVENT_PMU_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/event/event_code.h"

struct error;

#define EVENT_PMU_DEVICES "/sys/bus/event_source/devices"
#define EVENT_PMU_NAME_BYTES 64

/**
 * event_pmu_parse() - parse "PMU/TERMS/"
 * @devices: the directory
 *
 * Return: 0; -EINVAL, with a message about the mistake.
 */
int event_pmu_parse(const char *devices, const char *text, struct event_code *ret,
		    struct error *err);

/**
 * event_pmu_find() - find an event by its name alone, in the first PMU that has it
 *
 * Return: 0; -ENOENT if no PMU has it; -EINVAL as above.
 */
int event_pmu_find(const char *devices, const char *name, struct event_code *ret,
		   struct error *err);

/** event_pmu_visit() - visit all events, as "PMU/NAME/"; invalid descriptions are skipped. */
void event_pmu_visit(const char *devices, event_visit_fn visit, void *context);

/** Called with the name of a PMU, which is valid during the call. */
typedef void (*event_pmu_name_fn)(void *context, const char *pmu);

/**
 * event_pmu_of() - visit the PMUs that count events of a type
 * @type: perf_event_attr.type
 *
 * Usually there is one. The generic hardware events (cycles, L1-dcache-loads, ...) have all PMUs of
 * CPU cores; software events have none.
 */
void event_pmu_of(const char *devices, uint32_t type, event_pmu_name_fn visit, void *context);

#endif
