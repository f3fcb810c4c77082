// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/overhead.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "daemon/base/log.h"
#include "daemon/collect/rate_limit.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "loader-hook/perf/perf_ring.h"

/* Number of pieces with a sample; with less than COSTS_MIN the median is unreliable. */
#define COSTS_MAX 64
#define COSTS_MIN 8
#define PIECE_NS 100000
#define DEADLINE_NS (200 * NS_PER_MS)
#define WARM_UP 5
/* One piece in four has a sample. */
#define PROBE_RATE (NS_PER_SECOND / PIECE_NS / 4)
#define PROBE_PAGES 4

static int overhead_by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int64_t median(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(values[0]), overhead_by_value);
	return values[count / 2];
}

static uint64_t not_negative(int64_t value)
{
	return value > 0 ? (uint64_t)value : 0;
}

int overhead_estimate(overhead_work_fn work, void *context, struct overhead_cost *ret,
		      struct error *err)
{
	int64_t cost[COSTS_MAX], plain_ns = 0;
	struct overhead_piece piece;
	size_t count = 0;

	while (count < COSTS_MAX && work(context, &piece)) {
		if (piece.disturbed)
			plain_ns = 0;
		else if (piece.samples == 0)
			plain_ns = (int64_t)piece.time_ns;
		else if (piece.samples == 1 && plain_ns > 0)
			cost[count++] = (int64_t)piece.time_ns - plain_ns;
	}
	if (count < COSTS_MIN)
		return error_set(err, EAGAIN, "the machine is too busy");
	ret->ns = not_negative(median(cost, count));
	ret->low_ns = not_negative(cost[count / 4]);
	ret->high_ns = not_negative(cost[count - 1 - count / 4]);
	return 0;
}

/* Measurement of real events. */

struct probe {
	struct perf_ring *ring;
	uint64_t iterations;
	uint64_t deadline_ns;
};

/* A dependency chain: the time depends only on the number of iterations. */
static void spin(uint64_t iterations)
{
	static volatile uint64_t sink;
	uint64_t x = sink;

	for (; iterations > 0; iterations--)
		x = (x ^ x >> 7) * 0x9e3779b97f4a7c15ULL + 1;
	sink = x;
}

static uint64_t spin_time(uint64_t iterations)
{
	uint64_t start = clock_monotonic_ns();

	spin(iterations);
	return clock_monotonic_ns() - start;
}

static long preemptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static uint64_t samples_taken(struct perf_ring *ring)
{
	const struct perf_event_header *record;
	uint64_t samples = 0;

	while ((record = perf_ring_next(ring)) != NULL)
		samples += record->type == PERF_RECORD_SAMPLE;
	perf_ring_consumed(ring);
	return samples;
}

static bool probe_work(void *context, struct overhead_piece *ret)
{
	struct probe *probe = context;
	long before = preemptions();

	if (clock_monotonic_ns() >= probe->deadline_ns)
		return false;
	ret->time_ns = spin_time(probe->iterations);
	ret->samples = samples_taken(probe->ring);
	ret->disturbed = preemptions() != before;
	return true;
}

/* The fastest of several runs: the others were interrupted, or the clock was still low. */
static uint64_t iterations_for(uint64_t time_ns)
{
	uint64_t iterations = 1 << 14, best = UINT64_MAX, took;
	int i;

	for (i = 0; i < WARM_UP; i++) {
		took = spin_time(iterations);
		if (took < best)
			best = took;
	}
	return best > 0 ? iterations * time_ns / best : iterations;
}

/*
 * The rate is at most half of the kernel's limit, because a throttled counter would take fewer
 * samples. Kernel mode is excluded, so that no privileges are needed.
 */
static int probe_open(struct perf_ring **ret, const struct source_event *event, uint64_t cpu_hz,
		      struct error *err)
{
	uint64_t limit = rate_limit_safe(rate_limit_now());
	uint64_t rate = limit > 0 && limit < PROBE_RATE ? limit : PROBE_RATE;
	bool clock = event_is_clock(event);
	struct perf_event_attr attr = {
		.type = clock ? event->type : PERF_TYPE_HARDWARE,
		.config = clock ? event->config : PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = (clock ? NS_PER_SECOND : cpu_hz) / rate,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};

