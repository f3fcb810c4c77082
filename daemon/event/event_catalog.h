/* SPDX-License-Identifier: GPL-2.0-only */
/* All event names that are valid on this machine. */
#ifndef DCPI_EVENT_CATALOG_H
#define DCPI_EVENT_CATALOG_H

#include <stdio.h>

#include "daemon/event/event_machine.h"

#define EVENT_CATALOG_NAME_BYTES 160

/** event_catalog_visit() - visit the names of the papers, perf, the kernel and libpfm4. */
void event_catalog_visit(const struct event_machine *machine, event_visit_fn visit, void *context);

/**
 * event_catalog_nearest() - find the name that the user probably meant
 * @word: as written
 *
 * At most a third of the characters are wrong, missing or swapped. A difference in case counts
 * half.
 *
 * Return: true if such a name exists.
 */
bool event_catalog_nearest(const struct event_machine *machine, const char *word,
			   char ret[EVENT_CATALOG_NAME_BYTES]);

/** event_catalog_print() - print a table of all names: can it be sampled, and its description. */
void event_catalog_print(const struct event_machine *machine, FILE *stream);

#endif
