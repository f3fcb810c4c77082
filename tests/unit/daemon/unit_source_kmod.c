// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's source with a model of the module: linked with --wrap, so that open(), ioctl() and
 * mmap() of the device are handled here. The behavior of the real module is tested in tests/qemu.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/source/register_pairs.h"
#include "lib/error.h"
#include "lib/pid_namespace.h"

#define CPUS 3
#define DEVICE_FD 1000000

#define BUFFER 64

/* The simulated module. Counts left by an earlier reader are not this reader's. */
static struct {
	bool running, started, locked_down;
	struct dcpi_config config;
	struct dcpi_stats stats[CPUS];
	struct dcpi_event_stats event[CPUS];
	uint64_t waiting[CPUS], waiting_edges[CPUS];
	struct dcpi_sample buffers[CPUS][2 * BUFFER];
	bool mapped[CPUS];
	uint32_t taken[CPUS]; /* entries of the buffer taken */
	uint32_t next[CPUS];  /* the next buffer to fill */
	unsigned int starts, refusals, takes;
	uint32_t minor;
	uint64_t pairs[CPUS]; /* waiting pairs */
	struct dcpi_snapshots snapshots[CPUS];
} module;

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t bytes);
bool __wrap_pid_namespace_is_initial(void);

int __wrap_open(const char *path, int flags, ...)
{
	(void)flags;
	assert_string_equal(path, DCPI_DEVICE_PATH);
	return DEVICE_FD;
}

/* True if the module's process ids are those of another namespace. */
static bool other_namespace;

bool __wrap_pid_namespace_is_initial(void)
{
	return !other_namespace;
}

static int start(const struct dcpi_config *config)
{
	uint32_t cpu;

	if (module.refusals > 0) {
		module.refusals--;
		module.started = false;
		errno = ENOMEM;
		return -1;
	}
	if (module.locked_down && config->flags & DCPI_START_BRANCHES) {
		errno = EPERM;
		return -1;
	}
	module.running = module.started = true;
	module.config = *config;
	module.starts++;
	for (cpu = 0; cpu < CPUS; cpu++) {
		assert_false(module.mapped[cpu]); /* its process would have been killed */
		module.taken[cpu] = 0;
		module.waiting_edges[cpu] = 0;
	}
	memset(module.event, 0, sizeof(module.event));
	memset(module.stats, 0, sizeof(module.stats));
	memset(module.snapshots, 0, sizeof(module.snapshots));
	memset(module.waiting, 0, sizeof(module.waiting));
	return 0;
}

/* Convert waiting data to entries of one each: samples, far and near edges, and unused entries. */
static uint32_t entries_make(uint32_t cpu, struct dcpi_sample *to, uint32_t capacity)
{
	const uint64_t far = dcpi_tag(1, 0, DCPI_EVENT_DOUBLE_FAR);
	uint32_t count = 0;

	while (count < capacity && module.waiting[cpu] + module.waiting_edges[cpu] > 0) {
		if (module.waiting[cpu] > 0) {
			module.waiting[cpu]--;
			to[count++] = (struct dcpi_sample){.pc = 1, .tag = dcpi_tag(1, 0, 0) + 1};
			continue;
		}
		module.waiting_edges[cpu]--;
		if (module.waiting_edges[cpu] % 2 == 0 && count + 3 <= capacity) {
			to[count++] = (struct dcpi_sample){.pc = 0x1000, .tag = far + 1};
			to[count++] = (struct dcpi_sample){.pc = 1ULL << 40, .tag = far};
			to[count++] = (struct dcpi_sample){.pc = 0, .tag = 0};
			continue;
		}
		assert_true(dcpi_edge_pack(0x1000, 0x2000, &to[count].pc));
		to[count++].tag = dcpi_tag(1, 0, DCPI_EVENT_BRANCH) + 1;
	}
	return count;
}

static int drain_into(struct dcpi_drain *request)
{
	if (!module.started) {
		errno = ENXIO;
		return -1;
	}
	assert_int_equal(request->flags, DCPI_DRAIN_ALL);
	request->count = entries_make(
		request->cpu, (struct dcpi_sample *)(uintptr_t)request->samples, request->capacity);
	return 0;
}

