/* SPDX-License-Identifier: GPL-2.0-only */
/* All event names that are valid on this machine. */
#ifndef DCPI_EVENT_CATALOG_H
#define DCPI_EVENT_CATALOG_H

#include <stdio.h>

#include "daemon/event/event_machine.h"

struct near_names;

/** event_catalog_visit() - visit the names of the papers, perf, the kernel and libpfm4. */
void event_catalog_visit(const struct event_machine *machine, event_visit_fn visit, void *context);

/** event_catalog_near_names() - offer all names as suggestions for a name that does not exist */
void event_catalog_near_names(const struct event_machine *machine, struct near_names *near);

/** event_catalog_print() - print a table of all names: can it be sampled, and its description. */
void event_catalog_print(const struct event_machine *machine, FILE *stream);

#endif
