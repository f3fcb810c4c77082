// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event_catalog.h"

#include <string.h>

#include "daemon/event/event_alias.h"
#include "daemon/event/event_name.h"
#include "daemon/event/event_pfm.h"
#include "daemon/event/event_pmu.h"
#include "lib/near_names.h"

struct print {
	const struct event_machine *machine;
	FILE *stream;
};

void event_catalog_visit(const struct event_machine *machine, event_visit_fn visit, void *context)
{
	event_alias_visit(machine, visit, context);
	event_name_visit(visit, context);
	event_pmu_visit(machine->devices, visit, context);
	event_pfm_visit(visit, context);
}

/* "PMU::" is removed from @name if the wanted name does not contain it. */
static void offer_visit(void *context, const char *name, const struct event_code *code,
			const char *description)
{
	struct near_names *near = context;
	const char *colons = strstr(name, "::");

	(void)code;
	(void)description;
	near_names_add(near,
		       colons != NULL && strstr(near->wanted, "::") == NULL ? colons + 2 : name);
}

void event_catalog_near_names(const struct event_machine *machine, struct near_names *near)
{
	event_catalog_visit(machine, offer_visit, near);
}

static void print_visit(void *context, const char *name, const struct event_code *code,
			const char *description)
{
	const struct print *print = context;

	fprintf(print->stream, "%-40s %-7s %s\n", name,
		print->machine->sampled(code) ? "yes" : "no",
		description != NULL ? description : "");
}

void event_catalog_print(const struct event_machine *machine, FILE *stream)
{
	struct print print = {.machine = machine, .stream = stream};

	fprintf(stream, "%-40s %-7s %s\n", "event", "sampled", "description");
	event_catalog_visit(machine, print_visit, &print);
	fprintf(stream, "%-40s %-7s %s\n", "rHEX", "-", "raw event code of the processor");
	fprintf(stream, "%-40s %-7s %s\n", "PMU/TERM=VALUE,.../", "-",
		"terms are in " EVENT_PMU_DEVICES "/PMU/format");
}
