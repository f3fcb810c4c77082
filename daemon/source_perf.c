// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf source: samples from perf_event_open(), one ring per CPU and event,
 * counted here in the same store that dcpi.ko has in the kernel.
 *
 * Periods: perf draws none at random. So a new one is drawn, per CPU and
 * event, at each drain; between two drains samples are evenly spaced. Setting
 * a period restarts it: half a period per drain, CPU and event goes unsampled
 * (one part in thousands at the default rates). Of an inherited event
 * (target_pid) perf changes the first process' period only; its children
 * begin with the one in force when they are forked.
 *
 * Losses: "ring_full", by the kernel's own count (PERF_FORMAT_LOST), or, on
 * kernels before 6.0, by its PERF_RECORD_LOST records, which miss what was
 * lost after the last sample.
 *
 * Throttling: a CPU that takes more than kernel.perf_event_max_sample_rate
 * samples a second gets none until the next tick. Those samples were never
 * taken: they are no losses, but each time weighs that CPU's busy phases too
 * lightly. Stat "throttled" counts how often; a profile with more than a few
 * should be taken again with longer periods.
 */
#include "daemon/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/cpu_list.h"
#include "kmod/core/period.h"
#include "kmod/core/sample_store.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "loader-hook/perf_ring.h"

/* 64 pages hold 8,192 samples: 1.5 s at the default rate. */
#define RING_PAGES 64
/* What an unprivileged user may lock, for one event beside the side band. */
#define RING_PAGES_TARGET 32
#define RING_PAGES_MIN 4

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

/* The layout that SAMPLE_TYPE gives a PERF_RECORD_SAMPLE. */
#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct perf_sample {
	struct perf_event_header header;
	uint64_t pc;
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct perf_lost {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
};

/*
 * One event on one CPU.
 * @drained: samples since the period was last changed
 * @lost:    by the records of this ring
 */
struct perf_slot {
	struct perf_ring *ring;
	struct period period;
	uint64_t drained;
	uint64_t lost;
};

struct perf_cpu {
	struct sample_store store __attribute__((aligned(64)));
	void *memory;
	struct perf_slot slot[DCPI_EVENTS_MAX];
};

/*
 * @lost: of rings that are closed
 * @cpus: by number; NULL where a CPU was never online
 */
struct perf_source {
	struct source base;
	struct source_config config;
	struct source_event events[DCPI_EVENTS_MAX];
	struct cpu_list online;
	struct perf_cpu **cpus;
	uint32_t cpu_end;
	int online_fd;
	int epoll_fd;
	bool stopped;
	bool counts_lost;
	uint64_t seen;
	uint64_t lost;
	uint64_t throttled;
};

/* What one drain carries along. */
struct perf_drain {
	struct perf_source *source;
	struct perf_cpu *cpu;
	uint64_t until_ns;
	source_sample_fn visit;
	void *context;
};

static void chunk_visit(const struct perf_drain *drain, const struct sample_chunk *chunk)
{
	uint32_t i;

	for (i = 0; i < chunk->count; i++) {
		if (dcpi_tag_count(chunk->entries[i].tag) != 0)
			drain->visit(drain->context, &chunk->entries[i]);
	}
}

static void full_buffers_visit(const struct perf_drain *drain)
{
	struct sample_chunk chunk;
	int buffer;

	while ((buffer = sample_store_full(&drain->cpu->store, &chunk)) >= 0) {
		chunk_visit(drain, &chunk);
		sample_store_release(&drain->cpu->store, buffer);
	}
}

/* Writer, owner and reader are this thread: each call is at rest. */
static void store_visit_all(const struct perf_drain *drain)
{
	struct sample_store *store = &drain->cpu->store;
	struct sample_chunk chunk;

	full_buffers_visit(drain);
	sample_store_flush_begin(store);
	chunk = sample_store_table(store);
	chunk_visit(drain, &chunk);
	sample_store_table_clear(store, 0, chunk.count);
	sample_store_retire(store);
	full_buffers_visit(drain);
	sample_store_flush_end(store);
}

/*
 * Kernel addresses mean the same in every process and generation: leaving the
 * generation out saves its look-up and gives the store fewer keys.
 */
