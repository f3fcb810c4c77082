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
 * shared_code_keep() - exclude from rewriting the cloned procedures whose original code an
 * unmodified procedure still executes: the jumps written into that code would make it fail
 *
 * To be called when all procedures are cloned and planned (old_code_plan()), before anything is
 * written. Procedures excluded here already have counters, which stay unused.
 */
void shared_code_keep(struct candidates *candidates);

#endif
