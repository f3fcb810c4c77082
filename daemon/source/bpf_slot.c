// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/bpf_slot.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "daemon/source/source.h"
#include "lib/error.h"
#include "loader-hook/perf/perf_ring.h"

int bpf_slot_open(struct bpf_slot *slot, const struct bpf_slot_config *config, struct error *err)
{
	struct bpf_link_create_opts options = {
		.sz = sizeof(options),
		.perf_event.bpf_cookie = config->number,
	};
	struct perf_event_attr attr;
	int rc;

	attr = event_ring_attr(&slot->event, config->event, config->number, config->cpu,
			       config->user_only);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.wakeup_events = 1;
	rc = perf_ring_open(&slot->event.ring, &attr, -1, (int)config->cpu, 1, err);
	if (rc < 0)
		return event_ring_explain(config->event, rc, err);
	slot->link_fd = bpf_link_create(config->program_fd, event_ring_fd(&slot->event),
					BPF_PERF_EVENT, &options);
	if (slot->link_fd < 0) {
		rc = slot->link_fd;
		perf_ring_close(slot->event.ring);
		slot->event.ring = NULL;
		errno = -rc;
		return error_set_errno(err, "cannot attach the BPF program to CPU %u", config->cpu);
	}
	return 0;
}

void bpf_slot_close(struct bpf_slot *slot)
{
	struct source_time time = {.enabled_ns = 0};

	if (slot->event.ring == NULL)
		return;
	bpf_slot_time(slot, &time);
	bpf_slot_read_ring(slot);
	slot->past_enabled_ns = time.enabled_ns;
	slot->past_running_ns = time.running_ns;
	close(slot->link_fd);
	perf_ring_close(slot->event.ring);
	slot->event.ring = NULL;
}

void bpf_slot_read_ring(struct bpf_slot *slot)
{
	const struct perf_event_header *record;

	if (slot->event.ring == NULL)
		return;
	while ((record = perf_ring_next(slot->event.ring)) != NULL) {
		if (record->type == PERF_RECORD_THROTTLE)
			slot->throttled++;
	}
	perf_ring_consumed(slot->event.ring);
}

void bpf_slot_time(const struct bpf_slot *slot, struct source_time *sum)
{
	uint64_t values[3]; /* count, enabled, running */

	sum->enabled_ns += slot->past_enabled_ns;
	sum->running_ns += slot->past_running_ns;
	if (slot->event.ring == NULL ||
	    read(event_ring_fd(&slot->event), values, sizeof(values)) != sizeof(values))
		return;
	sum->enabled_ns += values[1];
	sum->running_ns += values[2];
}
