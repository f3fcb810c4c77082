// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/event_role.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAMES 8

static const char *const roles[PROFILE_ROLES][NAMES] = {
	[PROFILE_ROLE_IMISS] = {"imiss", "L1-icache-load-misses", "l1i_cache_refill",
				"ICACHE_64B:IFTAG_MISS", "ICACHE:MISSES"},
	[PROFILE_ROLE_DMISS] = {"dmiss", "L1-dcache-load-misses", "l1d_cache_refill",
				"L1D:REPLACEMENT"},
	[PROFILE_ROLE_BRANCH_MISS] = {"branchmp", "branch-misses", "br_mis_pred",
				      "branch-load-misses"},
	[PROFILE_ROLE_DTB_MISS] = {"dtbmiss", "dtb", "dTLB-load-misses", "l1d_tlb_refill",
				   "DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK"},
	[PROFILE_ROLE_ITB_MISS] = {"itbmiss", "itb", "iTLB-load-misses", "l1i_tlb_refill",
				   "ITLB_MISSES:MISS_CAUSES_A_WALK"},
};

/* Return true if @name is @wanted, with or without modifiers after it. */
static bool is_event(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	if (strncasecmp(name, wanted, length) != 0)
		return false;
	name += length;
	return *name == '\0' || (*name == ':' && strspn(name + 1, "ukhGHIpP") == strlen(name + 1));
}

enum event_time event_role_time(const struct profile_event *event)
{
	if (is_event(event->name, "cycles") || is_event(event->name, "cpu-cycles"))
		return EVENT_TIME_CYCLES;
	return strcmp(event->unit, "ns") == 0 ? EVENT_TIME_CLOCK : EVENT_TIME_NOT;
}

enum profile_event_role event_role_find(const char *name)
{
	for (unsigned int role = 0; role < PROFILE_ROLES; role++) {
		for (unsigned int i = 0; i < NAMES && roles[role][i] != NULL; i++) {
			if (is_event(name, roles[role][i]))
				return (enum profile_event_role)role;
		}
	}
	return PROFILE_ROLES;
}
