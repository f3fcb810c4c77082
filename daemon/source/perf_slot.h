/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event on one CPU, sampled by perf: its ring, its period, its losses.
 *
 * Periods: see daemon/source/event_ring.h. For an event that follows a process (target_pid), perf
 * changes only the first process's period. Its children start with the period in force when they
 * are forked, and keep it.
 *
 * Losses: counted by the kernel (PERF_FORMAT_LOST). Before Linux 6.0 they are counted by
 * PERF_RECORD_LOST records, which miss losses after the last sample. An invalid record in a ring is
 * dropped together with everything after it; @malformed is an upper bound on the number of samples
 * dropped.
 */
#ifndef DCPI_PERF_SLOT_H
#define DCPI_PERF_SLOT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/event_ring.h"

struct error;
struct source_event;

/** struct perf_sample - the layout of a sample record */
struct perf_sample {
	struct perf_event_header header;
	uint64_t pc;
	uint32_t pid, tid;
	uint64_t time_ns;
};

/**
 * struct perf_slot - zero-initialised is closed; fields other than @event are private
 * @lost, @malformed, @throttled: cumulative, over all rings; see above
 * @enabled_ns, @running_ns:      also cumulative; as in struct source_time
 * @ring_lost:                    part of @lost in the current ring; @ring_enabled_ns and
 *                                @ring_running_ns in the same way
 * @drained:                      samples since the period was last changed
 * @counts_lost:                  the kernel supports PERF_FORMAT_LOST
 */
struct perf_slot {
	struct event_ring event;
	uint64_t drained;
	uint64_t lost;
	uint64_t ring_lost;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t ring_enabled_ns;
	uint64_t ring_running_ns;
	uint64_t malformed;
	uint64_t throttled;
	bool counts_lost;
};

/**
 * struct perf_slot_config - the event to open
 * @event:      only its period may change later
 * @number:     of the event
 * @cpu:        number of the CPU
 * @target_pid: 0: all processes; otherwise this process, from its next exec on, and all its
 *              descendants
 * @user_only:  exclude kernel samples
 * @registers:  user-space registers of each sample, stored after struct perf_sample:
 *              perf_event_attr.sample_regs_user; 0: none
 * @stack_bytes: size of the copy of the user-space stack of each sample, and the sample has the
 *              chain of calls in the kernel: see daemon/source/perf_stack.h. 0: neither
 * @program_fd: a BPF program to run in addition to writing the record; 0: none
 * @ring_pages: size of the ring, a power of two; it is reduced if the limit of locked memory
 *              requires
 */
struct perf_slot_config {
	const struct source_event *event;
	uint32_t number;
	uint32_t cpu;
	uint32_t target_pid;
	bool user_only;
	uint64_t registers;
	uint32_t stack_bytes;
	int program_fd;
	uint32_t ring_pages;
};

/**
 * perf_slot_open() - open the event, disabled
 *
 * Return: 0; errors as of perf_ring_open(); -EACCES if @user_only is set and the event counts only
 * the kernel.
 */
int perf_slot_open(struct perf_slot *slot, const struct perf_slot_config *config,
		   struct error *err);

/** perf_slot_close() - close the event. The ring's contents are dropped; counts are kept. */
void perf_slot_close(struct perf_slot *slot);

/** perf_slot_new_period() - draw a new period, if there were samples since the previous one. */
void perf_slot_new_period(struct perf_slot *slot);

/** Called with a sample, valid during the call. */
typedef void (*perf_slot_fn)(void *context, const struct perf_sample *sample);

/** perf_slot_drain() - visit the samples up to a time (CLOCK_MONOTONIC). */
void perf_slot_drain(struct perf_slot *slot, uint64_t until_ns, perf_slot_fn visit, void *context);

/**
 * perf_slot_read() - update @lost and the times from the kernel; otherwise they may be out of date.
 */
void perf_slot_read(struct perf_slot *slot);

#endif
