// SPDX-License-Identifier: GPL-2.0-only
/* Test dcpi.ko with invalid and lying callers. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

static const void *const bad_pointers[] = {
	NULL,
	(const void *)1,
	(const void *)0x7ffffffffff8ULL,
	(const void *)0x8000000000000000ULL,
	(const void *)0xffffffff81000000ULL,
	(const void *)-8LL,
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* This test must run first: the module has just been loaded. */
static bool nothing_to_see_before_start(void)
{
	struct dcpi_stats stats;
	struct device d;

	CHECK(device_open(&d));
	d.capacity = 1 << 16;
	d.array = calloc(d.capacity, sizeof(*d.array));
	CHECK(device_drain(&d, 0, 0, NULL, NULL, NULL) == ENXIO);
	CHECK(device_drain(&d, 0, DCPI_DRAIN_ALL, NULL, NULL, NULL) == ENXIO);
	CHECK(device_stats(&d, 0, &stats) == ENXIO);
	CHECK(device_ioctl(&d, DCPI_IOC_EVENT_STATS, &(struct dcpi_event_stats){}) == ENXIO);
	CHECK(device_ioctl(&d, DCPI_IOC_TIMES, &(struct dcpi_times){}) == ENXIO);
	CHECK(device_ioctl(&d, DCPI_IOC_TAKE, &(struct dcpi_take){}) == ENXIO);
	CHECK(device_ioctl(&d, DCPI_IOC_SNAPSHOTS, &(struct dcpi_snapshots){}) == ENXIO);
	CHECK(device_ioctl(&d, DCPI_IOC_RELEASE, &(uint32_t){0}) == ENXIO);
	CHECK(device_stop(&d) == 0);
	return true;
}

static bool unknown_commands(void)
{
	const unsigned long commands[] = {
		0,
		_IO(DCPI_IOC_MAGIC, 0),
		_IO(DCPI_IOC_MAGIC, 1),
		_IO(DCPI_IOC_MAGIC, 3),
		_IO(DCPI_IOC_MAGIC, 6),
		_IO(DCPI_IOC_MAGIC, 9),
		_IO(DCPI_IOC_MAGIC, 10),
		_IO(DCPI_IOC_MAGIC, 255),
		_IOR(DCPI_IOC_MAGIC, 2, int),
		_IOW(DCPI_IOC_MAGIC, 1, struct dcpi_event),
		_IOR(DCPI_IOC_MAGIC, 1, struct dcpi_config),
		_IOWR(DCPI_IOC_MAGIC, 3, struct dcpi_stats),
		_IOWR(DCPI_IOC_MAGIC, 4, struct dcpi_drain),
		_IOWR(DCPI_IOC_MAGIC + 1, 3, struct dcpi_drain),
		~0UL,
	};
	static char argument[16384];
	struct device d;
	size_t i;

	CHECK(device_open(&d));
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		CHECK(device_ioctl(&d, commands[i], argument) == ENOTTY, "%zu", i);
	CHECK(read(d.fd, argument, 16) < 0 && write(d.fd, argument, 16) < 0);
	return true;
}

static bool bad_argument_pointers(void)
{
	const unsigned long commands[] = {DCPI_IOC_VERSION, DCPI_IOC_START,   DCPI_IOC_DRAIN,
					  DCPI_IOC_STATS,   DCPI_IOC_PROCESS, DCPI_IOC_EVENT_STATS,
					  DCPI_IOC_TIMES,   DCPI_IOC_TAKE,    DCPI_IOC_RELEASE};
	struct dcpi_config config = device_config(0, 0);
	struct device d;
	size_t i, j;
	int err;

	CHECK(device_open(&d));
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		for (j = 0; j < ARRAY_SIZE(bad_pointers); j++) {
			err = device_ioctl(&d, commands[i], bad_pointers[j]);
			CHECK(err == EFAULT, "%zu %zu: %d", i, j, err);
		}
	}
	CHECK(device_start(&d, &config) == 0);
	return true;
}

struct spoil {
	size_t offset;
	size_t bytes;
	uint64_t value;
};

#define SPOIL(field, value)                                                                        \
	{                                                                                          \
		offsetof(struct dcpi_config, field), sizeof(((struct dcpi_config *)0)->field),     \
			value                                                                      \
	}