static void sample_count(const struct perf_drain *drain, uint32_t event,
			 const struct perf_sample *sample)
{
	const struct source_config *config = &drain->source->config;
	bool user =
		(sample->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL;
	uint32_t generation = 0;

	if (user)
		generation = config->generation(config->context, sample->pid, sample->time_ns);
	drain->source->seen++;
	if (sample_store_count(&drain->cpu->store, sample->pc,
			       dcpi_tag(sample->pid, generation, event)) &
	    SAMPLE_WAKE)
		full_buffers_visit(drain);
}

/* Returns whether the record may be consumed. */
static bool record_take(const struct perf_drain *drain, uint32_t event,
			const struct perf_event_header *record)
{
	struct perf_slot *slot = &drain->cpu->slot[event];

	switch (record->type) {
	case PERF_RECORD_SAMPLE: {
		const struct perf_sample *sample = (const void *)record;

		if (record->size < sizeof(*sample))
			break;
		if (sample->time_ns > drain->until_ns)
			return false;
		sample_count(drain, event, sample);
		slot->drained++;
		break;
	}
	case PERF_RECORD_LOST:
		if (record->size >= sizeof(struct perf_lost))
			slot->lost += ((const struct perf_lost *)(const void *)record)->lost;
		break;
	case PERF_RECORD_THROTTLE:
		drain->source->throttled++;
		break;
	}
	return true;
}

static void slot_drain(const struct perf_drain *drain, uint32_t event)
{
	struct perf_slot *slot = &drain->cpu->slot[event];
	const struct perf_event_header *record;

	if (slot->ring == NULL)
		return;
	while ((record = perf_ring_next(slot->ring)) != NULL) {
		if (!record_take(drain, event, record)) {
			perf_ring_put_back(slot->ring);
			break;
		}
	}
	perf_ring_consumed(slot->ring);
	/* Setting a period interrupts the CPU: never an idle one. */
	if (slot->drained > 0 && !drain->source->stopped && slot->period.span > 1) {
		uint64_t period = period_next(&slot->period);

		ioctl(perf_ring_fd(slot->ring), PERF_EVENT_IOC_PERIOD, &period);
		slot->drained = 0;
	}
}

/* With PERF_FORMAT_LOST the kernel's count is complete; the records' is not. */
static void slot_read_lost(struct perf_source *source, struct perf_slot *slot)
{
	uint64_t values[2];

	if (source->counts_lost && slot->ring != NULL &&
	    read(perf_ring_fd(slot->ring), values, sizeof(values)) == sizeof(values))
		slot->lost = values[1];
}

static void slot_close(struct perf_source *source, struct perf_slot *slot)
{
	slot_read_lost(source, slot);
	source->lost += slot->lost;
	slot->lost = 0;
	perf_ring_close(slot->ring);
	slot->ring = NULL;
}

static void slot_attr(const struct perf_source *source, const struct source_event *event,
		      uint64_t period, struct perf_event_attr *ret)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.config = event->config,
		.sample_period = period,
		.sample_type = SAMPLE_TYPE,
		.read_format = source->counts_lost ? PERF_FORMAT_LOST : 0,
		.disabled = 1,
		.exclude_kernel = source->config.user_only,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
	};

	if (source->config.target_pid != 0) {
		attr.inherit = 1;
		attr.enable_on_exec = 1;
	}
	*ret = attr;
}

static int slot_open(struct perf_source *source, uint32_t cpu, uint32_t number, struct error *err)
{
	const struct source_event *event = &source->events[number];
	struct perf_slot *slot = &source->cpus[cpu]->slot[number];
	bool target = source->config.target_pid != 0;
	struct perf_event_attr attr;
	struct epoll_event wake = {.events = EPOLLIN | EPOLLET};
	size_t pages;
	int rc = -EPERM;

	period_init(&slot->period, (uint32_t)time(NULL) ^ cpu << 8 ^ number, event->period_min,
		    event->period_max);
	slot_attr(source, event, period_next(&slot->period), &attr);
	/* What may be locked is shared with other users of perf: take less if need be. */
	for (pages = target ? RING_PAGES_TARGET : RING_PAGES; pages >= RING_PAGES_MIN; pages /= 2) {
		attr.wakeup_watermark = (uint32_t)(pages * (size_t)sysconf(_SC_PAGESIZE) / 2);
		rc = perf_ring_open(&slot->ring, &attr,
				    target ? (int)source->config.target_pid : -1, (int)cpu, pages,
				    err);
		if (rc != -EPERM && rc != -ENOMEM)
			break;
	}
	if (rc == -EINVAL && source->counts_lost) {
		source->counts_lost = false;
		return slot_open(source, cpu, number, err);
	}
	if (rc < 0)
		return rc;
	wake.data.u32 = cpu;
	if (epoll_ctl(source->epoll_fd, EPOLL_CTL_ADD, perf_ring_fd(slot->ring), &wake) < 0)
		return error_set_errno(err, "cannot watch CPU %u", cpu);
	return 0;
}

