/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placement of the checks at which a program switches between the two clones of its procedures
 * (Hirzel and Chilimbi, "Bursty tracing", 2001, section 4). Fewer checks make a program faster.
 * With every placement except TURN_ENTRIES_NONE and TURN_LOOPS_NONE, a program cannot run forever
 * without a check, unless it is in a boring loop, which records nothing. With every placement but
 * the full one, a check covers several iterations of a short loop (turn_strides.h).
 */
#ifndef DCPI_INSTRUMENT_TURN_PLACEMENT_H
#define DCPI_INSTRUMENT_TURN_PLACEMENT_H

#include <stdint.h>

struct error;

/** enum turn_entries - procedures that have a check on entry. */
enum turn_entries {
	TURN_ENTRIES_ALL,
	TURN_ENTRIES_CALLERS, /* procedures with calls: no leaf is part of a recursion (EL) */
	TURN_ENTRIES_CYCLES,  /* of these: at least one of each recursion, and roots (EC) */
	TURN_ENTRIES_NONE,    /* (EN) */
};

/* turn_placement.boring */
#define TURN_LOOPS_ALL (-1) /* each loop has a check on its back edge */
#define TURN_LOOPS_NONE INT32_MAX

#define TURN_PLACEMENT_NAME_BYTES 24

/**
 * struct turn_placement - placement of checks
 * @boring: loops without calls and with at most this number of places that record have no check and
 *          record nothing (L4, L10); TURN_LOOPS_NONE: no loop has a check, but all record (LN)
 */
struct turn_placement {
	enum turn_entries entries;
	int32_t boring;
};

/* The paper's choice, EC+L4. */
#define TURN_PLACEMENT_DEFAULT ((struct turn_placement){TURN_ENTRIES_CYCLES, 4})

/**
 * turn_placement_parse() - parse a placement in the paper's notation: "orig"; EL, EC or EN for
 * entries; LN or L and a number up to 9999 for loops; or one of each, joined by a plus sign
 *
 * Return: 0 or -EINVAL.
 */
int turn_placement_parse(struct turn_placement *ret, const char *text, struct error *err);

/** turn_placement_name() - format a placement as turn_placement_parse() reads it. */
void turn_placement_name(char name[TURN_PLACEMENT_NAME_BYTES],
			 const struct turn_placement *placement);

#endif
