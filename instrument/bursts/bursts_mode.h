/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * References to memory in bursts (Hirzel and Chilimbi, "Bursty tracing", 2001). Most of the time,
 * the checking clones of clone_switch.c run, which only count down at entries and at back edges.
 * When a count has expired, the instrumented clones run for a number of checks, and record each
 * address that a load or store uses.
 *
 * Not recorded: push, pop, calls and returns, string instructions, gathers, and accesses relative
 * to %fs or %gs.
 */
#ifndef DCPI_INSTRUMENT_BURSTS_MODE_H
#define DCPI_INSTRUMENT_BURSTS_MODE_H

#include "instrument/mode/mode.h"

#define BURSTS_CHECKS_DEFAULT 100000
#define BURSTS_RECORDS_DEFAULT 1000

extern const struct instrument_mode bursts_mode;

#endif
