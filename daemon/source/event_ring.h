/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event on one CPU with a ring of perf's, and its period: what the slots of the bpf
 * and the perf source have in common.
 *
 * perf draws no periods at random, and a BPF program cannot set them. So a new one is
 * drawn at each drain; between two drains samples are evenly spaced. Setting a
 * period restarts it: half a period per drain goes unsampled (one part in thousands).
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
 * @ring:   whoever opens and closes it sets this, NULL: closed
 * @period: private
 */
struct event_ring {
	struct perf_ring *ring;
	struct period period;
};

/**
 * event_ring_attr() - what to open it with: the event, disabled, a first period
 * @number: of the event
 * @user_only: leave kernel samples out
 */
struct perf_event_attr event_ring_attr(struct event_ring *ring, const struct source_event *event,
				       uint32_t number, uint32_t cpu, bool user_only);

/**
 * event_ring_explain() - what perf_ring_open() returned, as the one who asked for the event is
 * to be told: if the machine does not have it, which one, and what there is instead
 *
 * Return: @rc.
 */
int event_ring_explain(const struct source_event *event, int rc, struct error *err);

/** event_ring_fd() - to poll; -1 if closed. */
int event_ring_fd(const struct event_ring *ring);

/** event_ring_enable(), event_ring_disable() - begin and end sampling; closed: nothing. */
void event_ring_enable(const struct event_ring *ring);
void event_ring_disable(const struct event_ring *ring);

/** event_ring_stands() - as perf_ring_stands(); closed: false. */
bool event_ring_stands(const struct event_ring *ring);

/** event_ring_set_window() - draw periods from the window of @event from now on. */
void event_ring_set_window(struct event_ring *ring, const struct source_event *event);

/** event_ring_new_period() - interrupts the CPU: not for an idle one. */
void event_ring_new_period(struct event_ring *ring);

#endif
