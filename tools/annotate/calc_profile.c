// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/frequency/gap_pool.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/annotate/calc_events.h"
#include "tools/annotate/calc_faults.h"
#include "tools/annotate/calc_stacks.h"
#include "tools/annotate/calc_footprints.h"
#include "tools/annotate/calc_records.h"

/* Samples of a role, while they are collected. */
struct sample_collector {
	struct address_count *counts;
	size_t count;
	size_t capacity;
	double weight; /* samples times period */
	double samples;
	bool collected;
	double any_period;  /* used if there are no samples */
	double mean_period; /* to which the counts were scaled; 0: unscaled */
};

/* struct epoch_time - samples of time in an epoch, in the whole image */
struct epoch_time {
	int64_t epoch;
	double samples;
};

/*
 * struct epoch_gap - measured intervals of a branch in an epoch: one entry has their number,
 * another their total length
 */
struct epoch_gap {
	uint64_t from;
	int64_t epoch;
	double gaps;
	double gap_ns;
};

struct load {
	const struct calc_profile_wanted *wanted;
	struct sample_collector roles[CALC_EVENT_TIME + 1];
	struct branch_count *branches;
	size_t branch_count;
	size_t branch_capacity;
	struct epoch_time *epochs;
	size_t epoch_count;
	size_t epoch_capacity;
	struct epoch_gap *gaps;
	size_t gap_count;
	size_t gap_capacity;
	struct image_pair *pairs;
	size_t pair_count;
	size_t pair_capacity;
	struct register_change *changes;
	size_t change_count;
	size_t change_capacity;
	struct calc_footprints footprints;
	struct calc_records records;
	double error;
	bool partial; /* some samples are missing */
};

static void load_deinit(struct load *load)
{
	for (unsigned int i = 0; i <= CALC_EVENT_TIME; i++)
		free(load->roles[i].counts);
	free(load->branches);
	free(load->epochs);
	free(load->gaps);
	free(load->pairs);
	free(load->changes);
	free(load->footprints.list);
	free(load->records.list);
}

int calc_profile_address(const struct calc_profile_wanted *wanted, uint64_t offset,
			 uint64_t *address)
{
	uint64_t in_file;

	if (!wanted->offsets_are_addresses)
		return image_code_address(wanted->code, offset, address);
	*address = offset;
	return image_code_offset(wanted->code, offset, &in_file);
}

static int address_of(const struct load *load, uint64_t offset, uint64_t *address)
{
	return calc_profile_address(load->wanted, offset, address);
}

/* File offsets @start to @end, with addresses higher by @shift. */
struct span {
	uint64_t start;
	uint64_t end;
	uint64_t shift;
};

/*
 * Return true if an offset is code of the file, and find its span. Offsets are sorted, so the span
 * rarely changes.
 */
static bool in_span(const struct load *load, struct span *span, uint64_t offset)
{
	uint64_t address, bytes;

	if (offset >= span->start && offset < span->end)
		return true;
	if (load->wanted->offsets_are_addresses)
		bytes = address_of(load, offset, &address) == 0;
	else
		bytes = image_code_span(load->wanted->code, offset, &address);
	if (bytes == 0)
		return false;
	*span = (struct span){offset, offset + bytes, address - offset};
	return true;
}

/* Profiles are usually, but not strictly, ordered by epoch: an epoch may occur again. */
static int add_time(struct load *load, int64_t epoch, double samples)
{
	for (size_t i = load->epoch_count; i > 0; i--) {
		if (load->epochs[i - 1].epoch == epoch) {
			load->epochs[i - 1].samples += samples;
			return 0;
		}
	}
	if (array_reserve(&load->epochs, &load->epoch_capacity, load->epoch_count + 1,
			  sizeof(*load->epochs)) < 0)
		return -ENOMEM;
	load->epochs[load->epoch_count++] = (struct epoch_time){epoch, samples};
	return 0;
}

