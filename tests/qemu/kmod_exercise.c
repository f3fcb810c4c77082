// SPDX-License-Identifier: GPL-2.0-only
/* Test dcpi.ko with correct use: sampling, draining, counting. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

static bool version(void)
{
	struct dcpi_version v;
	struct device d;
	struct stat st;

	CHECK(device_open(&d));
	memset(&v, 0xff, sizeof(v));
	CHECK(device_ioctl(&d, DCPI_IOC_VERSION, &v) == 0);
	CHECK(v.major == DCPI_UAPI_MAJOR && v.minor == DCPI_UAPI_MINOR && v.reserved == 0);
	CHECK((long)v.cpus >= sysconf(_SC_NPROCESSORS_CONF), "%u", v.cpus);
	CHECK(stat(DCPI_DEVICE_PATH, &st) == 0 && (st.st_mode & 07777) == 0660);
	return true;
}

/* Wait until each CPU has more than @count interrupts; on a busy host, the machine gets few. */
static bool await_interrupts(struct device *d, uint64_t count)
{
	struct dcpi_stats s;

	for (uint32_t cpu = 0; cpu < (uint32_t)sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		int tries = 0;

		do {
			sleep_ms(100);
			CHECK(device_stats(d, cpu, &s) == 0);
		} while (s.interrupts <= count && ++tries < 600);
		CHECK(s.interrupts > count, "CPU %u: %llu", cpu, s.interrupts);
	}
	return true;
}

/* Each CPU has interrupts and samples, and the samples delivered equal the interrupts exactly. */
static bool every_interrupt_is_accounted_for(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_stats s;
	struct device d;
	uint32_t cpu;

	load_start(3);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(1500);
	CHECK(await_interrupts(&d, 100));
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	for (cpu = 0; cpu < (uint32_t)sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		CHECK(device_stats(&d, cpu, &s) == 0);
		CHECK(s.interrupts > 100, "CPU %u: %llu", cpu, s.interrupts);
		CHECK(s.hits > 0 && s.misses > 0 && s.online == 0);
		CHECK(s.pending == s.interrupts && s.delivered == 0);
	}
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	s = device_total(&d);
	CHECK(s.pending == 0 && s.delivered == s.interrupts);
	return true;
}

static bool stop_is_idempotent_and_start_begins_anew(void)
{
	struct dcpi_config config = device_config(1024, 1024);
	struct device d;
	uint64_t first;

	CHECK(device_open(&d));
	CHECK(device_stop(&d) == 0);
	CHECK(device_start(&d, &config) == 0);
	CHECK(device_ioctl(&d, DCPI_IOC_START, &config) == EBUSY);
	sleep_ms(300);
	CHECK(device_stop(&d) == 0 && device_stop(&d) == 0);
	first = device_total(&d).interrupts;
	sleep_ms(100);
	CHECK(first > 0 && device_total(&d).interrupts == first);
	CHECK(device_start(&d, &config) == 0 && device_stop(&d) == 0);
	CHECK(device_total(&d).interrupts < first);
	CHECK(device_accounted(&d));
	return true;
}

struct spin_count {
	uint32_t pid;
	uint32_t cpu;
	uint64_t inside;
	uint64_t user;
	uint64_t elsewhere;
};

static void count_spin(void *context, uint32_t cpu, const struct dcpi_sample *sample)
{
	struct spin_count *spin = context;
	uint64_t n = dcpi_tag_count(sample->tag);

	if (dcpi_tag_pid(sample->tag) != spin->pid)
		return;
	if (cpu != spin->cpu)
		spin->elsewhere += n;
	if (sample->pc >> 63)
		return;
	spin->user += n;
	if (load_spin_contains(sample->pc))
		spin->inside += n;
}

