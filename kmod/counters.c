// SPDX-License-Identifier: GPL-2.0-only
#include "counters.h"

#include <linux/err.h>
#include <linux/perf_event.h>

#include "handler.h"
#include "sampler_cpu.h"

void counters_time(const struct sampler_cpu *sampled, u32 event, u64 *enabled_ns, u64 *running_ns)
{
	const struct sampler_event *counted = &sampled->event[event];
	u64 enabled = 0, running = 0;

	if (counted->counter)
		perf_event_read_value(counted->counter, &enabled, &running);
	*enabled_ns = counted->enabled_ns + enabled;
	*running_ns = counted->running_ns + running;
}

void counters_release(struct sampler_cpu *sampled)
{
	u64 enabled, running;
	u32 i;

	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		struct sampler_event *event = &sampled->event[i];

		if (!event->counter)
			continue;
		perf_event_disable(event->counter);
		counters_time(sampled, i, &enabled, &running);
		event->enabled_ns = enabled;
		event->running_ns = running;
		perf_event_release_kernel(event->counter);
		event->counter = NULL;
	}
}

/*
 * Not pinned: perf rotates events when there are more of them than counters, whereas a pinned event
 * would fail permanently. Idle and kernel are sampled like everything else.
 */
static struct perf_event *counter_create(unsigned int cpu, struct sampler_event *event,
					 const struct dcpi_event *description, u32 flags)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = description->type,
		.config = description->config,
		.config1 = description->config1,
		.config2 = description->config2,
		.sample_period = period_next(&event->period),
		.exclude_user = !!(description->flags & DCPI_EVENT_EXCLUDE_USER),
		.exclude_kernel = !!(description->flags & DCPI_EVENT_EXCLUDE_KERNEL),
		.exclude_hv = 1,
		.exclude_guest = 1,
		.disabled = 1,
	};

	event->period_sum += attr.sample_period;
	return perf_event_create_kernel_counter(&attr, (int)cpu, NULL, handler_choose(flags),
						event);
}

static bool is_software(const struct perf_event *counter)
{
	return counter->pmu->task_ctx_nr == perf_sw_context;
}

/*
 * Interrupts and faults save all registers. Other software events, such as context switches and
 * tracepoints, only record where they occurred. Decide by the requested type and config, because
 * since Linux 6.5 the counters of the clocks have another type.
 */
static bool whole_registers(const struct perf_event *counter, const struct dcpi_event *description)
{
	if (!is_software(counter))
		return true;
	if (description->type != PERF_TYPE_SOFTWARE)
		return false;
	switch (description->config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
		return true;
	default:
		return false;
	}
}

/* A software event's periods are not programmed the way handler.c expects. */
static bool double_possible(const struct sampler_cpu *sampled, const struct dcpi_config *config)
{
	return !(config->flags & DCPI_START_DOUBLE) || !is_software(sampled->event[0].counter);
}

static int counters_open(unsigned int cpu, struct sampler_cpu *sampled,
			 const struct dcpi_config *config)
{
	struct perf_event *counter;
	u32 i;

	for (i = 0; i < config->events; i++) {
		counter = counter_create(cpu, &sampled->event[i], &config->event[i], config->flags);
		if (IS_ERR(counter))
			return (int)PTR_ERR(counter);
		sampled->event[i].counter = counter;
		sampled->event[i].whole_registers = whole_registers(counter, &config->event[i]);
	}
	return double_possible(sampled, config) ? 0 : -EOPNOTSUPP;
}

/* Counters are enabled last, so that the handler finds its context complete. */
int counters_create(unsigned int cpu, struct sampler_cpu *sampled, const struct dcpi_config *config)
{
	int err = counters_open(cpu, sampled, config);
	u32 i;

	if (err) {
		counters_release(sampled);
		return err;
	}
	sampled->twice.running = false;
	for (i = 0; i < config->events; i++)
		perf_event_enable(sampled->event[i].counter);
	return 0;
}
