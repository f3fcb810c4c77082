// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/probe_queue.h"

#include <stdlib.h>

#include "lib/clock.h"

/*
 * Branches are probed together if their frequencies differ by at most a factor of
 * 2^LEVELS_TOGETHER.
 */
#define LEVELS_TOGETHER 3
/* Level of branches that may be rarely executed; 0 is unknown. */
#define LEVEL_SELDOM 1
/*
 * A direction is rare if it is taken less often than the other one by this factor. It may be a loop
 * exit.
 */
#define SELDOM 8
/*
 * A branch that is executed less often than another by this factor adds almost no cost to its
 * probe.
 */
#define NEGLIGIBLE 64
/* A branch that is executed less often than another by this factor may still be rare. */
#define COMMON 4

void probe_queue_deinit(struct probe_queue *queue)
{
	branch_history_deinit(&queue->known);
	reference_branches_deinit(&queue->rounds);
}

static bool is_among(const struct branch_probe *some, size_t count,
		     const struct branch_probe *probe)
{
	for (size_t i = 0; i < count; i++) {
		if (branch_probe_is_at(&some[i], probe))
			return true;
	}
	return false;
}

/*
 * A second probe at the same address adds no information, and its breakpoint hides the instruction
 * from the other one.
 */
static bool is_probed(const struct probe_queue *queue, const struct branch_probe *probe,
		      const struct branch_group *except)
{
	for (size_t i = 0; i < BRANCH_LINKS; i++) {
		const struct branch_group *group = &queue->groups[i];

		if (group != except && is_among(group->some, group->count, probe))
			return true;
	}
	return false;
}

static bool is_queued(const struct probe_queue *queue, const struct branch_probe *probe)
{
	for (uint32_t i = 0; i < queue->count; i++) {
		if (branch_probe_is_at(&queue->candidates[i].probe, probe))
			return true;
	}
	return false;
}

static void probe_queue_put(struct probe_queue *queue, const struct branch_probe *probe, int level)
{
	uint32_t place = queue->candidates_seen;

	if (is_probed(queue, probe, NULL) || is_queued(queue, probe))
		return;
	queue->candidates_seen++;
	if (place >= PROBE_QUEUE_MAX)
		place = branch_history_random(&queue->known, queue->candidates_seen);
	if (place >= PROBE_QUEUE_MAX)
		return;
	if (queue->count < PROBE_QUEUE_MAX)
		place = queue->count++;
	queue->candidates[place] = (struct probe_candidate){.probe = *probe, .level = level};
}

static void put_known(struct probe_queue *queue, const struct branch_probe *probe)
{
	probe_queue_put(queue, probe,
			branch_history_level(&queue->known, probe->pid, probe->address));
}

void probe_queue_sample(struct probe_queue *queue, const struct branch_probe *probe)
{
	reference_branches_led(&queue->rounds, probe->pid, probe->address);
	if (branch_history_is_worth(&queue->known, probe->pid, probe->address))
		put_known(queue, probe);
}

void probe_queue_return(struct probe_queue *queue, const struct branch_probe *some, size_t count)
{
	/* Reference branches are not queued: they are added to each group when it is taken. */
	for (size_t i = 0; i < count && !some[i].mark; i++)
		put_known(queue, &some[i]);
}

void probe_queue_refuse(struct probe_queue *queue, const struct branch_probe *probe)
{
	reference_branches_forget(&queue->rounds, probe);
}

static double cost_of(const struct probe_queue *queue, const struct probe_candidate *candidate)
{
	return reference_branches_cost(&queue->rounds, candidate->probe.pid,
				       candidate->probe.address, NS_PER_SECOND);
}

/* Return true if another branch may be probed together with the first. */
static bool is_company(const struct probe_queue *queue, const struct probe_candidate *first,
		       const struct probe_candidate *other, bool has_mark)
{
	if (other->probe.pid != first->probe.pid)
		return false;
	if (has_mark)
		return NEGLIGIBLE * cost_of(queue, other) <= cost_of(queue, first);
	return (other->level == 0) == (first->level == 0) &&
	       abs(other->level - first->level) <= LEVELS_TOGETHER;
}

