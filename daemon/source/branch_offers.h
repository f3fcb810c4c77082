/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which branches to probe next, and which of them together (branch_probes.h): of those that
 * samples lead to, and what is behind their seldom ways.
 *
 * Not safe for several threads at once.
 */
#ifndef DCPI_BRANCH_OFFERS_H
#define DCPI_BRANCH_OFFERS_H

#include "daemon/source/branch_known.h"
#include "daemon/source/branch_rounds.h"
#include "daemon/source/probe_results.h"

/* More are forgotten by chance. */
#define BRANCH_OFFERS_MAX 64

/** struct branch_offer - a branch to probe; @level: how frequent it is (branch_known_level()) */
struct branch_offer {
	struct branch_probe probe;
	int level;
};

/**
 * struct branch_group - branches that are probed together
 * @some:     of which there are @count; 0: it is not used
 * @level:    of the first
 * @is_look:  those that may hardly run (struct probe_window)
 */
struct branch_group {
	struct branch_probe some[BRANCH_WINDOWS];
	size_t count;
	int level;
	bool is_look;
};

/** branch_group_has_mark() - whether others are counted against the last one */
static inline bool branch_group_has_mark(const struct branch_group *group)
{
	return group->count > 0 && group->some[group->count - 1].mark;
}

/**
 * struct branch_offers - zero-initialised, but for @known, is ready
 * @groups:  that are probed; their owners' while they are
 * @offered: branches that were worth it since the last were taken
 * @offer:   of them as many as there is room for, each as likely; @count
 * @is_chosen: the first is the next
 */
struct branch_offers {
	struct branch_known known;
	struct branch_rounds rounds;
	struct branch_group groups[BRANCH_LINKS];
	uint32_t offered;
	uint32_t count;
	bool is_chosen;
	struct branch_offer offer[BRANCH_OFFERS_MAX];
};

void branch_offers_deinit(struct branch_offers *offers);

/** branch_offers_sample() - a sample leads to a branch: it may be worth a probe */
void branch_offers_sample(struct branch_offers *offers, const struct branch_probe *probe);

/** branch_offers_return() - those of a group that were not probed are offered again, and others. */
void branch_offers_return(struct branch_offers *offers, const struct branch_probe *some,
			  size_t count);

/** branch_offers_refuse() - a branch cannot be probed: its process is no more, say */
void branch_offers_refuse(struct branch_offers *offers, const struct branch_probe *probe);

/**
 * branch_offers_prefer_seldom() - let the next that is taken be of those that hardly run
 *
 * Return: whether there is one.
 */
bool branch_offers_prefer_seldom(struct branch_offers *offers, uint64_t now_ns);

/**
 * branch_offers_take() - one of them, with others of its process
 * @group:      out, of @offers->groups
 * @round_max:  with a mark to count it against, if there is one from which to the next one no more
 *              than so many executions of it pass; 0: without. Others are about as frequent as
 *              the first, or much less so if there is a mark
 *
 * There is an offer.
 */
void branch_offers_take(struct branch_offers *offers, struct branch_group *group, double round_max);

/**
 * branch_offers_is_held() - whether the mark of a group that was taken is probed in another one
 * still
 *
 * Then wait until that one is not used: where a program has few branches the mark was often in the
 * window before, whose removal takes longer than the time to the next one.
 */
bool branch_offers_is_held(const struct branch_offers *offers, const struct branch_group *group);

/** branch_offers_learn() - what is to be probed since a window was as it was */
void branch_offers_learn(struct branch_offers *offers, const struct probe_window *window);

#endif
