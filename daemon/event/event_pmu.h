/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events as the kernel describes them, below /sys/bus/event_source/devices:
 *
 *	PMU/type          perf_event_attr.type
 *	PMU/format/TERM   where a term's bits go: "config:0-7,32-35"
 *	PMU/events/NAME   an event, as terms: "event=0xc0,umask=0x1"
 *
 * perf's syntax for one is
 *
 *	PMU/TERM[=VALUE][,...]/
 *
 * TERM: an event of the PMU (without a value); one of its formats (VALUE is 1 if
 * there is none); config, config1 or config2; or a raw code, rHEX. Values are
 * decimal, or hexadecimal after "0x". Nothing may be set twice: what perf ORs
 * together without a word is an error here.
 *
 * The directory is a parameter, and what is in it is not trusted.
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
 * event_pmu_parse() - read "PMU/TERMS/"
 * @devices: the directory
 *
 * Return: 0; -EINVAL, and the message names what is wrong.
 */
int event_pmu_parse(const char *devices, const char *text, struct event_code *ret,
		    struct error *err);

/**
 * event_pmu_find() - an event by its name alone, of the first PMU that has it
 *
 * Return: 0; -ENOENT no PMU has it; -EINVAL as above.
 */
int event_pmu_find(const char *devices, const char *name, struct event_code *ret,
		   struct error *err);

/** event_pmu_visit() - all events, as "PMU/NAME/"; those that make no sense are left out. */
void event_pmu_visit(const char *devices, event_visit_fn visit, void *context);

/** A PMU's name; valid during the call. */
typedef void (*event_pmu_name_fn)(void *context, const char *pmu);

/**
 * event_pmu_of() - the PMUs that count events of a type
 * @type: perf_event_attr.type
 *
 * One, as a rule; for the generic hardware events (cycles, L1-dcache-loads, ...)
 * all that belong to CPU cores; for software events none.
 */
void event_pmu_of(const char *devices, uint32_t type, event_pmu_name_fn visit, void *context);

#endif
