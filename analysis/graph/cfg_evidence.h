/* SPDX-License-Identifier: GPL-2.0-only */
/* What samples and seen branches add to a procedure's flow. Internal to cfg_create.c. */
#ifndef DCPI_CFG_EVIDENCE_H
#define DCPI_CFG_EVIDENCE_H

#include "analysis/graph/cfg.h"
#include "analysis/graph/cfg_flow.h"

/**
 * cfg_evidence_branches() - add targets of indirect jumps and entries that were seen
 *
 * A pair that the code doesn't allow (its instruction is no branch, or one that leads
 * elsewhere) is passed over; so is what comes from outside to behind a call, since that
 * is a return.
 *
 * Return: 0 or -ENOMEM.
 */
int cfg_evidence_branches(struct cfg_flow *flow, const struct cfg_evidence *evidence);

/**
 * cfg_evidence_samples() - let code run that was sampled and that nothing reaches
 *
 * What one piece of code reaches may explain other samples.
 *
 * Return: 1: cfg_flow_reach() must follow, and then this again; 0: all samples are
 * explained; -ENOMEM.
 */
int cfg_evidence_samples(struct cfg_flow *flow, const struct cfg_evidence *evidence);

#endif