static const struct spoil bad_configs[] = {
	SPOIL(events, 0),
	SPOIL(events, DCPI_EVENTS_MAX + 1),
	SPOIL(events, UINT32_MAX),
	SPOIL(table_entries, 1),
	SPOIL(table_entries, DCPI_ENTRIES_MIN / 2),
	SPOIL(table_entries, DCPI_ENTRIES_MIN + 1),
	SPOIL(table_entries, 2 * DCPI_ENTRIES_MAX),
	SPOIL(table_entries, UINT32_MAX),
	SPOIL(buffer_entries, DCPI_ENTRIES_MIN / 2),
	SPOIL(buffer_entries, DCPI_ENTRIES_MAX - 1),
	SPOIL(buffer_entries, 1U << 31),
	SPOIL(event[0].flags, 3),
	SPOIL(event[0].flags, 4),
	SPOIL(event[DCPI_EVENTS_MAX - 1].flags, 4),
	SPOIL(flags, DCPI_START_SNAPSHOTS),
	SPOIL(flags, 16),
	SPOIL(flags, 1U << 31),
	SPOIL(flags, DCPI_START_BRANCHES),
	SPOIL(flags, DCPI_START_DOUBLE),
	SPOIL(branch_every, 1),
	SPOIL(double_every, 2),
	SPOIL(double_period, 1),
	SPOIL(reserved, 1),
	SPOIL(event[0].period_min, 0),
	SPOIL(event[0].period_min, DCPI_CLOCK_PERIOD_MIN - 1),
	SPOIL(event[0].period_min, 400001),
	SPOIL(event[0].period_max, 0),
	SPOIL(event[0].period_max, 199999),
	SPOIL(event[0].period_max, DCPI_PERIOD_MAX + 1),
	SPOIL(event[0].period_max, UINT64_MAX),
};

static bool bad_configurations(void)
{
	struct dcpi_config config;
	struct device d;
	size_t i;

	CHECK(device_open(&d));
	for (i = 0; i < ARRAY_SIZE(bad_configs); i++) {
		config = device_config(0, 0);
		memcpy((char *)&config + bad_configs[i].offset, &bad_configs[i].value,
		       bad_configs[i].bytes);
		CHECK(device_ioctl(&d, DCPI_IOC_START, &config) == EINVAL, "%zu", i);
	}
	config = device_config(DCPI_ENTRIES_MIN, DCPI_ENTRIES_MAX);
	config.event[0].period_min = DCPI_CLOCK_PERIOD_MIN;
	config.event[0].period_max = DCPI_PERIOD_MAX;
	CHECK(device_start(&d, &config) == 0);
	return true;
}

/* An event that perf refuses leaves no state in the module, even if it is the second event. */
static bool events_the_machine_lacks(void)
{
	struct dcpi_config config = device_config(0, 0);
	struct device d;
	int err;

	CHECK(device_open(&d));
	config.events = 2;
	config.event[1] = config.event[0];
	config.event[1].type = 0x7fffffff;
	CHECK(device_start(&d, &config) == ENOENT);
	config.event[1].type = PERF_TYPE_SOFTWARE;
	config.event[1].config = 12345;
	CHECK(device_start(&d, &config) == ENOENT);
	config.event[1].type = PERF_TYPE_HARDWARE;
	config.event[1].config = PERF_COUNT_HW_CPU_CYCLES;
	err = device_start(&d, &config);
	CHECK(err == 0 || err == ENOENT || err == EOPNOTSUPP, "%d", err);
	if (err)
		CHECK(device_drain(&d, 0, DCPI_DRAIN_ALL, NULL, NULL, NULL) == ENXIO);
	CHECK(device_stop(&d) == 0);
	config.events = 1;
	CHECK(device_start(&d, &config) == 0);
	return true;
}

static bool bad_drains_and_stats(void)
{
	struct dcpi_config config = device_config(64, 64);
	struct dcpi_stats stats;
	struct device d;

	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	CHECK(device_drain(&d, d.cpus, 0, NULL, NULL, NULL) == EINVAL);
	CHECK(device_drain(&d, UINT32_MAX, DCPI_DRAIN_ALL, NULL, NULL, NULL) == EINVAL);
	CHECK(device_drain(&d, 0, 2, NULL, NULL, NULL) == EINVAL);
	CHECK(device_drain(&d, 0, UINT32_MAX, NULL, NULL, NULL) == EINVAL);
	d.capacity--;
	CHECK(device_drain(&d, 0, DCPI_DRAIN_ALL, NULL, NULL, NULL) == EINVAL);
	d.capacity = 64;
	CHECK(device_drain(&d, 0, 0, NULL, NULL, NULL) == 0);
	d.capacity = 63;
	CHECK(device_drain(&d, 0, 0, NULL, NULL, NULL) == EINVAL);
	CHECK(device_stats(&d, d.cpus, &stats) == EINVAL);
	CHECK(device_stats(&d, 0x80000000U, &stats) == EINVAL);
	return true;
}

