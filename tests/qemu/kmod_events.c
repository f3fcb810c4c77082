// SPDX-License-Identifier: GPL-2.0-only
/* Test dcpi.ko's counters of events and of its own time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

static uint32_t online(void)
{
	return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Times advance while counters run, stop afterwards, and restart from zero. */
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
		early = device_event_stats(&d, cpu, 0);
		sleep_ms(200);
		late = device_event_stats(&d, cpu, 0);
		CHECK(early.running_ns > 0 && early.enabled_ns == early.running_ns);
		CHECK(late.enabled_ns >= early.enabled_ns + 200000000, "%llu, %llu",
		      early.enabled_ns, late.enabled_ns);
	}
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	late = device_event_stats(&d, 0, 0);
	CHECK(late.interrupts > 0 && late.enabled_ns >= 600000000);
	sleep_ms(100);
	after = device_event_stats(&d, 0, 0);
	CHECK(memcmp(&late, &after, sizeof(after)) == 0);
	CHECK(device_start(&d, &config) == 0);
	CHECK(device_event_stats(&d, 0, 0).enabled_ns < late.enabled_ns);
	return true;
}

static bool cpu_switch(bool on)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool good = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;

	if (fd >= 0)
		close(fd);
	return good;
}

/* A CPU that goes offline loses its counters; the values that they had reached are kept. */
static bool sums_go_on_across_hotplug(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_event_stats before, away, back;
	struct device d;

	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(300);
	before = device_event_stats(&d, 1, 0);
	CHECK(before.interrupts > 0 && before.enabled_ns > 0);
	CHECK(cpu_switch(false));
	away = device_event_stats(&d, 1, 0);
	CHECK(away.interrupts >= before.interrupts && away.enabled_ns >= before.enabled_ns);
	sleep_ms(200);
	back = device_event_stats(&d, 1, 0);
	CHECK(memcmp(&away, &back, sizeof(back)) == 0);
	CHECK(cpu_switch(true));
	CHECK(device_wait(&d, 1, 0, away.interrupts + 10));
	back = device_event_stats(&d, 1, 0);
	CHECK(back.enabled_ns > away.enabled_ns && back.running_ns > away.running_ns);
	CHECK(back.period_sum > away.period_sum);
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
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

/* Check @sum_ns against the bounds that the histogram's buckets give for the sum of times. */
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

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(times_are_those_of_the_session),
		TAP_TEST(sums_go_on_across_hotplug),
		TAP_TEST(handler_times_by_hit_and_miss),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
