// SPDX-License-Identifier: GPL-2.0-only
/*
 * The replay source: samples from a recorded trace (daemon/source/trace.h), counted in stores like
 * those of the perf source. For tests and measurements: samples are the same, in the same order,
 * independent of the machine's load.
 *
 * Each drain replays a batch; the descriptor stays readable until the trace has ended (stat
 * "replay_ended"). Samples match an image only if a process with their id and generation exists on
 * this machine now; all others are counted as unknown.
 *
 * A damaged trace makes the drain fail that finds the damage. Samples before the damage have been
 * taken, and can still be drained.
 */
#include "daemon/source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/source/store_drain.h"
#include "daemon/source/trace.h"
#include "daemon/source/trace_reader.h"
#include "kmod/core/sample_store.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Blocks of TRACE_BLOCK_SAMPLES per drain. */
#define BATCH_BLOCKS 4
/* A trace may name more CPUs than fit into memory. */
#define REPLAY_CPUS 256

struct replay_cpu {
	struct sample_store store __attribute__((aligned(64)));
	void *memory;
};

/*
 * @more_fd: an eventfd, readable while the source runs and the trace has not ended
 * @ended:   the whole trace was replayed, or it is damaged
 */
struct replay_source {
	struct source base;
	size_t event_count;
	uint32_t table_entries, buffer_entries;
	struct trace_reader *reader;
	struct replay_cpu *cpus[REPLAY_CPUS];
	int more_fd;
	bool running, ended;
	uint64_t seen;
};

