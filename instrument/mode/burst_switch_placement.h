/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placement of the checks at which a program switches between the two clones of its procedures
 * (Hirzel and Chilimbi, "Bursty tracing", 2001, section 4). Fewer checks make a program faster.
 * With every placement except BURST_SWITCH_ENTRIES_NONE and BURST_SWITCH_LOOPS_NONE, a program
 * cannot run forever without a check, unless it is in an unchecked loop, which records nothing.
 * With every placement but the full one, a check covers several iterations of a short loop
 * (burst_switch_strides.h).
 */
#ifndef DCPI_INSTRUMENT_BURST_SWITCH_PLACEMENT_H
#define DCPI_INSTRUMENT_BURST_SWITCH_PLACEMENT_H

#include <stdint.h>

struct error;

/** enum burst_switch_entries - procedures that have a check on entry. */
enum burst_switch_entries {
	BURST_SWITCH_ENTRIES_ALL,
	BURST_SWITCH_ENTRIES_CALLERS, /* procedures with calls: no leaf is part of a recursion (EL)
				       */
	BURST_SWITCH_ENTRIES_CYCLES,  /* of these: at least one of each recursion, and roots (EC) */
	BURST_SWITCH_ENTRIES_NONE,    /* (EN) */
};

/* burst_switch_placement.unchecked */
#define BURST_SWITCH_LOOPS_ALL (-1) /* each loop has a check on its back edge */
#define BURST_SWITCH_LOOPS_NONE INT32_MAX

#define BURST_SWITCH_PLACEMENT_NAME_BYTES 24

/**
 * struct burst_switch_placement - placement of checks
 * @unchecked: loops without calls and with at most this number of places that record have no check
 * and record nothing (L4, L10); BURST_SWITCH_LOOPS_NONE: no loop has a check, but all record (LN)
 */
struct burst_switch_placement {
	enum burst_switch_entries entries;
	int32_t unchecked;
};

/* The paper's choice, EC+L4. */
#define BURST_SWITCH_PLACEMENT_DEFAULT                                                             \
	((struct burst_switch_placement){BURST_SWITCH_ENTRIES_CYCLES, 4})

/**
 * burst_switch_placement_parse() - parse a placement in the paper's notation: "orig"; EL, EC or EN
 * for entries; LN or L and a number up to 9999 for loops; or one of each, joined by a plus sign
 *
 * Return: 0 or -EINVAL.
 */
int burst_switch_placement_parse(struct burst_switch_placement *ret, const char *text,
				 struct error *err);

/** burst_switch_placement_name() - format a placement as burst_switch_placement_parse() reads it.
 */
void burst_switch_placement_name(char name[BURST_SWITCH_PLACEMENT_NAME_BYTES],
				 const struct burst_switch_placement *placement);

#endif
