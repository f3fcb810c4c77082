// SPDX-License-Identifier: GPL-2.0-only
#include "tests/qemu/device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
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

int device_permission(uint32_t type, uint64_t event, bool exclude_kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = event,
		.exclude_kernel = exclude_kernel,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/* One descriptor for the lifetime of the program: the module does not keep a reference to it. */
static int permission(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = device_permission(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false);
	return fd;
}

struct dcpi_config device_config(uint32_t table_entries, uint32_t buffer_entries)
{
	struct dcpi_config config = {
		.events = 1,
		.table_entries = table_entries,
		.buffer_entries = buffer_entries,
		.seed = 1,
		.perf_fd = permission(),
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
	memset(device->edges, 0, sizeof(device->edges));
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

struct walk {
	struct device *device;
	uint32_t cpu;
	device_sample_fn visit;
	void *context;
};

static void samples_walk(void *context, const struct dcpi_sample *sample, size_t count)
{
	struct walk *walk = context;

	for (; count > 0; count--, sample++) {
		walk->device->taken[walk->cpu] += dcpi_tag_count(sample->tag);
		if (walk->visit && dcpi_tag_count(sample->tag) > 0)
			walk->visit(walk->context, walk->cpu, sample);
	}
}

static void edge_walk(void *context, const struct source_edge *edge)
{
	struct walk *walk = context;

	walk->device->edges[walk->cpu] += edge->count;
	if (walk->device->edge)
		walk->device->edge(walk->device->edge_context, edge);
}

/* An entry with count zero is the second half of a far edge, or the hole left by such an edge. */
static bool unused_rightly(const struct dcpi_sample *entries, uint32_t i)
{
	if (entries[i].pc == 0 && entries[i].tag == 0)
		return true;
	return i > 0 && dcpi_tag_event(entries[i - 1].tag) & 1 &&
	       dcpi_tag_event(entries[i - 1].tag) >= DCPI_EVENT_BRANCH_FAR &&
	       entries[i].tag == (entries[i - 1].tag & ~(uint64_t)DCPI_COUNT_MAX);
}

int device_count(struct device *device, uint32_t cpu, const struct dcpi_sample *entries,
		 uint32_t count, device_sample_fn visit, void *context)
{
	struct walk walk = {.device = device, .cpu = cpu, .visit = visit, .context = context};
	const struct source_sink sink = {
		.samples = samples_walk, .edge = edge_walk, .context = &walk};
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (dcpi_tag_count(entries[i].tag) == 0 && !unused_rightly(entries, i))
			return EBADMSG;
	}
	source_chunk_walk(entries, count, &sink);
	device->entries[cpu] += count;
	return 0;
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

	if (err)
		return err;
	if (drain.count > device->capacity)
		return EOVERFLOW;
	if (device_count(device, cpu, device->array, drain.count, visit, context) != 0)
		return EBADMSG;
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

/* The sum of the counters of all events must equal the totals. */
static bool events_add_up(const struct device *device, uint32_t cpu, const struct dcpi_stats *s)
{
	uint64_t interrupts = 0, period_sum = 0;
	struct dcpi_event_stats event = {.cpu = cpu};

	for (; device_ioctl(device, DCPI_IOC_EVENT_STATS, &event) == 0; event.event++) {
		interrupts += event.interrupts;
		period_sum += event.period_sum;
		if (event.running_ns > event.enabled_ns)
			return false;
	}
	return interrupts == s->interrupts && period_sum == s->period_sum;
}

static bool edges_accounted(const struct device *device, uint32_t cpu, const struct dcpi_stats *s)
{
	if (s->edges == s->pending_edges + s->delivered_edges + s->edges_lost &&
	    s->delivered_edges == device->edges[cpu])
		return true;
	printf("CPU %u: edges %llu, pending %llu, delivered %llu, lost %llu, we have %llu\n", cpu,
	       s->edges, s->pending_edges, s->delivered_edges, s->edges_lost,
	       (unsigned long long)device->edges[cpu]);
	return false;
}

static bool cpu_accounted(const struct device *device, uint32_t cpu)
{
	struct dcpi_stats s;
	uint64_t handled, placed, lost;

	if (device_stats(device, cpu, &s) != 0)
		return false;
	lost = s.losses[DCPI_LOSS_BUFFERS_FULL] + s.losses[DCPI_LOSS_NESTED];
	handled = s.hits + s.misses + s.direct + s.second + lost;
	placed = s.pending + s.delivered + s.second + lost + s.losses[DCPI_LOSS_READER_GONE];
	if (!events_add_up(device, cpu, &s) || !edges_accounted(device, cpu, &s))
		return false;
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

struct dcpi_event_stats device_event_stats(const struct device *device, uint32_t cpu,
					   uint32_t event)
{
	struct dcpi_event_stats stats = {.cpu = cpu, .event = event};

	if (device_ioctl(device, DCPI_IOC_EVENT_STATS, &stats) != 0)
		memset(&stats, 0, sizeof(stats));
	return stats;
}

bool device_wait(const struct device *device, uint32_t cpu, uint32_t event, uint64_t interrupts)
{
	struct dcpi_event_stats stats = {.cpu = cpu, .event = event};
	unsigned int tries;

	for (tries = 0; tries < 300; tries++) {
		if (device_ioctl(device, DCPI_IOC_EVENT_STATS, &stats) != 0)
			return false;
		if (stats.interrupts >= interrupts)
			return true;
		sleep_ms(100);
	}
	printf("CPU %u, event %u: %llu interrupts only\n", cpu, event, stats.interrupts);
	return false;
}

void sleep_ms(unsigned int ms)
{
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}
