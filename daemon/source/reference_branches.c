// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/reference_branches.h"

#include "lib/clock.h"

/*
 * A branch is regular if no time between two executions exceeds REGULAR times the mean plus
 * JITTER_NS.
 */
#define REGULAR 4
#define JITTER_NS (NS_PER_MS / 2)
/* Minimum length of an interval that shows irregularity. */
#define WINDOW_NS (10 * NS_PER_MS)
/*
 * With fewer executions per reference iteration, intervals without a reference branch are equally
 * accurate.
 */
#define COST_MIN 64.0
/*
 * A branch becomes a reference branch after it was found regular in this number of checks. The time
 * to the next check doubles after each.
 */
#define CHECKS_MIN 2
/*
 * At most one check in FAILURES may have failed, because of other activity of the machine. A branch
 * is checked again unless its failed checks outnumber the successful ones by more than
 * FAILED_EXCESS_MAX.
 */
#define FAILURES 4
#define FAILED_EXCESS_MAX 3
#define CHECK_AGAIN_NS (100 * NS_PER_MS)
/* Approximate time of an execution of a branch, including the code around it. */
#define EXECUTION_NS 2.0
/* Maximum number of branches. When it is exceeded all are dropped. */
#define COUNTED_MAX 32768
/*
 * Data of a branch in one word: number of samples that led there, number of intervals with a
 * reference branch.
 */
#define SAMPLES_MASK 0xffffffffffffULL
#define WINDOWS_SHIFT 48
#define WINDOWS_MAX 0xffffULL

static uint64_t *counts_of(struct reference_branches *references, uint64_t key)
{
	if (u64_map_count(&references->counts) > COUNTED_MAX)
		u64_map_deinit(&references->counts);
	return u64_map_insert(&references->counts, key);
}

void reference_branches_deinit(struct reference_branches *references)
{
	u64_map_deinit(&references->counts);
}

void reference_branches_add_sample(struct reference_branches *references, uint32_t pid,
				   uint64_t address)
{
	const uint64_t keys[] = {branch_history_key(pid, address), branch_history_key(pid, 0)};

	for (int i = 0; i < 2; i++) {
		uint64_t *counts = counts_of(references, keys[i]);

		if (counts != NULL)
			*counts += 1;
	}
}

double reference_branches_cost(const struct reference_branches *references, uint32_t pid,
			       uint64_t address, uint64_t ns)
{
	const uint64_t *counts =
		u64_map_find(&references->counts, branch_history_key(pid, address));
	const uint64_t *all = u64_map_find(&references->counts, branch_history_key(pid, 0));

	if (counts == NULL || all == NULL)
		return 0;
	return (double)(*counts & SAMPLES_MASK) / (double)(*all & SAMPLES_MASK) * (double)ns /
	       EXECUTION_NS;
}

static bool is_fit(const struct reference_branches *references,
		   const struct reference_branch *reference, const struct branch_probe *probe,
		   double cost_max)
{
	double cost;

	if (reference->checks < CHECKS_MIN || reference->failures * FAILURES > reference->checks ||
	    reference->probe.pid != probe->pid || reference->probe.address == probe->address ||
	    reference->probe.place.device != probe->place.device ||
	    reference->probe.place.inode != probe->place.inode)
		return false;
	cost = reference_branches_cost(references, probe->pid, probe->address,
				       reference->period_ns);
	return cost >= COST_MIN && cost <= cost_max;
}

/* Branches with fewer intervals against a reference branch are preferred. */
static bool is_selected(const struct reference_branches *references, struct branch_history *history,
			const struct branch_probe *probe)
{
	const uint64_t *counts =
		u64_map_find(&references->counts, branch_history_key(probe->pid, probe->address));

	return counts != NULL &&
	       branch_history_random(history, 1 + (uint32_t)(*counts >> WINDOWS_SHIFT)) == 0;
}

const struct reference_branch *reference_branches_find(const struct reference_branches *references,
						       struct branch_history *history,
						       const struct branch_probe *probe,
						       double cost_max)
{
	const struct reference_branch *found = NULL;
	uint32_t fit = 0;

	if (!is_selected(references, history, probe))
		return NULL;
	for (uint32_t i = 0; i < references->count; i++) {
		if (is_fit(references, &references->branches[i], probe, cost_max) &&
		    branch_history_random(history, ++fit) == 0)
			found = &references->branches[i];
	}
	return found;
}

static struct reference_branch *find_reference(struct reference_branches *references,
					       const struct branch_probe *probe)
{
	for (uint32_t i = 0; i < references->count; i++) {
		if (branch_probe_is_at(&references->branches[i].probe, probe))
			return &references->branches[i];
	}
	return NULL;
}

