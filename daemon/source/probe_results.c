// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/probe_results.h"

#include <stdbool.h>

#include "daemon/source/source.h"
#include "db/profile.h"
#include "lib/clock.h"

/* Maximum number of executions of a branch that a measured interval contributes. */
#define WINDOW_HITS 100
/*
 * If probes take most of an interval, the program makes almost no progress in it. It stays where it
 * was at the start or, if there was no probed branch, at the beginning of the next loop with one.
 * The first iterations of a loop are not typical. So a branch of such an interval counts only if it
 * was executed within this time.
 */
#define AT_ONCE_NS 20000
/*
 * A steady branch is executed within this multiple of its mean time between executions, after the
 * start and before the end of the interval.
 */
#define GAPS 4
/* Minimum number of executions of a steady branch. */
#define STEADY_MIN 30
/* A branch that is not executed for this time counts as rare. */
#define SILENCE_NS (10 * NS_PER_MS)
/*
 * The time between executions is measured only if probes take at most 1 / OWN of an interval, and
 * the branch is executed at least EXECUTIONS_MIN times in it. Probes of loops of a few microseconds
 * take a third of it: a stricter limit would leave their procedures without any time measurement.
 */
#define OWN 2
#define EXECUTIONS_MIN 8
/* An interval is quiet if probes take at most 1 / QUIET of it. */
#define QUIET 8
/* Reference iterations are alike if the variance is at most VARIANCE_MAX times the square of the
 * mean. */
#define ITERATIONS_MIN 3
#define VARIANCE_MAX 0.1
/*
 * In an interval that is full of executions, the program itself is assumed to get 1 / FULL of the
 * time.
 */
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

static bool is_typical(const struct probe_window *window, size_t i)
{
	return window->windows[i].first_ns <= window->start_ns + AT_ONCE_NS ||
	       probe_window_is_long(window);
}

/* All branches of an interval belong to one process and have the same generation. */
static uint32_t generation_of(const struct probe_window *window)
{
	for (size_t i = 0; i < window->count; i++) {
		if (window->windows[i].first_ns != 0)
			return window->windows[i].generation;
	}
	return 0;
}

static void probe_results_put(struct probe_results *results, const struct probe_window *window,
			      size_t i, uint32_t event, uint64_t to, uint64_t count)
{
	if (count == 0)
		return;
	if (results->count == PROBE_RESULTS_MAX) {
		results->lost++;
		return;
	}
	results->item[results->count++] = (struct branch_probe_result){
		.pid = window->probes[i].pid,
		.generation = generation_of(window),
		.event = event,
		.from = window->probes[i].address,
		.to = to,
		.count = count,
		.time_ns = window->start_ns,
	};
}

/*
 * Return true if a branch was executed throughout an interval. A long interval does not contain
 * many executions of frequent branches. So branches that are executed in bursts have fewer
 * executions in it than on average.
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

/* Compare all branches with the most frequent one, which has the smallest statistical error. */
static void put_same_window(struct probe_results *results, const struct probe_window *window)
{
	size_t most = probe_window_most(window);

	if (!is_steady(window, most))
		return;
	for (size_t i = 0; i < window->count; i++) {
		if (i == most || !is_steady(window, i))
			continue;
		probe_results_put(results, window, most, SOURCE_EVENT_SAME_WINDOW,
				  window->probes[i].address,
				  branch_window_executions(&window->windows[most]));
		probe_results_put(results, window, i, SOURCE_EVENT_SAME_WINDOW,
				  window->probes[most].address,
				  branch_window_executions(&window->windows[i]));
	}
}

/*
 * Compute how often a branch took each direction, scaled down to WINDOW_HITS executions. The number
 * of executions in an interval depends more on the other probes than on their frequency without
 * probes. But intervals are opened where samples lead to the branch, so each interval has the same
 * weight.
 *
 * @unit: counts are in units of 1 / @unit executions. They are rounded at random, so that rare
 *        directions are not lost.
 */
static void scale_directions(struct branch_history *history, const struct branch_window *window,
			     uint64_t unit, uint64_t counts[2])
{
	uint64_t hits = branch_window_executions(window);
	uint64_t all = unit * (hits < WINDOW_HITS ? hits : WINDOW_HITS);
	uint64_t share = window->counts[1] * all;

	counts[1] = share / hits + (branch_history_random(history, (uint32_t)hits) < share % hits);
	counts[0] = all - counts[1];
}

/*
 * Record the directions of a branch, and the interval's contribution to the sums of squares, which
 * show the variation between intervals.
 */