/* A buffer is full when enough entries are waiting. */
static int take(struct dcpi_take *request)
{
	uint32_t cpu = request->cpu;

	if (!module.started) {
		errno = ENXIO;
		return -1;
	}
	request->first = module.next[cpu] * BUFFER;
	if (module.taken[cpu] == 0 && module.waiting[cpu] + module.waiting_edges[cpu] >= BUFFER)
		module.taken[cpu] = entries_make(cpu, module.buffers[cpu] + request->first, BUFFER);
	request->count = module.taken[cpu];
	module.takes += request->count > 0;
	return 0;
}

static int release(uint32_t cpu)
{
	assert_true(module.taken[cpu] > 0);
	memset(module.buffers[cpu] + (size_t)module.next[cpu] * BUFFER, 0xee,
	       BUFFER * sizeof(module.buffers[cpu][0]));
	module.taken[cpu] = 0;
	module.next[cpu] ^= 1;
	return 0;
}

/* The first snapshot of a pair has 1000 in register 2, the second one 1007. */
static int snapshots_give(struct dcpi_snapshots *request)
{
	struct dcpi_snapshot *to = (struct dcpi_snapshot *)(uintptr_t)request->snapshots;
	uint32_t cpu = request->cpu, capacity = request->capacity, count = 0;
	uint64_t *waiting = &module.pairs[cpu];

	assert_true(module.started && module.minor >= 1);
	for (; *waiting > 0 && count + 2 <= capacity; count += 2, --*waiting) {
		to[count] = (struct dcpi_snapshot){.kind = DCPI_SNAPSHOT_FIRST,
						   .pid = 1,
						   .cpu = cpu,
						   .known = 4,
						   .registers[2] = 1000};
		to[count + 1] = to[count];
		to[count + 1].kind = DCPI_SNAPSHOT_SECOND;
		to[count + 1].samples = 1;
		to[count + 1].registers[2] = 1007;
	}
	*request = module.snapshots[cpu];
	request->cpu = cpu;
	request->capacity = capacity;
	request->count = count;
	return 0;
}

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	uint32_t cpu = (uint32_t)((uint64_t)offset >> DCPI_MMAP_SHIFT);

	(void)address;
	(void)flags;
	assert_int_equal(fd, DEVICE_FD);
	assert_int_equal(protection, PROT_READ);
	assert_true(cpu < CPUS && (uint64_t)offset == DCPI_MMAP_OFFSET(cpu));
	assert_int_equal(bytes, sizeof(module.buffers[cpu]));
	assert_true(module.started && !module.mapped[cpu]);
	module.mapped[cpu] = true;
	return module.buffers[cpu];
}

int __wrap_munmap(void *address, size_t bytes)
{
	uint32_t cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		if (address != module.buffers[cpu])
			continue;
		assert_true(module.mapped[cpu] && bytes == sizeof(module.buffers[cpu]));
		module.mapped[cpu] = false;
		return 0;
	}
	fail_msg("unmaps what is not mapped");
	return -1;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct dcpi_event_stats *event;
	struct dcpi_stats *stats;
	va_list list;
	void *argument;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	assert_int_equal(fd, DEVICE_FD);
	switch (request) {
	case DCPI_IOC_VERSION:
		*(struct dcpi_version *)argument = (struct dcpi_version){
			.major = DCPI_UAPI_MAJOR, .minor = module.minor, .cpus = CPUS};
		return 0;
	case DCPI_IOC_START:
		return start(argument);
	case DCPI_IOC_STOP:
		module.running = false;
		return 0;
	case DCPI_IOC_DRAIN:
		return drain_into(argument);
	case DCPI_IOC_STATS:
		stats = argument;
		*stats = module.stats[stats->cpu];
		return 0;
	case DCPI_IOC_TIMES:
		/* On each CPU a hit of 3 ns, and a miss of 20 ms or more. */
		((struct dcpi_times *)argument)->hit[1] = 1;
		((struct dcpi_times *)argument)->hit_ns = 3;
		((struct dcpi_times *)argument)->miss[DCPI_TIME_BUCKETS - 1] = 1;
		((struct dcpi_times *)argument)->miss_ns = 20000000;
		return 0;
	case DCPI_IOC_EVENT_STATS:
		event = argument;
		assert_int_equal(event->event, 0);
		*event = module.event[event->cpu];
		return 0;
	case DCPI_IOC_SNAPSHOTS:
		return snapshots_give(argument);
	case DCPI_IOC_TAKE:
		return take(argument);
	case DCPI_IOC_RELEASE:
		return release(*(uint32_t *)argument);
	}
	fail_msg("unexpected ioctl %lx", request);
	return -1;
}

