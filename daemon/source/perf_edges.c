// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/perf_edges.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/source/bpf_sampler.h"
#include "daemon/source/branch_probes.h"
#include "daemon/source/branch_snapshots.h"
#include "daemon/source/perf_registers.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/epoll_set.h"

/* Number of branches after a sample that may be queued for probing. */
#define OFFERED_MAX 3
/* Maximum number of edges from records that are kept back. */
#define FOUND_MAX 1024
/* Data this close to the stack pointer is in the stack. */
#define STACK_BELOW 128
#define STACK_ABOVE 65536
/* Interval of invalidation, in case a library was replaced by another without an event. */
#define REFRESH_NS (10 * NS_PER_SECOND)

/* State of one drain. */
struct drain {
	struct perf_edges *edges;
	uint64_t until_ns;
	const struct perf_edges_sink *sink;
};

/* Failure to open probes is not an error: probes only supplement samples. */
static void probes_open(struct perf_edges *edges)
{
	struct branch_probe_program program = branch_snapshots_probe(edges->snapshots);

	if (edges->config->probe_permille > 0)
		branch_probes_open(&edges->probes, &program, edges->config->probe_permille, NULL);
}

int perf_edges_open(struct perf_edges *edges, struct source *source,
		    const struct source_config *config, struct epoll_set *wakes, struct error *err)
{
	edges->source = source->ops->own_generations ? NULL : source;
	edges->config = config;
	edges->every = config->branch_every;
	if (config->branch_every == 0 ||
	    branch_snapshots_open(&edges->snapshots, config->branch_every, NULL) < 0)
		return 0;
	probes_open(edges);
	return epoll_set_add(wakes, branch_snapshots_fd(edges->snapshots), "snapshots", err);
}

void perf_edges_close(struct perf_edges *edges)
{
	branch_probes_close(edges->probes);
	branch_snapshots_close(edges->snapshots);
	perf_branch_deinit(&edges->branch);
	free(edges->candidates);
	edges->candidates = NULL;
	edges->candidate_count = edges->candidate_capacity = 0;
	free(edges->found);
	edges->found = NULL;
	edges->found_count = edges->found_capacity = 0;
	edges->probes = NULL;
	edges->snapshots = NULL;
}

int perf_edges_program(const struct perf_edges *edges)
{
	return edges->snapshots != NULL ? branch_snapshots_program(edges->snapshots) : 0;
}

bool perf_edges_followers(const struct perf_edges *edges, struct bpf_followers *ret)
{
	if (edges->snapshots == NULL)
		return false;
	branch_snapshots_followers(edges->snapshots, ret);
	ret->every = edges->config->branch_every;
	return true;
}

uint64_t perf_edges_missed_second(const struct perf_edges *edges)
{
	return edges->snapshots != NULL ? branch_snapshots_missed_second(edges->snapshots) : 0;
}

uint64_t perf_edges_registers(const struct perf_edges *edges)
{
	return edges->config->branch_every > 0 ? perf_registers_mask() : 0;
}

bool perf_edges_is_probe(struct perf_edges *edges, const struct dcpi_snapshot *snapshot)
{
	/* The user PC shows whether the kernel is at a breakpoint. */
	if (edges->probes == NULL || snapshot->known == 0 ||
	    !branch_probes_is_hit(edges->probes, snapshot->pid, snapshot->pc, snapshot->time_ns))
		return false;
	edges->in_probes++;
	return true;
}

/*
 * Return the kernel's generation of a process, queried once per drain, because this takes four
 * system calls. 0 is never the generation of user code.
 */
static uint32_t kernel_generation(struct perf_edges *edges, uint32_t pid)
{
	struct perf_edges_process *process = &edges->processes[pid % PERF_EDGES_PROCESSES];
	struct source *source = edges->source;

	if (process->pid == pid)
		return process->generation;
	process->pid = pid;
	if (source->ops->generation(source, pid, &process->generation) < 0)
		process->generation = 0;
	return process->generation;
}

/*
 * Return true if the process has not unmapped anything, or mapped over it, since the sample. The
 * kernel's generations do not reflect this.
 * @version: out: changes whenever the process changes its mappings
 */
static bool is_unmoved(const struct perf_edges *edges, const struct perf_edges_moment *moment,
		       uint64_t *version)
{
	const struct source_config *config = edges->config;
	uint64_t since_ns;
	uint32_t changes = config->changes(config->context, moment->pid, &since_ns);

	*version = (uint64_t)moment->generation << 32 | changes;
	return since_ns <= moment->time_ns;
}

/*
 * Return true if the process is still the program of the sample. Its memory from before an exec can
 * no longer be read. If execs may have been missed, the state of the process is unknown.
 */
