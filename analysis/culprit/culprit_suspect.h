/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may be guilty of a stall, by the rules. Internal to culprit*.c. */
#ifndef DCPI_CULPRIT_SUSPECT_H
#define DCPI_CULPRIT_SUSPECT_H

#include "analysis/culprit/culprit_rule.h"

/**
 * struct culprit_suspects - causes of a stall
 * @bounds: high is at most the stall
 * @listed: whether a cause is left
 * @high:   sum of theirs
 */
struct culprit_suspects {
	struct culprit_bound bounds[CULPRIT_CAUSES];
	bool listed[CULPRIT_CAUSES];
	double high;
};

/**
 * culprit_suspects_find() - ask all rules
 *
 * Where samples may be late, for all instructions that the stall may really be at.
 */
void culprit_suspects_find(struct culprit_suspects *suspects, const struct culprit_stall *stall);

/** culprit_suspects_are_many() - whether there are several. */
bool culprit_suspects_are_many(const struct culprit_suspects *suspects);

/**
 * culprit_suspects_acquit() - strike off who is doubted, or can be guilty of little, as far
 * as the rest can account for the stall
 * @least: the least doubt that counts
 */
void culprit_suspects_acquit(struct culprit_suspects *suspects, double stall, unsigned int least);

#endif
