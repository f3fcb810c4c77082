/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code and edges that samples and observed branches add to a procedure's flow. Internal to
 * cfg_create.c.
 */
#ifndef DCPI_CFG_EVIDENCE_H
#define DCPI_CFG_EVIDENCE_H

#include "analysis/graph/cfg.h"
#include "analysis/graph/cfg_flow.h"

/**
 * cfg_evidence_branches() - add observed targets of indirect jumps and observed entries
 *
 * Pairs that contradict the code (no branch, or a direct branch to another target) are ignored.
 * Pairs from outside to an address after a call are ignored, too, because they are returns.
 *
 * Return: 0 or -ENOMEM.
 */
int cfg_evidence_branches(struct cfg_flow *flow, const struct cfg_evidence *evidence);

/**
 * cfg_evidence_samples() - add entries for sampled code that is not reached
 *
 * Code that is reached from one sample may explain other samples.
 *
 * Return: 1: cfg_flow_reach() must follow, and then another call; 0: all samples are explained;
 * -ENOMEM.
 */
int cfg_evidence_samples(struct cfg_flow *flow, const struct cfg_evidence *evidence);

#endif
