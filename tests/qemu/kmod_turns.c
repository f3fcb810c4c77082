// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test dcpi.ko on a PMU by counts: the rate of cycle interrupts, and multiplexed events. The
 * machine's clock must count instructions: if the host takes time from an ordinary machine, the
 * cycles come back as a burst, counted for the event that happens to be on the counter.
 */
#include <linux/perf_event.h>
#include <math.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

/* Hardware events 0 .. @events - 1, all equal: cycles or instructions. */
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

/* The cycles of all CPUs, computed from interrupts and from periods. */
static bool cycles_interrupt(void)
{
	struct dcpi_config config = hardware_config(1, PERF_COUNT_HW_CPU_CYCLES);
	struct dcpi_stats stats;
	struct device d;
	double mean;

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
 * More events than counters, all counting cycles while all CPUs spin. Each event is on a counter
 * for part of the time only, and the scaled counts are equal.
 */
static bool more_events_than_counters_take_turns(void)
{
	struct dcpi_config config = hardware_config(DCPI_EVENTS_MAX, PERF_COUNT_HW_CPU_CYCLES);
	double scaled[DCPI_EVENTS_MAX], mean = 0;
	struct dcpi_event_stats stats;
	struct device d;
	uint32_t i;

	CHECK(device_open(&d));
	load_spin(0);
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(2000);
	for (i = 0; i < DCPI_EVENTS_MAX; i++)
		CHECK(device_wait(&d, 0, i, 300));
	CHECK(device_stop(&d) == 0);
	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		stats = device_event_stats(&d, 0, i);
		CHECK(stats.running_ns > 0 && stats.enabled_ns > stats.running_ns, "%u: %llu, %llu",
		      i, stats.enabled_ns, stats.running_ns);
		scaled[i] = (double)stats.interrupts * 62000 * (double)stats.enabled_ns /
			    (double)stats.running_ns;
		mean += scaled[i] / DCPI_EVENTS_MAX;
	}
	for (i = 0; i < DCPI_EVENTS_MAX; i++)
		CHECK(fabs(scaled[i] - mean) < mean / 50, "%u: %.3g, mean %.3g", i, scaled[i],
		      mean);
	printf("event 0 ran %.0f%% of the time; %.4g cycles, mean %.4g\n",
	       100.0 * (double)device_event_stats(&d, 0, 0).running_ns /
		       (double)device_event_stats(&d, 0, 0).enabled_ns,
	       scaled[0], mean);
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	return true;
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(cycles_interrupt),
		TAP_TEST(more_events_than_counters_take_turns),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