/* A process that only loops in one function is sampled there, and on its CPU. */
static bool samples_fall_where_time_is_spent(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct spin_count spin = {.cpu = 1};
	struct device d;
	uint64_t all;

	CHECK(device_open(&d));
	spin.pid = (uint32_t)load_spin(1);
	sleep_ms(100);
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(1000);
	CHECK(device_stop(&d) == 0);
	CHECK(device_drain_cpus(&d, count_spin, &spin) == 0);
	CHECK(device_accounted(&d));
	all = d.taken[1];
	CHECK(spin.elsewhere == 0);
	CHECK(spin.inside == spin.user, "%llu of %llu", (unsigned long long)spin.inside,
	      (unsigned long long)spin.user);
	/*
	 * The remaining samples are the kernel's, mainly timer ticks; on a debug kernel (KASAN) a
	 * quarter.
	 */
	CHECK(spin.inside > all * (access("/proc/lockdep_stats", F_OK) == 0 ? 6 : 8) / 10,
	      "%llu of %llu on the CPU", (unsigned long long)spin.inside, (unsigned long long)all);
	return true;
}

/* The mean of n uniformly distributed periods is within five standard errors of the middle. */
static bool periods_are_uniform_in_their_window(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct dcpi_stats s;
	struct device d;
	double n, mean, error;

	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	sleep_ms(1000);
	CHECK(device_stop(&d) == 0);
	s = device_total(&d);
	/* On each CPU, one more period was drawn than interrupts arrived. */
	n = (double)s.interrupts + (double)sysconf(_SC_NPROCESSORS_ONLN);
	mean = (double)s.period_sum / n;
	error = 200000 / sqrt(12 * n);
	CHECK(n > 500 && fabs(mean - 300000) < 5 * error, "mean %.0f of %.0f", mean, n);
	return true;
}

/* With tables and buffers so small that they flip, overflow and are drained all the time. */
static bool draining_live_loses_no_count(void)
{
	struct dcpi_config config = device_config(64, 64);
	struct dcpi_stats s;
	struct device d;
	unsigned int round;
	uint32_t cpu;

	config.event[0].period_min = DCPI_CLOCK_PERIOD_MIN;
	config.event[0].period_max = 2 * DCPI_CLOCK_PERIOD_MIN;
	load_start(4);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	for (round = 0; round < 40000; round++) {
		uint32_t flags = round % 64 == 0 ? DCPI_DRAIN_ALL : 0;

		for (cpu = 0; cpu < d.cpus; cpu++)
			CHECK(device_drain(&d, cpu, flags, NULL, NULL, NULL) == 0);
		s = device_total(&d);
		if (s.evictions > 200 && s.flips > 20 && s.direct > 20)
			break;
		sleep_ms(1);
	}
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	s = device_total(&d);
	CHECK(s.pending == 0);
	CHECK(s.evictions > 200 && s.flips > 20 && s.direct > 20);
	printf("%llu interrupts, %llu hits, %llu misses, %llu direct, %llu flips, %llu lost\n",
	       s.interrupts, s.hits, s.misses, s.direct, s.flips, s.losses[DCPI_LOSS_BUFFERS_FULL]);
	return true;
}

static bool full_buffer_wakes_poll(void)
{
	struct dcpi_config config = device_config(64, 64);
	struct device d;
	struct pollfd p;
	uint32_t cpu, count, full = 0;

	CHECK(device_open(&d));
	p = (struct pollfd){.fd = d.fd, .events = POLLIN};
	CHECK(poll(&p, 1, 0) == 0);
	load_start(4);
	CHECK(device_start(&d, &config) == 0);
	CHECK(poll(&p, 1, 20000) == 1 && p.revents == POLLIN);
	CHECK(device_stop(&d) == 0);
	for (cpu = 0; cpu < d.cpus; cpu++) {
		CHECK(device_drain(&d, cpu, 0, &count, NULL, NULL) == 0);
		CHECK(count == 0 || count == 64, "%u", count);
		full += count == 64;
		/* The other buffer may just have become full. */
		CHECK(device_drain(&d, cpu, 0, &count, NULL, NULL) == 0);
		CHECK(count == 0 || count == 64, "%u", count);
	}
	CHECK(full > 0);
	CHECK(poll(&p, 1, 0) == 0);
	CHECK(device_accounted(&d));
	return true;
}