static int calc_profile_take_profile(void *context, const struct profile *profile)
{
	struct load *load = context;
	const struct calc_event *event =
		calc_events_find(load->wanted->events, profile->epoch, profile->event);
	struct address_count *place;
	struct sample_collector *role;
	struct span span = {0};
	double scale = 1;

	if (event == NULL)
		return 0;
	role = &load->roles[event->role];
	if (array_reserve(&role->counts, &role->capacity, role->count + profile->count,
			  sizeof(*role->counts)) < 0)
		return -ENOMEM;
	role->samples += (double)profile->total;
	role->weight += (double)profile->total * event->period;
	if (role->mean_period > 0)
		scale = event->period / role->mean_period;
	place = role->counts + role->count;
	for (size_t i = 0; i < profile->count; i++) {
		uint64_t offset = profile->samples[i].offset;
		double count = (double)(int64_t)profile->samples[i].count * scale;

		if (in_span(load, &span, offset))
			*place++ = (struct address_count){offset + span.shift, count};
	}
	load->partial = load->partial || profile->partial;
	role->count = (size_t)(place - role->counts);
	if (event->role != CALC_EVENT_TIME)
		return 0;
	if (event->error > load->error)
		load->error = event->error;
	return add_time(load, profile->epoch, (double)profile->total * scale);
}

static int by_address(const void *a, const void *b)
{
	const struct address_count *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/*
 * Return true if the counts are sorted, as those of a single epoch are, so that a check saves time.
 * @once: out: no address occurs twice.
 */
static bool in_order(const struct sample_collector *role, bool *once)
{
	*once = true;
	for (size_t i = 1; i < role->count; i++) {
		if (role->counts[i - 1].address > role->counts[i].address)
			return false;
		*once = *once && role->counts[i - 1].address != role->counts[i].address;
	}
	return true;
}

/* Merge counts at the same address. Return: number of entries left. */
static size_t calc_profile_unite(struct address_count *counts, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && counts[kept - 1].address == counts[i].address)
			counts[kept - 1].count += counts[i].count;
		else
			counts[kept++] = counts[i];
	}
	return kept;
}

static double period_of(const struct sample_collector *role)
{
	if (role->mean_period > 0)
		return role->mean_period;
	return role->samples > 0 ? role->weight / role->samples : role->any_period;
}

/* Sort the counts, and merge those of several epochs and processes. */
static void calc_profile_settle(struct sample_collector *role, struct image_event_samples *ret)
{
	bool once;

	ret->period = period_of(role);
	if (!in_order(role, &once)) {
		qsort(role->counts, role->count, sizeof(*role->counts), by_address);
		once = false;
	}
	ret->count = once ? role->count : calc_profile_unite(role->counts, role->count);
	ret->counts = take_ptr(role->counts);
}

static double *count_of(struct branch_count *branch, enum profile_edge_kind kind)
{
	switch (kind) {
	case PROFILE_EDGE_PROBE:
		return &branch->probes;
	case PROFILE_EDGE_RECORD:
		return &branch->recorded;
	case PROFILE_EDGE_SAME_WINDOW:
		return &branch->beside;
	case PROFILE_EDGE_SECOND_MOMENT:
		return &branch->moment;
	case PROFILE_EDGE_WEIGHTED:
		return &branch->hits;
	case PROFILE_EDGE_REFERENCE_INTERVAL:
		return &branch->reference_executions;
	case PROFILE_EDGE_REMAINING:
		return &branch->remaining;
	default:
		return &branch->count;
	}
}

static bool in_ranges(const struct profile_ranges *ranges, uint64_t offset)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (offset >= ranges->list[i].start && offset < ranges->list[i].end)
			return true;
	return false;
}