/*
 * Return true if a branch is executed in bursts. Other activity of the machine may lengthen one of
 * many times. If the program waits for a CPU, an interval may begin or end without an execution.
 */
static bool is_bursty(const struct branch_window *seen)
{
	uint64_t waited_ns = seen->waited_ns - seen->waited_first_ns;
	uint64_t own_ns = seen->last_ns - seen->first_ns - waited_ns;

	return seen->gaps > 0 && seen->longest_ns > REGULAR * own_ns / seen->gaps + JITTER_NS;
}

/* Return true if an interval shows that a branch is irregular, or not always executed. */
static bool is_irregular(const struct branch_history *history, const struct probe_window *window,
			 size_t i)
{
	const struct branch_probe *probe = &window->probes[i];
	const struct branch_window *seen = &window->windows[i];

	if (probe_window_is_reference(window, i) &&
	    probe_window_iteration_executions(window, i) == 0)
		return true;
	if (window->ns >= WINDOW_NS && probe_window_is_long(window))
		return branch_window_executions(seen) == 0 || is_bursty(seen);
	return branch_history_is_frequent(history, probe->pid, probe->address);
}

static void add_reference(struct reference_branches *references, struct branch_history *history,
			  const struct branch_probe *probe, uint64_t period_ns, uint64_t now_ns)
{
	struct reference_branch *reference;

	if (references->count < REFERENCE_BRANCHES_MAX)
		reference = &references->branches[references->count++];
	else
		reference = references->branches +
			    branch_history_random(history, REFERENCE_BRANCHES_MAX);
	*reference = (struct reference_branch){
		.probe = *probe,
		.period_ns = period_ns,
		.checks = 1,
		.wait_ns = CHECK_AGAIN_NS,
		.check_ns = now_ns + CHECK_AGAIN_NS,
	};
	/* Set only in groups that use the branch as reference, not when it is checked. */
	reference->probe.is_reference = false;
}

static void fail_check(struct reference_branch *reference, uint64_t now_ns)
{
	reference->failures++;
	reference->wait_ns = CHECK_AGAIN_NS;
	reference->check_ns = now_ns + reference->wait_ns;
}

/* The branch was regular again after some time. */
static void pass_check(struct reference_branch *reference, uint64_t period_ns, uint64_t now_ns)
{
	if (period_ns > REGULAR * reference->period_ns ||
	    reference->period_ns > REGULAR * period_ns) {
		fail_check(reference, now_ns);
	} else if (now_ns >= reference->check_ns) {
		reference->checks++;
		reference->wait_ns *= 2;
		reference->check_ns = now_ns + reference->wait_ns;
	}
}

static void count_window(struct reference_branches *references, const struct branch_probe *probe)
{
	uint64_t *counts = counts_of(references, branch_history_key(probe->pid, probe->address));

	if (counts != NULL && *counts >> WINDOWS_SHIFT < WINDOWS_MAX)
		*counts += 1ULL << WINDOWS_SHIFT;
}

void reference_branches_learn(struct reference_branches *references, struct branch_history *history,
			      const struct probe_window *window)
{
	if (window->reference != NULL)
		count_window(references, &window->probes[0]);
	for (size_t i = 0; i < window->count; i++) {
		const struct branch_probe *probe = &window->probes[i];
		uint64_t gaps = window->windows[i].gaps, own_ns = probe_window_gaps_ns(window, i);
		struct reference_branch *reference = find_reference(references, probe);
		bool regular = own_ns > 0 &&
			       window->windows[i].longest_ns * gaps <= REGULAR * own_ns &&
			       !branch_history_is_frequent(history, probe->pid, probe->address);

		if (regular && reference == NULL)
			add_reference(references, history, probe, own_ns / gaps, window->start_ns);
		else if (regular)
			pass_check(reference, own_ns / gaps, window->start_ns);
		else if (reference != NULL && is_irregular(history, window, i))
			fail_check(reference, window->start_ns);
	}
}

const struct branch_probe *reference_branches_to_check(const struct reference_branches *references,
						       uint64_t now_ns)
{
	for (uint32_t i = 0; i < references->count; i++) {
		const struct reference_branch *reference = &references->branches[i];

		if (reference->failures <= reference->checks + FAILED_EXCESS_MAX &&
		    now_ns >= reference->check_ns)
			return &reference->probe;
	}
	return NULL;
}

void reference_branches_remove(struct reference_branches *references,
			       const struct branch_probe *probe)
{
	struct reference_branch *reference = find_reference(references, probe);

	if (reference != NULL)
		*reference = references->branches[--references->count];
}
