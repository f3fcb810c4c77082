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
#define LEVEL_RARE 1
/*
 * A direction is rare if it is taken less often than the other one by this factor. It may be a loop
 * exit.
 */
#define RARE 8
/*
 * A branch that is executed less often than another by this factor adds almost no cost to its
 * probe.
 */
#define NEGLIGIBLE 64
/* A branch that is executed less often than another by this factor may still be rare. */
#define COMMON 4

void probe_queue_deinit(struct probe_queue *queue)
{
	branch_history_deinit(&queue->history);
	reference_branches_deinit(&queue->references);
}

static bool is_among(const struct branch_probe *probes, size_t count,
		     const struct branch_probe *probe)
{
	for (size_t i = 0; i < count; i++) {
		if (branch_probe_is_at(&probes[i], probe))
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

		if (group != except && is_among(group->probes, group->count, probe))
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
		place = branch_history_random(&queue->history, queue->candidates_seen);
	if (place >= PROBE_QUEUE_MAX)
		return;
	if (queue->count < PROBE_QUEUE_MAX)
		place = queue->count++;
	queue->candidates[place] = (struct probe_candidate){.probe = *probe, .level = level};
}

static void put_with_level(struct probe_queue *queue, const struct branch_probe *probe)
{
	probe_queue_put(queue, probe,
			branch_history_level(&queue->history, probe->pid, probe->address));
}

void probe_queue_sample(struct probe_queue *queue, const struct branch_probe *probe)
{
	reference_branches_add_sample(&queue->references, probe->pid, probe->address);
	if (branch_history_should_probe(&queue->history, probe->pid, probe->address))
		put_with_level(queue, probe);
}

void probe_queue_return(struct probe_queue *queue, const struct branch_probe *probes, size_t count)
{
	/* Reference branches are not queued: they are added to each group when it is taken. */
	for (size_t i = 0; i < count && !probes[i].is_reference; i++)
		put_with_level(queue, &probes[i]);
}

void probe_queue_refuse(struct probe_queue *queue, const struct branch_probe *probe)
{
	reference_branches_remove(&queue->references, probe);
}

static double cost_of(const struct probe_queue *queue, const struct probe_candidate *candidate)
{
	return reference_branches_cost(&queue->references, candidate->probe.pid,
				       candidate->probe.address, NS_PER_SECOND);
}

/* Return true if another branch may be probed together with the first. */
static bool is_compatible(const struct probe_queue *queue, const struct probe_candidate *first,
			  const struct probe_candidate *other, bool has_reference)
{
	if (other->probe.pid != first->probe.pid)
		return false;
	if (has_reference)
		return NEGLIGIBLE * cost_of(queue, other) <= cost_of(queue, first);
	return (other->level == 0) == (first->level == 0) &&
	       abs(other->level - first->level) <= LEVELS_TOGETHER;
}

bool probe_queue_prefer_rare(struct probe_queue *queue, uint64_t now_ns)
{
	const struct branch_probe *again = reference_branches_to_check(&queue->references, now_ns);

	if (again != NULL)
		probe_queue_put(queue, again, LEVEL_RARE);
	for (uint32_t i = 0; i < queue->count; i++) {
		const struct probe_candidate candidate = queue->candidates[i];

		if (candidate.level != LEVEL_RARE)
			continue;
		queue->candidates[i] = queue->candidates[0];
		queue->candidates[0] = candidate;
		queue->is_chosen = true;
		return true;
	}
	return false;
}

void probe_queue_take(struct probe_queue *queue, struct branch_group *group, double iteration_max)
{
	uint32_t place =
		queue->is_chosen ? 0 : branch_history_random(&queue->history, queue->count);
	uint32_t left = 0;
	const struct probe_candidate first = queue->candidates[place];
	const struct reference_branch *reference = reference_branches_find(
		&queue->references, &queue->history, &first.probe, iteration_max);
	size_t room = BRANCH_WINDOWS - (reference != NULL);

	queue->is_chosen = false;
	queue->candidates[place] = queue->candidates[0];
	group->probes[group->count++] = first.probe;
	group->level = first.level;
	group->may_be_rare = first.level == LEVEL_RARE;
	for (uint32_t i = 1; i < queue->count; i++) {
		const struct probe_candidate *candidate = &queue->candidates[i];

		if (reference != NULL && branch_probe_is_at(&reference->probe, &candidate->probe))
			continue;
		if (group->count < room &&
		    is_compatible(queue, &first, candidate, reference != NULL))
			group->probes[group->count++] = candidate->probe;
		else
			queue->candidates[left++] = *candidate;
	}
	queue->count = left;
	queue->candidates_seen = left;
	if (reference != NULL) {
		group->probes[group->count] = reference->probe;
		group->probes[group->count++].is_reference = true;
	}
}

bool probe_queue_is_held(const struct probe_queue *queue, const struct branch_group *group)
{
	return branch_group_has_reference(group) &&
	       is_probed(queue, &group->probes[group->count - 1], group);
}

/*
 * A branch that may be rare is probed once without frequent branches, whose probes would delay the
 * program.
 */
static void put_rare(struct probe_queue *queue, const struct branch_probe *probe)
{
	if (!branch_history_is_checked(&queue->history, probe->pid, probe->address) &&
	    !branch_history_is_frequent(&queue->history, probe->pid, probe->address))
		probe_queue_put(queue, probe, LEVEL_RARE);
}

/*
 * Code after a loop exit is rarely executed, so that samples rarely lead there. But a branch there
 * shows how often the loop is entered.
 */
static void put_next_branches(struct probe_queue *queue, const struct branch_probe *probe,
			      const struct branch_window *window)
{
	for (int direction = 0; direction < 2; direction++) {
		struct branch_probe next = {.pid = probe->pid,
					    .address = probe->next_branches[direction]};

		if (next.address == 0 ||
		    window->counts[direction] * RARE >= window->counts[!direction])
			continue;
		next.place = file_place_after(probe->place, next.address - probe->address);
		put_rare(queue, &next);
		if (window->counts[direction] > 0 &&
		    branch_history_should_probe(&queue->history, next.pid, next.address))
			put_with_level(queue, &next);
	}
}

void probe_queue_learn(struct probe_queue *queue, const struct probe_window *window)
{
	uint64_t most = branch_window_executions(&window->windows[probe_window_most(window)]);

	for (size_t i = 0; i < window->count; i++) {
		const struct branch_probe *probe = &window->probes[i];
		uint64_t executions = branch_window_executions(&window->windows[i]);

		if (probe_window_is_quiet(window))
			branch_history_set_checked(&queue->history, probe->pid, probe->address);
		else if (executions * NEGLIGIBLE <= most)
			put_rare(queue, probe);
		else if (executions * COMMON > most)
			branch_history_set_frequent(&queue->history, probe->pid, probe->address);
		put_next_branches(queue, probe, &window->windows[i]);
	}
	reference_branches_learn(&queue->references, &queue->history, window);
}