static int add_gap(struct load *load, const struct profile_edges *edges, size_t i)
{
	double count = (double)edges->edges[i].count;
	struct epoch_gap gap = {.epoch = edges->epoch};

	if (address_of(load, edges->edges[i].from, &gap.from) < 0)
		return 0;
	if (edges->kind == PROFILE_EDGE_INTERVALS)
		gap.gaps = count;
	else
		gap.gap_ns = count;
	if (array_reserve(&load->gaps, &load->gap_capacity, load->gap_count + 1,
			  sizeof(*load->gaps)) < 0)
		return -ENOMEM;
	load->gaps[load->gap_count++] = gap;
	return 0;
}

static int take_edges(void *context, const struct profile_edges *edges)
{
	struct load *load = context;

	if (edges->kind == PROFILE_EDGE_DOUBLE)
		return 0;
	for (size_t i = 0; i < edges->count; i++) {
		struct branch_count *branch;

		if (load->partial && !in_ranges(load->wanted->ranges, edges->edges[i].from))
			continue;
		if (calc_records_has(edges->kind)) {
			if (calc_records_add(&load->records, load->wanted, edges->kind,
					     &edges->edges[i]) < 0)
				return -ENOMEM;
			continue;
		}
		if (edges->kind == PROFILE_EDGE_INTERVALS ||
		    edges->kind == PROFILE_EDGE_INTERVAL_NS) {
			if (add_gap(load, edges, i) < 0)
				return -ENOMEM;
			continue;
		}
		if (array_reserve(&load->branches, &load->branch_capacity, load->branch_count + 1,
				  sizeof(*load->branches)) < 0)
			return -ENOMEM;
		branch = &load->branches[load->branch_count];
		*branch = (struct branch_count){.to = UINT64_MAX};
		*count_of(branch, edges->kind) = (double)edges->edges[i].count;
		if (address_of(load, edges->edges[i].from, &branch->from) < 0)
			continue;
		if (edges->to_image != load->wanted->image) {
			branch->to_image = edges->to_image;
			branch->to_offset = edges->edges[i].to;
		} else if (address_of(load, edges->edges[i].to, &branch->to) < 0) {
			branch->to = UINT64_MAX;
		}
		load->branch_count++;
	}
	return 0;
}

/* The changes of one pair, from a row on. Changes move while more are added: see settle_pairs(). */
static int changes_add(struct load *load, const struct profile_recording_table *values,
		       uint64_t first, uint64_t count)
{
	if (array_reserve(&load->changes, &load->change_capacity, load->change_count + count,
			  sizeof(*load->changes)) < 0)
		return -ENOMEM;
	for (uint64_t i = first; i < first + count; i++) {
		const uint64_t *row = profile_recording_row(values, i);

		load->changes[load->change_count++] = (struct register_change){
			.reg = (uint8_t)(row[PROFILE_VALUE_REGISTER] % PROFILE_WORD_END),
			.delta = profile_signed_decode(row[PROFILE_VALUE_DELTA]),
		};
	}
	return 0;
}

/* The number of pairs for each one of a selection. Older recordings do not have it. */
static double pairs_weight(const struct profile_recording *recording)
{
	const uint64_t *head;

	if (!profile_recording_has(recording, PROFILE_PAIRS_HEAD, PROFILE_PAIRS_HEAD_COLUMNS) ||
	    recording->tables[PROFILE_PAIRS_HEAD].rows != 1)
		return 1;
	head = profile_recording_row(&recording->tables[PROFILE_PAIRS_HEAD], 0);
	if (head[PROFILE_PAIRS_SELECTED] == 0 ||
	    head[PROFILE_PAIRS_SEEN] < head[PROFILE_PAIRS_SELECTED])
		return 1;
	return (double)head[PROFILE_PAIRS_SEEN] / (double)head[PROFILE_PAIRS_SELECTED];
}

