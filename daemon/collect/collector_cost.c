// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_cost.h"

#include "daemon/collect/collector.h"
#include "daemon/collect/collector_counters.h"
#include "daemon/collect/collector_state.h"
#include "lib/clock.h"

#define FOLLOW_NS (100 * NS_PER_MS)
#define EVERY_NS (500 * NS_PER_MS)
/* Then the interpretation of samples costs little, and edges remain. */
#define EVERY_MAX 64
/* Minimum time of the program for a reliable estimate of the parts. */
#define PROGRAM_NS_MIN (100 * NS_PER_MS)
/* CPU time of the last merge and of closing. */
#define END_NS (40 * NS_PER_MS)

void collector_cost(struct collector *collector, struct collector_cost *cost)
{
	struct counter_set counters;
	struct source_time time;
	uint64_t interrupts, cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	collector_counters_epoch(collector, &counters, &interrupts);
	*cost = (struct collector_cost){
		.samples_ns = interrupts * collector->config.sample_cost_ns,
		.samples_max_ns = interrupts * collector->config.sample_cost_max_ns,
		.snapshots_ns = counter_set_get(&counters, "stat", "snapshot_ms") * NS_PER_MS,
		.probes_ns = counter_set_get(&counters, "stat", "probe_ms") * NS_PER_MS,
		.once_ns = collector->once_ns,
		.processes_ns = cpu_ns - collector->config.begun_cpu_ns +
				(counter_set_get(&counters, "stat", "probe_process_ms") +
				 counter_set_get(&counters, "stat", "unwind_build_ms") +
				 counter_set_get(&counters, "stat", "symbol_read_ms") +
				 counter_set_get(&counters, "stat", "jit_parse_ms")) *
					NS_PER_MS,
	};
	if (collector->source->ops->event_time(collector->source, 0, &time) == 0)
		cost->program_ns = time.enabled_ns;
}

static uint64_t bound_of(const struct collector_cost *cost, uint32_t permille)
{
	return cost->program_ns / 1000 * permille;
}

/* The cost without probes. One-time work counts as half of the limit at most. */
static uint64_t others_of(const struct collector_cost *cost, uint64_t bound)
{
	uint64_t once_ns = cost->once_ns < bound / 2 ? cost->once_ns : bound / 2;

	return cost->samples_max_ns + cost->snapshots_ns + cost->processes_ns - cost->once_ns +
	       once_ns;
}

uint32_t collector_cost_every(const struct collector_cost *cost, uint32_t permille, uint32_t every,
			      uint32_t least)
{
	uint64_t bound = bound_of(cost, permille), others = others_of(cost, bound);

	if (cost->program_ns < PROGRAM_NS_MIN || least == 0)
		return every;
	if (others > bound && every < EVERY_MAX)
		return 2 * every;
	if (others < bound / 4 * 3 && every > least)
		return every / 2 > least ? every / 2 : least;
	return every;
}

uint32_t collector_cost_pace(const struct collector_cost *cost, uint32_t permille, uint32_t pace)
{
	uint32_t next = collector_cost_every(cost, permille, pace, 1);

	return next < COLLECTOR_PACE_MAX ? next : COLLECTOR_PACE_MAX;
}

uint32_t collector_cost_share(const struct collector_cost *cost, uint32_t permille, uint32_t most)
{
	uint64_t bound = bound_of(cost, permille), others = others_of(cost, bound), total, share;

	if (cost->program_ns < PROGRAM_NS_MIN)
		return permille / 2 < most ? permille / 2 : most;
	total = others + cost->probes_ns;
	if (total >= bound)
		return 0;
	share = (bound - others) * 1000 / cost->program_ns;
	return share < most ? (uint32_t)share : most;
}

static void follow_every(struct collector *collector, const struct collector_cost *cost)
{
	const struct collector_config *config = &collector->config;
	const struct source_ops *ops = collector->source->ops;

	if (config->branch_fixed || ops->set_branch_every == NULL)
		return;
	collector->branch_every = collector_cost_every(
		cost, config->total_permille, collector->branch_every, config->branch_every);
	ops->set_branch_every(collector->source, collector->branch_every);
}

/* An interval is long enough for the previous change to show in the cost. */
static void follow_work(struct collector *collector, const struct collector_cost *cost,
			uint64_t now_ns)
{
	const struct collector_config *config = &collector->config;
	uint32_t pace = collector_pace(collector), next;

	if (now_ns < collector->next_every_ns)
		return;
	collector->next_every_ns = now_ns + EVERY_NS;
	if (collector->branch_every == 0)
		collector->branch_every = config->branch_every;
	next = collector_cost_pace(cost, config->total_permille, pace);
	if (next > pace || (next < pace && collector->branch_every == config->branch_every))
		collector->pace = next;
	else
		follow_every(collector, cost);
}

void collector_cost_follow(struct collector *collector)
{
	const struct source_ops *ops = collector->source->ops;
	const struct collector_config *config = &collector->config;
	uint64_t now_ns = clock_monotonic_ns();
	struct collector_cost cost;

	if (config->total_permille == 0 || now_ns < collector->next_cost_ns)
		return;
	collector->next_cost_ns = now_ns + FOLLOW_NS;
	collector_cost(collector, &cost);
	cost.once_ns += END_NS;
	cost.processes_ns += END_NS;
	if (config->probe_permille > 0 && ops->set_probe_share != NULL)
		ops->set_probe_share(collector->source,
				     collector_cost_share(&cost, config->total_permille,
							  config->probe_permille));
	follow_work(collector, &cost, now_ns);
}
