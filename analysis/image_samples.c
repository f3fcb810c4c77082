// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image_samples.h"

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/partition_point.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* struct slice - counts [first, end) of an ascending array */
struct slice {
	size_t first;
	size_t end;
};

/* Return the address with which an element of @bytes bytes begins. */
static uint64_t element_address(const void *elements, size_t i, size_t bytes)
{
	uint64_t address;

	memcpy(&address, (const char *)elements + i * bytes, sizeof(address));
	return address;
}

/* Return the first of @count elements, sorted by address, that is at or after @address. */
static size_t lower_bound(const void *elements, size_t count, size_t bytes, uint64_t address)
{
	return partition_point(0, count, i, element_address(elements, i, bytes) < address);
}

_Static_assert(offsetof(struct address_count, address) == 0, "element_address() reads this member");
_Static_assert(offsetof(struct branch_count, from) == 0, "element_address() reads this member");
_Static_assert(offsetof(struct image_pair, from) == 0, "element_address() reads this member");
_Static_assert(offsetof(struct data_footprint, address) == 0,
	       "element_address() reads this member");
_Static_assert(offsetof(struct image_stack, address) == 0, "element_address() reads this member");
_Static_assert(offsetof(struct exact_range, start) == 0, "element_address() reads this member");
_Static_assert(offsetof(struct record_range, start) == 0, "element_address() reads this member");

static struct slice counts_in(const struct address_count *counts, size_t count,
			      const struct image_range *part)
{
	return (struct slice){lower_bound(counts, count, sizeof(*counts), part->start),
			      lower_bound(counts, count, sizeof(*counts), part->end)};
}

static struct slice branches_in(const struct image_samples *samples, const struct image_range *part)
{
	size_t bytes = sizeof(*samples->branches);

	return (struct slice){
		lower_bound(samples->branches, samples->branch_count, bytes, part->start),
		lower_bound(samples->branches, samples->branch_count, bytes, part->end)};
}