static int pairs_add(struct load *load, const uint64_t *row, double weight)
{
	struct image_pair pair = {
		.samples = (double)row[PROFILE_PAIR_SAMPLES],
		.weight = weight,
		.change_count = row[PROFILE_PAIR_VALUES],
	};

	if (row[PROFILE_PAIR_SAMPLES] == 0 ||
	    address_of(load, row[PROFILE_PAIR_FROM], &pair.from) < 0 ||
	    address_of(load, row[PROFILE_PAIR_TO], &pair.to) < 0)
		pair.change_count = 0;
	if (array_reserve(&load->pairs, &load->pair_capacity, load->pair_count + 1,
			  sizeof(*load->pairs)) < 0)
		return -ENOMEM;
	load->pairs[load->pair_count++] = pair;
	return pair.change_count > 0;
}

static int take_pairs(void *context, const struct profile_recording *recording)
{
	struct load *load = context;
	const struct profile_recording_table *pairs = &recording->tables[PROFILE_PAIRS_PAIRS];
	const struct profile_recording_table *values = &recording->tables[PROFILE_PAIRS_VALUES];
	double weight = pairs_weight(recording);
	uint64_t first = 0, count;
	int r;

	if (!profile_recording_has(recording, PROFILE_PAIRS_PAIRS, PROFILE_PAIR_COLUMNS) ||
	    !profile_recording_has(recording, PROFILE_PAIRS_VALUES, PROFILE_VALUE_COLUMNS))
		return 0;
	for (size_t i = 0; i < pairs->rows; i++, first += count) {
		const uint64_t *row = profile_recording_row(pairs, i);

		count = row[PROFILE_PAIR_VALUES];
		if (count > values->rows - first)
			return 0;
		r = pairs_add(load, row, weight);
		if (r > 0)
			r = changes_add(load, values, first, count);
		if (r < 0)
			return r;
	}
	return 0;
}

static int by_pair(const void *a, const void *b)
{
	const struct image_pair *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static void settle_pairs(struct load *load, struct image_samples *ret)
{
	size_t change = 0;

	for (size_t i = 0; i < load->pair_count; i++) {
		load->pairs[i].changes = &load->changes[change];
		change += load->pairs[i].change_count;
	}
	if (load->pair_count > 0)
		qsort(load->pairs, load->pair_count, sizeof(*load->pairs), by_pair);
	ret->changes = take_ptr(load->changes);
	ret->pairs = take_ptr(load->pairs);
	ret->pair_count = load->pair_count;
}

static int by_ends(const void *a, const void *b)
{
	const struct branch_count *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->to_image != y->to_image)
		return x->to_image < y->to_image ? -1 : 1;
	return (x->to_offset > y->to_offset) - (x->to_offset < y->to_offset);
}

/*
 * For some branches the database has the directions in units of 1/PROFILE_EDGE_PART of an
 * execution; convert them to executions.
 */
static void take_parts(struct branch_count *branches, size_t count)
{
	bool known = false;

	for (size_t i = 0; i < count; i++)
		known = known || (branches[i].to != branches[i].from && branches[i].hits > 0);
	for (size_t i = 0; i < count && known; i++) {
		branches[i].moment /= PROFILE_EDGE_PART * PROFILE_EDGE_PART;
		if (branches[i].to == branches[i].from)
			continue;
		branches[i].probes = branches[i].hits / PROFILE_EDGE_PART;
		branches[i].hits = 0;
	}
}

