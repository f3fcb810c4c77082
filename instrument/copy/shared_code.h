/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that belongs to two procedures: one jumps past the entry of the other and shares its
 * remaining code. If only the second one was cloned, control still arrives in its original code.
 * Internal to the rewriter.
 */
#ifndef DCPI_INSTRUMENT_SHARED_CODE_H
#define DCPI_INSTRUMENT_SHARED_CODE_H

struct candidates;

/**
 * shared_code_keep() - exclude cloned procedures from rewriting whose original code is still
 * executed by an unmodified procedure, and would fail because of the jumps written into it
 *
 * To be called when all procedures are cloned and planned (old_code_plan()), before anything is
 * written. Procedures excluded here already have counters, which stay unused.
 */
void shared_code_keep(struct candidates *candidates);

#endif
