/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evidence for or against a cause from a procedure's other instructions. If instructions for which
 * the cause is the only possible one do not stall, the cause is not active in that procedure. It is
 * then rated as unlikely wherever other causes are possible, too. Internal to culprit*.c.
 */
#ifndef DCPI_CULPRIT_EVIDENCE_H
#define DCPI_CULPRIT_EVIDENCE_H

#include "analysis/culprit/culprit_suspect.h"

/* Frequencies are classified by powers of two. */
#define CULPRIT_EVIDENCE_SCALES 64

/**
 * struct culprit_observation - instructions for which a cause is the only possible one
 * @chances: number of times that it may have occurred
 * @samples: of the instructions; @stalls: those of them due to stalls, may be negative
 */
struct culprit_observation {
	double chances;
	double samples;
	double stalls;
};

/** struct culprit_evidence - of a procedure; zero-initialised: not collected yet. */
struct culprit_evidence {
	struct culprit_observation by_scale[CULPRIT_CAUSES][CULPRIT_EVIDENCE_SCALES];
	bool collected;
};

/** culprit_evidence_weigh() - raise @rank of a stall's causes that the evidence contradicts. */
void culprit_evidence_weigh(struct culprit_evidence *evidence, struct culprit_suspects *suspects,
			    const struct culprit_stall *stall);

#endif