static int by_branch(const void *a, const void *b)
{
	const struct epoch_gap *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

/* Merge the entries of each branch and epoch. */
static void unite_gaps(struct load *load)
{
	size_t kept = 0;

	if (load->gap_count > 0)
		qsort(load->gaps, load->gap_count, sizeof(*load->gaps), by_branch);
	for (size_t i = 0; i < load->gap_count; i++) {
		if (kept > 0 && by_branch(&load->gaps[kept - 1], &load->gaps[i]) == 0) {
			load->gaps[kept - 1].gaps += load->gaps[i].gaps;
			load->gaps[kept - 1].gap_ns += load->gaps[i].gap_ns;
		} else {
			load->gaps[kept++] = load->gaps[i];
		}
	}
	load->gap_count = kept;
}

static double time_of(const struct load *load, int64_t epoch)
{
	for (size_t i = 0; i < load->epoch_count; i++) {
		if (load->epochs[i].epoch == epoch)
			return load->epochs[i].samples;
	}
	return 0;
}

/* Pool the epochs of a branch. @measured: room for its epochs */
static int pool_branch(struct load *load, const struct epoch_gap *gaps, size_t count,
		       struct gap_epoch *measured)
{
	struct branch_count branch = {.from = gaps[0].from, .to = gaps[0].from};
	struct gap_pool pool;
	double all = 0;
	size_t kept = 0;

	for (size_t i = 0; i < load->epoch_count; i++)
		all += load->epochs[i].samples;
	for (size_t i = 0; i < count; i++) {
		if (gaps[i].gaps > 0 && gaps[i].gap_ns > 0)
			measured[kept++] = (struct gap_epoch){gaps[i].gaps, gaps[i].gap_ns,
							      time_of(load, gaps[i].epoch)};
	}
	if (kept == 0)
		return 0;
	pool = gap_pool_make(measured, kept, all);
	branch.gaps = pool.gaps;
	branch.gap_ns = pool.gap_ns;
	branch.gap_variance = pool.variance;
	if (array_reserve(&load->branches, &load->branch_capacity, load->branch_count + 1,
			  sizeof(*load->branches)) < 0)
		return -ENOMEM;
	load->branches[load->branch_count++] = branch;
	return 0;
}

/* Make one entry for each branch with measured intervals, in which its epochs are pooled. */
static int settle_gaps(struct load *load)
{
	_cleanup_free_ struct gap_epoch *measured = NULL;

	unite_gaps(load);
	measured = calloc(load->gap_count + 1, sizeof(*measured));
	if (measured == NULL)
		return -ENOMEM;
	for (size_t first = 0, end; first < load->gap_count; first = end) {
		for (end = first;
		     end < load->gap_count && load->gaps[end].from == load->gaps[first].from;)
			end++;
		if (pool_branch(load, &load->gaps[first], end - first, measured) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void settle_branches(struct load *load, struct image_samples *ret)
{
	struct branch_count *list = load->branches;
	size_t kept = 0;

	if (load->branch_count > 0)
		qsort(list, load->branch_count, sizeof(*list), by_ends);
	for (size_t i = 0; i < load->branch_count; i++) {
		if (kept > 0 && by_ends(&list[kept - 1], &list[i]) == 0) {
			list[kept - 1].count += list[i].count;
			list[kept - 1].probes += list[i].probes;
			list[kept - 1].recorded += list[i].recorded;
			list[kept - 1].beside += list[i].beside;
			list[kept - 1].moment += list[i].moment;
			list[kept - 1].hits += list[i].hits;
			list[kept - 1].gaps += list[i].gaps;
			list[kept - 1].gap_ns += list[i].gap_ns;
			list[kept - 1].gap_variance += list[i].gap_variance;
			list[kept - 1].reference_executions += list[i].reference_executions;
			list[kept - 1].remaining += list[i].remaining;
		} else {
			list[kept++] = list[i];
		}
	}
	for (size_t first = 0, end; first < kept; first = end) {
		for (end = first; end < kept && list[end].from == list[first].from;)
			end++;
		take_parts(&list[first], end - first);
	}
	ret->branches = take_ptr(load->branches);
	ret->branch_count = kept;
}

/* Mark the roles that were collected, even if this image has none of their samples. */
static void mark_collected(struct load *load)
{
	for (size_t i = 0; i < load->wanted->events->count; i++) {
		struct sample_collector *role = &load->roles[load->wanted->events->list[i].role];

		role->collected = true;
		role->any_period = load->wanted->events->list[i].period;
	}
}

/*
 * Return true if disabled interrupts delay the samples of time: those of a timer, and those of a
 * counter whose interrupt is no NMI. (With arm64's pseudo-NMIs there is no delay. A stall remains
 * where they would have been delayed to, but it is not longer than others.)
 */
static bool is_maskable(const struct calc_profile_wanted *wanted)
{
	const struct insn_decoder *decoder = image_code_decoder(wanted->code);

	return wanted->events->clock || (decoder != NULL && decoder->isa == INSN_ISA_ARM64);
}

int calc_profile_load(struct calc_profile *ret, const struct calc_profile_wanted *wanted,
		      struct error *err)
{
	_cleanup_(load_deinit) struct load load = {.wanted = wanted};
	const struct profile_filter *filter = wanted->filter;
	struct profile_filter of_image = {
		.epochs = filter->epochs,
		.epoch_count = filter->epoch_count,
		.since_ns = filter->since_ns,
		.until_ns = filter->until_ns,
		.host = filter->host,
		.image = wanted->image,
		.has_pid = filter->has_pid,
		.pid = filter->pid,
		.unit = filter->unit,
		.container = filter->container,
		.ranges = wanted->ranges,
		.whole_max = CALC_PROFILE_SMALL,
	};
	struct image_samples *samples = &ret->samples;
	int r;

	load.roles[CALC_EVENT_TIME].mean_period = wanted->events->mean_period;
	r = profile_reader_profiles(wanted->reader, &of_image, calc_profile_take_profile, &load,
				    err);
	if (r == 0 && wanted->edges)
		r = profile_reader_edges(wanted->reader, &of_image, take_edges, &load, err);
	if (r == 0 && wanted->edges)
		r = profile_reader_recordings(wanted->reader, &of_image, PROFILE_RECORDING_PAIRS,
					      take_pairs, &load, err);
	if (r == 0 && wanted->edges)
		r = calc_footprints_read(&load.footprints, wanted, &of_image, err);
	if (r == 0)
		r = settle_gaps(&load);
	if (r < 0)
		return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
	*ret = (struct calc_profile){0};
	mark_collected(&load);
	calc_profile_settle(&load.roles[CALC_EVENT_TIME], &samples->time);
	for (unsigned int i = 0; i < PROFILE_ROLES; i++) {
		if (load.roles[i].collected)
			calc_profile_settle(&load.roles[i], &samples->roles[i]);
	}
	settle_branches(&load, samples);
	settle_pairs(&load, samples);
	samples->footprints = load.footprints.list;
	samples->footprint_count = load.footprints.count;
	samples->caches = load.footprints.caches;
	load.footprints = (struct calc_footprints){.count = 0};
	calc_records_settle(&load.records);
	samples->range_count = load.records.count;
	samples->ranges = take_ptr(load.records.list);
	r = calc_faults_settle(samples, wanted);
	if (r == 0)
		r = calc_stacks_settle(samples, wanted);
	samples->counted = wanted->kernel ? wanted->counted : NULL;
	samples->image = wanted->image;
	samples->all = wanted->all;
	samples->branches_sampled = wanted->edges;
	samples->clock = wanted->events->clock;
	samples->clock_ns = calc_events_clock_ns(wanted->events);
	samples->maskable = wanted->kernel && is_maskable(wanted);
	samples->period_error = load.error;
	ret->small = !load.partial && samples->time.count <= CALC_PROFILE_SMALL;
	if (r < 0)
		calc_profile_deinit(ret);
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

void calc_profile_deinit(struct calc_profile *profile)
{
	free((void *)(uintptr_t)profile->samples.time.counts);
	for (unsigned int i = 0; i < PROFILE_ROLES; i++)
		free((void *)(uintptr_t)profile->samples.roles[i].counts);
	free((void *)(uintptr_t)profile->samples.branches);
	free((void *)(uintptr_t)profile->samples.pairs);
	free((void *)(uintptr_t)profile->samples.changes);
	free((void *)(uintptr_t)profile->samples.footprints);
	free((void *)(uintptr_t)profile->samples.faults);
	free((void *)(uintptr_t)profile->samples.stacks);
	free((void *)(uintptr_t)profile->samples.ranges);
	*profile = (struct calc_profile){0};
}
