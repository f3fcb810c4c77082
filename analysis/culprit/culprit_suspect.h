/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Possible causes of a stall, according to the rules. Internal to culprit*.c.
 */
#ifndef DCPI_CULPRIT_SUSPECT_H
#define DCPI_CULPRIT_SUSPECT_H

#include "analysis/culprit/culprit_rule.h"

/**
 * struct culprit_suspects - causes of a stall
 * @bounds: high is at most the stall
 * @listed: the cause is still possible
 * @high:   sum of the upper bounds of listed causes
 */
struct culprit_suspects {
	struct culprit_bound bounds[CULPRIT_CAUSES];
	bool listed[CULPRIT_CAUSES];
	double high;
};

/**
 * culprit_suspects_find() - apply all rules
 *
 * If samples may be late, the rules are applied to all instructions that may be the stalled one.
 */
void culprit_suspects_find(struct culprit_suspects *suspects, const struct culprit_stall *stall);

/**
 * culprit_suspects_keep_certain() - drop other causes than likely mispredictions, if those that are
 * certain are sufficient
 */
void culprit_suspects_keep_certain(struct culprit_suspects *suspects);

/** culprit_suspects_are_many() - return true if several causes are possible. */
bool culprit_suspects_are_many(const struct culprit_suspects *suspects);

/**
 * culprit_suspects_drop_unlikely() - drop unlikely causes and causes with a small bound, as long as
 * the rest can account for the stall
 */
void culprit_suspects_drop_unlikely(struct culprit_suspects *suspects, double stall);

#endif
