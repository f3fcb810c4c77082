/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event specifications as users write them, and sampling periods.
 *
 *	list     = item *("," item)
 *	item     = event [":" period]
 *	period   = NUMBER ["-" NUMBER]
 *	event    = name [":" modifier]
 *	         | PMU "/" term *("," term) "/" [[":"] modifier]
 *	         | [PMU "::"] EVENT *(":" attribute)
 *	modifier = "u" | "k" | "uk" | "ku"
 *
 * A comma between slashes does not end an item. Text after the last colon is a period if it
 * consists only of digits and dashes; otherwise it is part of the event.
 *
 * The three forms of an event:
 *
 * - name: looked up, in this order, as the following. perf's name of a generic hardware, software
 *   or hardware-cache event. A raw code of the processor, rHEX (daemon/event/event_name.h). A short
 *   name of the papers (daemon/event/event_alias.h). An event of any PMU that the kernel describes
 *   (daemon/event/event_pmu.h).
 * - PMU/term,.../: terms as the kernel describes them (daemon/event/event_pmu.h).
 * - anything else is passed to libpfm4; attributes are unit masks and modifiers
 *   (daemon/event/event_pfm.h).
 *
 * Modifiers: u samples only user mode, k only the kernel. An event keeps the name that the user
 * wrote, modifiers included; it has at most SOURCE_EVENT_NAME_BYTES - 1 characters. An event may
 * occur only once in a list, even under different names.
 *
 * Periods count events, DCPI_PERIOD_MIN .. DCPI_PERIOD_MAX. Periods of clocks (cpu-clock,
 * task-clock) count nanoseconds, DCPI_CLOCK_PERIOD_MIN .. DCPI_PERIOD_MAX. Each period is drawn
 * from [MIN, MAX]; a single PERIOD is a range of one value.
 *
 * The default period keeps a sampling rate, initially that of the paper. The paper's 60K-64K cycles
 * at 333 MHz gave 5,200 samples per second and CPU. At a clock of f and a rate r the range is
 * [0.9375 P, P] with P = f / r, never below 60K-64K. Clocks get the same rate in nanoseconds. Rare
 * events get 60K-64K events at the paper's rate, and proportionally at other rates. Faults, context
 * switches and migrations get DCPI_PERIOD_MIN. Misses and other events that happen an order of
 * magnitude less often than cycles are rare. Events known only by name are rare if the name
 * mentions misses, refills or mispredictions.
 */
#ifndef DCPI_EVENT_H
#define DCPI_EVENT_H

#include "daemon/event/event_machine.h"
#include "daemon/source/source.h"

struct error;

/*
 * Maximum samples per second and CPU with default periods. On bare metal, where an interrupt takes
 * 2 us, this rate costs 1% of a CPU; in a virtual machine, where an interrupt may take 20 to 40 us,
 * a tenth or a fifth. dcpid measures the cost and lowers the rate (daemon/collect/overhead.h).
 * dcpirun does not: it runs only one command, for a short time.
 */
#define EVENT_RATE 5200

/**
 * struct event_list - events to sample; an event's number is its index
 * @defaults: bit mask of the events with a default period
 * @scale:    approximate frequency of the events
 */
struct event_list {
	struct source_event event[DCPI_EVENTS_MAX];
	size_t count;
	unsigned int defaults;
	enum event_scale scale[DCPI_EVENTS_MAX];
};

/** event_is_clock() - return true if the event's periods are in nanoseconds. */
bool event_is_clock(const struct source_event *event);

/**
 * event_list_parse() - parse a list of events
 * @cpu_hz: clock of the CPUs, for default periods: event_cpu_hz()
 *
 * Names are looked up on this machine. Errors of events that it cannot sample are reported only
 * when the events are opened.
 *
 * Return: 0; -EINVAL, with a message that contains the bad word.
 */
int event_list_parse(struct event_list *ret, const char *spec, uint64_t cpu_hz, struct error *err);

/**
 * event_list_default() - return the events to sample if the user names none
 * @machine: the machine to sample
 * @cpu_hz:  as above
 *
 * Selects cycles and instruction-cache misses (imiss) if the machine can sample both; only cycles
 * if it can sample just these; otherwise cpu-clock. imiss is included only where perf's generic
 * event works; for other candidates the user must request it.
 */
void event_list_default(struct event_list *ret, const struct event_machine *machine,
			uint64_t cpu_hz);

/**
 * event_list_set_rate() - change the default periods
 * @cpu_hz: as above
 * @rate:   samples per second and CPU, > 0
 *
 * Periods that the user specified are unchanged.
 */
void event_list_set_rate(struct event_list *list, uint64_t cpu_hz, uint64_t rate);

/**
 * event_list_limit_rate() - lengthen periods that would exceed a rate
 * @cpu_hz: as above
 * @rate:   samples per second and CPU
 *
 * Applies only to events whose rate is bounded by a clock (cycles, clocks). Their shortest period
 * is raised to clock / rate, the longest one in proportion. The kernel would throttle a faster
 * event for the rest of each tick, so that some parts of a tick would be sampled and others not.
 *
 * Return: a bit mask of the events changed.
 */
unsigned int event_list_limit_rate(struct event_list *list, uint64_t cpu_hz, uint64_t rate);

/**
 * event_cpu_hz() - return the highest clock of the CPUs, in Hz
 *
 * Taken from cpufreq; otherwise the higher of the clock in /proc/cpuinfo and the one measured by
 * counting cycles for 20 ms; otherwise 1 GHz.
 */
uint64_t event_cpu_hz(void);

#endif
