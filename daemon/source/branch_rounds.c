// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_rounds.h"

#include "lib/clock.h"

/* From one execution to the next it takes no longer than so many times the mean. */
#define ALIKE 4
/* Shorter windows don't show it. */
#define WINDOW_NS (10 * NS_PER_MS)
/* Executions between two, at most; with fewer other windows tell as much. */
#define COST_MAX 15000.0
#define COST_MIN 64.0
/* So often in turn a window has none, until it is not looked for any more. */
#define FAILURES_MAX 3
/* What an execution of a branch takes with what is around it, about. */
#define EXECUTION_NS 2.0
/* After so many branches all are as if new. */
#define LED_MAX 32768

static uint64_t *led_of(struct branch_rounds *rounds, uint64_t key)
{
	if (u64_map_count(&rounds->led) > LED_MAX)
		u64_map_deinit(&rounds->led);
	return u64_map_insert(&rounds->led, key);
}

void branch_rounds_deinit(struct branch_rounds *rounds)
{
	u64_map_deinit(&rounds->led);
}

void branch_rounds_led(struct branch_rounds *rounds, uint32_t pid, uint64_t address)
{
	const uint64_t keys[] = {branch_known_key(pid, address), branch_known_key(pid, 0)};

	for (int i = 0; i < 2; i++) {
		uint64_t *led = led_of(rounds, keys[i]);

		if (led != NULL)
			*led += 1;
	}
}

double branch_rounds_cost(const struct branch_rounds *rounds, uint32_t pid, uint64_t address,
			  uint64_t ns)
{
	const uint64_t *led = u64_map_find(&rounds->led, branch_known_key(pid, address));
	const uint64_t *all = u64_map_find(&rounds->led, branch_known_key(pid, 0));

	if (led == NULL || all == NULL)
		return 0;
	return (double)*led / (double)*all * (double)ns / EXECUTION_NS;
}

static bool is_fit(const struct branch_rounds *rounds, const struct branch_round_mark *mark,
		   const struct branch_probe *probe)
{
	double cost;

	if (mark->probe.pid != probe->pid || mark->probe.address == probe->address ||
	    mark->probe.place.device != probe->place.device ||
	    mark->probe.place.inode != probe->place.inode)
		return false;
	cost = branch_rounds_cost(rounds, probe->pid, probe->address, mark->period_ns);
	return cost >= COST_MIN && cost <= COST_MAX;
}

const struct branch_round_mark *branch_rounds_find(const struct branch_rounds *rounds,
						   struct branch_known *known,
						   const struct branch_probe *probe)
{
	const struct branch_round_mark *found = NULL;
	uint32_t fit = 0;

	for (uint32_t i = 0; i < rounds->count; i++) {
		if (is_fit(rounds, &rounds->marks[i], probe) &&
		    branch_known_random(known, ++fit) == 0)
			found = &rounds->marks[i];
	}
	return found;
}

static struct branch_round_mark *find_mark(struct branch_rounds *rounds, uint32_t pid,
					   uint64_t address)
{
	for (uint32_t i = 0; i < rounds->count; i++) {
		struct branch_round_mark *mark = &rounds->marks[i];

		if (mark->probe.pid == pid && mark->probe.address == address)
			return mark;
	}
	return NULL;
}

static void add_mark(struct branch_rounds *rounds, struct branch_known *known,
		     const struct branch_probe *probe, uint64_t period_ns)
{
	struct branch_round_mark *mark = find_mark(rounds, probe->pid, probe->address);

	if (mark == NULL && rounds->count < BRANCH_ROUNDS_MAX)
		mark = &rounds->marks[rounds->count++];
	if (mark == NULL)
		mark = &rounds->marks[branch_known_random(known, BRANCH_ROUNDS_MAX)];
	*mark = (struct branch_round_mark){.probe = *probe, .period_ns = period_ns};
}

static void fail(struct branch_rounds *rounds, struct branch_round_mark *mark)
{
	if (++mark->failures >= FAILURES_MAX)
		*mark = rounds->marks[--rounds->count];
}

/* Whether a window tells that a branch is no mark: of what is executed in bursts. */
static bool is_uneven(const struct probe_window *window, size_t i)
{
	if (probe_window_is_mark(window, i))
		return probe_window_rounds(window, i) == 0;
	return window->ns >= WINDOW_NS && probe_window_is_long(window);
}

void branch_rounds_learn(struct branch_rounds *rounds, struct branch_known *known,
			 const struct probe_window *window)
{
	for (size_t i = 0; i < window->count; i++) {
		const struct branch_probe *probe = &window->some[i];
		uint64_t gaps = window->windows[i].gaps, own_ns = probe_window_gaps_ns(window, i);
		struct branch_round_mark *mark = find_mark(rounds, probe->pid, probe->address);

		if (own_ns > 0 && window->windows[i].longest_ns * gaps <= ALIKE * own_ns)
			add_mark(rounds, known, probe, own_ns / gaps);
		else if (mark != NULL && is_uneven(window, i))
			fail(rounds, mark);
		else if (mark != NULL && probe_window_is_mark(window, i))
			mark->failures = 0;
	}
}
