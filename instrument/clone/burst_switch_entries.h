/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choose the procedures that have a check on entry (burst_switch_placement.h), as in Hirzel and
 * Chilimbi's section 4.1. Only cloned procedures can have a check. All others count as code
 * outside: a procedure that they call may as well be called by the kernel.
 */
#ifndef DCPI_INSTRUMENT_BURST_SWITCH_ENTRIES_H
#define DCPI_INSTRUMENT_BURST_SWITCH_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/graph/strong_components.h"
#include "instrument/mode/burst_switch_placement.h"

/** enum burst_switch_entry - calls of a procedure that have a check. */
enum burst_switch_entry {
	BURST_SWITCH_ENTRY_NONE,
	BURST_SWITCH_ENTRY_OUTSIDE, /* calls from outside, which end recursions through outside code
				     */
	BURST_SWITCH_ENTRY_EACH,    /* also calls from clones */
};

/**
 * struct direct_calls - direct calls between procedures; the caller owns the arrays
 * @graph:   of procedures; calls that lead elsewhere are edges to UINT32_MAX
 * @outside: for each procedure: code outside may call it, since its address is known
 *
 * A leaf has no edges at all; calls of functions that call no procedure back are no edges.
 */
struct direct_calls {
	struct strong_graph graph;
	const bool *outside;
};

/**
 * burst_switch_entries_find() - choose the checks
 * @checked: out: enum burst_switch_entry of each procedure
 *
 * Each recursion contains a procedure with a check, except with BURST_SWITCH_ENTRIES_NONE: a
 * recursion always contains a procedure that is called by one at least as far from the roots. A
 * check is then omitted if each recursion still has another check without it. The procedures that
 * are called in most places come first.
 *
 * O(nodes + edges), except for the omission, whose effort is limited.
 *
 * Return: 0 or -ENOMEM.
 */
int burst_switch_entries_find(uint8_t *checked, const struct direct_calls *calls,
			      enum burst_switch_entries which);

struct recursion;

/** burst_switch_entries_of_image() - choose the checks of candidates, once it is known which are
 * cloned. Return: as for burst_switch_entries_find(). */
int burst_switch_entries_of_image(uint8_t *checked, const struct recursion *recursion,
				  enum burst_switch_entries which);

#endif
