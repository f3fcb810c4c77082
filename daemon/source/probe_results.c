// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/probe_results.h"

#include <stdbool.h>

#include "daemon/source/source.h"
#include "db/profile.h"
#include "lib/clock.h"

/* So many executions of a branch a window is worth. */
#define WINDOW_HITS 100
/*
 * Where probes take most of a window, the program is hardly further at its end than it was at
 * its start; or, if it was at none of them, it is at the beginning of the first loop that has
 * one. How loops begin is not how they are: what was not executed at once does not count then.
 */
#define AT_ONCE_NS 20000
/* The first execution comes after so many times the mean of what is between two, at most. */
#define GAPS 4
/* Fewer don't show it. */
#define STEADY_MIN 30
/* Not to be executed for so long is to be seldom executed. */
#define SILENCE_NS (10 * NS_PER_MS)
/*
 * From one execution to the next: measured where probes leave the program half of the time or
 * more, and where it executes the branch at least ROUNDS times in a window. Probes of loops of a
 * few microseconds take a third of it: a stricter limit leaves their procedures without any
 * measurement of time.
 */
#define OWN 2
#define ROUNDS 8
/* Where probes leave a program so many times what they take. */
#define QUIET 8
/* Rounds are alike if their variance is no more than that part of the mean's square. */
#define ROUNDS_MIN 3
#define UNLIKE 0.1
/* Time that the program itself has in a window that is full of executions: one part in so many. */
#define FULL 64

uint64_t branch_window_executions(const struct branch_window *window)
{
	return window->counts[0] + window->counts[1];
}

bool probe_window_is_long(const struct probe_window *window)
{
	return window->taken_ns * 2 <= window->ns;
}

bool probe_window_is_quiet(const struct probe_window *window)
{
	return window->taken_ns * QUIET <= window->ns;
}

static bool is_fair(const struct probe_window *window, size_t i)
{
	return window->windows[i].first_ns <= window->start_ns + AT_ONCE_NS ||
	       probe_window_is_long(window);
}

/* Of one process all have the same. */
static uint32_t generation_of(const struct probe_window *window)
{
	for (size_t i = 0; i < window->count; i++) {
		if (window->windows[i].first_ns != 0)
			return window->windows[i].generation;
	}
	return 0;
}

static void put(struct probe_results *results, const struct probe_window *window, size_t i,
		uint32_t event, uint64_t to, uint64_t count)
{
	if (count == 0)
		return;
	if (results->count == PROBE_RESULTS_MAX) {
		results->lost++;
		return;
	}
	results->item[results->count++] = (struct branch_probe_result){
		.pid = window->some[i].pid,
		.generation = generation_of(window),
		.event = event,
		.from = window->some[i].address,
		.to = to,
		.count = count,
		.time_ns = window->start_ns,
	};
}

/*
 * Whether it was executed all the time. A long window is one in which nothing frequent was
 * executed for long: what is executed in bursts has fewer in it than on average.
 */
static bool is_steady(const struct probe_window *window, size_t i)
{
	const struct branch_window *one = &window->windows[i];
	uint64_t executions = branch_window_executions(one), gap_ns;

	if (executions < STEADY_MIN)
		return false;
	gap_ns = GAPS * window->ns / executions;
	if (gap_ns < AT_ONCE_NS)
		gap_ns = AT_ONCE_NS;
	return one->first_ns <= window->start_ns + gap_ns &&
	       one->last_ns + gap_ns >= window->start_ns + window->ns;
}

size_t probe_window_most(const struct probe_window *window)
{
	size_t most = 0;

	for (size_t i = 1; i < window->count; i++) {
		if (branch_window_executions(&window->windows[i]) >
		    branch_window_executions(&window->windows[most]))
			most = i;
	}
	return most;
}

/* What is executed most often is what the others are compared with: it has the least chance. */
static void put_beside(struct probe_results *results, const struct probe_window *window)
{
	size_t most = probe_window_most(window);

	if (!is_steady(window, most))
		return;
	for (size_t i = 0; i < window->count; i++) {
		if (i == most || !is_steady(window, i))
			continue;
		put(results, window, most, SOURCE_EVENT_BESIDE, window->some[i].address,
		    branch_window_executions(&window->windows[most]));
		put(results, window, i, SOURCE_EVENT_BESIDE, window->some[most].address,
		    branch_window_executions(&window->windows[i]));
	}
}

/*
 * How often it went either way, of WINDOW_HITS executions at most. How many there are in a
 * window depends on what else is probed rather than on how often they are without probes;
 * but windows are opened where samples lead to the branch, so each counts as much as another.
 *
 * @unit: executions are counted in such parts. Rounded by chance, so that no way is lost that
 * is seldom taken.
 */
static void take_ways(struct branch_known *known, const struct branch_window *window, uint64_t unit,
		      uint64_t counts[2])
{
	uint64_t hits = branch_window_executions(window);
	uint64_t all = unit * (hits < WINDOW_HITS ? hits : WINDOW_HITS);
	uint64_t share = window->counts[1] * all;

	counts[1] = share / hits + (branch_known_random(known, (uint32_t)hits) < share % hits);
	counts[0] = all - counts[1];
}

