/* SPDX-License-Identifier: GPL-2.0-only */
/* Edges by interpretation, from an interrupted context to its next branch. */
#ifndef DCPI_BRANCH_H
#define DCPI_BRANCH_H

#include <linux/types.h>

struct pt_regs;
struct sample_store;

/** branch_supported() - return true if the code of this kernel's architecture can be interpreted */
bool branch_supported(void);

/**
 * branch_count() - interpret up to the next branch and count its edge, if one is found
 * @store:   not entered by the caller
 * @regs:    all registers of the interrupted context
 * @process: tag of the current process, event and count zero
 *
 * Context: any. Return: SAMPLE_WAKE if a buffer became full, else 0.
 */
unsigned int branch_count(struct sample_store *store, struct pt_regs *regs, u64 process);

#endif