static bool is_present(struct perf_edges *edges, const struct perf_edges_moment *moment,
		       uint64_t *version)
{
	const struct source_config *config = edges->config;

	if (moment->generation == 0 || !is_unmoved(edges, moment, version))
		return false;
	if (edges->source != NULL)
		return kernel_generation(edges, moment->pid) == moment->generation;
	return moment->generation != DCPI_GENERATION_MAX &&
	       config->generation(config->context, moment->pid, UINT64_MAX) == moment->generation;
}

/* Queue one of the branches that a sample leads to, whether or not their directions are known. */
static void candidate_add(struct perf_edges *edges, const struct perf_edges_moment *moment,
			  uint64_t version, const struct interpret_edge *path, uint32_t count,
			  uint64_t stuck)
{
	uint32_t known = count < OFFERED_MAX ? count : OFFERED_MAX;
	uint32_t all = known + (stuck != 0 && known == count), n;
	struct perf_edges_candidate candidate = {.moment = *moment};

	if (edges->probes == NULL || all == 0)
		return;
	n = edges->queueable++ % all;
	candidate.address = n < known ? path[n].from : stuck;
	candidate.place =
		perf_branch_place(&edges->branch, moment->pid, version, candidate.address);
	if (candidate.place.inode != 0 &&
	    array_reserve(&edges->candidates, &edges->candidate_capacity,
			  edges->candidate_count + 1, sizeof(candidate)) == 0)
		edges->candidates[edges->candidate_count++] = candidate;
}

static void found_add(struct perf_edges *edges, const struct perf_edges_moment *moment,
		      const struct dcpi_snapshot *snapshot, const struct branch_ahead *ahead,
		      uint64_t stuck, const struct access_list *accesses)
{
	uint32_t near = ahead->near_count, count = near + ahead->far_count;
	struct perf_edges_found *found;

	if (count == 0 && stuck == 0 && accesses->count == 0)
		return;
	if (array_reserve(&edges->found, &edges->found_capacity, edges->found_count + 1,
			  sizeof(*found)) < 0) {
		edges->gone += count;
		return;
	}
	found = &edges->found[edges->found_count++];
	found->moment = *moment;
	found->thread = snapshot->tid;
	found->cpu = snapshot->cpu;
	found->count = count;
	found->remaining_count = branch_ahead_remaining(ahead, found->remaining, stuck);
	memcpy(found->edges, ahead->near, near * sizeof(ahead->near[0]));
	memcpy(&found->edges[near], ahead->far, ahead->far_count * sizeof(ahead->far[0]));
	found->accesses = *accesses;
}

/*
 * Update the generations. Code was read after its process had been checked. An exec or a new
 * mapping between the two is known now. Edges found with the registers of one program and the code
 * of another may be completely wrong.
 */
static void generations_renew(struct perf_edges *edges)
{
	memset(edges->processes, 0, sizeof(edges->processes));
	edges->config->sync(edges->config->context);
}

static void accesses_pass(const struct perf_edges_found *found, const struct perf_edges_sink *sink)
{
	const struct access_list *list = &found->accesses;

	for (u32 i = 0; i < list->count; i++) {
		const struct access *item = &list->item[i];
		const struct source_access access = {
			.pc = item->pc,
			.tag = dcpi_tag(found->moment.pid, found->moment.generation,
					DCPI_EVENT_BRANCH),
			.address = item->address,
			.stride = (int64_t)item->stride,
			.has_stride = item->has_stride,
			.time_ns = found->moment.time_ns,
			.thread = found->thread,
			.cpu = found->cpu,
			.stack = item->address - list->stack_pointer + STACK_BELOW <
				 STACK_BELOW + STACK_ABOVE,
			.nearest = i == list->nearest,
		};

		sink->access(sink->context, &access);
	}
}

static void remaining_pass(const struct perf_edges_found *found, const struct perf_edges_sink *sink)
{
	for (uint32_t i = 0; i < found->remaining_count; i++) {
		const struct branch_remaining *remaining = &found->remaining[i];
		const struct source_edge edge = {
			.from = remaining->branch,
			.to = remaining->branch + remaining->class,
			.tag = dcpi_tag(found->moment.pid, found->moment.generation,
					SOURCE_EVENT_REMAINING),
			.count = 1,
		};

		sink->probed(sink->context, &edge);
	}
}

static void found_pass(struct perf_edges *edges, const struct perf_edges_sink *sink)
{
	uint64_t version;

	for (size_t i = 0; i < edges->found_count; i++) {
		const struct perf_edges_found *found = &edges->found[i];
		const struct perf_edges_moment *moment = &found->moment;

		if (!is_present(edges, moment, &version)) {
			edges->gone += found->count;
			continue;
		}
		sink->behind(sink->context, found->cpu, found->edges, found->count,
			     dcpi_tag(moment->pid, moment->generation, DCPI_EVENT_BRANCH));
		accesses_pass(found, sink);
		remaining_pass(found, sink);
	}
	edges->found_count = 0;
}

