// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_merge.h"

#include <errno.h>
#include <stdint.h>
#include <time.h>

#include "daemon/archive/archive_policy.h"
#include "daemon/base/heap.h"
#include "daemon/base/log.h"
#include "daemon/collect/accumulate.h"
#include "daemon/collect/collector_counters.h"
#include "daemon/collect/collector_database.h"
#include "daemon/collect/collector_drain.h"
#include "daemon/collect/collector_slices.h"
#include "daemon/collect/edge_accumulate.h"
#include "daemon/collect/footprint_store.h"
#include "daemon/collect/image_names.h"
#include "daemon/collect/matcher.h"
#include "daemon/collect/merge.h"
#include "daemon/collect/pair_store.h"
#include "daemon/collect/stack_unwinder.h"
#include "daemon/image/kernel_image.h"
#include "daemon/source/off_cpu.h"
#include "db/profile_write.h"
#include "lib/clock.h"
#include "lib/error.h"

/* Limits of the time that a flush waits for the end of a copy of a database to its path. */
#define COPY_WAITS 30
#define COPY_WAIT_NS (long)(50 * NS_PER_MS)

/* Maximum time that the end waits for the names of procedures. */
#define NAMES_WAIT_NS (2 * NS_PER_SECOND)

/* Each write replaces all recordings. Between flushes they are written at this interval. */
#define RECORDINGS_NS (600 * NS_PER_SECOND)

static void unknown_add(struct collector *collector, const struct merge_result *result, bool undo)
{
	int i;

	for (i = 0; i < IMAGE_UNKNOWN_NR; i++)
		collector->unknown[i] += undo ? 0 - result->unknown[i] : result->unknown[i];
}

/* Commit. Nothing is drained during this time. */
static int commit(struct collector *collector, struct error *err)
{
	uint64_t began = clock_monotonic_ns(), took;
	int rc = profile_writer_commit(collector->writer, err);

	took = clock_monotonic_ns() - began;
	if (took > collector->commit_ns)
		collector->commit_ns = took;
	return rc;
}

static bool recordings_are_due(const struct collector *collector, const size_t bins[2])
{
	return bins[0] == SIZE_MAX || clock_monotonic_ns() >= collector->recordings_due_ns;
}

static int recordings_write(struct collector *collector, struct error *err)
{
	int rc = merge_pairs(collector->merge, collector->pairs, err);

	if (rc == 0)
		rc = merge_footprints(collector->merge, collector->footprints, err);
	if (rc == 0)
		rc = merge_regions(collector->merge, collector->regions, err);
	if (rc == 0 && collector->stacks != NULL)
		rc = merge_stacks(collector->merge, stack_unwinder_store(collector->stacks),
				  PROFILE_RECORDING_STACKS, collector->config.stack_every, err);
	if (rc == 0 && collector->stacks != NULL)
		rc = merge_threads(collector->merge, collector->threads,
				   collector->config.stack_every, err);
	if (rc == 0 && collector->off_cpu != NULL)
		rc = merge_stacks(collector->merge, stack_unwinder_off_cpu(collector->stacks),
				  PROFILE_RECORDING_OFF_CPU,
				  off_cpu_threshold_ns(collector->off_cpu), err);
	return rc;
}

/* @bins: number of bins of samples, and of edges. */
static int transaction(struct collector *collector, const size_t bins[2],
		       struct merge_result *result, struct error *err)
{
	struct merge_slice list[COLLECTOR_SLICES];
	struct merge_slices slices = {.list = list};
	struct collector_rest rest = {.loss = "pending"};
	int rc;

	rc = profile_writer_begin(collector->writer, err);
	if (rc < 0)
		return rc;
	rc = collector_slices_find(collector, list, &slices.count, err);
	if (rc == 0 && collector->names != NULL)
		rc = image_names_write(collector->names, collector->writer, err);
	if (rc == 0)
		rc = merge_bins(collector->merge, collector->accumulate, bins[0], &slices, result,
				err);
	if (rc == 0)
		rc = merge_edges(collector->merge, collector->edges, bins[1], result, err);
	if (rc == 0 && recordings_are_due(collector, bins))
		rc = recordings_write(collector, err);
	if (rc == 0) {
		rest.samples = accumulate_held(collector->accumulate) - result->samples;
		rest.bins = result->bins;
		rest.edges = edge_accumulate_held(collector->edges) - result->edges;
		unknown_add(collector, result, false);
		rc = collector_counters_write(collector, &rest, err);
		if (rc == 0)
			rc = commit(collector, err);
		if (rc < 0)
			unknown_add(collector, result, true);
	}
	if (rc < 0) {
		profile_writer_rollback(collector->writer);
		merge_forget(collector->merge);
	}
	return rc;
}

/* Report the images of merged bins as hot, before the bins are dropped. */
static void images_notify(struct collector *collector, size_t bins)
{
	const struct accumulate_bin *bin = accumulate_first(collector->accumulate);

	if (collector->policy == NULL)
		return;
	for (; bin != NULL && bins > 0; bins--, bin = accumulate_next(bin))
		archive_policy_sampled(collector->policy, matcher_images(collector->matcher),
				       accumulate_bin_key(bin).image, accumulate_bin_held(bin));
}

static void damage_report(struct collector *collector)
{
	uint64_t damaged = profile_writer_damaged(collector->writer);

	if (damaged != collector->damaged_reported)
		log_error("the database is damaged: %llu samples that were stored are lost",
			  (unsigned long long)(damaged - collector->damaged_reported));
	collector->damaged_reported = damaged;
}

