// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/perf_slot.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/source/source.h"
#include "lib/error.h"
#include "loader-hook/perf/perf_ring.h"

#define RING_PAGES_MIN 4
/* A reader is woken when this fraction of a ring is full. */
#define RING_WAKE_PART 4

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

/* Values that read() returns: the event's count, then those of READ_FORMAT, in order. */
#define READ_FORMAT (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
enum {
	READ_COUNT,
	READ_ENABLED,
	READ_RUNNING,
	READ_LOST,
	READ_VALUES
};

/* The layout of struct perf_sample. */
#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct perf_lost {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
};

static struct perf_event_attr attr_of(struct perf_slot *slot, const struct perf_slot_config *config)
{
	struct perf_event_attr attr = event_ring_attr(&slot->event, config->event, config->number,
						      config->cpu, config->user_only);

	attr.sample_type = SAMPLE_TYPE;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.watermark = 1;
	if (config->registers != 0) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER;
		attr.sample_regs_user = config->registers;
	}
	if (config->stack_bytes != 0) {
		attr.sample_type |= PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN;
		attr.sample_stack_user = config->stack_bytes;
		attr.exclude_callchain_user = 1;
		attr.exclude_callchain_kernel = config->user_only;
	}
	if (config->target_pid != 0) {
		attr.inherit = 1;
		attr.enable_on_exec = 1;
	}
	return attr;
}

/*
 * The limit of locked memory is shared with other users of perf: use a smaller ring if necessary.
 */
static int ring_open(struct perf_slot *slot, const struct perf_slot_config *config,
		     struct perf_event_attr *attr, struct error *err)
{
	int pid = config->target_pid != 0 ? (int)config->target_pid : -1;
	size_t pages;
	int rc = -EPERM;

	for (pages = config->ring_pages; pages >= RING_PAGES_MIN; pages /= 2) {
		attr->wakeup_watermark =
			(uint32_t)(pages * (size_t)sysconf(_SC_PAGESIZE) / RING_WAKE_PART);
		rc = perf_ring_open(&slot->event.ring, attr, pid, (int)config->cpu, pages, err);
		if (rc != -EPERM && rc != -ENOMEM)
			break;
	}
	return rc;
}

int perf_slot_open(struct perf_slot *slot, const struct perf_slot_config *config, struct error *err)
{
	struct perf_event_attr attr;
	int rc;

	if (config->user_only && (config->event->flags & DCPI_EVENT_EXCLUDE_USER) != 0)
		return error_set(err, EACCES,
				 "event '%s' counts the kernel, which is excluded here",
				 config->event->name);
	slot->drained = 0;
	attr = attr_of(slot, config);
	attr.read_format = READ_FORMAT | PERF_FORMAT_LOST;
	slot->counts_lost = true;
	rc = ring_open(slot, config, &attr, err);
	if (rc == -EINVAL) {
		attr.read_format = READ_FORMAT;
		slot->counts_lost = false;
		rc = ring_open(slot, config, &attr, err);
	}
	rc = event_ring_explain(config->event, rc, err);
	if (rc == 0 && config->program_fd != 0 &&
	    ioctl(event_ring_fd(&slot->event), PERF_EVENT_IOC_SET_BPF, config->program_fd) < 0) {
		rc = error_set_errno(err, "cannot attach a BPF program to CPU %u", config->cpu);
		perf_slot_close(slot);
	}
	return rc;
}

/* Add the increase of the current ring's value to the total. */
static void total_follow(uint64_t *total, uint64_t *ring, uint64_t value)
{
	if (value > *ring) {
		*total += value - *ring;
		*ring = value;
	}
}

void perf_slot_read(struct perf_slot *slot)
{
	uint64_t values[READ_VALUES];
	size_t wanted = (slot->counts_lost ? READ_VALUES : READ_LOST) * sizeof(values[0]);

	if (slot->event.ring == NULL ||
	    read(event_ring_fd(&slot->event), values, sizeof(values)) != (ssize_t)wanted)
		return;
	total_follow(&slot->enabled_ns, &slot->ring_enabled_ns, values[READ_ENABLED]);
	total_follow(&slot->running_ns, &slot->ring_running_ns, values[READ_RUNNING]);
	if (slot->counts_lost)
		total_follow(&slot->lost, &slot->ring_lost, values[READ_LOST]);
}

void perf_slot_close(struct perf_slot *slot)
{
	perf_slot_read(slot);
	perf_ring_close(slot->event.ring);
	slot->event.ring = NULL;
	slot->ring_lost = 0;
	slot->ring_enabled_ns = 0;
	slot->ring_running_ns = 0;
}

void perf_slot_new_period(struct perf_slot *slot)
{
	if (slot->drained > 0)
		event_ring_new_period(&slot->event);
	slot->drained = 0;
}

/*
 * Losses are counted either by the kernel's count or by records, never by both: the kernel's count
 * is complete.
 */
static void lost_take(struct perf_slot *slot, const struct perf_event_header *record)
{
	if (!slot->counts_lost && record->size >= sizeof(struct perf_lost))
		slot->lost += ((const struct perf_lost *)(const void *)record)->lost;
}

static void malformed_take(struct perf_slot *slot)
{
	uint64_t bytes = perf_ring_dropped(slot->event.ring);

	slot->malformed += (bytes + sizeof(struct perf_sample) - 1) / sizeof(struct perf_sample);
}

void perf_slot_drain(struct perf_slot *slot, uint64_t until_ns, perf_slot_fn visit, void *context)
{
	const struct perf_event_header *record;

	if (slot->event.ring == NULL)
		return;
	while ((record = perf_ring_next(slot->event.ring)) != NULL) {
		const struct perf_sample *sample = (const void *)record;

		if (record->type == PERF_RECORD_LOST)
			lost_take(slot, record);
		if (record->type == PERF_RECORD_THROTTLE)
			slot->throttled++;
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		if (record->size < sizeof(*sample)) {
			slot->malformed++;
			continue;
		}
		if (sample->time_ns > until_ns) {
			perf_ring_put_back(slot->event.ring);
			break;
		}
		slot->drained++;
		visit(context, sample);
	}
	malformed_take(slot);
	perf_ring_consumed(slot->event.ring);
}