/* Double samples are valid only for the first event, only in user mode, and only with a period. */
static bool bad_double_samples(void)
{
	const struct dcpi_config good = {
		.events = 1,
		.perf_fd = device_config(0, 0).perf_fd,
		.flags = DCPI_START_DOUBLE,
		.double_every = 2,
		.double_period = 100,
		.event[0] = {.type = PERF_TYPE_HARDWARE,
			     .flags = DCPI_EVENT_EXCLUDE_KERNEL,
			     .period_min = DCPI_PERIOD_MIN,
			     .period_max = DCPI_PERIOD_MIN},
	};
	struct dcpi_config config = good;
	struct device d;
	int err;

	CHECK(device_open(&d));
	config.double_every = 1;
	CHECK(device_ioctl(&d, DCPI_IOC_START, &config) == EINVAL);
	config = good;
	config.double_period = 0;
	CHECK(device_ioctl(&d, DCPI_IOC_START, &config) == EINVAL);
	config.double_period = DCPI_PERIOD_MIN;
	CHECK(device_ioctl(&d, DCPI_IOC_START, &config) == EINVAL);
	config = good;
	config.event[0].flags = 0;
	CHECK(device_ioctl(&d, DCPI_IOC_START, &config) == EINVAL);
	config = good;
	err = device_ioctl(&d, DCPI_IOC_START, &config);
	CHECK(err == 0 || err == ENOENT || err == EOPNOTSUPP, "%d", err);
	CHECK(device_stop(&d) == 0);
	config.event[0] = device_config(0, 0).event[0];
	config.event[0].flags = DCPI_EVENT_EXCLUDE_KERNEL;
	CHECK(device_ioctl(&d, DCPI_IOC_START, &config) == EOPNOTSUPP);
	return true;
}

static bool bad_questions(void)
{
	struct dcpi_config config = device_config(64, 64);
	struct dcpi_event_stats event = {};
	struct dcpi_times times = {};
	struct dcpi_take take = {};
	struct device d;
	uint32_t cpu;

	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	CHECK(device_ioctl(&d, DCPI_IOC_EVENT_STATS, &event) == 0);
	event.event = 1;
	CHECK(device_ioctl(&d, DCPI_IOC_EVENT_STATS, &event) == EINVAL);
	event.event = UINT32_MAX;
	CHECK(device_ioctl(&d, DCPI_IOC_EVENT_STATS, &event) == EINVAL);
	event = (struct dcpi_event_stats){.cpu = d.cpus};
	CHECK(device_ioctl(&d, DCPI_IOC_EVENT_STATS, &event) == EINVAL);
	times.reserved = 1;
	CHECK(device_ioctl(&d, DCPI_IOC_TIMES, &times) == EINVAL);
	times = (struct dcpi_times){.cpu = UINT32_MAX};
	CHECK(device_ioctl(&d, DCPI_IOC_TIMES, &times) == EINVAL);
	take.flags = 1;
	CHECK(device_ioctl(&d, DCPI_IOC_TAKE, &take) == EINVAL);
	take = (struct dcpi_take){.cpu = d.cpus};
	CHECK(device_ioctl(&d, DCPI_IOC_TAKE, &take) == EINVAL);
	cpu = d.cpus;
	CHECK(device_ioctl(&d, DCPI_IOC_RELEASE, &cpu) == EINVAL);
	cpu = 0;
	CHECK(device_ioctl(&d, DCPI_IOC_RELEASE, &cpu) == EAGAIN);
	return true;
}

static bool no_such_process(void)
{
	const uint32_t pids[] = {0, DCPI_PID_MAX, DCPI_PID_MAX + 1, 0x80000000U, UINT32_MAX};
	struct dcpi_process process;
	struct device d;
	size_t i;

	CHECK(device_open(&d));
	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		process.pid = pids[i];
		CHECK(device_ioctl(&d, DCPI_IOC_PROCESS, &process) == ESRCH, "%zu", i);
	}
	process.pid = 1;
	CHECK(device_ioctl(&d, DCPI_IOC_PROCESS, &process) == 0);
	return true;
}

#define PAGE 4096UL

/* Map an array for a reader; only the first @entries (up to a page) can be written. */
static char *array_map(struct device *d, size_t entries)
{
	size_t bytes = PAGE + d->capacity * sizeof(*d->array);
	char *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, PAGE, PROT_READ | PROT_WRITE) != 0)
		exit(1);
	d->array = (struct dcpi_sample *)(void *)(memory + PAGE) - entries;
	return memory;
}

static void array_unmap(const struct device *d, char *memory)
{
	munmap(memory, PAGE + d->capacity * sizeof(*d->array));
}

