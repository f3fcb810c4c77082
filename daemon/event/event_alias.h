/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The short names of the DCPI papers, mapped to the closest event of the machine.
 *
 *	imiss          misses of the instruction cache
 *	dmiss          misses of the data cache
 *	branchmp       mispredicted branches
 *	itbmiss, itb   misses of the instruction TLB
 *	dtbmiss, dtb   misses of the data TLB
 *
 * (cycles needs no alias.) Each name has a list of candidates, tried in order: perf's generic
 * event, events that the kernel or libpfm4 describe, codes of the architecture. The name stands for
 * the first candidate that can be sampled. If there is none it stands for the generic event, and
 * opening it fails with an error.
 */
#ifndef DCPI_EVENT_ALIAS_H
#define DCPI_EVENT_ALIAS_H

#include <stdbool.h>

#include "daemon/event/event_machine.h"

/**
 * event_alias_find() - look up a complete name. Return: false, with @ret unchanged, if it is not an
 * alias.
 */
bool event_alias_find(const struct event_machine *machine, const char *name,
		      struct event_code *ret);

/** event_alias_visit() - visit all aliases; the description names the candidate. */
void event_alias_visit(const struct event_machine *machine, event_visit_fn visit, void *context);

#endif
