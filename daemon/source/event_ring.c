// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/event_ring.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>

#include "daemon/source/source.h"
#include "lib/error.h"
#include "loader-hook/perf/perf_ring.h"

struct perf_event_attr event_ring_attr(struct event_ring *ring, const struct source_event *event,
				       uint32_t number, uint32_t cpu, bool user_only)
{
	period_init(&ring->period, (uint32_t)time(NULL) ^ cpu << 8 ^ number, event->period_min,
		    event->period_max);
	return (struct perf_event_attr){
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.sample_period = period_next(&ring->period),
		.disabled = 1,
		.exclude_user = (event->flags & DCPI_EVENT_EXCLUDE_USER) != 0,
		.exclude_kernel = user_only || (event->flags & DCPI_EVENT_EXCLUDE_KERNEL) != 0,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
}

int event_ring_explain(const struct source_event *event, int rc, struct error *err)
{
	if (rc != -ENOENT && rc != -EOPNOTSUPP)
		return rc;
	return error_set(err, -rc, "this machine does not have event '%s': %s", event->name,
			 SOURCE_EVENT_INSTEAD);
}

int event_ring_fd(const struct event_ring *ring)
{
	return ring->ring != NULL ? perf_ring_fd(ring->ring) : -1;
}

void event_ring_enable(const struct event_ring *ring)
{
	if (ring->ring != NULL)
		ioctl(perf_ring_fd(ring->ring), PERF_EVENT_IOC_ENABLE, 0);
}

void event_ring_disable(const struct event_ring *ring)
{
	if (ring->ring != NULL)
		ioctl(perf_ring_fd(ring->ring), PERF_EVENT_IOC_DISABLE, 0);
}

bool event_ring_stands(const struct event_ring *ring)
{
	return ring->ring != NULL && perf_ring_stands(ring->ring);
}

static void period_set(struct event_ring *ring)
{
	uint64_t period = period_next(&ring->period);

	if (ring->ring != NULL)
		ioctl(perf_ring_fd(ring->ring), PERF_EVENT_IOC_PERIOD, &period);
}

static uint64_t multiplied(uint64_t period, uint32_t factor)
{
	uint64_t product;

	return __builtin_mul_overflow(period, factor, &product) || product > INT64_MAX ? INT64_MAX
										       : product;
}

void event_ring_stretch(struct source_event *ret, const struct source_event *event, uint32_t factor)
{
	*ret = *event;
	ret->period_min = multiplied(event->period_min, factor);
	ret->period_max = multiplied(event->period_max, factor);
}

void event_ring_set_window(struct event_ring *ring, const struct source_event *event)
{
	period_init(&ring->period, period_random(&ring->period.state), event->period_min,
		    event->period_max);
	period_set(ring);
}

void event_ring_new_period(struct event_ring *ring)
{
	if (ring->period.span > 1)
		period_set(ring);
}