/* Fill the stores with more different samples than one page holds. */
/* Afterwards both CPUs have far more entries than fit into a page. */
static bool collect(struct device *d)
{
	struct dcpi_config config = device_config(4096, 1024);
	struct dcpi_stats s[2];
	int tries;

	load_start(4);
	CHECK(device_open(d));
	CHECK(device_start(d, &config) == 0);
	for (tries = 0; tries < 100; tries++) {
		sleep_ms(500);
		CHECK(device_stats(d, 0, &s[0]) == 0 && device_stats(d, 1, &s[1]) == 0);
		if (s[0].misses > 4 * PAGE / sizeof(*d->array) &&
		    s[1].misses > 4 * PAGE / sizeof(*d->array))
			break;
	}
	CHECK(device_stop(d) == 0);
	return true;
}

static bool fault_at_once_loses_nothing(void)
{
	struct dcpi_sample *good;
	struct dcpi_stats s;
	struct device d;
	uint64_t all;

	CHECK(collect(&d));
	good = d.array;
	all = device_total(&d).pending;
	array_map(&d, 0);
	CHECK(device_drain(&d, 0, DCPI_DRAIN_ALL, NULL, NULL, NULL) == EFAULT);
	CHECK(device_drain(&d, 1, DCPI_DRAIN_ALL, NULL, NULL, NULL) == EFAULT);
	CHECK(device_total(&d).pending == all && device_accounted(&d));
	d.array = good;
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	s = device_total(&d);
	CHECK(s.delivered == all && s.losses[DCPI_LOSS_READER_GONE] == 0);
	return true;
}

static bool fault_half_way_loses_by_name(void)
{
	struct dcpi_sample *good;
	struct dcpi_stats s;
	struct device d;
	uint64_t all;

	CHECK(collect(&d));
	good = d.array;
	all = device_total(&d).pending;
	array_map(&d, PAGE / sizeof(*d.array));
	CHECK(device_drain(&d, 0, DCPI_DRAIN_ALL, NULL, NULL, NULL) == EFAULT);
	s = device_total(&d);
	CHECK(s.losses[DCPI_LOSS_READER_GONE] > 0 && s.pending > 0 && s.delivered == 0);
	CHECK(s.losses[DCPI_LOSS_READER_GONE] + s.pending == all);
	CHECK(device_accounted(&d));
	d.array = good;
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_total(&d).pending == 0);
	return true;
}

/* All entries were copied, but writing the number of entries to the caller fails. */
static bool fault_at_the_end_loses_all_by_name(void)
{
	struct dcpi_drain *drain =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dcpi_stats before, after;
	struct device d;

	CHECK(collect(&d));
	CHECK(device_stats(&d, 0, &before) == 0);
	*drain = (struct dcpi_drain){
		.flags = DCPI_DRAIN_ALL,
		.samples = (uintptr_t)d.array,
		.capacity = d.capacity,
	};
	CHECK(mprotect(drain, PAGE, PROT_READ) == 0);
	CHECK(device_ioctl(&d, DCPI_IOC_DRAIN, drain) == EFAULT);
	CHECK(device_stats(&d, 0, &after) == 0);
	CHECK(after.pending == 0 && after.delivered == 0);
	CHECK(after.losses[DCPI_LOSS_READER_GONE] == before.pending);
	CHECK(device_accounted(&d));
	return true;
}

static bool faults_while_sampling(void)
{
	struct dcpi_config config = device_config(1024, 64);
	struct dcpi_sample *good;
	struct device d;
	unsigned int i;

	load_start(4);
	CHECK(device_open(&d));
	CHECK(device_start(&d, &config) == 0);
	good = d.array;
	for (i = 0; i < 5000; i++) {
		char *memory = array_map(&d, i % 3 * 50);

		device_drain(&d, i % d.cpus, i % 5 ? DCPI_DRAIN_ALL : 0, NULL, NULL, NULL);
		array_unmap(&d, memory);
		if (i > 200 && device_total(&d).losses[DCPI_LOSS_READER_GONE] > 0)
			break;
		sleep_ms(5);
	}
	d.array = good;
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_total(&d).losses[DCPI_LOSS_READER_GONE] > 0);
	return true;
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(nothing_to_see_before_start),
		TAP_TEST(unknown_commands),
		TAP_TEST(bad_argument_pointers),
		TAP_TEST(bad_configurations),
		TAP_TEST(events_the_machine_lacks),
		TAP_TEST(bad_drains_and_stats),
		TAP_TEST(bad_double_samples),
		TAP_TEST(bad_questions),
		TAP_TEST(no_such_process),
		TAP_TEST(fault_at_once_loses_nothing),
		TAP_TEST(fault_half_way_loses_by_name),
		TAP_TEST(fault_at_the_end_loses_all_by_name),
		TAP_TEST(faults_while_sampling),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
