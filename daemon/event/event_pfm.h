/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events by the names of their processors' manuals, through libpfm4:
 *
 *	[PMU::]EVENT[:UNITMASK | :MODIFIER[=VALUE]]...
 *
 * e.g. amd64_fam17h_zen1::RETIRED_INSTRUCTIONS:u, arm_ac53::CPU_CYCLES,
 * skl::ITLB_MISSES:MISS_CAUSES_A_WALK:c=1. Modifiers are libpfm4's; u and k mean
 * what they mean elsewhere. What asks for more than an event (precise, period,
 * guests) is refused.
 *
 * libpfm4 is initialised at first use; of its environment variables,
 * LIBPFM_FORCE_PMU and LIBPFM_ENCODE_INACTIVE are of use in tests. Not to be
 * called by two threads at once.
 */
#ifndef DCPI_EVENT_PFM_H
#define DCPI_EVENT_PFM_H

#include "daemon/event/event_code.h"

struct error;

/**
 * event_pfm_parse() - read a name
 *
 * Return: 0; -ENOENT there is no such event, without a message; -EINVAL there
 * is, but not with these unit masks or modifiers, or it is of another processor
 * than this; -EIO libpfm4 cannot be used.
 */
int event_pfm_parse(const char *text, struct event_code *ret, struct error *err);

/**
 * event_pfm_visit() - all events of this machine's PMUs as PMU::EVENT:UNITMASK
 *
 * With their default unit masks if they have any, and once with each. libpfm4's
 * list of the kernel's own events is left out.
 */
void event_pfm_visit(event_visit_fn visit, void *context);

#endif