	return perf_ring_open(ret, &attr, 0, -1, PROBE_PAGES, err);
}

int overhead_measure(const struct source_event *event, uint64_t cpu_hz, struct overhead_cost *ret,
		     struct error *err)
{
	struct probe probe = {.deadline_ns = clock_monotonic_ns() + DEADLINE_NS};
	cpu_set_t before, here;
	int cpu = sched_getcpu(), rc;

	if (cpu < 0 || sched_getaffinity(0, sizeof(before), &before) < 0)
		return error_set_errno(err, "cannot determine the CPU");
	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	rc = probe_open(&probe.ring, event, cpu_hz, err);
	if (rc < 0)
		return rc;
	if (sched_setaffinity(0, sizeof(here), &here) < 0) {
		rc = error_set_errno(err, "cannot stay on CPU %d", cpu);
	} else {
		probe.iterations = iterations_for(PIECE_NS);
		ioctl(perf_ring_fd(probe.ring), PERF_EVENT_IOC_ENABLE, 0);
		rc = overhead_estimate(probe_work, &probe, ret, err);
		sched_setaffinity(0, sizeof(before), &before);
	}
	perf_ring_close(probe.ring);
	return rc;
}

uint64_t overhead_rate(uint64_t cost_ns, uint64_t percent)
{
	uint64_t rate;

	if (cost_ns == 0)
		return EVENT_RATE;
	rate = NS_PER_SECOND / 1000 * 9 * percent / cost_ns;
	if (rate < OVERHEAD_RATE_MIN)
		return OVERHEAD_RATE_MIN;
	return rate < EVENT_RATE ? rate : EVENT_RATE;
}

int overhead_measure_all(const struct event_list *events, uint64_t cpu_hz,
			 struct overhead_cost *ret, struct error *err)
{
	struct overhead_cost cost[2] = {{0}};
	bool known[2] = {false};
	int r;

	for (size_t i = 0; i < events->count; i++) {
		bool clock = event_is_clock(&events->event[i]);

		if (known[clock])
			continue;
		r = overhead_measure(&events->event[i], cpu_hz, &cost[clock], err);
		if (r < 0)
			return r;
		known[clock] = true;
	}
	*ret = cost[known[true]];
	if (known[false] && known[true]) {
		ret->low_ns = cost[cost[0].low_ns > cost[1].low_ns].low_ns;
		ret->high_ns = cost[cost[0].high_ns < cost[1].high_ns].high_ns;
	}
	return 0;
}

/*
 * Sum the costs of a sample of each event in a mask. Counters of all kinds interrupt in the same
 * way, clocks in another way, so that there are two costs to measure.
 */
static int costs_sum(const struct event_list *events, unsigned int mask, uint64_t cpu_hz,
		     uint64_t *sum, uint64_t *count, struct error *err)
{
	struct overhead_cost cost[2] = {{0}};
	bool known[2] = {false};
	size_t i;
	int rc;

	*sum = *count = 0;
	for (i = 0; i < events->count; i++) {
		bool clock = event_is_clock(&events->event[i]);

		if ((mask >> i & 1) == 0)
			continue;
		if (!known[clock]) {
			rc = overhead_measure(&events->event[i], cpu_hz, &cost[clock], err);
			if (rc < 0)
				return rc;
			known[clock] = true;
		}
		*sum += cost[clock].ns;
		++*count;
	}
	return 0;
}

uint64_t overhead_expected(const struct event_list *events, uint64_t cpu_hz, uint64_t cost_ns)
{
	uint64_t rate = 0;
	size_t i;

	for (i = 0; i < events->count; i++) {
		const struct source_event *event = &events->event[i];
		uint64_t hz = event_is_clock(event) ? NS_PER_SECOND : cpu_hz;
		uint64_t period = event->period_min + (event->period_max - event->period_min) / 2;

		if (strcmp(event->unit, "events") != 0 && period > 0)
			rate += hz / period;
	}
	/* Above a whole CPU the exact value does not matter. */
	return rate > NS_PER_SECOND || rate * cost_ns > NS_PER_SECOND
		       ? 1000
		       : rate * cost_ns / (NS_PER_SECOND / 1000);
}

