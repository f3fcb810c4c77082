/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's generic events by perf's names, the same on every machine: hardware and software
 * events from a table, raw codes, and the hardware-cache events.
 *
 * The names of hardware-cache events consist of parts:
 *
 *	CACHE[-PART[-PART]]	each PART an operation or a result
 *
 *	CACHE      L1-dcache L1-icache LLC dTLB iTLB branch node
 *	operation  load store prefetch (default: load)
 *	result     refs misses (default: refs)
 *
 * All of perf's other spellings of the parts (loads, read, l1d, bpu, miss, ...) are accepted,
 * regardless of case. Operations that no cache of the kind supports (iTLB-stores) are not names.
 * perf's dummy and bpf-output never happen, and are omitted.
 */
#ifndef DCPI_EVENT_NAME_H
#define DCPI_EVENT_NAME_H

#include <stdbool.h>

#include "daemon/event/event_code.h"

/**
 * event_name_find() - look up a complete name. Return: false, with @ret unchanged, if it is
 * unknown.
 */
bool event_name_find(const char *name, struct event_code *ret);

/**
 * event_name_raw() - parse "r" and one to sixteen hexadecimal digits. Return: as event_name_find().
 */
bool event_name_raw(const char *name, struct event_code *ret);

/** event_name_visit() - visit all events by their usual names, except raw codes. */
void event_name_visit(event_visit_fn visit, void *context);

#endif
