/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One measurement of branches: how long probes stay in a program, and their counts.
 *
 * The process that holds the probes (probe_holder.h) performs the measurement.
 */
#ifndef DCPI_PROBE_MEASUREMENT_H
#define DCPI_PROBE_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/branch_probe.h"

/* Intervals with a reference branch end after this number of reference iterations. */
#define PROBE_ITERATIONS 3

/**
 * struct probe_limits - when a measurement ends
 * @count:       branches that are probed; at most BRANCH_WINDOWS
 * @hit_ns:      estimated time that one execution of a probed conditional branch costs
 * @reference_ns: with a reference branch: maximum cost of all executions
 * @has_reference: the last branch is a reference branch (struct reference_counts)
 * @may_be_rare: the branches are expected to be executed rarely
 * @is_frequent: the first branch is executed in each step if the program is near it at all
 */
struct probe_limits {
	uint32_t count;
	uint64_t hit_ns;
	uint64_t reference_ns;
	bool has_reference;
	bool may_be_rare;
	bool is_frequent;
};

/**
 * struct probe_measurement - the counts of all branches
 * @start_ns: when all probes were in place, CLOCK_MONOTONIC
 * @ns:       duration
 * @has_reference_counts: @reference is complete
 * @counts:   executions since @start_ns, in the order of the branches
 */
struct probe_measurement {
	uint64_t start_ns;
	uint64_t ns;
	bool has_reference_counts;
	struct reference_counts reference;
	struct branch_window counts[BRANCH_WINDOWS];
};

/**
 * probe_measurement_step_fn() - wait for @ns nanoseconds
 *
 * Return: false to end the measurement.
 */
typedef bool (*probe_measurement_step_fn)(void *context, uint64_t ns);

/**
 * probe_measurement_take() - measure until a limit is reached
 * @link: the probes, which are in place
 * @step: called at most 150 times; the number of steps, and not a clock, bounds the duration
 */
void probe_measurement_take(struct probe_measurement *ret, const struct branch_probe_link *link,
			    const struct probe_limits *limits, probe_measurement_step_fn step,
			    void *context);

/** probe_taken_ns() - return the estimated cost of executions of probed branches */
uint64_t probe_taken_ns(const struct branch_window *windows, size_t count, uint64_t hit_ns);

#endif
