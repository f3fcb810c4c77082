// SPDX-License-Identifier: GPL-2.0-only
/* The kmod source: the only user of /dev/dcpi. Samples are counted in the kernel. */
#include "daemon/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/source/kmod_snapshots.h"
#include "daemon/source/source_chunk.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/pid_namespace.h"

/**
 * struct kmod_counts - the module's counts, summed over CPUs
 * @stats: counters
 * @times: handler times
 * @time:  by event
 * @pairs: outcomes of register pairs
 */
struct kmod_counts {
	struct dcpi_stats stats;
	struct dcpi_times times;
	struct source_time time[DCPI_EVENTS_MAX];
	struct pair_outcomes pairs;
};

/*
 * @minor:            minor version of the module's interface
 * @cpus:             number of CPUs that the module supports
 * @branches_refused: number of starts without the requested edges, because this kernel does not
 *                    permit them
 * @past:             counts of earlier starts: the module resets its counts at each start
 * @mapped:           by CPU, its buffers of this start; NULL if not mapped yet
 * @mapped_bytes:     size of each
 * @samples:          output of DCPI_IOC_DRAIN, @capacity entries
 * @snapshots:        open with DCPI_START_SNAPSHOTS
 */
struct kmod_source {
	struct source base;
	struct dcpi_config config;
	source_sync_fn sync;
	void *sync_context;
	int fd;
	bool started;
	uint64_t branches_refused;
	uint32_t minor;
	uint32_t cpus;
	const struct dcpi_sample **mapped;
	size_t mapped_bytes;
	struct dcpi_sample *samples;
	uint32_t capacity;
	struct kmod_snapshots snapshots;
	struct kmod_counts past;
};

