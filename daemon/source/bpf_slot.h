/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event on one CPU, counted by a BPF program: its wake-ups, its times.
 *
 * The event has a ring of one page. Samples do not go there; what does is a
 * record whenever the program asks for the reader, and the kernel's notes of
 * throttling.
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
 * struct bpf_slot - zero-initialised is closed; fields but @event are private
 * @past:      times of events that were closed
 * @throttled: since ever
 */
struct bpf_slot {
	struct event_ring event;
	int link_fd;
	uint64_t past_enabled_ns;
	uint64_t past_running_ns;
	uint64_t throttled;
};

/**
 * struct bpf_slot_config - what to open
 * @event:      may change its period only, later
 * @number:     of the event, the program's cookie
 * @cpu:        number of the CPU
 * @program_fd: what counts
 * @user_only:  leave kernel samples out
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

/** bpf_slot_close() - times stay. */
void bpf_slot_close(struct bpf_slot *slot);

/** bpf_slot_read_ring() - count throttling, make room for the next record. */
void bpf_slot_read_ring(struct bpf_slot *slot);

/** bpf_slot_time() - add its times, those of closed events included. */
void bpf_slot_time(const struct bpf_slot *slot, struct source_time *sum);

#endif