static void candidates_pass(struct perf_edges *edges)
{
	uint64_t version;

	for (size_t i = 0; i < edges->candidate_count; i++) {
		const struct perf_edges_candidate *candidate = &edges->candidates[i];

		if (is_present(edges, &candidate->moment, &version))
			branch_probes_add(edges->probes, candidate->moment.pid, candidate->address,
					  &candidate->place);
	}
	edges->candidate_count = 0;
}

/* @exec_count: its generation, if generations are the kernel's */
static struct perf_edges_moment moment_of(const struct perf_edges *edges, uint32_t pid,
					  uint32_t exec_count, uint64_t time_ns)
{
	const struct source_config *config = edges->config;
	uint32_t generation = edges->source != NULL
				      ? exec_count
				      : config->generation(config->context, pid, time_ns);

	return (struct perf_edges_moment){pid, generation, time_ns};
}

/*
 * Pass on a result of a probe, attributed to the process's generation at that time. The process
 * need not run the same program any more. But with the kernel's generations, results are dropped if
 * the process has changed its mappings since.
 */
static void probed_take(struct drain *drain, const struct branch_probe_result *result)
{
	struct perf_edges *edges = drain->edges;
	const struct perf_edges_moment moment =
		moment_of(edges, result->pid, result->generation, result->time_ns);
	uint64_t version;
	const struct source_edge edge = {
		.from = result->from,
		.to = result->to,
		.tag = dcpi_tag(result->pid, moment.generation, result->event),
		.count = result->count,
	};

	if (result->event == SOURCE_EVENT_PROBE)
		edges->probed += result->count;
	if (edges->source != NULL &&
	    (moment.generation == 0 || !is_unmoved(edges, &moment, &version))) {
		edges->gone += result->event == SOURCE_EVENT_PROBE ? result->count : 0;
		return;
	}
	drain->sink->probed(drain->sink->context, &edge);
}

/* A snapshot of a probed branch whose direction the BPF program cannot determine itself. */
static void probed_follow(struct drain *drain, const struct dcpi_snapshot *snapshot,
			  const struct interpret_edge *path, uint32_t count)
{
	const struct branch_probe_result result = {
		.pid = snapshot->pid,
		.generation = snapshot->generation,
		.event = SOURCE_EVENT_PROBE,
		.from = snapshot->pc,
		.to = count > 0 ? path[0].to : 0,
		.count = 1,
		.time_ns = snapshot->time_ns,
	};

	if (drain->edges->probes == NULL || count == 0 || path[0].from != snapshot->pc)
		return;
	branch_probes_seen(drain->edges->probes, result.pid, result.from, result.to);
	probed_take(drain, &result);
}

/* The edges after an examined sample, or at a probe. */
static void snapshot_follow(struct drain *drain, const struct dcpi_snapshot *snapshot)
{
	struct perf_edges *edges = drain->edges;
	struct access_list accesses = {.count = 0};
	struct perf_edges_moment moment;
	struct branch_ahead ahead;
	uint64_t version, stuck;
	bool wanted;

	moment = moment_of(edges, snapshot->pid, snapshot->generation, snapshot->time_ns);
	/* The kernel's generations are checked later, when all snapshots have been read. */
	if (!(edges->source == NULL ? is_present(edges, &moment, &version)
				    : is_unmoved(edges, &moment, &version))) {
		edges->untried += snapshot->kind != DCPI_SNAPSHOT_PROBE;
		return;
	}
	wanted = drain->sink->access != NULL && snapshot->kind != DCPI_SNAPSHOT_PROBE;
	perf_branch_follow(&edges->branch, version, snapshot, &ahead, &stuck,
			   wanted ? &accesses : NULL);
	if (snapshot->kind == DCPI_SNAPSHOT_PROBE) {
		probed_follow(drain, snapshot, ahead.near, ahead.near_count);
		return;
	}
	candidate_add(edges, &moment, version, ahead.near, ahead.near_count, stuck);
	found_add(edges, &moment, snapshot, &ahead, stuck, &accesses);
}

static bool snapshot_take(void *context, const struct dcpi_snapshot *snapshot)
{
	struct drain *drain = context;

	if (snapshot->time_ns > drain->until_ns)
		return false;
	if (snapshot->kind == DCPI_SNAPSHOT_EXAMINED || snapshot->kind == DCPI_SNAPSHOT_PROBE)
		snapshot_follow(drain, snapshot);
	else if (drain->sink->snapshot != NULL)
		drain->sink->snapshot(drain->sink->context, snapshot);
	return true;
}