static int device_open(struct kmod_source *source, struct error *err)
{
	struct dcpi_version version = {0};

	source->fd = open(DCPI_DEVICE_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (source->fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		return error_set(err, errno, "dcpi.ko is not loaded: '%s' does not exist",
				 DCPI_DEVICE_PATH);
	if (source->fd < 0 && errno == EBUSY)
		return error_set(err, EBUSY, "'%s' is in use by another reader", DCPI_DEVICE_PATH);
	if (source->fd < 0)
		return error_set_errno(err, ERROR_OPEN, DCPI_DEVICE_PATH);
	if (!pid_namespace_is_initial())
		return error_set(err, EOPNOTSUPP,
				 "dcpi.ko needs the initial PID namespace, and this process is in "
				 "another one");
	if (ioctl(source->fd, DCPI_IOC_VERSION, &version) < 0)
		return error_set_errno(err, "'%s' is not the device of dcpi.ko", DCPI_DEVICE_PATH);
	if (version.major != DCPI_UAPI_MAJOR)
		return error_set(err, EPROTO,
				 "dcpi.ko has interface version %u.%u, this program needs %d",
				 version.major, version.minor, DCPI_UAPI_MAJOR);
	source->minor = version.minor;
	source->cpus = version.cpus;
	return 0;
}

static void config_fill(struct kmod_source *source, const struct source_config *config)
{
	struct dcpi_config *own = &source->config;
	size_t i;

	own->events = (uint32_t)config->event_count;
	own->table_entries = config->table_entries;
	own->buffer_entries = config->buffer_entries;
	for (i = 0; i < config->event_count; i++) {
		own->event[i].type = config->events[i].type;
		own->event[i].flags = config->events[i].flags;
		own->event[i].config = config->events[i].config;
		own->event[i].config1 = config->events[i].config1;
		own->event[i].config2 = config->events[i].config2;
		own->event[i].period_min = config->events[i].period_min;
		own->event[i].period_max = config->events[i].period_max;
	}
	own->branch_every = config->branch_every;
	own->double_every = config->double_every;
	own->double_period = config->double_period;
	if (config->branch_every != 0)
		own->flags |= DCPI_START_BRANCHES;
	/* Since minor version 1. */
	if (config->branch_every != 0 && source->minor >= 1)
		own->flags |= DCPI_START_SNAPSHOTS;
	if (config->double_every != 0)
		own->flags |= DCPI_START_DOUBLE;
	if (config->handler_times)
		own->flags |= DCPI_START_TIMES;
	source->mapped_bytes = 2 * (size_t)own->buffer_entries * sizeof(*source->samples);
	source->capacity = own->table_entries + 2 * own->buffer_entries;
	source->sync = config->sync;
	source->sync_context = config->context;
}

/* Mappings of an earlier start show buffers that are no longer written. */
static void buffers_unmap(struct kmod_source *source)
{
	uint32_t cpu;

	for (cpu = 0; source->mapped != NULL && cpu < source->cpus; cpu++) {
		if (source->mapped[cpu] != NULL)
			munmap((void *)(uintptr_t)source->mapped[cpu], source->mapped_bytes);
		source->mapped[cpu] = NULL;
	}
}

static void kmod_close(struct source *base)
{
	struct kmod_source *source = (struct kmod_source *)base;

	if (source == NULL)
		return;
	if (source->fd >= 0)
		close(source->fd);
	buffers_unmap(source);
	kmod_snapshots_close(&source->snapshots);
	free(source->mapped);
	free(source->samples);
	free(source);
}

static int kmod_open(struct source **ret, const struct source_config *config, struct error *err)
{
	struct kmod_source *source;
	int rc;

	if (config->target_pid != 0)
		return error_set(err, EOPNOTSUPP, "dcpi.ko samples the whole machine only");
	if (config->table_entries > DCPI_ENTRIES_MAX || config->buffer_entries > DCPI_ENTRIES_MAX)
		return error_set(err, EINVAL,
				 "table_entries and buffer_entries must be powers of two in %d-%u",
				 DCPI_ENTRIES_MIN, DCPI_ENTRIES_MAX);
	source = calloc(1, sizeof(*source));
	if (source == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	source->base.ops = &source_kmod_ops;
	source->fd = -1;
	rc = device_open(source, err);
	if (rc == 0) {
		config_fill(source, config);
		source->samples = calloc(source->capacity, sizeof(*source->samples));
		/*
		 * NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): the number of CPUs is
		 * not 0
		 */
		source->mapped = calloc(source->cpus, sizeof(*source->mapped));
		if (source->samples == NULL || source->mapped == NULL)
			rc = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	if (rc == 0 && source->config.flags & DCPI_START_SNAPSHOTS)
		rc = kmod_snapshots_open(&source->snapshots, source->fd, err);
	if (rc < 0) {
		kmod_close(&source->base);
		return rc;
	}
	*ret = &source->base;
	return 0;
}

/* Add the fields of a structure that consists of counters. */
static void counters_add(uint64_t *sum, const uint64_t *more, size_t count)
{
	while (count-- > 0)
		*sum++ += *more++;
}

/*
 * Read the counts since this source's last start. Before its first start, the module has those of
 * an earlier reader.
 */
static void stats_read(const struct kmod_source *source, struct kmod_counts *sum)
{
	uint32_t cpu;

	for (cpu = 0; source->started && cpu < source->cpus; cpu++) {
		struct dcpi_stats stats = {.cpu = cpu};
		struct dcpi_times times = {.cpu = cpu};

		if (ioctl(source->fd, DCPI_IOC_STATS, &stats) == 0)
			counters_add((uint64_t *)&sum->stats.interrupts,
				     (uint64_t *)&stats.interrupts,
				     (sizeof(stats) - offsetof(struct dcpi_stats, interrupts)) / 8);
		if (source->config.flags & DCPI_START_TIMES &&
		    ioctl(source->fd, DCPI_IOC_TIMES, &times) == 0)
			counters_add((uint64_t *)sum->times.hit, (uint64_t *)times.hit,
				     (sizeof(times) - offsetof(struct dcpi_times, hit)) / 8);
		if (source->config.flags & DCPI_START_SNAPSHOTS)
			kmod_snapshots_add(&source->snapshots, cpu, &sum->pairs);
	}
}

/*
 * Separate from stats_read(), because reading a running counter takes an interprocessor interrupt.
 */
static void time_read(const struct kmod_source *source, uint32_t event, struct source_time *sum)
{
	uint32_t cpu;

	for (cpu = 0; source->started && cpu < source->cpus; cpu++) {
		struct dcpi_event_stats stats = {.cpu = cpu, .event = event};

		if (ioctl(source->fd, DCPI_IOC_EVENT_STATS, &stats) < 0)
			continue;
		sum->enabled_ns += stats.enabled_ns;
		sum->running_ns += stats.running_ns;
	}
}

/*
 * Open a system-wide event for struct dcpi_config.perf_fd. Return: -1: it is not permitted, which
 * the module then reports.
 */
static int permission_open(const struct dcpi_config *config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.disabled = 1,
	};
	int cpu = sched_getcpu();
	uint32_t i;

	for (i = 0; i < config->events; i++) {
		if (!(config->event[i].flags & DCPI_EVENT_EXCLUDE_KERNEL))
			attr.exclude_kernel = 0;
		if (config->event[i].type != PERF_TYPE_TRACEPOINT)
			continue;
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = config->event[i].config;
	}
	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu < 0 ? 0 : cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/*
 * Under lockdown the kernel may permit samples but not their interpretation: then start without
 * edges.
 */
static bool source_kmod_start(struct kmod_source *source)
{
	_cleanup_close_ int permission = permission_open(&source->config);
	struct dcpi_config plain;

	source->config.perf_fd = permission;
	plain = source->config;
	if (ioctl(source->fd, DCPI_IOC_START, &source->config) == 0)
		return true;
	if (!(plain.flags & DCPI_START_BRANCHES) || (errno != EPERM && errno != EOPNOTSUPP))
		return false;
	plain.flags &= ~(DCPI_START_BRANCHES | DCPI_START_SNAPSHOTS);
	plain.branch_every = 0;
	if (ioctl(source->fd, DCPI_IOC_START, &plain) < 0)
		return false;
	source->branches_refused++;
	return true;
}

static int kmod_start(struct source *base, struct error *err)
{
	struct kmod_source *source = (struct kmod_source *)base;
	uint32_t i;

	stats_read(source, &source->past);
	for (i = 0; i < source->config.events; i++)
		time_read(source, i, &source->past.time[i]);
	source->started = false;
	buffers_unmap(source);
	if (source_kmod_start(source)) {
		source->started = true;
		return 0;
	}
	switch (errno) {
	case EPERM:
		return error_set(err, EPERM, "dcpi.ko refuses to sample: CAP_PERFMON is needed");
	case EBADF:
	case EACCES:
		return error_set(err, EACCES,
				 "dcpi.ko refuses to sample: perf_event_open(2) does not permit "
				 "system-wide events to this process");
	case EBUSY:
		return error_set(err, EBUSY, "dcpi.ko is sampling already");
	case EINVAL:
		return error_set(err, EINVAL,
				 "dcpi.ko refuses the events, periods or table sizes%s",
				 source->config.double_every == 0 ? ""
								  : ", or double samples of an "
								    "event that counts the kernel");
	case ENOENT:
	case EOPNOTSUPP:
		return error_set(err, errno, "this machine does not have %s: %s",
				 source->config.events == 1 ? "the event" : "one of the events",
				 SOURCE_EVENT_INSTEAD);
	default:
		return error_set_errno(err, "dcpi.ko cannot start sampling");
	}
}

static void kmod_stop(struct source *base)
{
	ioctl(((struct kmod_source *)base)->fd, DCPI_IOC_STOP);
}

static void kmod_set_periods(struct source *base, const struct source_event *events)
{
	struct kmod_source *source = (struct kmod_source *)base;
	uint32_t i;

	for (i = 0; i < source->config.events; i++) {
		source->config.event[i].period_min = events[i].period_min;
		source->config.event[i].period_max = events[i].period_max;
	}
}

static int kmod_poll_fd(struct source *base)
{
	return ((struct kmod_source *)base)->fd;
}

/*
 * The module's counts are within the array; check them nevertheless, as they come from the kernel.
 */
static int batch_take(struct kmod_source *source, uint32_t cpu, uint32_t *count, struct error *err)
{
	struct dcpi_drain drain = {
		.cpu = cpu,
		.flags = DCPI_DRAIN_ALL,
		.samples = (uint64_t)(uintptr_t)source->samples,
		.capacity = source->capacity,
	};

	if (ioctl(source->fd, DCPI_IOC_DRAIN, &drain) < 0)
		return error_set_errno(err, "cannot drain CPU %u", cpu);
	*count = drain.count < source->capacity ? drain.count : source->capacity;
	return 0;
}

/* A CPU that has not been sampled yet has no buffers to map. */
static const struct dcpi_sample *buffers_map(struct kmod_source *source, uint32_t cpu)
{
	void *mapped;

	if (source->mapped[cpu] == NULL) {
		mapped = mmap(NULL, source->mapped_bytes, PROT_READ, MAP_SHARED, source->fd,
			      (off_t)DCPI_MMAP_OFFSET(cpu));
		if (mapped != MAP_FAILED)
			source->mapped[cpu] = mapped;
	}
	return source->mapped[cpu];
}

/* Drain everything, through a copy. */
static int cpu_drain_all(struct kmod_source *source, uint32_t cpu, const struct source_sink *sink,
			 struct error *err)
{
	uint32_t count = 0;
	int rc = batch_take(source, cpu, &count, err);

	if (rc < 0 || count == 0)
		return rc;
	source->sync(source->sync_context);
	source_chunk_walk(source->samples, count, sink);
	return 0;
}

/* Visit a full buffer in place. Return: 1 if there was one; 0; or a negative errno. */
static int cpu_take(struct kmod_source *source, uint32_t cpu, const struct source_sink *sink,
		    struct error *err)
{
	uint32_t room = 2 * source->config.buffer_entries;
	struct dcpi_take take = {.cpu = cpu};
	const struct dcpi_sample *buffers;

	if (ioctl(source->fd, DCPI_IOC_TAKE, &take) < 0)
		return error_set_errno(err, "cannot drain CPU %u", cpu);
	if (take.count == 0)
		return 0;
	buffers = buffers_map(source, cpu);
	if (buffers == NULL)
		return error_set_errno(err, "cannot map the buffers of CPU %u", cpu);
	if (take.first > room || take.count > room - take.first)
		return error_set(err, EPROTO, "dcpi.ko names entries beyond CPU %u's buffers", cpu);
	source->sync(source->sync_context);
	source_chunk_walk(buffers + take.first, take.count, sink);
	if (ioctl(source->fd, DCPI_IOC_RELEASE, &cpu) < 0)
		return error_set_errno(err, "cannot release a buffer of CPU %u", cpu);
	return 1;
}

static int cpu_drain(struct kmod_source *source, uint32_t cpu, bool all,
		     const struct source_sink *sink, struct error *err)
{
	int rc = 1, round;

	if (all)
		return cpu_drain_all(source, cpu, sink, err);
	/* At most both buffers: a CPU that refills them must not keep this loop running. */
	for (round = 0; round < 2 && rc > 0; round++)
		rc = cpu_take(source, cpu, sink, err);
	return rc < 0 ? rc : 0;
}

static int kmod_drain(struct source *base, bool all, uint64_t until_ns,
		      const struct source_sink *sink, struct error *err)
{
	struct kmod_source *source = (struct kmod_source *)base;
	uint32_t cpu;
	int rc;

	(void)until_ns;
	for (cpu = 0; cpu < source->cpus; cpu++) {
		rc = cpu_drain(source, cpu, all, sink, err);
		if (rc == 0 && source->config.flags & DCPI_START_SNAPSHOTS)
			rc = kmod_snapshots_drain(&source->snapshots, cpu, source->sync,
						  source->sync_context, sink, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * Visit histograms with power-of-two buckets. Names are static, and end with the lower bound of the
 * bucket.
 */
static void times_visit(const struct dcpi_times *times, source_counter_fn visit, void *context)
{
#define BUCKET(ns)                                                                                 \
	{                                                                                          \
		"handler_hit_ns." #ns, "handler_miss_ns." #ns                                      \
	}
	static const char *const names[][2] = {
		BUCKET(0),	 BUCKET(2),	  BUCKET(4),	   BUCKET(8),	    BUCKET(16),
		BUCKET(32),	 BUCKET(64),	  BUCKET(128),	   BUCKET(256),	    BUCKET(512),
		BUCKET(1024),	 BUCKET(2048),	  BUCKET(4096),	   BUCKET(8192),    BUCKET(16384),
		BUCKET(32768),	 BUCKET(65536),	  BUCKET(131072),  BUCKET(262144),  BUCKET(524288),
		BUCKET(1048576), BUCKET(2097152), BUCKET(4194304), BUCKET(8388608),
	};
#undef BUCKET
	size_t i;

	_Static_assert(sizeof(names) / sizeof(names[0]) == DCPI_TIME_BUCKETS, "a name for each");
	for (i = 0; i < DCPI_TIME_BUCKETS; i++) {
		if (times->hit[i] != 0)
			visit(context, "stat", names[i][0], times->hit[i]);
		if (times->miss[i] != 0)
			visit(context, "stat", names[i][1], times->miss[i]);
	}
}

static uint64_t kmod_counters(struct source *base, source_counter_fn visit, void *context)
{
	const struct kmod_source *source = (const struct kmod_source *)base;
	struct kmod_counts sum = source->past;
	uint32_t i;

	stats_read(source, &sum);
	for (i = 0; i < DCPI_LOSS_NR; i++)
		visit(context, "loss", dcpi_loss_name((enum dcpi_loss)i), sum.stats.losses[i]);
	visit(context, "stat", "hits", sum.stats.hits);
	visit(context, "stat", "misses", sum.stats.misses);
	visit(context, "stat", "evictions", sum.stats.evictions);
	visit(context, "stat", "direct", sum.stats.direct);
	visit(context, "stat", "flips", sum.stats.flips);
	visit(context, "stat", "entries", sum.stats.delivered_entries);
	if (source->config.flags & (DCPI_START_BRANCHES | DCPI_START_DOUBLE)) {
		visit(context, "stat", "edges", sum.stats.edges);
		visit(context, "stat", "edges_lost", sum.stats.edges_lost);
		visit(context, "stat", "branches_tried", sum.stats.branches_tried);
		visit(context, "stat", "branches_refused", source->branches_refused);
		visit(context, "stat", "second", sum.stats.second);
	}
	if (source->config.flags & DCPI_START_SNAPSHOTS)
		kmod_snapshots_report(&source->snapshots, &sum.pairs, visit, context);
	if (source->config.flags & DCPI_START_TIMES) {
		visit(context, "stat", "handler_hit_ns", sum.times.hit_ns);
		visit(context, "stat", "handler_miss_ns", sum.times.miss_ns);
		times_visit(&sum.times, visit, context);
	}
	return sum.stats.interrupts - sum.stats.second;
}

static int kmod_event_time(struct source *base, size_t event, struct source_time *time)
{
	const struct kmod_source *source = (const struct kmod_source *)base;

	if (event >= source->config.events)
		return -ENODATA;
	*time = source->past.time[event];
	time_read(source, (uint32_t)event, time);
	return 0;
}

static int kmod_generation(struct source *base, uint32_t pid, uint32_t *generation)
{
	struct dcpi_process process = {.pid = pid};

	if (ioctl(((struct kmod_source *)base)->fd, DCPI_IOC_PROCESS, &process) < 0)
		return -errno;
	*generation = process.generation;
	return 0;
}

const struct source_ops source_kmod_ops = {
	.name = "kmod",
	.own_generations = false,
	.doubles = true,
	.own_handler = true,
	.open = kmod_open,
	.start = kmod_start,
	.stop = kmod_stop,
	.set_periods = kmod_set_periods,
	.poll_fd = kmod_poll_fd,
	.drain = kmod_drain,
	.counters = kmod_counters,
	.event_time = kmod_event_time,
	.generation = kmod_generation,
	.close = kmod_close,
};