static int cpu_allocate(struct perf_source *source, uint32_t number, struct error *err)
{
	uint32_t table = source->config.table_entries, buffer = source->config.buffer_entries;
	size_t bytes = sample_store_bytes(table, buffer);
	struct perf_cpu *cpu;

	if (bytes == 0)
		return error_set(err, EINVAL,
				 "table_entries and buffer_entries must be powers of two in %d-%u",
				 DCPI_ENTRIES_MIN, DCPI_ENTRIES_MAX);
	cpu = aligned_alloc(64, sizeof(*cpu));
	if (cpu == NULL)
		return error_set(err, ENOMEM, "out of memory");
	memset(cpu, 0, sizeof(*cpu));
	cpu->memory = aligned_alloc(64, bytes);
	if (cpu->memory == NULL) {
		free(cpu);
		return error_set(err, ENOMEM, "out of memory");
	}
	memset(cpu->memory, 0, bytes);
	sample_store_init(&cpu->store, cpu->memory, table, buffer);
	source->cpus[number] = cpu;
	return 0;
}

static void cpu_close(struct perf_source *source, struct perf_cpu *cpu)
{
	uint32_t i;

	for (i = 0; i < source->config.event_count; i++)
		slot_close(source, &cpu->slot[i]);
}

/* A CPU that was offline keeps its store and gets new rings. */
static int cpu_open(struct perf_source *source, uint32_t number, struct error *err)
{
	uint32_t i;
	int rc = 0;

	if (source->cpus[number] == NULL)
		rc = cpu_allocate(source, number, err);
	for (i = 0; rc == 0 && i < source->config.event_count; i++)
		rc = slot_open(source, number, i, err);
	if (rc < 0 && source->cpus[number] != NULL)
		cpu_close(source, source->cpus[number]);
	return rc;
}

static void cpu_enable(struct perf_source *source, uint32_t number)
{
	uint32_t i;

	/* A target's events start by themselves, when it execs. */
	for (i = 0; source->config.target_pid == 0 && i < source->config.event_count; i++)
		ioctl(perf_ring_fd(source->cpus[number]->slot[i].ring), PERF_EVENT_IOC_ENABLE, 0);
}

static int online_read(struct perf_source *source, struct cpu_list *ret)
{
	char text[4096];
	ssize_t bytes = pread(source->online_fd, text, sizeof(text) - 1, 0);

	if (bytes <= 0)
		return -EIO;
	text[bytes] = '\0';
	return cpu_list_parse(ret, text);
}

/*
 * CPUs come and go. What a leaving CPU had in its rings has been drained when
 * this is called; an event does not survive its CPU.
 */
static void cpus_refresh(struct perf_source *source)
{
	struct cpu_list online;
	uint32_t cpu;

	if (source->stopped || online_read(source, &online) < 0 ||
	    memcmp(&online, &source->online, sizeof(online)) == 0)
		return;
	for (cpu = 0; cpu < source->cpu_end; cpu++) {
		bool is = cpu_list_has(&online, cpu), was = cpu_list_has(&source->online, cpu);

		if (was && !is)
			cpu_close(source, source->cpus[cpu]);
		if (is && !was && cpu_open(source, cpu, NULL) == 0)
			cpu_enable(source, cpu);
		else if (is && !was)
			online.bits[cpu / 64] &= ~(1ULL << cpu % 64); /* tried again next time */
	}
	source->online = online;
}

static void perf_close(struct source *base)
{
	struct perf_source *source = (struct perf_source *)base;
	uint32_t i;

	if (source == NULL)
		return;
	for (i = 0; i < source->cpu_end && source->cpus != NULL; i++) {
		if (source->cpus[i] == NULL)
			continue;
		cpu_close(source, source->cpus[i]);
		free(source->cpus[i]->memory);
		free(source->cpus[i]);
	}
	free(source->cpus);
	if (source->epoll_fd >= 0)
		close(source->epoll_fd);
	if (source->online_fd >= 0)
		close(source->online_fd);
	free(source);
}

