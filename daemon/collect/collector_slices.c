// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_slices.h"

#include <string.h>

#include "daemon/collect/accumulate.h"
#include "daemon/collect/collector_counters.h"
#include "daemon/collect/collector_drain.h"
#include "daemon/collect/collector_state.h"
#include "daemon/collect/match_cache.h"
#include "daemon/collect/matcher.h"
#include "daemon/collect/merge.h"
#include "db/profile_write.h"

/* A slice that begins while less than this share of the memory limit is in use. */
#define MEMORY_SHARE 4

static struct collector_slice *slice_last(struct collector_slices *slices)
{
	return &slices->list[slices->count - 1];
}

/* The slice ends at a multiple of the length, so that a minute is a number of whole slices. */
static void slice_begin(struct collector *collector, int64_t start_ns)
{
	struct collector_slices *slices = &collector->slices;
	int64_t length = (int64_t)collector->config.slice_ns;

	slices->count++;
	*slice_last(slices) = (struct collector_slice){
		.number = accumulate_slice_now(collector->accumulate),
		.start_ns = start_ns,
	};
	slices->next_ns = (start_ns / length + 1) * length;
}

void collector_slices_epoch(struct collector *collector)
{
	struct collector_slices *slices = &collector->slices;

	slices->count = 0;
	slices->base.count = 0;
	slices->base_interrupts = 0;
	if (collector->config.slice_ns > 0)
		slice_begin(collector, collector->epoch_start_ns);
}

bool collector_slices_due(const struct collector *collector)
{
	const struct collector_slices *slices = &collector->slices;

	return slices->count > 0 && collector_counters_now(collector) >= slices->next_ns;
}

/*
 * While samples cannot be merged, slices are longer: a bin needs memory for each of them. They
 * begin only while they are few and less than a quarter of the memory is in use.
 */
static bool slices_have_room(const struct collector *collector)
{
	return collector->slices.count < COLLECTOR_SLICES &&
	       accumulate_bytes(collector->accumulate) <
		       collector->config.memory_limit / MEMORY_SHARE;
}

/* Set the losses of the last slice, and its interrupts. */
static void slice_count(struct collector_slices *slices, const struct counter_set *tally,
			uint64_t interrupts)
{
	struct collector_slice *slice = slice_last(slices);

	slice->interrupts = interrupts - slices->base_interrupts;
	slice->losses.count = 0;
	for (size_t i = 0; i < tally->count; i++) {
		const struct profile_counter *counter = &tally->counter[i];

		if (strcmp(counter->group, "loss") == 0)
			counter_set_put(&slice->losses, "loss", counter->name, counter->count);
	}
	counter_set_subtract(&slice->losses, &slices->base);
}

/* The source has just been drained. */
static void slice_next(struct collector *collector)
{
	struct collector_slices *slices = &collector->slices;
	int64_t now = collector_counters_now(collector);
	struct counter_set tally;
	uint64_t interrupts;

	collector_counters_epoch(collector, &tally, &interrupts);
	slice_count(slices, &tally, interrupts);
	slice_last(slices)->end_ns = now;
	slices->base = tally;
	slices->base_interrupts = interrupts;
	match_cache_forget_bins(matcher_cache(collector->matcher));
	accumulate_slice(collector->accumulate);
	slice_begin(collector, now);
}

int collector_slices_drain(struct collector *collector, struct error *err)
{
	int rc = collector_drain_all(collector, err);

	if (rc == 0 && collector_slices_due(collector) && slices_have_room(collector))
		slice_next(collector);
	return rc;
}

int64_t collector_slices_begin(const struct collector *collector)
{
	return collector->slices.count > 0 ? collector->slices.list[0].start_ns
					   : collector->epoch_start_ns;
}

int collector_slices_find(struct collector *collector, struct merge_slice *list, size_t *count,
			  struct error *err)
{
	const struct collector_slices *slices = &collector->slices;
	int rc = 0;

	*count = slices->count;
	for (size_t i = 0; rc == 0 && i < slices->count; i++) {
		list[i].last = slices->list[i].number;
		rc = profile_writer_slice(collector->writer, slices->list[i].start_ns, &list[i].id,
					  err);
	}
	return rc;
}

/* Sum up the samples that are in no profile yet, by slice. */
static void rest_count(const struct collector *collector, const struct merge_slices *slices,
		       size_t bins, uint64_t *sums)
{
	const struct accumulate_bin *bin = accumulate_first(collector->accumulate);

	memset(sums, 0, slices->count * sizeof(*sums));
	for (; bin != NULL; bin = accumulate_next(bin)) {
		const struct accumulate_part *part = accumulate_bin_oldest(bin);

		if (bins > 0) {
			bins--;
			continue;
		}
		for (; part != NULL; part = accumulate_part_next(part))
			sums[merge_slices_find(slices, accumulate_part_slice(part))] +=
				accumulate_part_held(bin, part);
	}
}

int collector_slices_write(struct collector *collector, const struct counter_set *tally,
			   uint64_t interrupts, const struct collector_rest *rest,
			   struct error *err)
{
	struct collector_slices *slices = &collector->slices;
	struct merge_slice list[COLLECTOR_SLICES];
	struct merge_slices found = {.list = list};
	uint64_t sums[COLLECTOR_SLICES];
	int rc = collector_slices_find(collector, list, &found.count, err);

	if (rc < 0 || found.count == 0)
		return rc;
	slice_count(slices, tally, interrupts);
	slice_last(slices)->end_ns = collector_counters_now(collector);
	rest_count(collector, &found, rest->bins, sums);
	for (size_t i = 0; rc == 0 && i < found.count; i++) {
		struct collector_slice *slice = &slices->list[i];
		const struct profile_slice totals = {
			.end_ns = slice->end_ns,
			.interrupts = slice->interrupts,
		};

		counter_set_put(&slice->losses, "loss", "pending", 0);
		counter_set_put(&slice->losses, "loss", rest->loss, sums[i]);
		rc = profile_writer_slice_set(collector->writer, list[i].id, &totals,
					      slice->losses.counter, slice->losses.count, err);
	}
	return rc;
}

void collector_slices_stored(struct collector *collector)
{
	const struct accumulate_bin *bin = accumulate_first(collector->accumulate);
	struct collector_slices *slices = &collector->slices;
	uint32_t oldest = UINT32_MAX;
	size_t stored = 0;

	for (; bin != NULL; bin = accumulate_next(bin)) {
		uint32_t number = accumulate_part_slice(accumulate_bin_oldest(bin));

		oldest = number < oldest ? number : oldest;
	}
	while (stored + 1 < slices->count && slices->list[stored].number < oldest)
		stored++;
	memmove(slices->list, slices->list + stored,
		(slices->count - stored) * sizeof(slices->list[0]));
	slices->count -= stored;
}
