/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events as users name them, and their sampling periods.
 *
 * A specification is a comma-separated list of
 *
 *	NAME[:PERIOD | :MIN-MAX]
 *
 * NAME: cycles, instructions, cache-references, cache-misses, branches,
 * branch-misses, cpu-clock, task-clock, page-faults, context-switches, or a
 * raw code of the processor as rHEX. Periods count events, DCPI_PERIOD_MIN ..
 * DCPI_PERIOD_MAX, those of the clocks (cpu-clock, task-clock) nanoseconds,
 * DCPI_CLOCK_PERIOD_MIN .. DCPI_PERIOD_MAX; each is drawn from [MIN, MAX]; a
 * single PERIOD is a window of one value.
 *
 * Without a period: what keeps the paper's rate. Its 60K-64K cycles at 333 MHz
 * were 5,200 samples a second and CPU; at a clock of f the window is
 * [0.9375 P, P] with P = f / EVENT_RATE, never below 60K-64K. Clocks get the
 * same rate in nanoseconds, rare events (misses) 60K-64K events, page faults
 * and context switches DCPI_PERIOD_MIN.
 */
#ifndef DCPI_EVENT_H
#define DCPI_EVENT_H

#include "daemon/source.h"

struct error;

/*
 * Samples a second and CPU that default periods give at most. What that costs
 * depends on what an interrupt costs: 2 us on bare metal are 1% of a CPU. In a
 * virtual machine where one takes 20 to 40 us, a busy CPU lost 12% with
 * cpu-clock and 20% with cycles: take longer periods there
 * (cpu-clock:2000000 costs 1%).
 */
#define EVENT_RATE 5200

/** struct event_list - events to sample; their number is their index. */
struct event_list {
	struct source_event event[DCPI_EVENTS_MAX];
	size_t count;
};

/**
 * event_list_parse() - read a specification
 * @cpu_hz: clock of the CPUs, for default periods: event_cpu_hz()
 *
 * Return: 0; -EINVAL, and the message names the bad word.
 */
int event_list_parse(struct event_list *ret, const char *spec, uint64_t cpu_hz, struct error *err);

/**
 * event_list_default() - cycles if this machine can sample them, else cpu-clock
 * @cpu_hz: as above
 */
void event_list_default(struct event_list *ret, uint64_t cpu_hz);

/**
 * event_list_limit_rate() - lengthen periods that would exceed a rate
 * @cpu_hz: as above
 * @rate:   samples a second and CPU
 *
 * Only for events whose rate is bounded by a clock (cycles, clocks): there the
 * shortest period is raised to clock / rate, the longest in proportion. A
 * faster event would be throttled by the kernel for the rest of a tick, again
 * and again, which samples some parts of each tick and not others.
 *
 * Return: a mask of the events changed.
 */
unsigned int event_list_limit_rate(struct event_list *list, uint64_t cpu_hz, uint64_t rate);

/** event_kernel_rate() - kernel.perf_event_max_sample_rate; 0 if it cannot be read. */
uint64_t event_kernel_rate(void);

/**
 * event_cpu_hz() - highest clock of the CPUs, in Hz
 *
 * From cpufreq, else /proc/cpuinfo, else by counting cycles for 20 ms, else
 * 1 GHz.
 */
uint64_t event_cpu_hz(void);

#endif
