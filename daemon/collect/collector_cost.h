/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The total cost of sampling: time that the profiled program lost, and CPU time of our processes.
 *
 * Four parts:
 *
 * - samples: interrupts x the cost of one, measured before (overhead.h); counted by the kernel as
 *   the program's time;
 * - snapshots: a BPF program that keeps registers and memory of samples, which times itself; also
 *   the program's time;
 * - probes: executions of breakpoints x the cost of one, an upper estimate (branch_probes.h); also
 *   the program's time;
 * - processes: CPU time of this process (setting up, interpretation, matching, database) and of
 *   processes that hold breakpoints. On another CPU they do not slow the program down.
 */
#ifndef DCPI_COLLECTOR_COST_H
#define DCPI_COLLECTOR_COST_H

#include <stdint.h>

struct collector;

/**
 * struct collector_cost - nanoseconds
 * @program_ns: CPU time in which the first event was enabled; 0: not known
 * @samples_ns: 0: not known
 * @samples_max_ns: an upper bound of it
 * @once_ns:    part of @processes_ns: work that is done once, before the program begins
 */
struct collector_cost {
	uint64_t program_ns;
	uint64_t samples_ns;
	uint64_t samples_max_ns;
	uint64_t once_ns;
	uint64_t snapshots_ns;
	uint64_t probes_ns;
	uint64_t processes_ns;
};

/** collector_cost() - the cost so far. */
void collector_cost(struct collector *collector, struct collector_cost *cost);

/**
 * collector_cost_share() - the share of a CPU that probes may take from now on
 * @permille: bound of the total cost, of the program's CPU time
 * @most:     upper limit of the result
 *
 * It is the part of the bound that the other parts leave, and 0 if the total exceeds the bound.
 * Work that is done once takes half of the bound at most until it is paid for. A program that runs
 * for at least 2 x @once_ns / bound keeps the bound, if the other parts do.
 */
uint32_t collector_cost_share(const struct collector_cost *cost, uint32_t permille, uint32_t most);

/** collector_cost_follow() - a tenth of a second after the last time, give probes their share. */
void collector_cost_follow(struct collector *collector);

#endif
