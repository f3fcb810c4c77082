/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events named as in the processors' manuals, through libpfm4:
 *
 *	[PMU::]EVENT[:UNITMASK | :MODIFIER[=VALUE]]...
 *
 * e.g. amd64_fam17h_zen1::RETIRED_INSTRUCTIONS:u, arm_ac53::CPU_CYCLES,
 * skl::ITLB_MISSES:MISS_CAUSES_A_WALK:c=1. Modifiers are libpfm4's; u and k have the same meaning
 * as elsewhere. A specification that requests more than an event (precise, period, guests) is
 * refused.
 *
 * libpfm4 is initialised at first use. Its environment variables LIBPFM_FORCE_PMU and
 * LIBPFM_ENCODE_INACTIVE are useful in tests. These functions must not be called by two threads at
 * once.
 */
#ifndef DCPI_EVENT_PFM_H
#define DCPI_EVENT_PFM_H

#include "daemon/event/event_code.h"

struct error;

/**
 * event_pfm_parse() - parse an event name
 *
 * Return: 0; -ENOENT, without a message, if there is no such event; -EINVAL if the unit masks or
 * modifiers are invalid, or the event is another processor's; -EIO if libpfm4 cannot be used.
 */
int event_pfm_parse(const char *text, struct event_code *ret, struct error *err);

/**
 * event_pfm_visit() - visit all events of this machine's PMUs as PMU::EVENT:UNITMASK
 *
 * Each event is visited once with its default unit masks, if it has any, and once with each unit
 * mask. libpfm4's list of the kernel's generic events is omitted.
 */
void event_pfm_visit(event_visit_fn visit, void *context);

#endif