size_t image_samples_branch(const struct image_samples *samples, uint64_t from)
{
	return lower_bound(samples->branches, samples->branch_count, sizeof(*samples->branches),
			   from);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct image_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

size_t image_samples_parts(const struct image_code *code, size_t index,
			   struct image_range parts[PROCEDURE_PARTS_MAX], size_t *parent)
{
	size_t count = image_code_parts(code, index, parts, parent);

	qsort(parts, count, sizeof(*parts), compare_ranges);
	return count;
}

double image_samples_time(const struct image_samples *samples, const struct image_range *parts,
			  size_t count)
{
	double sum = 0;

	for (size_t p = 0; p < count; p++) {
		struct slice slice =
			counts_in(samples->time.counts, samples->time.count, &parts[p]);

		for (size_t i = slice.first; i < slice.end; i++)
			sum += samples->time.counts[i].count;
	}
	return sum;
}

bool image_samples_counted(const struct image_samples *samples, const struct image_range *parts,
			   size_t count)
{
	const struct exact_counts *exact = &samples->exact;

	for (size_t p = 0; p < count; p++) {
		size_t first = lower_bound(exact->ranges, exact->range_count,
					   sizeof(*exact->ranges), parts[p].start);

		if (first < exact->range_count && exact->ranges[first].start < parts[p].end)
			return true;
	}
	return false;
}

double image_samples_stacks(const struct image_samples *samples, const struct image_range *parts,
			    size_t count)
{
	const struct image_stack *all = samples->stacks;
	double sum = 0;

	for (size_t p = 0; samples->stack_count > 0 && p < count; p++) {
		size_t at = lower_bound(all, samples->stack_count, sizeof(*all), parts[p].start);

		for (; at < samples->stack_count && all[at].address < parts[p].end; at++)
			sum += all[at].calls;
	}
	return sum;
}

static void add_sampled(struct image_evidence *evidence, const struct address_count *counts,
			struct slice slice)
{
	for (size_t i = slice.first; i < slice.end; i++)
		if (counts[i].count > 0)
			evidence->sampled[evidence->evidence.sampled_count++] = counts[i].address;
}

static void add_seen(struct image_evidence *evidence, const struct branch_count *branches,
		     struct slice slice)
{
	for (size_t i = slice.first; i < slice.end; i++) {
		if (branches[i].count + branches[i].probes + branches[i].recorded <= 0)
			continue;
		evidence->branches[evidence->evidence.branch_count][0] = branches[i].from;
		evidence->branches[evidence->evidence.branch_count++][1] = branches[i].to;
	}
}

int image_evidence_init(struct image_evidence *ret, const struct image_samples *samples,
			const struct image_range *parts, size_t count)
{
	struct image_evidence evidence = {0};
	struct slice sampled[PROCEDURE_PARTS_MAX], branches[PROCEDURE_PARTS_MAX];
	size_t sampled_max = 1, branches_max = 1;

	for (size_t p = 0; p < count; p++) {
		sampled[p] = counts_in(samples->time.counts, samples->time.count, &parts[p]);
		branches[p] = branches_in(samples, &parts[p]);
		sampled_max += sampled[p].end - sampled[p].first;
		branches_max += branches[p].end - branches[p].first;
	}
	evidence.sampled = malloc(sampled_max * sizeof(*evidence.sampled));
	evidence.branches = malloc(branches_max * sizeof(*evidence.branches));
	if (evidence.sampled == NULL || evidence.branches == NULL) {
		image_evidence_deinit(&evidence);
		return -ENOMEM;
	}
	for (size_t p = 0; p < count; p++) {
		add_sampled(&evidence, samples->time.counts, sampled[p]);
		add_seen(&evidence, samples->branches, branches[p]);
	}
	evidence.evidence.sampled = evidence.sampled;
	evidence.evidence.branches = (const uint64_t(*)[2])evidence.branches;
	*ret = evidence;
	return 0;
}

void image_evidence_deinit(struct image_evidence *evidence)
{
	free(evidence->sampled);
	free(evidence->branches);
	*evidence = (struct image_evidence){0};
}

/* Concatenate the counts of an event in all parts. Return: NULL if out of memory. */
static struct address_count *image_samples_gather(const struct image_event_samples *event,
						  const struct image_range *parts,
						  size_t part_count, size_t *ret)
{
	struct slice slices[PROCEDURE_PARTS_MAX];
	struct address_count *counts = NULL;
	size_t count = 0, capacity = 0;

	for (size_t p = 0; p < part_count; p++) {
		slices[p] = counts_in(event->counts, event->count, &parts[p]);
		count += slices[p].end - slices[p].first;
	}
	if (array_reserve(&counts, &capacity, count + 1, sizeof(*counts)) != 0)
		return NULL;
	count = 0;
	for (size_t p = 0; p < part_count; p++)
		for (size_t i = slices[p].first; i < slices[p].end; i++)
			counts[count++] = event->counts[i];
	*ret = count;
	return counts;
}

static int add_roles(struct procedure_profile *profile, const struct cfg *cfg,
		     const struct image_samples *samples, const struct image_range *parts,
		     size_t part_count)
{
	for (unsigned int role = 0; role < PROFILE_ROLES; role++) {
		const struct image_event_samples *event = &samples->roles[role];
		_cleanup_free_ struct address_count *counts = NULL;
		size_t count;
		int r;

		if (event->period <= 0)
			continue;
		counts = image_samples_gather(event, parts, part_count, &count);
		if (counts == NULL)
			return -ENOMEM;
		r = procedure_profile_add_role(profile, cfg, role, counts, count, event->period);
		if (r != 0)
			return r;
	}
	return 0;
}

static int add_branches(struct procedure_profile *profile, const struct cfg *cfg,
			const struct image_samples *samples, const struct image_range *parts,
			size_t part_count)
{
	for (size_t p = 0; samples->branches_sampled && p < part_count; p++) {
		struct slice slice = branches_in(samples, &parts[p]);
		const struct branch_count *branches = samples->branches;
		int r;

		if (slice.first < slice.end)
			branches += slice.first;
		r = procedure_profile_add_branches(profile, cfg, branches, slice.end - slice.first);
		if (r != 0)
			return r;
	}
	return 0;
}

static int add_pairs(struct procedure_profile *profile, const struct cfg *cfg,
		     const struct image_samples *samples, const struct image_range *parts,
		     size_t part_count)
{
	const struct image_pair *pairs = samples->pairs;
	int r = 0;

	for (size_t p = 0; samples->pair_count > 0 && p < part_count && r == 0; p++) {
		size_t first =
			lower_bound(pairs, samples->pair_count, sizeof(*pairs), parts[p].start);
		size_t end = lower_bound(pairs, samples->pair_count, sizeof(*pairs), parts[p].end);

		if (first < end)
			r = procedure_profile_add_pairs(profile, cfg, &pairs[first], end - first);
	}
	return r;
}

static int add_footprints(struct procedure_profile *profile, const struct cfg *cfg,
			  const struct image_samples *samples, const struct image_range *parts,
			  size_t part_count)
{
	const struct data_footprint *all = samples->footprints;
	int r = 0;

	profile->caches = samples->caches;
	for (size_t p = 0; samples->footprint_count > 0 && p < part_count && r == 0; p++) {
		size_t first =
			lower_bound(all, samples->footprint_count, sizeof(*all), parts[p].start);
		size_t end = lower_bound(all, samples->footprint_count, sizeof(*all), parts[p].end);

		if (first < end)
			r = procedure_profile_add_footprints(profile, cfg, &all[first],
							     end - first);
	}
	return r;
}

static int add_faults(struct procedure_profile *profile, const struct cfg *cfg,
		      const struct image_samples *samples, const struct image_range *parts,
		      size_t part_count)
{
	const struct image_fault *all = samples->faults;
	int r = 0;

	for (size_t p = 0; samples->fault_count > 0 && p < part_count && r == 0; p++) {
		size_t first = lower_bound(all, samples->fault_count, sizeof(*all), parts[p].start);
		size_t end = lower_bound(all, samples->fault_count, sizeof(*all), parts[p].end);

		if (first < end)
			r = procedure_profile_add_faults(profile, cfg, &all[first], end - first);
	}
	return r;
}

static int add_stacks(struct procedure_profile *profile, const struct cfg *cfg,
		      const struct image_samples *samples, const struct image_range *parts,
		      size_t part_count)
{
	const struct image_stack *all = samples->stacks;
	int r = 0;

	for (size_t p = 0; samples->stack_count > 0 && p < part_count && r == 0; p++) {
		size_t at = lower_bound(all, samples->stack_count, sizeof(*all), parts[p].start);

		for (; at < samples->stack_count && all[at].address < parts[p].end && r == 0; at++)
			if (all[at].calls > 0)
				r = procedure_profile_add_call(profile, cfg, all[at].address + 1,
							       all[at].calls);
	}
	return r;
}

/* A range may end in another part of the procedure: parts are examined together. */
static int add_records(struct procedure_profile *profile, const struct cfg *cfg,
		       const struct image_samples *samples, const struct image_range *parts,
		       size_t part_count)
{
	const struct record_range *ranges = samples->ranges;
	size_t first = lower_bound(ranges, samples->range_count, sizeof(*ranges), parts[0].start);
	size_t end = lower_bound(ranges, samples->range_count, sizeof(*ranges),
				 parts[part_count - 1].end);
	struct slice branches = {
		image_samples_branch(samples, parts[0].start),
		image_samples_branch(samples, parts[part_count - 1].end),
	};

	if (first >= end)
		return 0;
	return procedure_profile_add_records(profile, cfg, &ranges[first], end - first,
					     &samples->branches[branches.first],
					     branches.end - branches.first);
}

/* Edges are sorted by address: only those from the procedure's parts are relevant. */
static int add_exact(struct procedure_profile *profile, const struct cfg *cfg,
		     const struct image_samples *samples, const struct image_range *parts,
		     size_t part_count)
{
	struct exact_counts exact = samples->exact;
	size_t first, end;

	if (!image_samples_counted(samples, parts, part_count))
		return 0;
	first = lower_bound(exact.edges, exact.edge_count, sizeof(*exact.edges), parts[0].start);
	end = lower_bound(exact.edges, exact.edge_count, sizeof(*exact.edges),
			  parts[part_count - 1].end);
	if (first < end)
		exact.edges += first;
	exact.edge_count = end - first;
	return procedure_profile_add_exact(profile, cfg, &exact);
}

int image_samples_profile(struct procedure_profile *ret, const struct cfg *cfg,
			  const struct image_samples *samples, const struct image_range *parts,
			  size_t count)
{
	struct procedure_profile profile;
	size_t time_count;
	_cleanup_free_ struct address_count *time =
		image_samples_gather(&samples->time, parts, count, &time_count);
	int r;

	if (time == NULL)
		return -ENOMEM;
	r = procedure_profile_create(&profile, cfg, time, time_count, samples->time.period);
	if (r != 0)
		return r;
	profile.period_error = samples->period_error;
	profile.clock = samples->clock;
	profile.clock_ns = samples->clock_ns;
	profile.maskable = samples->maskable;
	profile.all = fmax(samples->all, profile.total);
	r = add_roles(&profile, cfg, samples, parts, count);
	if (r == 0)
		r = add_branches(&profile, cfg, samples, parts, count);
	if (r == 0 && samples->branches_sampled && samples->range_count > 0)
		r = add_records(&profile, cfg, samples, parts, count);
	if (r == 0)
		r = add_pairs(&profile, cfg, samples, parts, count);
	if (r == 0)
		r = add_footprints(&profile, cfg, samples, parts, count);
	if (r == 0)
		r = add_faults(&profile, cfg, samples, parts, count);
	if (r == 0)
		r = add_stacks(&profile, cfg, samples, parts, count);
	if (r == 0)
		r = add_exact(&profile, cfg, samples, parts, count);
	if (r != 0)
		procedure_profile_deinit(&profile);
	else
		*ret = profile;
	return r;
}
