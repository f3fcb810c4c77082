/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The short names of the DCPI papers, for the nearest event that a machine has.
 *
 *	imiss          misses of the instruction cache
 *	dmiss          misses of the data cache
 *	branchmp       mispredicted branches
 *	itbmiss, itb   misses of the instruction TLB
 *	dtbmiss, dtb   misses of the data TLB
 *
 * (cycles needs none.) For each there is a list of candidates, tried in order:
 * perf's generic event, events that the kernel or libpfm4 describe, codes of the
 * architecture. It stands for the first that can be sampled, or for the generic
 * one if none can: whoever opens it is told so.
 */
#ifndef DCPI_EVENT_ALIAS_H
#define DCPI_EVENT_ALIAS_H

#include <stdbool.h>

#include "daemon/event/event_machine.h"

/** event_alias_find() - look a whole name up; @ret stays untouched if it is none. */
bool event_alias_find(const struct event_machine *machine, const char *name,
		      struct event_code *ret);

/** event_alias_visit() - all of them; the description names the candidate. */
void event_alias_visit(const struct event_machine *machine, event_visit_fn visit, void *context);

#endif
