// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/run_cost.h"

#include <stdio.h>
#include <sys/resource.h>

#include "daemon/collect/collector.h"
#include "lib/clock.h"

/* Approximate cost of the snapshot and the interpretation of a sample. */
#define INTERPRET_NS 8000
/* As long as an interrupt takes in slow virtual machines. */
#define UNKNOWN_COST_NS 50000
/* With fewer samples, or less time, the cost is not reliable. */
#define SAMPLES_MIN 100
#define PROGRAM_NS_MIN (100 * NS_PER_MS)

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

static uint64_t cpu_ns(const struct rusage *usage)
{
	return timeval_ns(usage->ru_utime) + timeval_ns(usage->ru_stime);
}

/* CPU time of this process and those of its children that have exited, including the command. */
static uint64_t spent_ns(void)
{
	struct rusage children = {.ru_utime.tv_sec = 0};

	getrusage(RUSAGE_CHILDREN, &children);
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + cpu_ns(&children);
}

void run_cost_begin(struct run_cost *cost, uint32_t percent, bool first)
{
	*cost = (struct run_cost){.percent = percent, .begun_ns = first ? 0 : spent_ns()};
}

void run_cost_fit(struct run_cost *cost, struct collector_config *config, uint64_t given_rate)
{
	struct event_list *events = &config->events;
	uint64_t one_ns = UNKNOWN_COST_NS, most, rate = EVENT_RATE;

	config->begun_cpu_ns = cost->begun_ns == 0 ? 0 : clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	config->sample_cost_max_ns = UNKNOWN_COST_NS;
	if (overhead_measure_all(events, config->cpu_hz, &cost->sample, NULL) == 0) {
		cost->known = true;
		one_ns = cost->sample.ns;
		config->sample_cost_ns = cost->sample.ns;
		config->sample_cost_max_ns = cost->sample.high_ns;
	}
	most = overhead_rate((one_ns + INTERPRET_NS) * events->count * 3 / 2, cost->percent);
	while (rate > most)
		rate /= 2;
	if (events->defaults != 0)
		event_list_set_rate(events, config->cpu_hz, given_rate > 0 ? given_rate : rate);
	cost->given = given_rate > 0 || events->defaults == 0;
}

void run_cost_end(struct run_cost *cost, const struct rusage *command)
{
	cost->command_ns = cpu_ns(command);
	cost->ended_ns = spent_ns();
}

void run_cost_take(struct run_cost *cost, struct collector *collector)
{
	struct collector_status status;

	collector_cost(collector, &cost->parts);
	collector_status(collector, &status);
	cost->interrupts = status.interrupts;
}

/* Print the bound, and if even the minimum of the cost is above it, a reason that is known. */
static void bound_print(const struct run_cost *cost, double least_percent)
{
	if (least_percent <= cost->percent)
		fprintf(stderr, " of the CPU time (bound %u%%)", cost->percent);
	else
		fprintf(stderr, " of the CPU time (above the bound of %u%%%s)", cost->percent,
			cost->given ? ": the rate was given" : "");
}

void run_cost_print(const struct run_cost *cost)
{
	const struct collector_cost *parts = &cost->parts;
	uint64_t now_ns = spent_ns(), own_ns = now_ns - cost->begun_ns, low_ns, high_ns;
	double percent;

	if (cost->interrupts < SAMPLES_MIN || parts->program_ns < PROGRAM_NS_MIN)
		return;
	own_ns = own_ns > cost->command_ns ? own_ns - cost->command_ns : 0;
	percent = 100 / (double)parts->program_ns;
	/* The lower bound excludes probes, whose minimum cost is unknown. */
	low_ns = own_ns + parts->snapshots_ns + cost->interrupts * cost->sample.low_ns;
	high_ns = own_ns + parts->snapshots_ns + cost->interrupts * cost->sample.high_ns +
		  parts->probes_ns;
	if (cost->known)
		fprintf(stderr, "; it cost %.1f%% to %.1f%%", percent * (double)low_ns,
			percent * (double)high_ns);
	else
		fprintf(stderr, "; it cost at least %.1f%%", percent * (double)low_ns);
	bound_print(cost, percent * (double)low_ns);
	if (cost->known)
		fprintf(stderr, ": samples %.1f%%",
			percent * (double)(cost->interrupts * cost->sample.ns));
	else
		fputs(": samples unknown", stderr);
	fprintf(stderr,
		", snapshots %.1f%%, probes up to %.1f%%, dcpirun %.1f%% (start and end %.2f s)",
		percent * (double)parts->snapshots_ns, percent * (double)parts->probes_ns,
		percent * (double)own_ns,
		(double)(parts->once_ns + now_ns - cost->ended_ns) / NS_PER_SECOND);
}
