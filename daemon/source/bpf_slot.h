/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event on one CPU that is counted by a BPF program: its wake-ups and its times.
 *
 * The event has a ring of one page. It holds no samples, only a record whenever the program wakes
 * the reader, and the kernel's throttling records.
 */
#ifndef DCPI_BPF_SLOT_H
#define DCPI_BPF_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/event_ring.h"

struct error;
struct source_event;
struct source_time;

/**
 * struct bpf_slot - zero-initialised is closed; fields other than @event are private
 * @past:      times of events that were closed
 * @throttled: number of throttling records, cumulative
 */
struct bpf_slot {
	struct event_ring event;
	int link_fd;
	uint64_t past_enabled_ns;
	uint64_t past_running_ns;
	uint64_t throttled;
};

/**
 * struct bpf_slot_config - the event to open
 * @event:      only its period may change later
 * @number:     of the event, the program's cookie
 * @cpu:        number of the CPU
 * @program_fd: the program that counts samples
 * @user_only:  exclude kernel samples
 */
struct bpf_slot_config {
	const struct source_event *event;
	uint32_t number;
	uint32_t cpu;
	int program_fd;
	bool user_only;
};

/** bpf_slot_open() - open the event, disabled; errors as of perf_ring_open(). */
int bpf_slot_open(struct bpf_slot *slot, const struct bpf_slot_config *config, struct error *err);

/** bpf_slot_close() - close the event; its times are kept. */
void bpf_slot_close(struct bpf_slot *slot);

/** bpf_slot_read_ring() - count throttling records, and free the ring for the next record. */
void bpf_slot_read_ring(struct bpf_slot *slot);

/** bpf_slot_time() - add the event's times, including those of closed events. */
void bpf_slot_time(const struct bpf_slot *slot, struct source_time *sum);

#endif