/* All periods were specified: report their cost, if it can be measured. */
static void given_report(const struct event_list *events, uint64_t cpu_hz, uint64_t *cost_ns)
{
	uint64_t sum, count, expected;

	if (costs_sum(events, (1U << events->count) - 1, cpu_hz, &sum, &count, NULL) < 0 ||
	    count == 0)
		return;
	*cost_ns = sum / count;
	expected = overhead_expected(events, cpu_hz, *cost_ns);
	log_info("a sample costs %.1f us here: the configured periods cost %s%.1f%% of a busy CPU",
		 (double)*cost_ns / 1e3, expected >= 1000 ? "more than " : "",
		 (double)expected / 10);
}

static uint64_t rate_fit(struct event_list *events, uint64_t cpu_hz, uint64_t percent, uint64_t sum)
{
	uint64_t rate = overhead_rate(sum, percent);

	event_list_set_rate(events, cpu_hz, rate);
	return rate;
}

void overhead_fit(struct event_list *events, uint64_t cpu_hz, uint64_t percent, uint64_t *cost_ns)
{
	uint64_t sum, count, rate;
	struct error err;

	*cost_ns = 0;
	if (events->defaults == 0) {
		given_report(events, cpu_hz, cost_ns);
		return;
	}
	if (costs_sum(events, events->defaults, cpu_hz, &sum, &count, &err) < 0) {
		event_list_set_rate(events, cpu_hz, OVERHEAD_RATE_MIN);
		log_warning(
			"cannot measure the cost of a sample (%s): %d samples per second and CPU",
			err.message, OVERHEAD_RATE_MIN);
		return;
	}
	rate = rate_fit(events, cpu_hz, percent, sum);
	*cost_ns = count > 0 ? sum / count : 0;
	log_info("a sample costs %.1f us here: %llu samples per second and CPU%s (%.1f%%)",
		 (double)*cost_ns / 1e3, (unsigned long long)rate,
		 count > 1 ? " of each event" : "", (double)(rate * sum) * 100 / NS_PER_SECOND);
}

bool overhead_watch_due(struct overhead_watch *watch, uint64_t now_ns, uint64_t interval_ns)
{
	bool due = watch->next_ns != 0 && now_ns >= watch->next_ns;

	if (due || watch->next_ns == 0)
		watch->next_ns = now_ns + interval_ns;
	return due;
}

uint64_t overhead_watch_note(struct overhead_watch *watch, uint64_t fitted_ns, uint64_t cost_ns)
{
	int64_t sorted[OVERHEAD_LOOKS];
	uint64_t middle;
	size_t i;

	/* Until there are enough measurements, the cost at the start replaces missing ones. */
	if (watch->seen == 0) {
		for (i = 0; i < OVERHEAD_LOOKS; i++)
			watch->costs[i] = fitted_ns > 0 ? fitted_ns : cost_ns;
	}
	watch->costs[watch->seen++ % OVERHEAD_LOOKS] = cost_ns;
	for (i = 0; i < OVERHEAD_LOOKS; i++)
		sorted[i] = (int64_t)watch->costs[i];
	middle = (uint64_t)median(sorted, OVERHEAD_LOOKS);
	if (fitted_ns > 0 && middle * 4 <= fitted_ns * 5 && middle * 5 >= fitted_ns * 4)
		return 0;
	return middle;
}

int overhead_again(struct overhead_watch *watch, struct event_list *events, uint64_t cpu_hz,
		   uint64_t percent, uint64_t *cost_ns)
{
	uint64_t sum, count, cost, rate, before = *cost_ns;

	if (events->defaults == 0 ||
	    costs_sum(events, events->defaults, cpu_hz, &sum, &count, NULL) < 0 || count == 0)
		return 0;
	cost = overhead_watch_note(watch, before, sum / count);
	if (cost == 0)
		return 0;
	*cost_ns = cost;
	/* The rate may be at the same limit for both costs. */
	if (overhead_rate(cost * count, percent) == overhead_rate(before * count, percent))
		return 0;
	rate = rate_fit(events, cpu_hz, percent, cost * count);
	log_info("a sample costs %.1f us now, not %.1f us: %llu samples per second and CPU%s",
		 (double)cost / 1e3, (double)before / 1e3, (unsigned long long)rate,
		 count > 1 ? " of each event" : "");
	return 1;
}
