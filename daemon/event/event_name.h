/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own events, by perf's names, on every machine the same: hardware
 * and software events from a table, raw codes, and the hardware-cache events.
 *
 * The names of these are made of parts:
 *
 *	CACHE[-PART[-PART]]	each PART an operation or a result
 *
 *	CACHE      L1-dcache L1-icache LLC dTLB iTLB branch node
 *	operation  load store prefetch (default: load)
 *	result     refs misses (default: refs)
 *
 * with all of perf's other spellings of the parts (loads, read, l1d, bpu, miss,
 * ...), in upper or lower case. Operations that no cache of the kind has
 * (iTLB-stores) are not names. perf's dummy and bpf-output happen never, and are
 * left out.
 */
#ifndef DCPI_EVENT_NAME_H
#define DCPI_EVENT_NAME_H

#include <stdbool.h>

#include "daemon/event/event_code.h"

/** event_name_find() - look a whole name up; @ret stays untouched if it is none. */
bool event_name_find(const char *name, struct event_code *ret);

/** event_name_raw() - the same for "r" and one to sixteen hexadecimal digits. */
bool event_name_raw(const char *name, struct event_code *ret);

/** event_name_visit() - all of them by their usual names, raw codes apart. */
void event_name_visit(event_visit_fn visit, void *context);

#endif
