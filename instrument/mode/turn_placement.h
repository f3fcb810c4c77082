/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the checks are by which a program changes between two copies of its procedures
 * (Hirzel and Chilimbi, "Bursty tracing", 2001, section 4). With fewer of them a program is
 * faster; all but TURN_ENTRIES_NONE and no loops see to it that it never goes on without
 * one for ever, but in boring loops, which record nothing. Others, but with all checks
 * there are, have one for several turns that are short (turn_strides.h).
 */
#ifndef DCPI_INSTRUMENT_TURN_PLACEMENT_H
#define DCPI_INSTRUMENT_TURN_PLACEMENT_H

#include <stdint.h>

struct error;

/** enum turn_entries - procedures that have a check on entry. */
enum turn_entries {
	TURN_ENTRIES_ALL,
	TURN_ENTRIES_CALLERS, /* those that call: no leaf is part of a recursion (EL) */
	TURN_ENTRIES_CYCLES,  /* of these, one at least of each recursion, and roots (EC) */
	TURN_ENTRIES_NONE,    /* (EN) */
};

/* turn_placement.boring */
#define TURN_LOOPS_ALL (-1) /* each has a check where it goes round */
#define TURN_LOOPS_NONE INT32_MAX

#define TURN_PLACEMENT_NAME_BYTES 24

/**
 * struct turn_placement - where checks are
 * @boring: loops without calls and with at most so many places that record have none, and
 *          record nothing (L4, L10); TURN_LOOPS_NONE: no loop has one, but records (LN)
 */
struct turn_placement {
	enum turn_entries entries;
	int32_t boring;
};

/* The paper's own choice, EC+L4. */
#define TURN_PLACEMENT_DEFAULT ((struct turn_placement){TURN_ENTRIES_CYCLES, 4})

/**
 * turn_placement_parse() - from the paper's names: orig, or EL, EC, EN for entries and LN
 * or L and a number up to 9999 for loops, or one of each with a plus between
 *
 * Return: 0 or -EINVAL.
 */
int turn_placement_parse(struct turn_placement *ret, const char *text, struct error *err);

/** turn_placement_name() - what would be parsed to it. */
void turn_placement_name(char name[TURN_PLACEMENT_NAME_BYTES],
			 const struct turn_placement *placement);

#endif
