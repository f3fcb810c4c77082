// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image_use.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/partition_point.h"

/* If the other images take more than the rest of the time, their code counts, too. */
#define OWN_PART 0.9

/* Return the end of the branches from the address of @first. @total: out: their executions */
static size_t branches_end(const struct image_samples *samples, size_t first, double *total)
{
	size_t end = first;

	for (*total = 0; end < samples->branch_count &&
			 samples->branches[end].from == samples->branches[first].from;
	     end++)
		*total += samples->branches[end].count;
	return end;
}

static int arrival_compare(const void *a, const void *b)
{
	const struct image_arrival *x = a, *y = b;

	return (x->to > y->to) - (x->to < y->to);
}

static void arrivals_add_up(struct image_use *use)
{
	size_t count = 0;

	if (use->arrival_count > 0)
		qsort(use->arrivals, use->arrival_count, sizeof(*use->arrivals), arrival_compare);
	for (size_t i = 0; i < use->arrival_count; i++) {
		const struct image_arrival arrival = use->arrivals[i];

		if (count > 0 && use->arrivals[count - 1].to == arrival.to) {
			use->arrivals[count - 1].count += arrival.count;
			use->arrivals[count - 1].varied += arrival.varied;
		} else {
			use->arrivals[count++] = arrival;
		}
	}
	use->arrival_count = count;
}

static int arrivals_find(struct image_use *use, const struct image_samples *samples)
{
	use->arrivals = calloc(samples->branch_count + 1, sizeof(*use->arrivals));
	if (use->arrivals == NULL)
		return -ENOMEM;
	for (size_t first = 0, end; first < samples->branch_count; first = end) {
		double total;

		end = branches_end(samples, first, &total);
		for (size_t i = first; i < end; i++) {
			const struct branch_count *branch = &samples->branches[i];

			if (branch->count > 0)
				use->arrivals[use->arrival_count++] = (struct image_arrival){
					branch->to, branch->count,
					total > 1 ? branch->count * (total - branch->count) /
							    (total - 1)
						  : 0};
		}
	}
	arrivals_add_up(use);
	return 0;
}

/* Return an upper bound of the number of different units of @bytes in which the samples are. */
static double units_most(const struct image_samples *samples, double bytes)
{
	const struct image_event_samples *time = &samples->time;
	struct data_extent_counts counts = {0};
	double total = 0, most;

	for (size_t first = 0, end; bytes > 0 && first < time->count; first = end) {
		double unit = floor((double)time->counts[first].address / bytes), sum = 0;

		for (end = first;
		     end < time->count && floor((double)time->counts[end].address / bytes) == unit;
		     end++)
			sum += time->counts[end].count;
		counts.distinct++;
		counts.once += sum <= 1;
		counts.twice += sum > 1 && sum <= 2;
		total += sum;
	}
	counts.kept = counts.distinct;
	most = total > 0 ? data_extent_estimate(total, &counts).most : 0;
	return total < OWN_PART * samples->all || isinf(most) ? 0 : most;
}

int image_use_find(struct image_use *ret, const struct image_samples *samples, double line_bytes,
		   double page_bytes)
{
	*ret = (struct image_use){
		.code_bytes = line_bytes * units_most(samples, line_bytes),
		.code_pages = units_most(samples, page_bytes),
	};
	return arrivals_find(ret, samples);
}

void image_use_apply(const struct image_use *use, const struct cfg *cfg,
		     struct procedure_profile *profile)
{
	uint64_t entry = cfg->insn_count > 0 ? cfg->insns[0].address : 0;
	size_t at = partition_point(0, use->arrival_count, i, use->arrivals[i].to < entry);

	profile->code_bytes = use->code_bytes;
	profile->code_pages = use->code_pages;
	if (at < use->arrival_count && use->arrivals[at].to == entry)
		profile->entry_varied = use->arrivals[at].varied / use->arrivals[at].count;
}

void image_use_deinit(struct image_use *use)
{
	free(use->arrivals);
	*use = (struct image_use){.arrivals = NULL};
}