/* Data taken by the module, and data received from the source. */
struct sums {
	uint64_t taken, got;
	uint64_t edges, got_edges;
	uint64_t enabled_ns;
};

/* Take samples; some are lost. */
static void module_samples(uint64_t *seed, struct sums *sums)
{
	uint32_t cpu = (uint32_t)(unit_random(seed) % CPUS);
	uint64_t count = unit_random(seed) % 20, lost = unit_random(seed) % 3;
	uint64_t edges = unit_random(seed) % 5;

	if (!module.running)
		return;
	/* Second interrupts of double samples are not samples. */
	module.stats[cpu].interrupts += count + lost + edges;
	module.stats[cpu].second += edges;
	module.stats[cpu].hits += count;
	module.stats[cpu].losses[DCPI_LOSS_NESTED] += lost;
	module.stats[cpu].edges += edges;
	module.event[cpu].enabled_ns += 1000;
	module.event[cpu].running_ns += 500;
	module.waiting[cpu] += count;
	module.waiting_edges[cpu] += edges;
	sums->taken += count + lost;
	sums->edges += edges;
	sums->enabled_ns += 1000;
}

static void sample_count(void *context, const struct dcpi_sample *sample, size_t count)
{
	for (; count > 0; count--, sample++) {
		assert_true(sample->pc == 1 || dcpi_tag_count(sample->tag) == 0);
		((struct sums *)context)->got += dcpi_tag_count(sample->tag);
	}
}

static void edge_count(void *context, const struct source_edge *edge)
{
	bool near = dcpi_tag_event(edge->tag) == DCPI_EVENT_BRANCH;

	assert_true(near || dcpi_tag_event(edge->tag) == DCPI_EVENT_DOUBLE);
	assert_int_equal(edge->from, 0x1000);
	assert_int_equal(edge->to, near ? 0x2000 : 1ULL << 40);
	((struct sums *)context)->got_edges += edge->count;
}

static void loss_add(void *context, const char *group, const char *name, uint64_t count)
{
	(void)name;
	if (strcmp(group, "loss") == 0)
		*(uint64_t *)context += count;
}

/* A counter by name: its number of occurrences and their sum. */
struct named {
	const char *name;
	unsigned int seen;
	uint64_t count;
};

static void named_add(void *context, const char *group, const char *name, uint64_t count)
{
	struct named *named = context;

	if (strcmp(group, "stat") != 0 || strcmp(name, named->name) != 0)
		return;
	named->seen++;
	named->count += count;
}

static uint64_t stat_of(struct source *source, const char *name, unsigned int seen)
{
	struct named named = {.name = name};

	source->ops->counters(source, named_add, &named);
	assert_int_equal(named.seen, seen);
	return named.count;
}

static void nothing_to_sync(void *context)
{
	(void)context;
}

static struct source *source_of_version(uint32_t minor)
{
	static const struct source_event event = {
		.name = "cycles", .unit = "cycles", .period_min = 60000, .period_max = 64000};
	struct source_config config = {
		.events = &event,
		.event_count = 1,
		.table_entries = 64,
		.buffer_entries = BUFFER,
		.branch_every = 3,
		.double_every = 5,
		.double_period = 50,
		.handler_times = true,
		.sync = nothing_to_sync,
	};
	struct source *source;

	memset(&module, 0, sizeof(module));
	module.minor = minor;
	/* Counts of an earlier reader. */
	module.stats[1].interrupts = module.stats[1].losses[DCPI_LOSS_READER_GONE] = 4711;
	assert_int_equal(source_kmod_ops.open(&source, &config, NULL), 0);
	return source;
}

static struct source *source_new(void)
{
	return source_of_version(DCPI_UAPI_MINOR);
}

static void pair_take(void *context, const struct source_pair *pair)
{
	assert_int_equal(pair->tag, dcpi_tag(1, 0, 0));
	assert_int_equal(pair->delta[2], 7);
	assert_int_equal(pair->samples, 1);
	++*(uint64_t *)context;
}

static void samples_ignore(void *context, const struct dcpi_sample *samples, size_t count)
{
	(void)context;
	(void)samples;
	(void)count;
}

