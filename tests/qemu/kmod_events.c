// SPDX-License-Identifier: GPL-2.0-only
/* dcpi.ko's accounts of events and of its own time; with a PMU, also taking turns. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

static uint32_t online(void)
{
	return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

static struct dcpi_event_stats event_stats(const struct device *d, uint32_t cpu, uint32_t event)
{
	struct dcpi_event_stats stats = {.cpu = cpu, .event = event};

	if (device_ioctl(d, DCPI_IOC_EVENT_STATS, &stats) != 0)
		memset(&stats, 0, sizeof(stats));
	return stats;
}

/* Times run while counters do, stand still afterwards, and begin anew. */
static bool times_are_those_of_the_session(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_event_stats early, late, after;
	struct device d;
	uint32_t cpu;

	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	for (cpu = 0; cpu < online(); cpu++) {
		sleep_ms(200);
		early = event_stats(&d, cpu, 0);
		sleep_ms(200);
		late = event_stats(&d, cpu, 0);
		CHECK(early.running_ns > 0 && early.enabled_ns == early.running_ns);
		CHECK(late.enabled_ns >= early.enabled_ns + 200000000, "%llu, %llu",
		      early.enabled_ns, late.enabled_ns);
	}
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	late = event_stats(&d, 0, 0);
	CHECK(late.interrupts > 0 && late.enabled_ns >= 600000000);
	sleep_ms(100);
	after = event_stats(&d, 0, 0);
	CHECK(memcmp(&late, &after, sizeof(after)) == 0);
	CHECK(device_start(&d, &config) == 0);
	CHECK(event_stats(&d, 0, 0).enabled_ns < late.enabled_ns);
	return true;
}

static uint64_t sum(const __u64 *counts)
{
	uint64_t total = 0;
	int i;

	for (i = 0; i < DCPI_TIME_BUCKETS; i++)
		total += counts[i];
	return total;
}

/* Bounds that the elements give for the sum of times. */
static bool sum_fits(const __u64 *counts, uint64_t sum_ns)
{
	uint64_t low = 0, high = 0;
	int i;

	for (i = 0; i < DCPI_TIME_BUCKETS; i++) {
		low += i == 0 ? 0 : counts[i] << i;
		high += i == DCPI_TIME_BUCKETS - 1 ? UINT32_MAX * counts[i] : counts[i] << (i + 1);
	}
	return sum_ns >= low && sum_ns <= high;
}

static bool handler_times_by_hit_and_miss(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_stats stats;
	struct dcpi_times times;
	struct device d;
	uint32_t cpu;

	load_start(2);
	config.flags = DCPI_START_TIMES;
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(1000);
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	for (cpu = 0; cpu < online(); cpu++) {
		memset(&times, 0, sizeof(times));
		times.cpu = cpu;
		CHECK(device_ioctl(&d, DCPI_IOC_TIMES, &times) == 0);
		CHECK(device_stats(&d, cpu, &stats) == 0);
		CHECK(stats.hits > 0 && sum(times.hit) == stats.hits);
		CHECK(sum(times.miss) == stats.interrupts - stats.hits);
		CHECK(times.hit_ns > 0 && sum_fits(times.hit, times.hit_ns));
		CHECK(times.miss_ns > 0 && sum_fits(times.miss, times.miss_ns));
	}
	config.flags = 0;
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(200);
	CHECK(device_stop(&d) == 0);
	CHECK(device_ioctl(&d, DCPI_IOC_TIMES, &times) == 0);
	CHECK(sum(times.hit) + sum(times.miss) + times.hit_ns + times.miss_ns == 0);
	return true;
}

/* Hardware events 0 .. @events - 1, all the same: cycles or instructions. */
static struct dcpi_config hardware_config(uint32_t events, uint64_t which)
{
	struct dcpi_config config = device_config(0, 0);
	uint32_t i;

	config.events = events;
	for (i = 0; i < events; i++)
		config.event[i] = (struct dcpi_event){
			.type = PERF_TYPE_HARDWARE,
			.config = which,
			.period_min = 60000,
			.period_max = 64000,
		};
	return config;
}

static bool has_pmu(void)
{
	struct dcpi_config config = hardware_config(1, PERF_COUNT_HW_CPU_CYCLES);
	struct device d;
	int err;

	if (!device_open(&d))
		return false;
	err = device_start(&d, &config);
	device_close(&d);
	if (err != 0)
		printf("no PMU here\n");
	return err == 0;
}

/* Whole CPUs' cycles, from interrupts and from periods. */
static bool cycles_interrupt(void)
{
	struct dcpi_config config = hardware_config(1, PERF_COUNT_HW_CPU_CYCLES);
	struct dcpi_stats stats;
	struct device d;
	double mean;

	if (!has_pmu())
		return true;
	CHECK(device_open(&d));
	load_spin(0);
	CHECK(device_start(&d, &config) == 0);
	CHECK(device_wait(&d, 0, 0, 1000));
	CHECK(device_stop(&d) == 0);
	CHECK(device_stats(&d, 0, &stats) == 0);
	mean = (double)stats.period_sum / (double)(stats.interrupts + 1);
	CHECK(fabs(mean - 62000) < 5 * 4000 / sqrt(12 * (double)stats.interrupts), "%.0f", mean);
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	return true;
}

/*
 * More events than counters, all of cycles while all CPUs spin: each is on a
 * counter for part of the time only, and all say the same when scaled.
 */
static bool more_events_than_counters_take_turns(void)
{
	struct dcpi_config config = hardware_config(DCPI_EVENTS_MAX, PERF_COUNT_HW_CPU_CYCLES);
	double scaled[DCPI_EVENTS_MAX], mean = 0;
	struct dcpi_event_stats stats;
	struct device d;
	uint32_t i;

	if (!has_pmu())
		return true;
	CHECK(device_open(&d));
	load_spin(0);
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(2000);
	for (i = 0; i < DCPI_EVENTS_MAX; i++)
		CHECK(device_wait(&d, 0, i, 300));
	CHECK(device_stop(&d) == 0);
	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		stats = event_stats(&d, 0, i);
		CHECK(stats.running_ns > 0 && stats.enabled_ns > stats.running_ns, "%u: %llu, %llu",
		      i, stats.enabled_ns, stats.running_ns);
		scaled[i] = (double)stats.interrupts * 62000 * (double)stats.enabled_ns /
			    (double)stats.running_ns;
		mean += scaled[i] / DCPI_EVENTS_MAX;
	}
	/* The machine's time passes in bursts: within a quarter, not within the noise. */
	for (i = 0; i < DCPI_EVENTS_MAX; i++)
		CHECK(fabs(scaled[i] - mean) < mean / 4, "%u: %.3g, mean %.3g", i, scaled[i], mean);
	printf("event 0 ran %.0f%% of the time; %.4g cycles, mean %.4g\n",
	       100.0 * (double)event_stats(&d, 0, 0).running_ns /
		       (double)event_stats(&d, 0, 0).enabled_ns,
	       scaled[0], mean);
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	return true;
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(times_are_those_of_the_session),
		TAP_TEST(handler_times_by_hit_and_miss),
		TAP_TEST(cycles_interrupt),
		TAP_TEST(more_events_than_counters_take_turns),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