static int cpu_allocate(struct replay_source *source, uint32_t number, struct error *err)
{
	size_t bytes = sample_store_bytes(source->table_entries, source->buffer_entries);
	struct replay_cpu *cpu = aligned_alloc(64, sizeof(*cpu));
	void *memory = aligned_alloc(64, bytes);

	if (cpu == NULL || memory == NULL) {
		free(memory);
		free(cpu);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	memset(cpu, 0, sizeof(*cpu));
	memset(memory, 0, bytes);
	cpu->memory = memory;
	sample_store_init(&cpu->store, memory, source->table_entries, source->buffer_entries);
	source->cpus[number] = cpu;
	return 0;
}

/* Check a block before taking any of its samples. */
static int block_check(const struct replay_source *source, const struct trace_block *block,
		       struct error *err)
{
	uint32_t i;

	if (block->cpu >= REPLAY_CPUS)
		return error_set(err, E2BIG, "the trace has CPU %u: %u at most can be replayed",
				 block->cpu, REPLAY_CPUS - 1);
	for (i = 0; i < block->count; i++) {
		uint32_t event = dcpi_tag_event(block->sample[i].tag);

		if (event >= source->event_count)
			return error_set(err, EINVAL,
					 "the trace has event %u, but only %zu are configured",
					 event, source->event_count);
	}
	return 0;
}

static int block_replay(struct replay_source *source, const struct trace_block *block,
			const struct source_sink *sink, struct error *err)
{
	struct sample_store *store;
	uint32_t i;
	int rc = block_check(source, block, err);

	if (rc == 0 && source->cpus[block->cpu] == NULL)
		rc = cpu_allocate(source, block->cpu, err);
	if (rc < 0)
		return rc;
	store = &source->cpus[block->cpu]->store;
	for (i = 0; i < block->count; i++) {
		if (sample_store_count(store, block->sample[i].pc, block->sample[i].tag) &
		    SAMPLE_WAKE)
			store_drain_full(store, sink);
	}
	source->seen += block->count;
	return 0;
}

/* An eventfd is readable if its value is not 0. */
static void more_set(const struct replay_source *source, bool more)
{
	eventfd_t value;

	eventfd_read(source->more_fd, &value);
	if (more)
		eventfd_write(source->more_fd, 1);
}

static int batch_replay(struct replay_source *source, const struct source_sink *sink,
			struct error *err)
{
	const struct trace_block *block;
	int i, rc = 1;

	for (i = 0; i < BATCH_BLOCKS && rc > 0; i++) {
		rc = trace_reader_next(source->reader, &block, err);
		if (rc > 0 && block_replay(source, block, sink, err) < 0)
			rc = -EINVAL;
	}
	source->ended = rc <= 0;
	more_set(source, !source->ended);
	return rc < 0 ? rc : 0;
}

static void replay_close(struct source *base)
{
	struct replay_source *source = (struct replay_source *)base;
	uint32_t i;

	if (source == NULL)
		return;
	for (i = 0; i < REPLAY_CPUS; i++) {
		if (source->cpus[i] != NULL)
			free(source->cpus[i]->memory);
		free(source->cpus[i]);
	}
	trace_reader_close(source->reader);
	if (source->more_fd >= 0)
		close(source->more_fd);
	free(source);
}

static int config_check(const struct source_config *config, struct error *err)
{
	if (config->replay == NULL)
		return error_set(err, EINVAL, "no trace to replay: use --trace FILE");
	if (config->target_pid != 0 || config->user_only)
		return error_set(err, EINVAL, "a trace is replayed for all processes");
	return 0;
}

static int replay_open(struct source **ret, const struct source_config *config, struct error *err)
{
	struct replay_source *source;
	int rc = config_check(config, err);

	if (rc < 0)
		return rc;
	source = calloc(1, sizeof(*source));
	if (source == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	source->base.ops = &source_replay_ops;
	source->event_count = config->event_count;
	source->table_entries = config->table_entries;
	source->buffer_entries = config->buffer_entries;
	source->more_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (source->more_fd < 0)
		rc = error_set_errno(err, "eventfd failed");
	else if (sample_store_bytes(source->table_entries, source->buffer_entries) == 0)
		rc = error_set(err, EINVAL,
			       "table_entries and buffer_entries must be powers of two in %d-%u",
			       DCPI_ENTRIES_MIN, DCPI_ENTRIES_MAX);
	else
		rc = trace_reader_open(&source->reader, config->replay, err);
	if (rc < 0) {
		replay_close(&source->base);
		return rc;
	}
	*ret = &source->base;
	return 0;
}

static int replay_start(struct source *base, struct error *err)
{
	struct replay_source *source = (struct replay_source *)base;

	(void)err;
	source->running = true;
	more_set(source, !source->ended);
	return 0;
}

static void replay_stop(struct source *base)
{
	struct replay_source *source = (struct replay_source *)base;

	source->running = false;
	more_set(source, false);
}

/* A trace has the periods that it was recorded with. */
static void replay_set_periods(struct source *base, const struct source_event *events)
{
	(void)base;
	(void)events;
}

static int replay_poll_fd(struct source *base)
{
	return ((struct replay_source *)base)->more_fd;
}

static int replay_drain(struct source *base, bool all, uint64_t until_ns,
			const struct source_sink *sink, struct error *err)
{
	struct replay_source *source = (struct replay_source *)base;
	uint32_t i;
	int rc = 0;

	(void)until_ns; /* a trace contains no times */
	if (source->running && !source->ended)
		rc = batch_replay(source, sink, err);
	for (i = 0; all && i < REPLAY_CPUS; i++) {
		if (source->cpus[i] != NULL)
			store_drain_all(&source->cpus[i]->store, sink);
	}
	return rc;
}

static uint64_t replay_counters(struct source *base, source_counter_fn visit, void *context)
{
	struct replay_source *source = (struct replay_source *)base;
	uint64_t hits = 0, misses = 0, evictions = 0;
	uint32_t i;

	for (i = 0; i < REPLAY_CPUS; i++) {
		if (source->cpus[i] == NULL)
			continue;
		hits += source->cpus[i]->store.hits;
		misses += source->cpus[i]->store.misses;
		evictions += source->cpus[i]->store.evictions;
	}
	visit(context, "stat", "hits", hits);
	visit(context, "stat", "misses", misses);
	visit(context, "stat", "evictions", evictions);
	visit(context, "stat", "replay_ended", source->ended);
	return source->seen;
}

static int replay_event_time(struct source *base, size_t event, struct source_time *time)
{
	(void)base;
	(void)event;
	(void)time;
	return -ENODATA;
}

const struct source_ops source_replay_ops = {
	.name = "replay",
	.own_generations = true,
	.open = replay_open,
	.start = replay_start,
	.stop = replay_stop,
	.set_periods = replay_set_periods,
	.poll_fd = replay_poll_fd,
	.drain = replay_drain,
	.counters = replay_counters,
	.event_time = replay_event_time,
	.close = replay_close,
};