/* The ways it went, and what a window adds to the sums that tell how alike windows are. */
static void put_ways(struct probe_results *results, struct branch_known *known,
		     const struct probe_window *window, size_t i)
{
	const struct branch_probe *probe = &window->some[i];
	const struct branch_window *seen = &window->windows[i];
	uint64_t whole[2], parts[2];

	put(results, window, i, SOURCE_EVENT_BESIDE, probe->address, 1);
	if (probe->ways[0] == 0)
		return;
	take_ways(known, seen, 1, whole);
	take_ways(known, seen, PROFILE_EDGE_PART, parts);
	put(results, window, i, SOURCE_EVENT_PARTS, probe->address, branch_window_executions(seen));
	put(results, window, i, SOURCE_EVENT_MOMENT, probe->address, parts[0] * parts[1]);
	for (int way = 0; way < 2; way++) {
		uint64_t to = probe->ways[way];

		if (seen->counts[way] > 0)
			branch_known_seen(known, probe->pid, probe->address, to);
		put(results, window, i, SOURCE_EVENT_PROBE, to, whole[way]);
		put(results, window, i, SOURCE_EVENT_PARTS, to, parts[way]);
		put(results, window, i, SOURCE_EVENT_MOMENT, to, parts[way] * parts[way]);
	}
}

/* Whether it was never without an execution for long, a window's ends among it. */
static bool is_never_left(const struct probe_window *window, const struct branch_window *seen,
			  uint64_t long_ns)
{
	return seen->gaps >= ROUNDS && seen->longest_ns <= long_ns &&
	       seen->first_ns <= window->start_ns + long_ns &&
	       seen->last_ns + long_ns >= window->start_ns + window->ns;
}

uint64_t probe_window_gaps_ns(const struct probe_window *window, size_t i)
{
	const struct branch_window *seen = &window->windows[i];
	uint64_t waited_ns = seen->waited_ns - seen->waited_first_ns, run_ns, ns;

	if (seen->disturbed != 0 || waited_ns >= window->ns)
		return 0;
	run_ns = window->ns - waited_ns;
	if (window->taken_ns * OWN > run_ns || !is_never_left(window, seen, run_ns / ROUNDS))
		return 0;
	ns = seen->last_ns - seen->first_ns - waited_ns;
	return ns - (uint64_t)((double)ns * (double)window->taken_ns / (double)run_ns);
}

/* What one window shows may be a phase in which it is seldom executed, and in others it is not. */
static void put_gaps(struct probe_results *results, const struct branch_known *known,
		     const struct probe_window *window, size_t i)
{
	const struct branch_probe *probe = &window->some[i];
	uint64_t ns = probe_window_gaps_ns(window, i);

	if (ns == 0 || !branch_known_is_looked_at(known, probe->pid, probe->address) ||
	    branch_known_is_frequent(known, probe->pid, probe->address))
		return;
	put(results, window, i, SOURCE_EVENT_GAPS, window->some[i].address,
	    window->windows[i].gaps);
	put(results, window, i, SOURCE_EVENT_GAP_NS, window->some[i].address, ns);
}

uint64_t probe_window_rounds(const struct probe_window *window, size_t i)
{
	return window->round->last[i] - window->round->first[i];
}

/* Whether a branch is executed about as often in each round, as far as there are some. */
static bool is_alike(const struct probe_window *window, size_t i, uint64_t rounds)
{
	double sum = (double)probe_window_rounds(window, i);

	return rounds >= ROUNDS_MIN && sum > 0 &&
	       (double)rounds * (double)window->round->squares[i] <= sum * sum * (1 + UNLIKE);
}

/*
 * Executions in whole rounds. Which ones are seen is no chance where they are unlike: the one that
 * a window begins in, which is a long one as a rule, is never whole.
 */
static void put_rounds(struct probe_results *results, const struct probe_window *window)
{
	size_t mark = window->count - 1;
	uint64_t rounds;

	if (window->round == NULL)
		return;
	rounds = probe_window_rounds(window, mark);
	for (size_t i = 0; i < mark; i++) {
		if (!is_alike(window, i, rounds))
			continue;
		put(results, window, i, SOURCE_EVENT_ROUND, window->some[mark].address,
		    probe_window_rounds(window, i));
		put(results, window, mark, SOURCE_EVENT_ROUND, window->some[i].address, rounds);
	}
}

/* What the program did not come to may be frequent all the same. */
static void tell_rate(struct branch_known *known, const struct probe_window *window, size_t i)
{
	uint64_t executions = branch_window_executions(&window->windows[i]);
	uint64_t rest_ns = window->ns - window->taken_ns + window->ns / FULL + 1;

	if (executions > 0 || window->ns >= SILENCE_NS)
		branch_known_rate(known, window->some[i].pid, window->some[i].address, executions,
				  rest_ns);
}

void probe_results_add(struct probe_results *results, struct branch_known *known,
		       const struct probe_window *window)
{
	if (window->is_look && !probe_window_is_quiet(window))
		return;
	for (size_t i = 0; i < window->count; i++) {
		if (branch_window_executions(&window->windows[i]) > 0 && is_fair(window, i))
			put_ways(results, known, window, i);
		put_gaps(results, known, window, i);
		tell_rate(known, window, i);
	}
	put_beside(results, window);
	put_rounds(results, window);
}
