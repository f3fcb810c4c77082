/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events as users name them, and their sampling periods.
 *
 *	list     = item *("," item)
 *	item     = event [":" period]
 *	period   = NUMBER ["-" NUMBER]
 *	event    = name [":" modifier]
 *	         | PMU "/" term *("," term) "/" [[":"] modifier]
 *	         | [PMU "::"] EVENT *(":" attribute)
 *	modifier = "u" | "k" | "uk" | "ku"
 *
 * A comma between slashes does not end an item. What follows the last colon is
 * a period if it is made of digits and dashes only, else part of the event.
 *
 * The three forms of an event:
 *
 * - name: looked up in this order as perf's name of a generic hardware, software
 *   or hardware-cache event, a raw code of the processor, rHEX
 *   (daemon/event/event_name.h), a short name of the papers (daemon/event/event_alias.h), an
 *   event that the kernel describes, of any PMU (daemon/event/event_pmu.h).
 * - PMU/term,.../: terms as the kernel describes them (daemon/event/event_pmu.h).
 * - all else is libpfm4's, attributes are unit masks and modifiers
 *   (daemon/event/event_pfm.h).
 *
 * Modifiers: u samples user mode only, k the kernel only. An event is called
 * what the user called it, modifiers included; so SOURCE_EVENT_NAME_BYTES - 1
 * letters are all there is room for. No event may be there twice, not even under
 * two names.
 *
 * Periods count events, DCPI_PERIOD_MIN .. DCPI_PERIOD_MAX, those of the clocks
 * (cpu-clock, task-clock) nanoseconds, DCPI_CLOCK_PERIOD_MIN ..
 * DCPI_PERIOD_MAX; each is drawn from [MIN, MAX]; a single PERIOD is a window of
 * one value.
 *
 * Without a period: what keeps a rate, at first the paper's. Its 60K-64K cycles
 * at 333 MHz were 5,200 samples a second and CPU; at a clock of f and a rate r
 * the window is [0.9375 P, P] with P = f / r, never below 60K-64K. Clocks get
 * the same rate in nanoseconds, rare events 60K-64K events at the paper's rate
 * and in proportion at others, faults, switches and migrations DCPI_PERIOD_MIN.
 * Rare are misses and what else happens an order of magnitude less often than
 * cycles; of events known by name only, those that speak of misses, refills or
 * mispredictions.
 */
#ifndef DCPI_EVENT_H
#define DCPI_EVENT_H

#include "daemon/event/event_machine.h"
#include "daemon/source/source.h"

struct error;

/*
 * Samples a second and CPU that default periods give at most. On bare metal,
 * where an interrupt takes 2 us, that is 1% of a CPU; in a virtual machine,
 * where one may take 20 to 40, a tenth or a fifth. dcpid measures it and takes
 * fewer (daemon/collect/overhead.h); dcpirun, where the command is all that runs and
 * soon over, does not.
 */
#define EVENT_RATE 5200

/**
 * struct event_list - events to sample; their number is their index
 * @defaults: a mask of those whose period is the default
 * @scale:    about how often they happen
 */
struct event_list {
	struct source_event event[DCPI_EVENTS_MAX];
	size_t count;
	unsigned int defaults;
	enum event_scale scale[DCPI_EVENTS_MAX];
};

/** event_is_clock() - whether its periods are nanoseconds. */
bool event_is_clock(const struct source_event *event);

/**
 * event_list_parse() - read a specification
 * @cpu_hz: clock of the CPUs, for default periods: event_cpu_hz()
 *
 * Names are looked up on this machine; whether it can sample them shows when
 * they are opened.
 *
 * Return: 0; -EINVAL, and the message names the bad word.
 */
int event_list_parse(struct event_list *ret, const char *spec, uint64_t cpu_hz, struct error *err);

/**
 * event_list_default() - what is sampled if nobody says what
 * @machine: where
 * @cpu_hz:  as above
 *
 * Cycles and instruction-cache misses (imiss) if the machine can sample both;
 * cycles, if only these; else cpu-clock. An imiss that is more than perf's
 * generic event must be asked for.
 */
void event_list_default(struct event_list *ret, const struct event_machine *machine,
			uint64_t cpu_hz);

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
