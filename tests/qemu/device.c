// SPDX-License-Identifier: GPL-2.0-only
#include "tests/qemu/device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

bool device_open(struct device *device)
{
	struct dcpi_version version;
	int tries;

	memset(device, 0, sizeof(*device));
	for (tries = 0; tries < 100; tries++) {
		device->fd = open(DCPI_DEVICE_PATH, O_RDWR | O_CLOEXEC);
		if (device->fd >= 0 || errno != EBUSY)
			break;
		sleep_ms(50);
	}
	if (device->fd < 0) {
		printf("cannot open %s: %s\n", DCPI_DEVICE_PATH, strerror(errno));
		return false;
	}
	if (device_ioctl(device, DCPI_IOC_VERSION, &version) != 0)
		return false;
	device->cpus = version.cpus;
	return device->cpus >= 1 && device->cpus <= DEVICE_CPUS_MAX;
}

void device_close(struct device *device)
{
	close(device->fd);
	free(device->array);
}

struct dcpi_config device_config(uint32_t table_entries, uint32_t buffer_entries)
{
	struct dcpi_config config = {
		.events = 1,
		.table_entries = table_entries,
		.buffer_entries = buffer_entries,
		.seed = 1,
		.event[0] =
			{
				.type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_CPU_CLOCK,
				.period_min = 200000,
				.period_max = 400000,
			},
	};

	return config;
}

int device_ioctl(const struct device *device, unsigned long command, const void *argument)
{
	return ioctl(device->fd, command, argument) == 0 ? 0 : errno;
}

int device_start(struct device *device, const struct dcpi_config *config)
{
	uint32_t table = config->table_entries ?: DCPI_TABLE_ENTRIES_DEFAULT;
	uint32_t buffer = config->buffer_entries ?: DCPI_BUFFER_ENTRIES_DEFAULT;

	free(device->array);
	device->capacity = table + 2 * buffer;
	device->array = calloc(device->capacity, sizeof(*device->array));
	memset(device->taken, 0, sizeof(device->taken));
	memset(device->entries, 0, sizeof(device->entries));
	if (!device->array)
		return ENOMEM;
	return device_ioctl(device, DCPI_IOC_START, config);
}

int device_stop(const struct device *device)
{
	return device_ioctl(device, DCPI_IOC_STOP, NULL);
}

int device_stats(const struct device *device, uint32_t cpu, struct dcpi_stats *stats)
{
	memset(stats, 0xff, sizeof(*stats));
	stats->cpu = cpu;
	return device_ioctl(device, DCPI_IOC_STATS, stats);
}

int device_drain(struct device *device, uint32_t cpu, uint32_t flags, uint32_t *count,
		 device_sample_fn visit, void *context)
{
	struct dcpi_drain drain = {
		.cpu = cpu,
		.flags = flags,
		.samples = (uintptr_t)device->array,
		.capacity = device->capacity,
		.count = UINT32_MAX,
	};
	int err = device_ioctl(device, DCPI_IOC_DRAIN, &drain);
	uint32_t i;

	if (err)
		return err;
	if (drain.count > device->capacity)
		return EOVERFLOW;
	for (i = 0; i < drain.count; i++) {
		if (dcpi_tag_count(device->array[i].tag) == 0)
			return EBADMSG; /* an unused entry must not be delivered */
		device->taken[cpu] += dcpi_tag_count(device->array[i].tag);
		if (visit)
			visit(context, cpu, &device->array[i]);
	}
	device->entries[cpu] += drain.count;
	if (count)
		*count = drain.count;
	return 0;
}

int device_drain_cpus(struct device *device, device_sample_fn visit, void *context)
{
	uint32_t cpu;
	int err = 0;

	for (cpu = 0; cpu < device->cpus && !err; cpu++)
		err = device_drain(device, cpu, DCPI_DRAIN_ALL, NULL, visit, context);
	return err;
}

static bool cpu_accounted(const struct device *device, uint32_t cpu)
{
	struct dcpi_stats s;
	uint64_t handled, placed;

	if (device_stats(device, cpu, &s) != 0)
		return false;
	handled = s.hits + s.misses + s.direct + s.losses[DCPI_LOSS_BUFFERS_FULL] +
		  s.losses[DCPI_LOSS_NESTED];
	placed = s.pending + s.delivered + s.losses[DCPI_LOSS_BUFFERS_FULL] +
		 s.losses[DCPI_LOSS_NESTED] + s.losses[DCPI_LOSS_READER_GONE];
	if (s.interrupts == handled && s.interrupts == placed &&
	    s.delivered == device->taken[cpu] && s.delivered_entries == device->entries[cpu])
		return true;
	printf("CPU %u: interrupts %llu, handled %llu, placed %llu (pending %llu, delivered %llu), "
	       "we have %llu, entries %llu, we have %llu\n",
	       cpu, s.interrupts, (unsigned long long)handled, (unsigned long long)placed,
	       s.pending, s.delivered, (unsigned long long)device->taken[cpu], s.delivered_entries,
	       (unsigned long long)device->entries[cpu]);
	return false;
}

bool device_accounted(const struct device *device)
{
	bool good = true;
	uint32_t cpu;

	for (cpu = 0; cpu < device->cpus; cpu++)
		good &= cpu_accounted(device, cpu);
	return good;
}

struct dcpi_stats device_total(const struct device *device)
{
	struct dcpi_stats sum = {}, one;
	const uint64_t *from = (const uint64_t *)(const void *)&one;
	uint64_t *to = (uint64_t *)(void *)&sum;
	uint32_t cpu;
	size_t i;

	for (cpu = 0; cpu < device->cpus; cpu++) {
		if (device_stats(device, cpu, &one) != 0)
			continue;
		sum.online += one.online;
		for (i = 1; i < sizeof(sum) / sizeof(*to); i++)
			to[i] += from[i];
	}
	return sum;
}

void sleep_ms(unsigned int ms)
{
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}