/* Drop bins that are stored, or lost. */
static void bins_drop(struct collector *collector, size_t bins, size_t edge_bins)
{
	match_cache_forget_bins(matcher_cache(collector->matcher));
	accumulate_drop(collector->accumulate, bins);
	edge_accumulate_drop(collector->edges, edge_bins);
	collector_slices_stored(collector);
}

/* Execute a transaction in the database at the path, which may be a new one. */
static int transaction_anywhere(struct collector *collector, const size_t bins[2],
				struct merge_result *result, struct error *err)
{
	int rc = -ESTALE;

	if (!collector->replacement.pending)
		rc = transaction(collector, bins, result, err);
	if (rc != -ESTALE)
		return rc;
	rc = collector_database_renew(collector, err);
	return rc < 0 ? rc : transaction(collector, bins, result, err);
}

static int merge(struct collector *collector, const size_t bins[2], struct error *err)
{
	struct error failure = {.message = ""};
	struct merge_result result = {.samples = 0};
	int rc;

	collector_counters_clock(collector);
	rc = transaction_anywhere(collector, bins, &result, &failure);
	if (rc == -EAGAIN)
		return error_set(err, EAGAIN, "%s", failure.message);
	if (rc < 0) {
		collector->merge_failures++;
		if (!collector->merge_failing)
			log_error("cannot merge; samples stay in memory: %s", failure.message);
		collector->merge_failing = true;
		return error_set(err, -rc, "%s", failure.message);
	}
	if (recordings_are_due(collector, bins))
		collector->recordings_due_ns = clock_monotonic_ns() + RECORDINGS_NS;
	profile_writer_reserve(collector->writer);
	damage_report(collector);
	images_notify(collector, result.bins);
	merge_done(collector->merge);
	bins_drop(collector, result.bins, result.edge_bins);
	collector->stored += result.samples;
	collector->accounted = collector->accounting;
	collector->merges++;
	if (collector->merge_failing)
		log_info("merging succeeds again");
	collector->merge_failing = false;
	if (accumulate_bins(collector->accumulate) == 0)
		heap_trim();
	return 0;
}

int collector_merge_all(struct collector *collector, struct error *err)
{
	const size_t bins[2] = {SIZE_MAX, SIZE_MAX};

	return merge(collector, bins, err);
}

int collector_merge_flush(struct collector *collector, struct error *err)
{
	const struct timespec wait = {.tv_nsec = COPY_WAIT_NS};
	int drained = collector_drain_all(collector, err);
	int merged = -EAGAIN;

	for (int i = 0; i < COPY_WAITS && merged == -EAGAIN; i++) {
		if (i > 0)
			nanosleep(&wait, NULL);
		merged = collector_merge_all(collector, drained < 0 ? NULL : err);
	}
	return drained < 0 ? drained : merged;
}

void collector_merge_names(struct collector *collector)
{
	struct profile_writer *writer = collector->writer;
	struct error err;
	int rc;

	if (collector->names == NULL)
		return;
	image_names_finish(collector->names, NAMES_WAIT_NS);
	rc = profile_writer_begin(writer, &err);
	if (rc == 0)
		rc = image_names_write(collector->names, writer, &err);
	if (rc == 0)
		rc = profile_writer_commit(writer, &err);
	if (rc == 0)
		return;
	log_error("cannot store the names of procedures: %s", err.message);
	profile_writer_rollback(writer);
	merge_forget(collector->merge);
}

unsigned int collector_merge_steps(const struct collector *collector)
{
	size_t bins =
		accumulate_bins(collector->accumulate) + edge_accumulate_bins(collector->edges);
	size_t bytes =
		accumulate_bytes(collector->accumulate) + edge_accumulate_bytes(collector->edges);
	size_t steps = 1 + bins / COLLECTOR_STEP_BINS + bytes / COLLECTOR_STEP_BYTES;

	return steps < COLLECTOR_MERGE_STEPS ? (unsigned int)steps : COLLECTOR_MERGE_STEPS;
}

bool collector_merge_pays(const struct collector *collector)
{
	return collector->unmerged_steps > 0 || collector->merge_failing ||
	       accumulate_bytes(collector->accumulate) > collector->config.memory_limit / 4;
}

void collector_merge_step(struct collector *collector)
{
	size_t steps = collector->unmerged_steps > 0 ? collector->unmerged_steps : 1;
	const size_t bins[2] = {
		(accumulate_bins(collector->accumulate) + steps - 1) / steps,
		(edge_accumulate_bins(collector->edges) + steps - 1) / steps,
	};

	if (merge(collector, bins, NULL) < 0 || collector->unmerged_steps == 0)
		return;
	collector->unmerged_steps--;
	/*
	 * A target ends soon; reading the symbols again would cost more than keeping them in
	 * memory.
	 */
	if (collector->unmerged_steps == 0 && collector->config.target_pid == 0)
		kernel_images_forget_symbols(matcher_kernel(collector->matcher));
}

void collector_merge_give_up(struct collector *collector)
{
	const struct collector_rest rest = {
		.loss = "storage",
		.samples = accumulate_held(collector->accumulate),
		.edges = edge_accumulate_held(collector->edges),
	};
	struct error err;
	int rc;

	if (rest.samples > 0)
		log_error("%llu samples are lost: the database cannot be written",
			  (unsigned long long)rest.samples);
	collector->given_up += rest.samples;
	profile_writer_release(collector->writer);
	rc = profile_writer_begin(collector->writer, &err);
	if (rc == 0)
		rc = collector_counters_write(collector, &rest, &err);
	if (profile_writer_settle(collector->writer, rc, &err) < 0)
		log_error("cannot store the number of lost samples: %s", err.message);
	bins_drop(collector, accumulate_bins(collector->accumulate),
		  edge_accumulate_bins(collector->edges));
}
