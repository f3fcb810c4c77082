/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The total cost of sampling: time that the profiled program lost, and CPU time of our processes.
 *
 * It has four parts:
 *
 * - samples: interrupts x the cost of one, measured before (overhead.h). The kernel counts this as
 *   the program's time.
 * - snapshots: a BPF program that saves registers and memory of samples, and measures its own time.
 *   This is also the program's time.
 * - probes: executions of breakpoints x the cost of one, an upper bound (branch_probes.h). This is
 *   also the program's time.
 * - processes: CPU time of this process (setup, interpretation, matching, database) and of
 *   processes that hold breakpoints. On another CPU they do not slow the program down.
 */
#ifndef DCPI_COLLECTOR_COST_H
#define DCPI_COLLECTOR_COST_H

#include <stdint.h>

struct collector;

/**
 * struct collector_cost - nanoseconds
 * @program_ns:     CPU time in which the first event was enabled; 0: unknown
 * @samples_ns:     0: unknown
 * @samples_max_ns: an upper bound of @samples_ns
 * @once_ns:        part of @processes_ns: work that is done once, before the program begins
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

/** collector_cost() - return the cost so far. */
void collector_cost(struct collector *collector, struct collector_cost *cost);

/**
 * collector_cost_share() - return the share of a CPU that probes may take from now on
 * @permille: limit of the total cost, of the program's CPU time
 * @most:     upper limit of the result
 *
 * It is the part of the limit that the other parts leave, and 0 if the total exceeds the limit.
 * One-time work takes at most half of the limit until it is paid for. If a program runs for at
 * least 2 x @once_ns / limit, the limit is kept, provided that the other parts keep it.
 */
uint32_t collector_cost_share(const struct collector_cost *cost, uint32_t permille, uint32_t most);

/**
 * collector_cost_every() - return how many samples there should be for an interpreted one
 * @permille: limit of the total cost, of the program's CPU time
 * @every:    present value
 * @least:    minimum of the result; 0: samples are not interpreted
 *
 * Twice @every if the cost without probes exceeds the limit, half of @every if the cost is less
 * than three quarters of the limit. The sampling rate itself cannot change: the kernel copies the
 * period to the events of a program's children. Edges are used in proportion, so that their number
 * does not matter.
 */
uint32_t collector_cost_every(const struct collector_cost *cost, uint32_t permille, uint32_t every,
			      uint32_t least);

/** Maximum of collector_pace(). Drains are also due when a ring buffer is partly full. */
#define COLLECTOR_PACE_MAX 8

/**
 * collector_cost_pace() - return how many intervals there should be between two drains
 * @permille: limit of the total cost, of the program's CPU time
 * @pace:     present value, 1 .. COLLECTOR_PACE_MAX
 *
 * A drain costs the same however few samples there are. A program that waits for a CPU most of the
 * time has few samples between two drains, so that their cost is a large part of its CPU time.
 * Changes like collector_cost_every().
 */
uint32_t collector_cost_pace(const struct collector_cost *cost, uint32_t permille, uint32_t pace);

/**
 * collector_cost_follow() - update the share of probes every tenth of a second, and the pace or the
 * number of samples that are interpreted twice a second
 *
 * If the cost is too high, drains become less frequent first, because that keeps the results of
 * samples; fewer samples are interpreted if that is not enough.
 */
void collector_cost_follow(struct collector *collector);

#endif
