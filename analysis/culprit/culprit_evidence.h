/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a procedure's other instructions speak for or against a cause. Where a cause is the
 * only suspect, and instructions do not stall all the same, it is not at work in that
 * procedure; so it is doubted where there are other suspects beside it. Internal to
 * culprit*.c.
 */
#ifndef DCPI_CULPRIT_EVIDENCE_H
#define DCPI_CULPRIT_EVIDENCE_H

#include "analysis/culprit/culprit_suspect.h"

/* Frequencies are told apart by powers of two. */
#define CULPRIT_EVIDENCE_SCALES 64

/**
 * struct culprit_testimony - of instructions whose only suspect a cause is
 * @chances: how often it may have been at work
 * @samples: of the instructions; @stalls: what of them is stalls, may be negative
 */
struct culprit_testimony {
	double chances;
	double samples;
	double stalls;
};

/** struct culprit_evidence - of a procedure; zero-initialised: not looked for yet. */
struct culprit_evidence {
	struct culprit_testimony by_scale[CULPRIT_CAUSES][CULPRIT_EVIDENCE_SCALES];
	bool heard;
};

/** culprit_evidence_weigh() - add doubt to the suspects of a stall. */
void culprit_evidence_weigh(struct culprit_evidence *evidence, struct culprit_suspects *suspects,
			    const struct culprit_stall *stall);

#endif