void perf_edges_settle(struct perf_edges *edges, const struct perf_edges_sink *sink)
{
	if (edges->found_count > 0 || edges->candidate_count > 0)
		generations_renew(edges);
	found_pass(edges, sink);
	perf_branch_rest(&edges->branch);
}

void perf_edges_drain(struct perf_edges *edges, uint64_t until_ns,
		      const struct perf_edges_sink *sink)
{
	struct drain drain = {edges, until_ns, sink};
	const struct probe_results *results;
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns >= edges->refresh_ns) {
		perf_branch_refresh(&edges->branch);
		edges->refresh_ns = now_ns + REFRESH_NS;
	}
	if (edges->snapshots != NULL)
		branch_snapshots_drain(edges->snapshots, snapshot_take, &drain);
	perf_edges_settle(edges, sink);
	if (edges->probes == NULL)
		return;
	candidates_pass(edges);
	results = branch_probes_take(edges->probes);
	for (uint32_t i = 0; i < results->count; i++)
		probed_take(&drain, &results->item[i]);
}

void perf_edges_record(struct perf_edges *edges, const struct dcpi_snapshot *snapshot,
		       const struct perf_edges_sink *sink)
{
	const struct perf_edges_moment moment = {snapshot->pid, snapshot->generation,
						 snapshot->time_ns};
	struct access_list accesses = {.count = 0};
	struct branch_ahead ahead;
	uint64_t version, stuck;

	if (edges->config->branch_every == 0 || edges->snapshots != NULL || edges->wait-- > 0)
		return;
	edges->wait = edges->every - 1;
	if (!is_present(edges, &moment, &version)) {
		edges->untried++;
		return;
	}
	if (snapshot->known == 0)
		return;
	perf_branch_follow(&edges->branch, version, snapshot, &ahead, &stuck,
			   sink->access != NULL ? &accesses : NULL);
	found_add(edges, &moment, snapshot, &ahead, stuck, &accesses);
	if (edges->found_count >= FOUND_MAX)
		perf_edges_settle(edges, sink);
}

bool perf_edges_read(struct perf_edges *edges, const struct perf_edges_moment *moment,
		     uint64_t address, void *to, size_t bytes)
{
	uint64_t version;

	return is_present(edges, moment, &version) &&
	       perf_branch_read(&edges->branch, moment->pid, version, address, to, bytes);
}

void perf_edges_rest(struct perf_edges *edges)
{
	perf_branch_rest(&edges->branch);
}

void perf_edges_set_probe_share(struct perf_edges *edges, uint32_t permille)
{
	if (edges->probes != NULL)
		branch_probes_set_share(edges->probes, permille);
}

void perf_edges_set_every(struct perf_edges *edges, uint32_t every)
{
	if (edges->config->branch_every == 0 || every == edges->every)
		return;
	edges->every = every;
	if (edges->snapshots != NULL)
		branch_snapshots_set_every(edges->snapshots, every);
}

void perf_edges_counters(const struct perf_edges *edges, source_counter_fn visit, void *context)
{
	struct branch_probes_stats stats;

	if (edges->config->branch_every == 0)
		return;
	visit(context, "stat", "branches_tried", edges->branch.tried);
	visit(context, "stat", "branches_untried", edges->untried + edges->branch.untried);
	visit(context, "stat", "branches_found", edges->branch.found);
	visit(context, "stat", "edges", edges->branch.edges);
	visit(context, "stat", "edges_gone", edges->gone);
	visit(context, "stat", "accesses", edges->branch.accesses);
	if (edges->snapshots != NULL) {
		visit(context, "stat", "snapshots_missed",
		      branch_snapshots_missed(edges->snapshots));
		visit(context, "stat", "snapshot_ms",
		      branch_snapshots_spent_ns(edges->snapshots) / NS_PER_MS);
	}
	if (edges->probes == NULL)
		return;
	branch_probes_stats(edges->probes, &stats);
	visit(context, "stat", "probes", stats.opened);
	visit(context, "stat", "probes_refused", stats.refused);
	if (edges->source == NULL)
		visit(context, "stat", "probe_samples", edges->in_probes);
	visit(context, "stat", "probe_ms", stats.taken_ns / NS_PER_MS);
	visit(context, "stat", "probe_process_ms", stats.process_ns / NS_PER_MS);
	visit(context, "stat", "probe_results_lost", stats.lost);
	visit(context, "stat", "probe_deadlines", stats.deadlines);
	visit(context, "stat", "probes_unavailable", stats.unavailable);
	visit(context, "stat", "edges_probed", edges->probed);
}