/* Pairs are passed on, and their counts continue when sampling starts again. */
static void snapshots_become_pairs(void **state)
{
	uint64_t pairs = 0;
	const struct source_sink sink = {
		.samples = samples_ignore, .pair = pair_take, .context = &pairs};
	struct source *source = source_new();

	(void)state;
	for (int starts = 0; starts < 2; starts++) {
		assert_int_equal(source->ops->start(source, NULL), 0);
		assert_true(module.config.flags & DCPI_START_SNAPSHOTS);
		module.pairs[0] = 100;
		module.pairs[2] = 3;
		module.snapshots[0] = (struct dcpi_snapshots){
			.begun = 105, .ended = 3, .expired = 1, .missed = 8, .missed_second = 1};
		module.snapshots[2] = (struct dcpi_snapshots){.begun = 3};
		source->ops->drain(source, false, UINT64_MAX, &sink, NULL);
		source->ops->drain(source, false, UINT64_MAX, &sink, NULL);
		source->ops->stop(source);
	}
	assert_int_equal(pairs, 206);
	assert_int_equal(stat_of(source, "pairs", 1), 206);
	assert_int_equal(stat_of(source, "pairs_begun", 1), 216);
	assert_int_equal(stat_of(source, "pairs_ended", 1), 6);
	assert_int_equal(stat_of(source, "pairs_expired", 1), 2);
	assert_int_equal(stat_of(source, "pairs_missed", 1), 2);
	assert_int_equal(stat_of(source, "snapshots_missed", 1), 18);
	source->ops->close(source);
}

/* A module of the first version has no snapshots. */
static void an_old_module_gives_no_snapshots(void **state)
{
	struct source *source = source_of_version(0);

	(void)state;
	assert_int_equal(source->ops->start(source, NULL), 0);
	assert_int_equal(module.config.flags & DCPI_START_SNAPSHOTS, 0);
	stat_of(source, "pairs", 0);
	source->ops->stop(source);
	source->ops->close(source);
}

static void drain(struct source *source, bool all, struct sums *sums)
{
	const struct source_sink sink = {
		.samples = sample_count, .edge = edge_count, .context = sums};

	assert_int_equal(source->ops->drain(source, all, UINT64_MAX, &sink, NULL), 0);
}

static void drain_all(struct source *source, struct sums *sums)
{
	uint32_t round;

	/* More data may be waiting in the model than one call returns. */
	for (round = 0; round < 50; round++)
		drain(source, true, sums);
	assert_int_equal(sums->got_edges, sums->edges);
}

/* @rest: also check that all data is handed over or lost, for an idle source. */
static void check_counters(struct source *source, const struct sums *sums, bool rest)
{
	struct source_time time;
	uint64_t losses = 0;

	assert_int_equal(source->ops->counters(source, loss_add, &losses), sums->taken);
	assert_int_equal(source->ops->event_time(source, 0, &time), 0);
	assert_int_equal(time.enabled_ns, sums->enabled_ns);
	assert_int_equal(time.running_ns, sums->enabled_ns / 2);
	assert_int_equal(source->ops->event_time(source, 1, &time), -ENODATA);
	if (rest)
		assert_int_equal(sums->got + losses, sums->taken);
}

/* Times are sums over CPUs; only non-zero parts of histograms are reported. */
static void handler_times_are_told(void **state)
{
	struct source *source = source_new();

	(void)state;
	assert_int_equal(source->ops->start(source, NULL), 0);
	assert_int_equal(stat_of(source, "handler_hit_ns", 1), 3 * CPUS);
	assert_int_equal(stat_of(source, "handler_miss_ns", 1), 20000000 * CPUS);
	assert_int_equal(stat_of(source, "handler_hit_ns.2", 1), CPUS);
	assert_int_equal(stat_of(source, "handler_miss_ns.8388608", 1), CPUS);
	assert_int_equal(stat_of(source, "handler_miss_ns.2", 0), 0);
	source->ops->stop(source);
	source->ops->close(source);
}

