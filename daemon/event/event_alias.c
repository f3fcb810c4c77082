// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event_alias.h"

#include <stdio.h>
#include <string.h>

#include "daemon/event/event_name.h"
#include "daemon/event/event_pfm.h"
#include "daemon/event/event_pmu.h"

#define CANDIDATES 6
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The ARM architecture fixes the codes, but a processor need not implement the events. */
#ifdef __aarch64__
#define ARM(raw) raw
#else
#define ARM(raw) NULL
#endif

static const struct alias {
	const char *name;
	const char *other;
	const char *meaning;
	const char *candidate[CANDIDATES];
} aliases[] = {
	{"imiss",
	 NULL,
	 "instruction-cache misses",
	 {"L1-icache-load-misses", "l1i_cache_refill", "ICACHE_64B:IFTAG_MISS", "ICACHE:MISSES",
	  ARM("r1")}},
	{"dmiss",
	 NULL,
	 "data-cache misses",
	 {"L1-dcache-load-misses", "l1d_cache_refill", "L1D:REPLACEMENT", ARM("r3")}},
	{"branchmp",
	 NULL,
	 "mispredicted branches",
	 {"branch-misses", "br_mis_pred", "branch-load-misses", ARM("r10")}},
	{"itbmiss",
	 "itb",
	 "instruction-TLB misses",
	 {"iTLB-load-misses", "l1i_tlb_refill", "ITLB_MISSES:MISS_CAUSES_A_WALK", ARM("r2")}},
	{"dtbmiss",
	 "dtb",
	 "data-TLB misses",
	 {"dTLB-load-misses", "l1d_tlb_refill", "DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK", ARM("r5")}},
};

static bool candidate_find(const struct event_machine *machine, const char *name,
			   struct event_code *ret)
{
	return event_name_find(name, ret) || event_name_raw(name, ret) ||
	       event_pmu_find(machine->devices, name, ret, NULL) == 0 ||
	       event_pfm_parse(name, ret, NULL) == 0;
}

/* Return: the index of the candidate. */
static size_t alias_resolve(const struct event_machine *machine, const struct alias *alias,
			    struct event_code *ret)
{
	size_t i, found = 0;

	for (i = 0; i < CANDIDATES; i++) {
		struct event_code code;

		if (alias->candidate[i] == NULL ||
		    !candidate_find(machine, alias->candidate[i], &code) ||
		    !machine->sampled(&code))
			continue;
		found = i;
		break;
	}
	candidate_find(machine, alias->candidate[found], ret);
	ret->scale = EVENT_RARE;
	return found;
}

bool event_alias_find(const struct event_machine *machine, const char *name, struct event_code *ret)
{
	size_t i;

	for (i = 0; i < COUNT(aliases); i++) {
		if (strcmp(aliases[i].name, name) == 0 ||
		    (aliases[i].other != NULL && strcmp(aliases[i].other, name) == 0)) {
			alias_resolve(machine, &aliases[i], ret);
			return true;
		}
	}
	return false;
}

void event_alias_visit(const struct event_machine *machine, event_visit_fn visit, void *context)
{
	char description[96];
	struct event_code code;
	size_t i;

	for (i = 0; i < COUNT(aliases); i++) {
		size_t found = alias_resolve(machine, &aliases[i], &code);

		snprintf(description, sizeof(description), "%s: %s", aliases[i].meaning,
			 aliases[i].candidate[found]);
		visit(context, aliases[i].name, &code, description);
	}
}
