/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact counts of blocks and edges (count_graph.h defines where counters are): one instruction
 * counts for the thread that executes it.
 */
#ifndef DCPI_INSTRUMENT_COUNTS_MODE_H
#define DCPI_INSTRUMENT_COUNTS_MODE_H

#include "instrument/mode/mode.h"

extern const struct instrument_mode counts_mode;

#endif
