// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/bpf_slot.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/source/source.h"
#include "lib/error.h"
#include "loader-hook/perf_ring.h"

static struct perf_event_attr attr_of(const struct bpf_slot_config *config, uint64_t period)
{
	const struct source_event *event = config->event;

	return (struct perf_event_attr){
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.sample_period = period,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_user = (event->flags & DCPI_EVENT_EXCLUDE_USER) != 0,
		.exclude_kernel =
			config->user_only || (event->flags & DCPI_EVENT_EXCLUDE_KERNEL) != 0,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.wakeup_events = 1,
	};
}

int bpf_slot_open(struct bpf_slot *slot, const struct bpf_slot_config *config, struct error *err)
{
	struct bpf_link_create_opts options = {
		.sz = sizeof(options),
		.perf_event.bpf_cookie = config->number,
	};
	struct perf_event_attr attr;
	int rc;

	period_init(&slot->period, config->seed, config->event->period_min,
		    config->event->period_max);
	attr = attr_of(config, period_next(&slot->period));
	rc = perf_ring_open(&slot->ring, &attr, -1, (int)config->cpu, 1, err);
	if (rc < 0)
		return rc;
	slot->link_fd = bpf_link_create(config->program_fd, perf_ring_fd(slot->ring),
					BPF_PERF_EVENT, &options);
	if (slot->link_fd < 0) {
		rc = slot->link_fd;
		perf_ring_close(slot->ring);
		slot->ring = NULL;
		errno = -rc;
		return error_set_errno(err, "cannot attach the BPF program to CPU %u", config->cpu);
	}
	return 0;
}

void bpf_slot_close(struct bpf_slot *slot)
{
	struct source_time time = {.enabled_ns = 0};

	if (slot->ring == NULL)
		return;
	bpf_slot_time(slot, &time);
	bpf_slot_read_ring(slot);
	slot->past_enabled_ns = time.enabled_ns;
	slot->past_running_ns = time.running_ns;
	close(slot->link_fd);
	perf_ring_close(slot->ring);
	slot->ring = NULL;
}

int bpf_slot_fd(const struct bpf_slot *slot)
{
	return slot->ring != NULL ? perf_ring_fd(slot->ring) : -1;
}

void bpf_slot_enable(struct bpf_slot *slot)
{
	if (slot->ring != NULL)
		ioctl(perf_ring_fd(slot->ring), PERF_EVENT_IOC_ENABLE, 0);
}

void bpf_slot_disable(struct bpf_slot *slot)
{
	if (slot->ring != NULL)
		ioctl(perf_ring_fd(slot->ring), PERF_EVENT_IOC_DISABLE, 0);
}

static void period_set(struct bpf_slot *slot)
{
	uint64_t period = period_next(&slot->period);

	ioctl(perf_ring_fd(slot->ring), PERF_EVENT_IOC_PERIOD, &period);
}

void bpf_slot_set_window(struct bpf_slot *slot, const struct source_event *event, uint32_t seed)
{
	period_init(&slot->period, seed, event->period_min, event->period_max);
	if (slot->ring != NULL)
		period_set(slot);
}

void bpf_slot_new_period(struct bpf_slot *slot)
{
	if (slot->ring != NULL && slot->period.span > 1)
		period_set(slot);
}

void bpf_slot_read_ring(struct bpf_slot *slot)
{
	const struct perf_event_header *record;

	if (slot->ring == NULL)
		return;
	while ((record = perf_ring_next(slot->ring)) != NULL) {
		if (record->type == PERF_RECORD_THROTTLE)
			slot->throttled++;
	}
	perf_ring_consumed(slot->ring);
}

void bpf_slot_time(const struct bpf_slot *slot, struct source_time *sum)
{
	uint64_t values[3]; /* count, enabled, running */

	sum->enabled_ns += slot->past_enabled_ns;
	sum->running_ns += slot->past_running_ns;
	if (slot->ring == NULL ||
	    read(perf_ring_fd(slot->ring), values, sizeof(values)) != sizeof(values))
		return;
	sum->enabled_ns += values[1];
	sum->running_ns += values[2];
}
