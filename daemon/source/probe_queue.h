/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe queue: branches to probe next, and the groups of branches to probe together
 * (branch_probes.h). Candidates are branches that samples lead to, and branches after their rare
 * directions.
 *
 * Not thread-safe.
 */
#ifndef DCPI_PROBE_QUEUE_H
#define DCPI_PROBE_QUEUE_H

#include "daemon/source/branch_history.h"
#include "daemon/source/reference_branches.h"
#include "daemon/source/probe_results.h"

/* Capacity of the queue. Excess candidates are dropped at random. */
#define PROBE_QUEUE_MAX 64

/** struct probe_candidate - a queued branch; @level: its frequency (branch_history_level()) */
struct probe_candidate {
	struct branch_probe probe;
	int level;
};

/**
 * struct branch_group - branches that are probed together
 * @probes:  the branches
 * @count:   of @probes; 0: the group is not in use
 * @level:   frequency of the first
 * @may_be_rare: the branches may be rarely executed (struct probe_window)
 */
struct branch_group {
	struct branch_probe probes[BRANCH_WINDOWS];
	size_t count;
	int level;
	bool may_be_rare;
};

/**
 * branch_group_has_reference() - return true if the last branch is the reference branch of the
 * others
 */
static inline bool branch_group_has_reference(const struct branch_group *group)
{
	return group->count > 0 && group->probes[group->count - 1].is_reference;
}

/**
 * struct probe_queue - zero-initialised, except @history, is ready
 * @groups:    groups being probed; each is owned by the thread that probes it
 * @candidates_seen: number of candidates since a group was last taken
 * @candidates: a uniform random sample of these candidates; @count entries
 * @is_chosen: the first entry is the next to be taken
 */
struct probe_queue {
	struct branch_history history;
	struct reference_branches references;
	struct branch_group groups[BRANCH_LINKS];
	uint32_t candidates_seen;
	uint32_t count;
	bool is_chosen;
	struct probe_candidate candidates[PROBE_QUEUE_MAX];
};

void probe_queue_deinit(struct probe_queue *queue);

/** probe_queue_sample() - add a branch that a sample leads to, if it is worth a probe */
void probe_queue_sample(struct probe_queue *queue, const struct branch_probe *probe);

/** probe_queue_return() - return branches of a group that were not probed to the queue. */
void probe_queue_return(struct probe_queue *queue, const struct branch_probe *probes, size_t count);

/**
 * probe_queue_refuse() - forget a branch that cannot be probed, e.g. because its process has
 * exited
 */
void probe_queue_refuse(struct probe_queue *queue, const struct branch_probe *probe);

/**
 * probe_queue_prefer_rare() - choose a branch that may be rare as the next one to be taken
 *
 * Return: true if there is one.
 */
bool probe_queue_prefer_rare(struct probe_queue *queue, uint64_t now_ns);

/**
 * probe_queue_take() - take a branch and others of its process from the queue
 * @group:     out, one of @queue->groups
 * @iteration_max: add a reference branch if there is one with at most this number of executions of
 *             the first branch per reference iteration; 0: add none
 *
 * Without a reference branch, the others are about as frequent as the first; with one, they are
 * much less frequent. The queue must not be empty.
 */
void probe_queue_take(struct probe_queue *queue, struct branch_group *group, double iteration_max);

/**
 * probe_queue_is_held() - return true if the reference branch of a group is still probed in
 * another group
 *
 * The caller then waits until that group is no longer in use. In a program with few branches, the
 * reference branch is often the same as in the previous measured interval, whose probes take longer
 * to remove than the time between two intervals.
 */
bool probe_queue_is_held(const struct probe_queue *queue, const struct branch_group *group);

/** probe_queue_learn() - update the queue and the history after a measured interval */
void probe_queue_learn(struct probe_queue *queue, const struct probe_window *window);

#endif
