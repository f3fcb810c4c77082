/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event on one CPU, sampled by perf: its ring, its period, its losses.
 *
 * Periods: as daemon/source/event_ring.h has them. Of an event that follows a process
 * (target_pid) perf changes the first process' period only; its children begin with
 * the one in force when they are forked, and keep it.
 *
 * Losses: by the kernel's own count (PERF_FORMAT_LOST), or, on kernels before
 * 6.0, by its PERF_RECORD_LOST records, which miss what was lost after the last
 * sample. What makes no sense in a ring is dropped with all behind it: @malformed, as
 * many samples as it may have been at most.
 */
#ifndef DCPI_PERF_SLOT_H
#define DCPI_PERF_SLOT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/event_ring.h"

struct error;
struct source_event;

/** struct perf_sample - the layout of a sample's record */
struct perf_sample {
	struct perf_event_header header;
	uint64_t pc;
	uint32_t pid, tid;
	uint64_t time_ns;
};

/**
 * struct perf_slot - zero-initialised is closed; fields but @event are private
 * @lost, @malformed, @throttled: since ever, whatever rings there were; see above
 * @enabled_ns, @running_ns: likewise; as in struct source_time
 * @ring_lost:        of @lost, in the present ring; @ring_enabled_ns and
 *                    @ring_running_ns likewise
 * @drained:          samples since the period was last changed
 * @counts_lost:      the kernel has PERF_FORMAT_LOST
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
 * struct perf_slot_config - what to open
 * @event:      may change its period only, later
 * @number:     of the event
 * @cpu:        number of the CPU
 * @target_pid: 0: whatever runs on the CPU; else this process from its next
 *              exec on, and all its descendants
 * @user_only:  leave kernel samples out
 * @registers:  of user space, to come with each sample, after struct
 *              perf_sample: perf_event_attr.sample_regs_user; 0: none
 * @program_fd: a BPF program that runs beside the record; 0: none
 * @ring_pages: of the ring, a power of two; fewer if no more may be locked
 */
struct perf_slot_config {
	const struct source_event *event;
	uint32_t number;
	uint32_t cpu;
	uint32_t target_pid;
	bool user_only;
	uint64_t registers;
	int program_fd;
	uint32_t ring_pages;
};

/**
 * perf_slot_open() - open the event, disabled
 *
 * Return: 0; errors as of perf_ring_open(); -EACCES @user_only, and the event
 * is of the kernel only.
 */
int perf_slot_open(struct perf_slot *slot, const struct perf_slot_config *config,
		   struct error *err);

/** perf_slot_close() - what is in the ring is dropped; counts stay. */
void perf_slot_close(struct perf_slot *slot);

/** perf_slot_new_period() - draw one, if there were samples since the last time. */
void perf_slot_new_period(struct perf_slot *slot);

/** A sample; valid during the call. */
typedef void (*perf_slot_fn)(void *context, const struct perf_sample *sample);

/** perf_slot_drain() - take the samples up to a time (CLOCK_MONOTONIC). */
void perf_slot_drain(struct perf_slot *slot, uint64_t until_ns, perf_slot_fn visit, void *context);

/** perf_slot_read() - ask the kernel; else @lost and the times are of the last time, or late. */
void perf_slot_read(struct perf_slot *slot);

#endif
