// SPDX-License-Identifier: GPL-2.0-only
/* The perf source with events of this machine: no samples are lost when CPUs go offline. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>

#include "daemon/source/source.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/online_cpus.h"

/* @leave: all CPUs go offline at the next drain */
static struct world {
	bool leave;
	bool synced;
	uint64_t handed;
} world;

int __wrap_online_cpus_follow(struct online_cpus *cpus, const struct online_cpus_user *user,
			      void *context);

int __wrap_online_cpus_follow(struct online_cpus *cpus, const struct online_cpus_user *user,
			      void *context)
{
	for (uint32_t cpu = 0; world.leave && cpu < cpus->end; cpu++) {
		if (online_cpus_has(cpus, cpu))
			user->went(context, cpu);
	}
	world.leave = false;
	return 0;
}

static uint32_t generation_of(void *context, uint32_t pid, uint64_t time_ns)
{
	(void)context;
	(void)pid;
	(void)time_ns;
	return 0;
}

static void sync_note(void *context)
{
	(void)context;
	world.synced = true;
}

static void samples_take(void *context, const struct dcpi_sample *samples, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		world.handed += dcpi_tag_count(samples[i].tag);
}

static void counter_take(void *context, const char *group, const char *name, uint64_t count)
{
	(void)name;
	if (strcmp(group, "loss") == 0)
		*(uint64_t *)context += count;
}

static void spin(uint64_t ns)
{
	uint64_t end = clock_monotonic_ns() + ns;

	while (clock_monotonic_ns() < end)
		;
}

static void cpus_that_go_leave_their_samples(void **state)
{
	static const struct source_event event = {
		.name = "cpu-clock",
		.unit = "ns",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.period_min = 1000000,
		.period_max = 1000000,
	};
	static const struct source_config config = {
		.events = &event,
		.event_count = 1,
		.table_entries = DCPI_TABLE_ENTRIES_DEFAULT,
		.buffer_entries = DCPI_BUFFER_ENTRIES_DEFAULT,
		.generation = generation_of,
		.sync = sync_note,
	};
	static const struct source_sink sink = {.samples = samples_take};
	struct source *source = NULL;
	uint64_t lost = 0, taken;
	struct error err;
	int rc = source_perf_ops.open(&source, &config, &err);

	(void)state;
	if (rc == -EACCES || rc == -EPERM || rc == -ENOSYS) {
		print_message("skipped: %s\n", err.message);
		skip();
	}
	assert_int_equal(rc, 0);
	assert_int_equal(source_perf_ops.start(source, &err), 0);
	spin(100 * NS_PER_MS);
	/* All samples are too late for this drain, which is the last one before the CPUs go. */
	world.leave = true;
	assert_int_equal(source_perf_ops.drain(source, true, 0, &sink, &err), 0);
	assert_true(world.synced);
	source_perf_ops.stop(source);
	assert_int_equal(source_perf_ops.drain(source, true, UINT64_MAX, &sink, &err), 0);
	taken = source_perf_ops.counters(source, counter_take, &lost);
	assert_int_equal(taken, world.handed + lost);
	assert_true(world.handed > 0);
	source_perf_ops.close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_that_go_leave_their_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
