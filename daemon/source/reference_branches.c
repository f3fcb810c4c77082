// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/reference_branches.h"

#include "lib/clock.h"

/*
 * A branch is regular if no time between two executions exceeds ALIKE times the mean plus
 * JITTER_NS.
 */
#define ALIKE 4
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
#define LOOKS 2
/*
 * At most one check in FAILURES may have failed, because of other activity of the machine. A branch
 * is checked again unless its failed checks outnumber the successful ones by more than HOPELESS.
 */
#define FAILURES 4
#define HOPELESS 3
#define LOOK_AGAIN_NS (100 * NS_PER_MS)
/* Approximate time of an execution of a branch, including the code around it. */
#define EXECUTION_NS 2.0
/* Maximum number of branches. When it is exceeded all are dropped. */
#define LED_MAX 32768
/*
 * Data of a branch in one word: number of samples that led there, number of intervals with a
 * reference branch.
 */
#define LED_MASK 0xffffffffffffULL
#define WINDOWS_SHIFT 48
#define WINDOWS_MAX 0xffffULL

static uint64_t *led_of(struct reference_branches *rounds, uint64_t key)
{
	if (u64_map_count(&rounds->led) > LED_MAX)
		u64_map_deinit(&rounds->led);
	return u64_map_insert(&rounds->led, key);
}

void reference_branches_deinit(struct reference_branches *rounds)
{
	u64_map_deinit(&rounds->led);
}

void reference_branches_led(struct reference_branches *rounds, uint32_t pid, uint64_t address)
{
	const uint64_t keys[] = {branch_history_key(pid, address), branch_history_key(pid, 0)};

	for (int i = 0; i < 2; i++) {
		uint64_t *led = led_of(rounds, keys[i]);

		if (led != NULL)
			*led += 1;
	}
}

double reference_branches_cost(const struct reference_branches *rounds, uint32_t pid,
			       uint64_t address, uint64_t ns)
{
	const uint64_t *led = u64_map_find(&rounds->led, branch_history_key(pid, address));
	const uint64_t *all = u64_map_find(&rounds->led, branch_history_key(pid, 0));

	if (led == NULL || all == NULL)
		return 0;
	return (double)(*led & LED_MASK) / (double)(*all & LED_MASK) * (double)ns / EXECUTION_NS;
}

static bool is_fit(const struct reference_branches *rounds, const struct branch_round_mark *mark,
		   const struct branch_probe *probe, double cost_max)
{
	double cost;

	if (mark->looks < LOOKS || mark->failures * FAILURES > mark->looks ||
	    mark->probe.pid != probe->pid || mark->probe.address == probe->address ||
	    mark->probe.place.device != probe->place.device ||
	    mark->probe.place.inode != probe->place.inode)
		return false;
	cost = reference_branches_cost(rounds, probe->pid, probe->address, mark->period_ns);
	return cost >= COST_MIN && cost <= cost_max;
}

/* Branches with fewer intervals against a reference branch are preferred. */
static bool is_worth(const struct reference_branches *rounds, struct branch_history *known,
		     const struct branch_probe *probe)
{
	const uint64_t *led =
		u64_map_find(&rounds->led, branch_history_key(probe->pid, probe->address));

	return led != NULL &&
	       branch_history_random(known, 1 + (uint32_t)(*led >> WINDOWS_SHIFT)) == 0;
}

const struct branch_round_mark *reference_branches_find(const struct reference_branches *rounds,
							struct branch_history *known,
							const struct branch_probe *probe,
							double cost_max)
{
	const struct branch_round_mark *found = NULL;
	uint32_t fit = 0;

	if (!is_worth(rounds, known, probe))
		return NULL;
	for (uint32_t i = 0; i < rounds->count; i++) {
		if (is_fit(rounds, &rounds->marks[i], probe, cost_max) &&
		    branch_history_random(known, ++fit) == 0)
			found = &rounds->marks[i];
	}
	return found;
}

