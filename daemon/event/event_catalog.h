/* SPDX-License-Identifier: GPL-2.0-only */
/* All the names of events that mean something on this machine. */
#ifndef DCPI_EVENT_CATALOG_H
#define DCPI_EVENT_CATALOG_H

#include <stdio.h>

#include "daemon/event/event_machine.h"

#define EVENT_CATALOG_NAME_BYTES 160

/** event_catalog_visit() - the papers' short names, perf's, the kernel's, libpfm4's. */
void event_catalog_visit(const struct event_machine *machine, event_visit_fn visit, void *context);

/**
 * event_catalog_nearest() - the name that was meant, perhaps
 * @word: what was written
 *
 * At most a third of the letters are wrong, missing or swapped, and the same
 * letter in upper or lower case is half a mistake.
 *
 * Return: whether there is one.
 */
bool event_catalog_nearest(const struct event_machine *machine, const char *word,
			   char ret[EVENT_CATALOG_NAME_BYTES]);

/** event_catalog_print() - a table of them for people: can it be sampled, what is it. */
void event_catalog_print(const struct event_machine *machine, FILE *stream);

#endif