static void put_directions(struct probe_results *results, struct branch_history *history,
			   const struct probe_window *window, size_t i)
{
	const struct branch_probe *probe = &window->probes[i];
	const struct branch_window *seen = &window->windows[i];
	uint64_t whole[2], parts[2];

	probe_results_put(results, window, i, SOURCE_EVENT_SAME_WINDOW, probe->address, 1);
	if (probe->targets[0] == 0)
		return;
	scale_directions(history, seen, 1, whole);
	scale_directions(history, seen, PROFILE_EDGE_PART, parts);
	probe_results_put(results, window, i, SOURCE_EVENT_WEIGHTED, probe->address,
			  branch_window_executions(seen));
	probe_results_put(results, window, i, SOURCE_EVENT_SECOND_MOMENT, probe->address,
			  parts[0] * parts[1]);
	for (int direction = 0; direction < 2; direction++) {
		uint64_t to = probe->targets[direction];

		if (seen->counts[direction] > 0)
			branch_history_seen(history, probe->pid, probe->address, to);
		probe_results_put(results, window, i, SOURCE_EVENT_PROBE, to, whole[direction]);
		probe_results_put(results, window, i, SOURCE_EVENT_WEIGHTED, to, parts[direction]);
		probe_results_put(results, window, i, SOURCE_EVENT_SECOND_MOMENT, to,
				  parts[direction] * parts[direction]);
	}
}

/*
 * Return true if a branch was never without an execution for longer than @long_ns, including the
 * interval's start and end.
 */
static bool is_never_left(const struct probe_window *window, const struct branch_window *seen,
			  uint64_t long_ns)
{
	return seen->gaps >= EXECUTIONS_MIN && seen->longest_ns <= long_ns &&
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
	if (window->taken_ns * OWN > run_ns ||
	    !is_never_left(window, seen, run_ns / EXECUTIONS_MIN))
		return 0;
	ns = seen->last_ns - seen->first_ns - waited_ns;
	return ns - (uint64_t)((double)ns * (double)window->taken_ns / (double)run_ns);
}

/* A branch that is rare in one interval may be frequent in other phases of the program. */
static void put_gaps(struct probe_results *results, const struct branch_history *history,
		     const struct probe_window *window, size_t i)
{
	const struct branch_probe *probe = &window->probes[i];
	uint64_t ns = probe_window_gaps_ns(window, i);

	if (ns == 0 || !branch_history_is_checked(history, probe->pid, probe->address) ||
	    branch_history_is_frequent(history, probe->pid, probe->address))
		return;
	probe_results_put(results, window, i, SOURCE_EVENT_INTERVALS, window->probes[i].address,
			  window->windows[i].gaps);
	probe_results_put(results, window, i, SOURCE_EVENT_INTERVAL_NS, window->probes[i].address,
			  ns);
}

uint64_t probe_window_iteration_executions(const struct probe_window *window, size_t i)
{
	return window->reference->last[i] - window->reference->first[i];
}

/* Return true if the number of executions of a branch is similar in all reference iterations. */
static bool is_similar(const struct probe_window *window, size_t i, uint64_t iterations)
{
	double sum = (double)probe_window_iteration_executions(window, i);

	return iterations >= ITERATIONS_MIN && sum > 0 &&
	       (double)iterations * (double)window->reference->squares[i] <=
		       sum * sum * (1 + VARIANCE_MAX);
}

/*
 * Record the executions in complete reference iterations. If iterations differ in length, the
 * sample of iterations is biased: the one in progress at the start of an interval, which tends to
 * be a long one, is never complete.
 */
static void put_iterations(struct probe_results *results, const struct probe_window *window)
{
	size_t reference_index = window->count - 1;
	uint64_t iterations;

	if (window->reference == NULL)
		return;
	iterations = probe_window_iteration_executions(window, reference_index);
	for (size_t i = 0; i < reference_index; i++) {
		if (!is_similar(window, i, iterations))
			continue;
		probe_results_put(results, window, i, SOURCE_EVENT_REFERENCE_INTERVAL,
				  window->probes[reference_index].address,
				  probe_window_iteration_executions(window, i));
		probe_results_put(results, window, reference_index, SOURCE_EVENT_REFERENCE_INTERVAL,
				  window->probes[i].address, iterations);
	}
}

/* A branch that the program did not reach in a short interval may still be frequent. */
static void rate_update(struct branch_history *history, const struct probe_window *window, size_t i)
{
	uint64_t executions = branch_window_executions(&window->windows[i]);
	uint64_t rest_ns = window->ns - window->taken_ns + window->ns / FULL + 1;

	if (executions > 0 || window->ns >= SILENCE_NS)
		branch_history_rate(history, window->probes[i].pid, window->probes[i].address,
				    executions, rest_ns);
}

void probe_results_add(struct probe_results *results, struct branch_history *history,
		       const struct probe_window *window)
{
	if (window->may_be_rare && !probe_window_is_quiet(window))
		return;
	for (size_t i = 0; i < window->count; i++) {
		if (branch_window_executions(&window->windows[i]) > 0 && is_typical(window, i))
			put_directions(results, history, window, i);
		put_gaps(results, history, window, i);
		rate_update(history, window, i);
	}
	put_same_window(results, window);
	put_iterations(results, window);
}