static struct branch_round_mark *find_mark(struct reference_branches *rounds,
					   const struct branch_probe *probe)
{
	for (uint32_t i = 0; i < rounds->count; i++) {
		if (branch_probe_is_at(&rounds->marks[i].probe, probe))
			return &rounds->marks[i];
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

	return seen->gaps > 0 && seen->longest_ns > ALIKE * own_ns / seen->gaps + JITTER_NS;
}

/* Return true if an interval shows that a branch is irregular, or not always executed. */
static bool is_uneven(const struct branch_history *known, const struct probe_window *window,
		      size_t i)
{
	const struct branch_probe *probe = &window->some[i];
	const struct branch_window *seen = &window->windows[i];

	if (probe_window_is_mark(window, i) && probe_window_rounds(window, i) == 0)
		return true;
	if (window->ns >= WINDOW_NS && probe_window_is_long(window))
		return branch_window_executions(seen) == 0 || is_bursty(seen);
	return branch_history_is_frequent(known, probe->pid, probe->address);
}

static void add_mark(struct reference_branches *rounds, struct branch_history *known,
		     const struct branch_probe *probe, uint64_t period_ns, uint64_t now_ns)
{
	struct branch_round_mark *mark;

	if (rounds->count < REFERENCE_BRANCHES_MAX)
		mark = &rounds->marks[rounds->count++];
	else
		mark = &rounds->marks[branch_history_random(known, REFERENCE_BRANCHES_MAX)];
	*mark = (struct branch_round_mark){
		.probe = *probe,
		.period_ns = period_ns,
		.looks = 1,
		.wait_ns = LOOK_AGAIN_NS,
		.look_ns = now_ns + LOOK_AGAIN_NS,
	};
	/* @mark is set only in groups that use the branch as reference, not when it is checked. */
	mark->probe.mark = false;
}

static void doubt_mark(struct branch_round_mark *mark, uint64_t now_ns)
{
	mark->failures++;
	mark->wait_ns = LOOK_AGAIN_NS;
	mark->look_ns = now_ns + mark->wait_ns;
}

/* The branch was regular again after some time. */
static void confirm_mark(struct branch_round_mark *mark, uint64_t period_ns, uint64_t now_ns)
{
	if (period_ns > ALIKE * mark->period_ns || mark->period_ns > ALIKE * period_ns) {
		doubt_mark(mark, now_ns);
	} else if (now_ns >= mark->look_ns) {
		mark->looks++;
		mark->wait_ns *= 2;
		mark->look_ns = now_ns + mark->wait_ns;
	}
}

static void count_window(struct reference_branches *rounds, const struct branch_probe *probe)
{
	uint64_t *led = led_of(rounds, branch_history_key(probe->pid, probe->address));

	if (led != NULL && *led >> WINDOWS_SHIFT < WINDOWS_MAX)
		*led += 1ULL << WINDOWS_SHIFT;
}

void reference_branches_learn(struct reference_branches *rounds, struct branch_history *known,
			      const struct probe_window *window)
{
	if (window->round != NULL)
		count_window(rounds, &window->some[0]);
	for (size_t i = 0; i < window->count; i++) {
		const struct branch_probe *probe = &window->some[i];
		uint64_t gaps = window->windows[i].gaps, own_ns = probe_window_gaps_ns(window, i);
		struct branch_round_mark *mark = find_mark(rounds, probe);
		bool even = own_ns > 0 && window->windows[i].longest_ns * gaps <= ALIKE * own_ns &&
			    !branch_history_is_frequent(known, probe->pid, probe->address);

		if (even && mark == NULL)
			add_mark(rounds, known, probe, own_ns / gaps, window->start_ns);
		else if (even)
			confirm_mark(mark, own_ns / gaps, window->start_ns);
		else if (mark != NULL && is_uneven(known, window, i))
			doubt_mark(mark, window->start_ns);
	}
}

const struct branch_probe *reference_branches_look(const struct reference_branches *rounds,
						   uint64_t now_ns)
{
	for (uint32_t i = 0; i < rounds->count; i++) {
		const struct branch_round_mark *mark = &rounds->marks[i];

		if (mark->failures <= mark->looks + HOPELESS && now_ns >= mark->look_ns)
			return &mark->probe;
	}
	return NULL;
}

void reference_branches_forget(struct reference_branches *rounds, const struct branch_probe *probe)
{
	struct branch_round_mark *mark = find_mark(rounds, probe);

	if (mark != NULL)
		*mark = rounds->marks[--rounds->count];
}