static int cpus_open(struct perf_source *source, struct error *err)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t cpu, end;
	int rc;

	source->online_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	if (source->online_fd < 0)
		return error_set_errno(err, "cannot open /sys/devices/system/cpu/online");
	if (online_read(source, &source->online) < 0)
		return error_set(err, EIO, "cannot read /sys/devices/system/cpu/online");
	end = cpu_list_end(&source->online);
	if (configured > end && configured <= CPU_LIST_MAX)
		end = (uint32_t)configured;
	source->cpus = calloc(end, sizeof(struct perf_cpu *));
	if (source->cpus == NULL)
		return error_set(err, ENOMEM, "out of memory");
	source->cpu_end = end;
	for (cpu = 0; cpu < end; cpu++) {
		if (!cpu_list_has(&source->online, cpu))
			continue;
		rc = cpu_open(source, cpu, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int perf_open(struct source **ret, const struct source_config *config, struct error *err)
{
	struct perf_source *source = calloc(1, sizeof(*source));
	int rc;

	if (source == NULL)
		return error_set(err, ENOMEM, "out of memory");
	source->base.ops = &source_perf_ops;
	source->config = *config;
	if (config->table_entries == 0)
		source->config.table_entries = DCPI_TABLE_ENTRIES_DEFAULT;
	if (config->buffer_entries == 0)
		source->config.buffer_entries = DCPI_BUFFER_ENTRIES_DEFAULT;
	memcpy(source->events, config->events, config->event_count * sizeof(config->events[0]));
	source->config.events = source->events;
	source->counts_lost = true;
	source->online_fd = -1;
	source->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (source->epoll_fd < 0)
		rc = error_set_errno(err, "epoll_create1 failed");
	else
		rc = cpus_open(source, err);
	if (rc < 0) {
		perf_close(&source->base);
		return rc;
	}
	*ret = &source->base;
	return 0;
}

static int perf_start(struct source *base, struct error *err)
{
	struct perf_source *source = (struct perf_source *)base;
	uint32_t cpu;

	(void)err;
	for (cpu = 0; cpu < source->cpu_end; cpu++) {
		if (cpu_list_has(&source->online, cpu))
			cpu_enable(source, cpu);
	}
	return 0;
}

static void slots_each(struct perf_source *source,
		       void (*each)(struct perf_source *, struct perf_slot *))
{
	uint32_t cpu, i;

	for (cpu = 0; cpu < source->cpu_end; cpu++) {
		for (i = 0; source->cpus[cpu] != NULL && i < source->config.event_count; i++) {
			if (source->cpus[cpu]->slot[i].ring != NULL)
				each(source, &source->cpus[cpu]->slot[i]);
		}
	}
}

static void slot_disable(struct perf_source *source, struct perf_slot *slot)
{
	(void)source;
	ioctl(perf_ring_fd(slot->ring), PERF_EVENT_IOC_DISABLE, 0);
}

static void perf_stop(struct source *base)
{
	struct perf_source *source = (struct perf_source *)base;

	slots_each(source, slot_disable);
	source->stopped = true;
}

static int perf_poll_fd(struct source *base)
{
	return ((struct perf_source *)base)->epoll_fd;
}

/*
 * Wake-ups are edges: a ring tells once, and one whose process has ended would
 * tell for ever. So all are taken back here, whoever asked for the drain.
 */
static void wakeups_clear(struct perf_source *source)
{
	struct epoll_event events[64];

	while (epoll_wait(source->epoll_fd, events, 64, 0) == 64)
		;
}

static int perf_drain(struct source *base, bool all, uint64_t until_ns, source_sample_fn visit,
		      void *context, struct error *err)
{
	struct perf_source *source = (struct perf_source *)base;
	struct perf_drain drain = {
		.source = source,
		.until_ns = until_ns,
		.visit = visit,
		.context = context,
	};
	uint32_t cpu, event;

	(void)err;
	wakeups_clear(source);
	for (cpu = 0; cpu < source->cpu_end; cpu++) {
		drain.cpu = source->cpus[cpu];
		if (drain.cpu == NULL)
			continue;
		for (event = 0; event < source->config.event_count; event++)
			slot_drain(&drain, event);
		if (all)
			store_visit_all(&drain);
	}
	if (source->stopped && all)
		slots_each(source, slot_read_lost);
	cpus_refresh(source);
	return 0;
}

static uint64_t perf_counters(struct source *base, source_counter_fn visit, void *context)
{
	struct perf_source *source = (struct perf_source *)base;
	uint64_t hits = 0, misses = 0, evictions = 0, lost = source->lost;
	uint32_t cpu, i;

	for (cpu = 0; cpu < source->cpu_end; cpu++) {
		const struct perf_cpu *at = source->cpus[cpu];

		if (at == NULL)
			continue;
		hits += at->store.hits;
		misses += at->store.misses;
		evictions += at->store.evictions;
		for (i = 0; i < source->config.event_count; i++)
			lost += at->slot[i].lost;
	}
	visit(context, "loss", "ring_full", lost);
	visit(context, "stat", "hits", hits);
	visit(context, "stat", "misses", misses);
	visit(context, "stat", "evictions", evictions);
	visit(context, "stat", "throttled", source->throttled);
	return source->seen + lost;
}

const struct source_ops source_perf_ops = {
	.name = "perf",
	.own_generations = true,
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.poll_fd = perf_poll_fd,
	.drain = perf_drain,
	.counters = perf_counters,
	.close = perf_close,
};