static bool full_buffers_lose_by_name(void)
{
	struct dcpi_config config = device_config(64, 64);
	struct dcpi_stats s;
	struct device d;
	unsigned int tries;

	config.event[0].period_min = DCPI_CLOCK_PERIOD_MIN;
	config.event[0].period_max = 2 * DCPI_CLOCK_PERIOD_MIN;
	load_start(6);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	for (tries = 0; tries < 200; tries++) {
		if (device_total(&d).losses[DCPI_LOSS_BUFFERS_FULL] > 100)
			break;
		sleep_ms(100);
	}
	CHECK(device_stop(&d) == 0);
	s = device_total(&d);
	CHECK(s.losses[DCPI_LOSS_BUFFERS_FULL] > 100);
	CHECK(device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_total(&d).pending == 0);
	return true;
}

static void count_events(void *context, uint32_t cpu, const struct dcpi_sample *sample)
{
	uint64_t *events = context;

	(void)cpu;
	events[dcpi_tag_event(sample->tag)] += dcpi_tag_count(sample->tag);
}

static bool events_are_told_apart(void)
{
	struct dcpi_config config = device_config(0, 0);
	uint64_t events[256] = {};
	unsigned int round;
	struct device d;

	config.events = 3;
	config.event[1] = config.event[0];
	config.event[1].period_min *= 16;
	config.event[1].period_max *= 16;
	config.event[2] = config.event[1];
	config.event[2].config = PERF_COUNT_SW_TASK_CLOCK;
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	/* Wait up to a minute: a machine on a busy host takes few samples per second. */
	for (round = 0; round < 600 && events[1] <= 50; round++) {
		sleep_ms(100);
		CHECK(device_drain_cpus(&d, count_events, events) == 0);
	}
	CHECK(device_stop(&d) == 0);
	CHECK(device_drain_cpus(&d, count_events, events) == 0);
	CHECK(device_accounted(&d));
	CHECK(events[1] > 50 && events[0] > 2 * events[1], "%llu, %llu",
	      (unsigned long long)events[0], (unsigned long long)events[1]);
	CHECK(events[0] + events[1] + events[2] == device_total(&d).interrupts);
	return true;
}

/* Handlers of page faults run with interrupts enabled: clock and drain interrupt them. */
static bool handlers_outside_interrupts_are_exact(void)
{
	struct dcpi_config config = device_config(64, 64);
	uint64_t events[256] = {};
	struct dcpi_stats s;
	struct device d;
	unsigned int round;

	config.events = 2;
	config.event[0].period_min = DCPI_CLOCK_PERIOD_MIN;
	config.event[0].period_max = 2 * DCPI_CLOCK_PERIOD_MIN;
	config.event[1].type = PERF_TYPE_SOFTWARE;
	config.event[1].config = PERF_COUNT_SW_PAGE_FAULTS;
	config.event[1].period_min = DCPI_PERIOD_MIN;
	config.event[1].period_max = DCPI_PERIOD_MIN;
	load_fault();
	load_fault();
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	for (round = 0; round < 20000 && (round < 200 || events[1] < 20); round++) {
		CHECK(device_drain_cpus(&d, count_events, events) == 0);
		sleep_ms(1);
	}
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	s = device_total(&d);
	printf("%llu interrupts, %llu by page faults, %llu nested\n", s.interrupts,
	       (unsigned long long)events[1], s.losses[DCPI_LOSS_NESTED]);
	CHECK(s.direct > 0 && events[1] >= 20);
	return true;
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(version),
		TAP_TEST(every_interrupt_is_accounted_for),
		TAP_TEST(stop_is_idempotent_and_start_begins_anew),
		TAP_TEST(samples_fall_where_time_is_spent),
		TAP_TEST(periods_are_uniform_in_their_window),
		TAP_TEST(draining_live_loses_no_count),
		TAP_TEST(full_buffer_wakes_poll),
		TAP_TEST(full_buffers_lose_by_name),
		TAP_TEST(events_are_told_apart),
		TAP_TEST(handlers_outside_interrupts_are_exact),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
