// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's source against a model of the module: linked with --wrap, so
 * that open() and ioctl() of the device come here. The real module's behaviour
 * is tested in tests/qemu.
 */
#include "tests/unit.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source.h"

#define CPUS 3
#define DEVICE_FD 1000000

/* What an earlier reader left is not ours. */
static struct {
	bool running, started;
	struct dcpi_config config;
	struct dcpi_stats stats[CPUS];
	uint64_t waiting[CPUS];
	unsigned int starts, refusals;
} module;

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_open(const char *path, int flags, ...)
{
	(void)flags;
	assert_string_equal(path, DCPI_DEVICE_PATH);
	return DEVICE_FD;
}

static int start(const struct dcpi_config *config)
{
	if (module.refusals > 0) {
		module.refusals--;
		module.started = false;
		errno = ENOMEM;
		return -1;
	}
	module.running = module.started = true;
	module.config = *config;
	module.starts++;
	memset(module.stats, 0, sizeof(module.stats));
	memset(module.waiting, 0, sizeof(module.waiting));
	return 0;
}

/* All that waits, as entries of one sample each. */
static int drain(struct dcpi_drain *request)
{
	struct dcpi_sample *samples = (struct dcpi_sample *)(uintptr_t)request->samples;

	if (!module.started) {
		errno = ENXIO;
		return -1;
	}
	request->count = 0;
	while (request->count < request->capacity && module.waiting[request->cpu] > 0) {
		module.waiting[request->cpu]--;
		samples[request->count++] =
			(struct dcpi_sample){.pc = 1, .tag = dcpi_tag(1, 0, 0) + 1};
	}
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct dcpi_stats *stats;
	va_list list;
	void *argument;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	assert_int_equal(fd, DEVICE_FD);
	switch (request) {
	case DCPI_IOC_VERSION:
		*(struct dcpi_version *)argument =
			(struct dcpi_version){.major = DCPI_UAPI_MAJOR, .cpus = CPUS};
		return 0;
	case DCPI_IOC_START:
		return start(argument);
	case DCPI_IOC_STOP:
		module.running = false;
		return 0;
	case DCPI_IOC_DRAIN:
		return drain(argument);
	case DCPI_IOC_STATS:
		stats = argument;
		*stats = module.stats[stats->cpu];
		return 0;
	}
	fail_msg("unexpected ioctl %lx", request);
	return -1;
}

/* The machine samples; some are lost on the way. */
static void module_samples(uint64_t *seed, uint64_t *taken)
{
	uint32_t cpu = (uint32_t)(unit_random(seed) % CPUS);
	uint64_t count = unit_random(seed) % 20, lost = unit_random(seed) % 3;

	if (!module.running)
		return;
	module.stats[cpu].interrupts += count + lost;
	module.stats[cpu].hits += count;
	module.stats[cpu].losses[DCPI_LOSS_NESTED] += lost;
	module.waiting[cpu] += count;
	*taken += count + lost;
}

static void sample_count(void *context, const struct dcpi_sample *sample)
{
	*(uint64_t *)context += dcpi_tag_count(sample->tag);
}

static void loss_add(void *context, const char *group, const char *name, uint64_t count)
{
	(void)name;
	if (strcmp(group, "loss") == 0)
		*(uint64_t *)context += count;
}

static void nothing_to_sync(void *context)
{
	(void)context;
}

static struct source *source_new(void)
{
	static const struct source_event event = {
		.name = "cycles", .unit = "cycles", .period_min = 60000, .period_max = 64000};
	struct source_config config = {
		.events = &event,
		.event_count = 1,
		.table_entries = 64,
		.buffer_entries = 64,
		.sync = nothing_to_sync,
	};
	struct source *source;

	memset(&module, 0, sizeof(module));
	/* Of an earlier reader. */
	module.stats[1].interrupts = module.stats[1].losses[DCPI_LOSS_READER_GONE] = 4711;
	assert_int_equal(source_kmod_ops.open(&source, &config, NULL), 0);
	return source;
}

static void drain_all(struct source *source, uint64_t *got)
{
	const struct source_sink sink = {.sample = sample_count, .context = got};
	uint32_t round;

	/* More than one call holds may wait in the model. */
	for (round = 0; round < 50; round++)
		assert_int_equal(source->ops->drain(source, true, UINT64_MAX, &sink, NULL), 0);
}

/* Counters go on, and add up, however often the periods change. */
static void counters_survive_new_periods(void **state)
{
	struct source *source = source_new();
	uint64_t seed = 1, taken = 0, got = 0, losses = 0;
	struct source_event event = {.period_min = 0};
	unsigned int changes = 0;
	int step;

	(void)state;
	assert_int_equal(source->ops->counters(source, loss_add, &losses), 0);
	assert_int_equal(losses, 0);
	assert_int_equal(source->ops->start(source, NULL), 0);
	assert_int_equal(module.config.event[0].period_min, 60000);
	for (step = 0; step < 5000; step++) {
		module_samples(&seed, &taken);
		if (unit_random(&seed) % 16 == 0) {
			source->ops->stop(source);
			drain_all(source, &got);
			losses = 0;
			assert_int_equal(source->ops->counters(source, loss_add, &losses), taken);
			assert_int_equal(got + losses, taken);
			event.period_min = 60000 + unit_random(&seed) % 1000000;
			event.period_max = event.period_min + 5;
			source->ops->set_periods(source, &event);
			assert_int_equal(source->ops->start(source, NULL), 0);
			assert_int_equal(module.config.event[0].period_min, event.period_min);
			assert_int_equal(module.config.event[0].period_max, event.period_max);
			changes++;
		}
		losses = 0;
		assert_int_equal(source->ops->counters(source, loss_add, &losses), taken);
	}
	assert_true(changes > 100);
	assert_int_equal(module.starts, changes + 1);
	source->ops->stop(source);
	/* The descriptor is the model's: the close(2) that fails here is harmless. */
	source->ops->close(source);
}

/* A start that is refused leaves the counters as they were. */
static void counters_survive_a_refusal(void **state)
{
	struct source *source = source_new();
	uint64_t seed = 2, taken = 0, got = 0, losses = 0;
	int step;

	(void)state;
	assert_int_equal(source->ops->start(source, NULL), 0);
	for (step = 0; step < 20; step++)
		module_samples(&seed, &taken);
	source->ops->stop(source);
	drain_all(source, &got);
	module.refusals = 2;
	assert_int_equal(source->ops->start(source, NULL), -ENOMEM);
	assert_int_equal(source->ops->counters(source, loss_add, &losses), taken);
	assert_int_equal(source->ops->start(source, NULL), -ENOMEM);
	assert_int_equal(source->ops->start(source, NULL), 0);
	losses = 0;
	assert_int_equal(source->ops->counters(source, loss_add, &losses), taken);
	assert_int_equal(got + losses, taken);
	source->ops->close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_survive_new_periods),
		cmocka_unit_test(counters_survive_a_refusal),
	};

	return cmocka_run_group_tests_name("source_kmod", tests, NULL, NULL);
}
