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
 * Without a period: what keeps a rate, at first the paper's. Its 60K-64K cycles
 * at 333 MHz were 5,200 samples a second and CPU; at a clock of f and a rate r
 * the window is [0.9375 P, P] with P = f / r, never below 60K-64K. Clocks get
 * the same rate in nanoseconds, rare events (misses) 60K-64K events at the
 * paper's rate and in proportion at others, page faults and context switches
 * DCPI_PERIOD_MIN.
 */
#ifndef DCPI_EVENT_H
#define DCPI_EVENT_H

#include "daemon/source.h"

struct error;

/*
 * Samples a second and CPU that default periods give at most. On bare metal,
 * where an interrupt takes 2 us, that is 1% of a CPU; in a virtual machine,
 * where one may take 20 to 40, a tenth or a fifth. dcpid measures it and takes
 * fewer (daemon/overhead.h); dcpirun, where the command is all that runs and
 * soon over, does not.
 */
#define EVENT_RATE 5200

/**
 * struct event_list - events to sample; their number is their index
 * @defaults: a mask of those whose period is the default
 */
struct event_list {
	struct source_event event[DCPI_EVENTS_MAX];
	size_t count;
	unsigned int defaults;
};

/** event_is_clock() - whether its periods are nanoseconds. */
bool event_is_clock(const struct source_event *event);

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
 * event_list_set_rate() - change the default periods
 * @cpu_hz: as above
 * @rate:   samples a second and CPU, > 0
 *
 * Periods that were given are left alone.
 */
void event_list_set_rate(struct event_list *list, uint64_t cpu_hz, uint64_t rate);

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

/**
 * event_cpu_hz() - highest clock of the CPUs, in Hz
 *
 * From cpufreq; else the higher of what /proc/cpuinfo says and of what 20 ms of
 * counting give; else 1 GHz.
 */
uint64_t event_cpu_hz(void);

#endif