/* Counters continue and add up after any number of changes of periods. */
static void counters_survive_new_periods(void **state)
{
	struct source *source = source_new();
	struct source_event event = {.period_min = 0};
	unsigned int changes = 0;
	struct sums sums = {0};
	uint64_t seed = 1;
	int step;

	(void)state;
	check_counters(source, &sums, true);
	assert_int_equal(source->ops->start(source, NULL), 0);
	assert_int_equal(module.config.event[0].period_min, 60000);
	assert_int_equal(module.config.flags, DCPI_START_BRANCHES | DCPI_START_DOUBLE |
						      DCPI_START_TIMES | DCPI_START_SNAPSHOTS);
	assert_int_equal(module.config.branch_every, 3);
	assert_int_equal(module.config.double_every, 5);
	assert_int_equal(module.config.double_period, 50);
	for (step = 0; step < 5000; step++) {
		module_samples(&seed, &sums);
		if (unit_random(&seed) % 8 == 0)
			drain(source, false, &sums);
		if (unit_random(&seed) % 16 == 0) {
			source->ops->stop(source);
			drain_all(source, &sums);
			check_counters(source, &sums, true);
			event.period_min = 60000 + unit_random(&seed) % 1000000;
			event.period_max = event.period_min + 5;
			source->ops->set_periods(source, &event);
			assert_int_equal(source->ops->start(source, NULL), 0);
			assert_int_equal(module.config.event[0].period_min, event.period_min);
			assert_int_equal(module.config.event[0].period_max, event.period_max);
			changes++;
		}
		check_counters(source, &sums, false);
	}
	assert_true(changes > 100 && module.takes > 100);
	assert_int_equal(module.starts, changes + 1);
	source->ops->stop(source);
	/* The descriptor is the model's: the failing close(2) is harmless. */
	source->ops->close(source);
	assert_false(module.mapped[0] || module.mapped[1] || module.mapped[2]);
}

/* A refused start does not change the counters. */
static void counters_survive_a_refusal(void **state)
{
	struct source *source = source_new();
	struct sums sums = {0};
	uint64_t seed = 2;
	int step;

	(void)state;
	assert_int_equal(source->ops->start(source, NULL), 0);
	for (step = 0; step < 20; step++)
		module_samples(&seed, &sums);
	source->ops->stop(source);
	drain_all(source, &sums);
	module.refusals = 2;
	assert_int_equal(source->ops->start(source, NULL), -ENOMEM);
	check_counters(source, &sums, true);
	assert_int_equal(source->ops->start(source, NULL), -ENOMEM);
	assert_int_equal(source->ops->start(source, NULL), 0);
	check_counters(source, &sums, true);
	source->ops->close(source);
}

/* In lockdown, samples are taken without edges, and this is reported. */
static void samples_without_edges_in_lockdown(void **state)
{
	struct source *source = source_new();

	(void)state;
	module.locked_down = true;
	for (uint64_t starts = 1; starts < 3; starts++) {
		assert_int_equal(source->ops->start(source, NULL), 0);
		assert_int_equal(module.config.flags, DCPI_START_DOUBLE | DCPI_START_TIMES);
		assert_int_equal(module.config.branch_every, 0);
		assert_int_equal(stat_of(source, "branches_refused", 1), starts);
	}
	module.locked_down = false;
	assert_int_equal(source->ops->start(source, NULL), 0);
	assert_int_equal(module.config.branch_every, 3);
	source->ops->close(source);
}

/* If the kernel names entries beyond the buffers, they are not read. */
static void refuses_entries_beyond_the_buffers(void **state)
{
	const struct source_sink sink = {.samples = sample_count};
	struct source *source = source_new();

	(void)state;
	assert_int_equal(source->ops->start(source, NULL), 0);
	module.taken[0] = BUFFER + 1;
	module.next[0] = 1;
	assert_int_equal(source->ops->drain(source, false, UINT64_MAX, &sink, NULL), -EPROTO);
	module.next[0] = UINT32_MAX / BUFFER;
	assert_int_equal(source->ops->drain(source, false, UINT64_MAX, &sink, NULL), -EPROTO);
	source->ops->close(source);
}

/* In another PID namespace, the module's process ids would be those of other processes. */
static void refuses_another_pid_namespace(void **state)
{
	struct source_config config = {.table_entries = 64, .buffer_entries = BUFFER};
	struct source *source = NULL;
	struct error err = {.errnum = 0};

	(void)state;
	other_namespace = true;
	assert_int_equal(source_kmod_ops.open(&source, &config, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "PID namespace"));
	assert_null(source);
	other_namespace = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(snapshots_become_pairs),
		cmocka_unit_test(an_old_module_gives_no_snapshots),
		cmocka_unit_test(handler_times_are_told),
		cmocka_unit_test(counters_survive_new_periods),
		cmocka_unit_test(counters_survive_a_refusal),
		cmocka_unit_test(samples_without_edges_in_lockdown),
		cmocka_unit_test(refuses_entries_beyond_the_buffers),
		cmocka_unit_test(refuses_another_pid_namespace),
	};

	return cmocka_run_group_tests_name("source_kmod", tests, NULL, NULL);
}