bool probe_queue_prefer_seldom(struct probe_queue *queue, uint64_t now_ns)
{
	const struct branch_probe *again = reference_branches_look(&queue->rounds, now_ns);

	if (again != NULL)
		probe_queue_put(queue, again, LEVEL_SELDOM);
	for (uint32_t i = 0; i < queue->count; i++) {
		const struct probe_candidate candidate = queue->candidates[i];

		if (candidate.level != LEVEL_SELDOM)
			continue;
		queue->candidates[i] = queue->candidates[0];
		queue->candidates[0] = candidate;
		queue->is_chosen = true;
		return true;
	}
	return false;
}

void probe_queue_take(struct probe_queue *queue, struct branch_group *group, double round_max)
{
	uint32_t place = queue->is_chosen ? 0 : branch_history_random(&queue->known, queue->count);
	uint32_t left = 0;
	const struct probe_candidate first = queue->candidates[place];
	const struct branch_round_mark *mark =
		reference_branches_find(&queue->rounds, &queue->known, &first.probe, round_max);
	size_t room = BRANCH_WINDOWS - (mark != NULL);

	queue->is_chosen = false;
	queue->candidates[place] = queue->candidates[0];
	group->some[group->count++] = first.probe;
	group->level = first.level;
	group->is_look = first.level == LEVEL_SELDOM;
	for (uint32_t i = 1; i < queue->count; i++) {
		const struct probe_candidate *candidate = &queue->candidates[i];

		if (mark != NULL && branch_probe_is_at(&mark->probe, &candidate->probe))
			continue;
		if (group->count < room && is_company(queue, &first, candidate, mark != NULL))
			group->some[group->count++] = candidate->probe;
		else
			queue->candidates[left++] = *candidate;
	}
	queue->count = left;
	queue->candidates_seen = left;
	if (mark != NULL) {
		group->some[group->count] = mark->probe;
		group->some[group->count++].mark = true;
	}
}

bool probe_queue_is_held(const struct probe_queue *queue, const struct branch_group *group)
{
	return branch_group_has_mark(group) &&
	       is_probed(queue, &group->some[group->count - 1], group);
}

/*
 * A branch that may be rare is probed once without frequent branches, whose probes would delay the
 * program.
 */
static void put_seldom(struct probe_queue *queue, const struct branch_probe *probe)
{
	if (!branch_history_is_looked_at(&queue->known, probe->pid, probe->address) &&
	    !branch_history_is_frequent(&queue->known, probe->pid, probe->address))
		probe_queue_put(queue, probe, LEVEL_SELDOM);
}

/*
 * Code after a loop exit is rarely executed, so that samples rarely lead there. But a branch there
 * shows how often the loop is entered.
 */
static void put_beyond(struct probe_queue *queue, const struct branch_probe *probe,
		       const struct branch_window *window)
{
	for (int way = 0; way < 2; way++) {
		struct branch_probe next = {.pid = probe->pid, .address = probe->beyond[way]};

		if (next.address == 0 || window->counts[way] * SELDOM >= window->counts[!way])
			continue;
		next.place = file_place_behind(probe->place, next.address - probe->address);
		put_seldom(queue, &next);
		if (window->counts[way] > 0 &&
		    branch_history_is_worth(&queue->known, next.pid, next.address))
			put_known(queue, &next);
	}
}

void probe_queue_learn(struct probe_queue *queue, const struct probe_window *window)
{
	uint64_t most = branch_window_executions(&window->windows[probe_window_most(window)]);

	for (size_t i = 0; i < window->count; i++) {
		const struct branch_probe *probe = &window->some[i];
		uint64_t executions = branch_window_executions(&window->windows[i]);

		if (probe_window_is_quiet(window))
			branch_history_look(&queue->known, probe->pid, probe->address);
		else if (executions * NEGLIGIBLE <= most)
			put_seldom(queue, probe);
		else if (executions * COMMON > most)
			branch_history_be_frequent(&queue->known, probe->pid, probe->address);
		put_beyond(queue, probe, &window->windows[i]);
	}
	reference_branches_learn(&queue->rounds, &queue->known, window);
}
