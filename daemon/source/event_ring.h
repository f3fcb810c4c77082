/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event on one CPU with a perf ring, and its sampling period: the common part of the slots of
 * the bpf and the perf source.
 *
 * perf does not randomise periods, and a BPF program cannot set them. So a new period is drawn at
 * each drain; between two drains samples are evenly spaced. Setting a period restarts it: half a
 * period per drain goes unsampled (one part in thousands).
 */
#ifndef DCPI_EVENT_RING_H
#define DCPI_EVENT_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "kmod/core/period.h"

struct error;
struct perf_ring;
struct source_event;

/**
 * struct event_ring - zero-initialised is closed
 * @ring:   set by the code that opens and closes the event; NULL: closed
 * @period: private
 */
struct event_ring {
	struct perf_ring *ring;
	struct period period;
};

/**
 * event_ring_attr() - return the attributes to open the event: disabled, with a first period
 * @number:    of the event
 * @user_only: exclude kernel samples
 */
struct perf_event_attr event_ring_attr(struct event_ring *ring, const struct source_event *event,
				       uint32_t number, uint32_t cpu, bool user_only);

/**
 * event_ring_explain() - describe an error of perf_ring_open() for the user
 *
 * If the machine does not have the event, the message names the event and the alternatives.
 *
 * Return: @rc.
 */
int event_ring_explain(const struct source_event *event, int rc, struct error *err);

/** event_ring_fd() - return the descriptor to poll; -1 if closed. */
int event_ring_fd(const struct event_ring *ring);

/** event_ring_enable(), event_ring_disable() - begin and end sampling; no effect if closed. */
void event_ring_enable(const struct event_ring *ring);
void event_ring_disable(const struct event_ring *ring);

/** event_ring_stands() - as perf_ring_stands(); false if closed. */
bool event_ring_stands(const struct event_ring *ring);

/** event_ring_stretch() - make an event whose periods are longer by a factor > 0 */
void event_ring_stretch(struct source_event *ret, const struct source_event *event,
			uint32_t factor);

/** event_ring_set_window() - draw periods from the range of @event from now on. */
void event_ring_set_window(struct event_ring *ring, const struct source_event *event);

/**
 * event_ring_new_period() - draw a new period. Interrupts the CPU, so do not call it for an idle
 * CPU.
 */
void event_ring_new_period(struct event_ring *ring);

#endif
