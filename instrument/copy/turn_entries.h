/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which procedures have a check on entry (turn_placement.h): Hirzel and Chilimbi's section
 * 4.1. Only those that are copied can have one, so all others are the world outside here:
 * whom they call is as good as whom the kernel calls.
 */
#ifndef DCPI_INSTRUMENT_TURN_ENTRIES_H
#define DCPI_INSTRUMENT_TURN_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/graph/strong_components.h"
#include "instrument/mode/turn_placement.h"

/** enum turn_entry - whose calls have a check, of a procedure. */
enum turn_entry {
	TURN_ENTRY_NONE,
	TURN_ENTRY_OUTSIDE, /* those of others: a recursion by way of them has that */
	TURN_ENTRY_EACH,    /* those of our own, too */
};

/**
 * struct turn_calls - who calls whom, directly; the arrays are the caller's
 * @graph:   of procedures; calls that lead elsewhere are edges to UINT32_MAX
 * @outside: of each, whether somebody else may call it: its address is known
 *
 * A leaf has no edges at all: what calls nobody back is none.
 */
struct turn_calls {
	struct strong_graph graph;
	const bool *outside;
};

/**
 * turn_entries_find() - find them
 * @checked: out: of each procedure, enum turn_entry
 *
 * All recursions have one with a check, of TURN_ENTRIES_NONE aside: in each someone is
 * called by one that is at least as far from where it all begins. Of these, checks are left
 * out that are in no recursion without another one, beginning with what is called in most
 * places. O(nodes + edges), but for that, which is given up after a while.
 * Return: 0 or -ENOMEM.
 */
int turn_entries_find(uint8_t *checked, const struct turn_calls *calls, enum turn_entries which);

struct reentry;

/** turn_entries_of_image() - of candidates, once it is known which are copied. As above. */
int turn_entries_of_image(uint8_t *checked, const struct reentry *reentry, enum turn_entries which);

#endif
