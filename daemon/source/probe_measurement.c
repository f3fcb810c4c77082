// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/probe_measurement.h"

#include "daemon/source/probe_results.h"
#include "lib/clock.h"

/*
 * Maximum cost of probes in a measured interval. With the same total time for all intervals, 3 ms
 * gave better results than 0.5 and 10 ms on the programs of tests/eval/accuracy/x86_programs.txt.
 */
#define TAKEN_MAX_NS (3 * NS_PER_MS)
/* Maximum cost if all branches are expected to be rare. At a higher cost they are not rare. */
#define RARE_TAKEN_MAX_NS (3 * NS_PER_MS / 4)
/* The counts are read after each step. */
#define STEP_NS NS_PER_MS
#define STEPS 24
/* Intervals with a reference branch are longer. */
#define REFERENCE_STEPS 150
#define READ_TRIES 100
/* Cost of one execution of a branch that the kernel has to single-step. */
#define HIT_SINGLE_STEP_NS 15000

uint64_t probe_taken_ns(const struct branch_window *windows, size_t count, uint64_t hit_ns)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += branch_window_executions(&windows[i]) *
		      (windows[i].condition < WINDOW_SNAPSHOTS ? hit_ns : HIT_SINGLE_STEP_NS);
	return ns;
}

static void counts_take(struct branch_window *counts, const struct branch_probe_link *link,
			size_t count)
{
	const struct branch_window *windows = branch_probe_windows(link);

	for (size_t i = 0; i < count; i++) {
		counts[i] = windows[i];
		for (int direction = 0; direction < 2; direction++)
			counts[i].counts[direction] =
				__atomic_load_n(&windows[i].counts[direction], __ATOMIC_RELAXED);
	}
}

/* Executions before all probes were in place do not count. */
static void counts_subtract(struct branch_window *counts, const struct branch_window *before,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		counts[i].counts[0] -= before[i].counts[0];
		counts[i].counts[1] -= before[i].counts[1];
	}
}

/*
 * Return: true if the copy is consistent: the program may execute the reference branch
 * concurrently.
 */
static bool reference_counts_take(struct reference_counts *ret,
				  const struct branch_probe_link *link, size_t count)
{
	const volatile struct reference_counts *reference = &link->program.references[link->number];
	int tries = 0;

	do {
		ret->done = reference->done;
		for (size_t i = 0; i < count; i++) {
			ret->first[i] = reference->first[i];
			ret->last[i] = reference->last[i];
			ret->squares[i] = reference->squares[i];
		}
		ret->begun = reference->begun;
	} while (ret->begun != ret->done && ++tries < READ_TRIES);
	return ret->begun == ret->done;
}

static bool is_over(struct reference_counts *reference, const struct branch_probe_link *link,
		    const struct probe_limits *limits, uint64_t taken_ns)
{
	if (limits->has_reference)
		return taken_ns >= limits->reference_ns ||
		       (reference_counts_take(reference, link, limits->count) &&
			reference->done > PROBE_ITERATIONS);
	if (limits->may_be_rare)
		return taken_ns >= RARE_TAKEN_MAX_NS;
	return taken_ns >= TAKEN_MAX_NS || (taken_ns == 0 && limits->is_frequent);
}

void probe_measurement_take(struct probe_measurement *ret, const struct branch_probe_link *link,
			    const struct probe_limits *limits, probe_measurement_step_fn step,
			    void *context)
{
	struct branch_window before[BRANCH_WINDOWS];
	unsigned int steps = limits->has_reference ? REFERENCE_STEPS : STEPS;
	bool more;

	ret->start_ns = clock_monotonic_ns();
	counts_take(before, link, limits->count);
	do {
		more = step(context, STEP_NS);
		counts_take(ret->counts, link, limits->count);
		ret->ns = clock_monotonic_ns() - ret->start_ns;
		counts_subtract(ret->counts, before, limits->count);
	} while (more && --steps > 0 &&
		 !is_over(&ret->reference, link, limits,
			  probe_taken_ns(ret->counts, limits->count, limits->hit_ns)));
	ret->has_reference_counts = limits->has_reference &&
				    reference_counts_take(&ret->reference, link, limits->count);
}
