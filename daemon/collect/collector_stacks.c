// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_stacks.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/collect/collector_state.h"
#include "daemon/collect/matcher.h"
#include "daemon/collect/stack_store.h"
#include "daemon/collect/stack_unwinder.h"
#include "daemon/collect/thread_store.h"
#include "daemon/source/off_cpu.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* CPU time for the unwind tables of the programs that run at the start. */
#define STACK_TABLES_START_NS NS_PER_SECOND

static struct image_place place_of_code(void *context, uint64_t tag, uint64_t pc)
{
	return matcher_place(context, tag, pc);
}

static uint32_t uid_of_process(void *context, uint32_t pid)
{
	return matcher_uid(context, pid);
}

static bool is_profiler(void *context, uint64_t tag)
{
	return matcher_is_profiler(context, tag);
}

/*
 * Tables may take a fifth of the budget of samples, on all CPUs together. A target ends soon, and
 * needs all tables at its start.
 */
static struct stack_unwinder *stacks_create(const struct collector *collector)
{
	struct matcher *matcher = collector->matcher;
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t permille = collector->config.overhead_percent * 10 * cpus / 5;
	bool is_one = collector->config.target_pid != 0 || collector->config.only_pid != 0;
	const struct stack_unwinder_code code = {
		.place = place_of_code,
		.uid = uid_of_process,
		.is_profiler = is_profiler,
		.context = matcher,
		.images = matcher_images(matcher),
		.vdso_here = true,
		.table_bytes = is_one ? STACK_UNWINDER_TABLE_BYTES_ONE : STACK_UNWINDER_TABLE_BYTES,
		.held_bytes = is_one ? STACK_UNWINDER_HELD_BYTES_ONE : STACK_UNWINDER_HELD_BYTES,
		.off_cpu = collector->off_cpu != NULL,
		.build_permille = is_one ? 0 : (uint32_t)permille,
		.build_start_ns = STACK_TABLES_START_NS,
	};

	return stack_unwinder_create(&code, STACK_STORE_NODES_MAX);
}

/* A daemon samples even if it cannot measure off-CPU time. */
static int off_cpu_prepare(struct collector *collector, source_generation_fn generation,
			   source_sync_fn sync, struct error *err)
{
	const struct collector_config *config = &collector->config;
	const struct off_cpu_config off_cpu = {
		.permille = config->off_cpu_permille,
		.target_pid = config->target_pid,
		.only_pid = config->only_pid,
		.user_only = config->user_only,
		.generation = collector->source->ops->own_generations ? generation : NULL,
		.sync = sync,
		.context = collector,
	};
	struct error failure;
	int rc = 0;

	if (config->off_cpu_permille > 0)
		rc = off_cpu_open(&collector->off_cpu, &off_cpu, &failure);
	if (rc == 0)
		return 0;
	if (config->off_cpu_required)
		return error_set(err, -rc, "off-CPU time cannot be measured: %s", failure.message);
	log_warning("off-CPU time is not measured: %s", failure.message);
	return 0;
}

int collector_stacks_open(struct collector *collector, source_generation_fn generation,
			  source_sync_fn sync, struct error *err)
{
	int rc = off_cpu_prepare(collector, generation, sync, err);

	if (rc < 0 || (collector->config.stack_every == 0 && collector->off_cpu == NULL))
		return rc;
	collector->stacks = stacks_create(collector);
	collector->threads = thread_store_create(THREAD_STORE_MAX);
	return collector->stacks == NULL || collector->threads == NULL
		       ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
		       : 0;
}
