// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_cost.h"

#include "daemon/collect/collector_counters.h"
#include "daemon/collect/collector_state.h"
#include "lib/clock.h"

#define FOLLOW_NS (100 * NS_PER_MS)
/* Minimum time of the program for a reliable estimate of the parts. */
#define PROGRAM_NS_MIN (100 * NS_PER_MS)
/* CPU time of the last merge and of closing. */
#define END_NS (40 * NS_PER_MS)

void collector_cost(struct collector *collector, struct collector_cost *cost)
{
	struct tally counters;
	struct source_time time;
	uint64_t interrupts, cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	collector_counters_epoch(collector, &counters, &interrupts);
	*cost = (struct collector_cost){
		.samples_ns = interrupts * collector->config.sample_cost_ns,
		.samples_max_ns = interrupts * collector->config.sample_cost_max_ns,
		.snapshots_ns = tally_get(&counters, "stat", "snapshot_ms") * NS_PER_MS,
		.probes_ns = tally_get(&counters, "stat", "probe_ms") * NS_PER_MS,
		.once_ns = collector->once_ns,
		.processes_ns = cpu_ns - collector->config.begun_cpu_ns +
				tally_get(&counters, "stat", "probe_process_ms") * NS_PER_MS,
	};
	if (collector->source->ops->event_time(collector->source, 0, &time) == 0)
		cost->program_ns = time.enabled_ns;
}

uint32_t collector_cost_share(const struct collector_cost *cost, uint32_t permille, uint32_t most)
{
	uint64_t bound = cost->program_ns / 1000 * permille, total, share;
	uint64_t once_ns = cost->once_ns < bound / 2 ? cost->once_ns : bound / 2;
	uint64_t others = cost->samples_max_ns + cost->snapshots_ns + cost->processes_ns -
			  cost->once_ns + once_ns;

	if (cost->program_ns < PROGRAM_NS_MIN)
		return permille / 2 < most ? permille / 2 : most;
	total = others + cost->probes_ns;
	if (total >= bound)
		return 0;
	share = (bound - others) * 1000 / cost->program_ns;
	return share < most ? (uint32_t)share : most;
}

void collector_cost_follow(struct collector *collector)
{
	const struct source_ops *ops = collector->source->ops;
	const struct collector_config *config = &collector->config;
	uint64_t now_ns = clock_monotonic_ns();
	struct collector_cost cost;

	if (config->total_permille == 0 || config->probe_permille == 0 ||
	    ops->set_probe_share == NULL || now_ns < collector->next_cost_ns)
		return;
	collector->next_cost_ns = now_ns + FOLLOW_NS;
	collector_cost(collector, &cost);
	cost.once_ns += END_NS;
	cost.processes_ns += END_NS;
	ops->set_probe_share(collector->source, collector_cost_share(&cost, config->total_permille,
								     config->probe_permille));
}
