// SPDX-License-Identifier: GPL-2.0-only
/* The kmod source: the only user of /dev/dcpi. Samples are counted in the kernel. */
#include "daemon/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/error.h"

/*
 * @cpus: numbers that the module takes, 0 .. @cpus - 1
 * @past: counters of earlier starts: the module begins anew with each
 */
struct kmod_source {
	struct source base;
	struct dcpi_config config;
	source_sync_fn sync;
	void *sync_context;
	int fd;
	bool started;
	uint32_t cpus;
	struct dcpi_sample *samples;
	uint32_t capacity;
	struct dcpi_stats past;
};

static int device_open(struct kmod_source *source, struct error *err)
{
	struct dcpi_version version = {0};

	source->fd = open(DCPI_DEVICE_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (source->fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		return error_set(err, errno, "dcpi.ko is not loaded (no %s)", DCPI_DEVICE_PATH);
	if (source->fd < 0 && errno == EBUSY)
		return error_set(err, EBUSY, "%s is in use by another reader", DCPI_DEVICE_PATH);
	if (source->fd < 0)
		return error_set_errno(err, "cannot open %s", DCPI_DEVICE_PATH);
	if (ioctl(source->fd, DCPI_IOC_VERSION, &version) < 0)
		return error_set_errno(err, "%s is not dcpi.ko", DCPI_DEVICE_PATH);
	if (version.major != DCPI_UAPI_MAJOR)
		return error_set(err, EPROTO,
				 "dcpi.ko has interface version %u.%u, this program needs %d",
				 version.major, version.minor, DCPI_UAPI_MAJOR);
	source->cpus = version.cpus;
	return 0;
}

static void config_fill(struct kmod_source *source, const struct source_config *config)
{
	struct dcpi_config *own = &source->config;
	size_t i;

	own->events = (uint32_t)config->event_count;
	own->table_entries =
		config->table_entries != 0 ? config->table_entries : DCPI_TABLE_ENTRIES_DEFAULT;
	own->buffer_entries =
		config->buffer_entries != 0 ? config->buffer_entries : DCPI_BUFFER_ENTRIES_DEFAULT;
	for (i = 0; i < config->event_count; i++) {
		own->event[i].type = config->events[i].type;
		own->event[i].flags = config->events[i].flags;
		own->event[i].config = config->events[i].config;
		own->event[i].config1 = config->events[i].config1;
		own->event[i].config2 = config->events[i].config2;
		own->event[i].period_min = config->events[i].period_min;
		own->event[i].period_max = config->events[i].period_max;
	}
	source->capacity = own->table_entries + 2 * own->buffer_entries;
	source->sync = config->sync;
	source->sync_context = config->context;
}

static void kmod_close(struct source *base)
{
	struct kmod_source *source = (struct kmod_source *)base;

	if (source == NULL)
		return;
	if (source->fd >= 0)
		close(source->fd);
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
		return error_set(err, ENOMEM, "out of memory");
	source->base.ops = &source_kmod_ops;
	source->fd = -1;
	rc = device_open(source, err);
	if (rc == 0) {
		config_fill(source, config);
		source->samples = calloc(source->capacity, sizeof(*source->samples));
		if (source->samples == NULL)
			rc = error_set(err, ENOMEM, "out of memory");
	}
	if (rc < 0) {
		kmod_close(&source->base);
		return rc;
	}
	*ret = &source->base;
	return 0;
}

static void stats_add(struct dcpi_stats *sum, const struct dcpi_stats *stats)
{
	uint32_t i;

	sum->interrupts += stats->interrupts;
	sum->hits += stats->hits;
	sum->misses += stats->misses;
	sum->evictions += stats->evictions;
	sum->direct += stats->direct;
	sum->flips += stats->flips;
	for (i = 0; i < DCPI_LOSS_NR; i++)
		sum->losses[i] += stats->losses[i];
}

/* Of all our starts; before the first, the module has an earlier reader's. */
static struct dcpi_stats stats_read(const struct kmod_source *source)
{
	struct dcpi_stats sum = source->past;
	uint32_t cpu;

	for (cpu = 0; source->started && cpu < source->cpus; cpu++) {
		struct dcpi_stats stats = {.cpu = cpu};

		if (ioctl(source->fd, DCPI_IOC_STATS, &stats) == 0)
			stats_add(&sum, &stats);
	}
	return sum;
}

static int kmod_start(struct source *base, struct error *err)
{
	struct kmod_source *source = (struct kmod_source *)base;

	source->past = stats_read(source);
	source->started = false;
	if (ioctl(source->fd, DCPI_IOC_START, &source->config) == 0) {
		source->started = true;
		return 0;
	}
	switch (errno) {
	case EPERM:
		return error_set(err, EPERM, "dcpi.ko refuses to sample: CAP_PERFMON is needed");
	case EBUSY:
		return error_set(err, EBUSY, "dcpi.ko is sampling already");
	case EINVAL:
		return error_set(err, EINVAL, "dcpi.ko refuses the events, periods or table sizes");
	case ENOENT:
	case EOPNOTSUPP:
		return error_set(err, errno, "this machine does not have the event");
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

/* The module's counts are within the array, but it is the kernel that says so. */
static int batch_take(struct kmod_source *source, uint32_t cpu, bool all, uint32_t *count,
		      struct error *err)
{
	struct dcpi_drain drain = {
		.cpu = cpu,
		.flags = all ? DCPI_DRAIN_ALL : 0,
		.samples = (uint64_t)(uintptr_t)source->samples,
		.capacity = source->capacity,
	};

	if (ioctl(source->fd, DCPI_IOC_DRAIN, &drain) < 0)
		return error_set_errno(err, "cannot drain CPU %u", cpu);
	*count = drain.count < source->capacity ? drain.count : source->capacity;
	return 0;
}

static int cpu_drain(struct kmod_source *source, uint32_t cpu, bool all,
		     const struct source_sink *sink, struct error *err)
{
	uint32_t count = 0, i;
	int rc, round;

	/* At most both buffers: a CPU that refills them must not hold us here. */
	for (round = 0; round < 2; round++) {
		rc = batch_take(source, cpu, all, &count, err);
		if (rc < 0)
			return rc;
		if (count == 0)
			break;
		source->sync(source->sync_context);
		for (i = 0; i < count; i++) {
			if (dcpi_tag_count(source->samples[i].tag) != 0)
				sink->sample(sink->context, &source->samples[i]);
		}
		if (all)
			break;
	}
	return 0;
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
		if (rc < 0)
			return rc;
	}
	return 0;
}

static uint64_t kmod_counters(struct source *base, source_counter_fn visit, void *context)
{
	const struct kmod_source *source = (const struct kmod_source *)base;
	const struct dcpi_stats sum = stats_read(source);
	uint32_t i;

	for (i = 0; i < DCPI_LOSS_NR; i++)
		visit(context, "loss", dcpi_loss_name((enum dcpi_loss)i), sum.losses[i]);
	visit(context, "stat", "hits", sum.hits);
	visit(context, "stat", "misses", sum.misses);
	visit(context, "stat", "evictions", sum.evictions);
	visit(context, "stat", "direct", sum.direct);
	visit(context, "stat", "flips", sum.flips);
	return sum.interrupts;
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
	.open = kmod_open,
	.start = kmod_start,
	.stop = kmod_stop,
	.set_periods = kmod_set_periods,
	.poll_fd = kmod_poll_fd,
	.drain = kmod_drain,
	.counters = kmod_counters,
	.generation = kmod_generation,
	.close = kmod_close,
};
