/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The total cost of a run of dcpirun: estimated before the run to choose the sampling rate, and
 * printed after it.
 */
#ifndef DCPI_RUN_COST_H
#define DCPI_RUN_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/collect/collector_cost.h"
#include "daemon/collect/overhead.h"

struct rusage;
struct collector;
struct collector_config;

/**
 * struct run_cost - fields are private
 * @begun_ns:   CPU time of this process and its ended children when the run began
 * @command_ns: CPU time of the command and of descendants that it waited for
 * @ended_ns:   as @begun_ns, when the command had ended
 * @given:      the user gave the rate or all periods, which the limit does not change
 * @sample:     cost of a sample, if @known
 * @parts:      of the whole run
 */
struct run_cost {
	uint32_t percent;
	uint64_t begun_ns;
	uint64_t command_ns;
	uint64_t ended_ns;
	bool given;
	bool known;
	struct overhead_cost sample;
	uint64_t interrupts;
	struct collector_cost parts;
};

/**
 * run_cost_begin() - begin a run
 * @percent: limit of the total cost, of the command's CPU time
 * @first:   the first run: its cost includes the start of this process
 */
void run_cost_begin(struct run_cost *cost, uint32_t percent, bool first);

/**
 * run_cost_fit() - measure the cost of a sample and set the rate of events with default periods
 * @given_rate: samples per second and CPU; 0: choose the rate
 *
 * Samples and their interpretation take at most two thirds of the limit. The rate is EVENT_RATE
 * divided by a power of two, so that runs to be compared have the same rate. A cost that cannot be
 * measured is assumed to be high.
 */
void run_cost_fit(struct run_cost *cost, struct collector_config *config, uint64_t given_rate);

/** run_cost_end() - record the end of the command; @command: its resources, as of wait4(2) */
void run_cost_end(struct run_cost *cost, const struct rusage *command);

/** run_cost_take() - compute the parts of the cost; all samples must be in the database */
void run_cost_take(struct run_cost *cost, struct collector *collector);

/**
 * run_cost_print() - print the cost on standard error, without a line end
 *
 * Call this after the collector is closed, so that all of its processes have exited. The printed
 * range covers the quartiles of the cost of a sample; for probes, it extends from zero to their
 * estimate. If all of the range is above the limit, this is stated. Prints nothing for a command
 * with fewer than 100 samples or less than 0.1 s of CPU time.
 */
void run_cost_print(const struct run_cost *cost);

#endif
