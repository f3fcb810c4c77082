// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/variation/variation_listing.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/variation/variation_recording.h"

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

double variation_listing_share(const struct variation_listing *listing, uint64_t cycles)
{
	uint64_t all = listing->total + listing->once_total;

	return all > 0 ? (double)cycles / (double)all : 0;
}

/* --- order ---------------------------------------------------------------- */

/* Order by path, so that all runs have the same order. */
static int variation_listing_by_path(const struct variation_row *x, const struct variation_row *y)
{
	if (x->procedure != y->procedure)
		return x->procedure < y->procedure ? -1 : 1;
	return (x->times->number > y->times->number) - (x->times->number < y->times->number);
}

static int by_count(const void *a, const void *b)
{
	const struct variation_row *x = a, *y = b;

	if (x->times->count != y->times->count)
		return x->times->count < y->times->count ? 1 : -1;
	return variation_listing_by_path(x, y);
}

static int by_time(const void *a, const void *b)
{
	const struct variation_row *x = a, *y = b;

	if (x->times->total != y->times->total)
		return x->times->total < y->times->total ? 1 : -1;
	return variation_listing_by_path(x, y);
}

static int by_net(const void *a, const void *b)
{
	const struct variation_row *x = a, *y = b;

	if (x->net != y->net)
		return x->net < y->net ? 1 : -1;
	return variation_listing_by_path(x, y);
}

static void rank(struct variation_listing *listing)
{
	struct variation_row *rows = listing->rows;
	size_t count = listing->row_count;

	if (count == 0)
		return;
	qsort(rows, count, sizeof(*rows), by_count);
	for (size_t i = 0; i < count; i++)
		rows[i].by_count = i + 1;
	qsort(rows, count, sizeof(*rows), by_time);
	for (size_t i = 0; i < count; i++)
		rows[i].by_time = i + 1;
	qsort(rows, count, sizeof(*rows), by_net);
	for (size_t i = 0; i < count; i++) {
		rows[i].rank = i + 1;
		listing->not_frequent += i < VARIATION_TOP && rows[i].by_count > VARIATION_TOP;
		listing->not_long += i < VARIATION_TOP && rows[i].by_time > VARIATION_TOP;
	}
}

/* --- making --------------------------------------------------------------- */

static void variation_listing_add_row(struct variation_listing *listing,
				      const struct paths_row *path,
				      const struct variation_path *times, bool all)
{
	struct variation_row row = {
		.path = path,
		.times = times,
		.procedure = listing->map->procedures[times->procedure].address,
	};

	listing->interrupted += times->interrupted;
	listing->interrupted_total += times->interrupted_total;
	if (times->count < 2) {
		listing->once += times->count;
		listing->once_total += times->total;
		if (all)
			listing->rows[listing->row_count++] = row;
		return;
	}
	row.net = times->total - times->count * times->least;
	listing->count += times->count;
	listing->total += times->total;
	listing->net += row.net;
	listing->rows[listing->row_count++] = row;
}

static int by_number(const void *a, const void *b)
{
	const struct variation_path *const *x = a, *const *y = b;

	if ((*x)->procedure != (*y)->procedure)
		return (*x)->procedure < (*y)->procedure ? -1 : 1;
	return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

/* Sorted by procedure, as paths_listing_make() requires. */
static void add_sums(struct variation_listing *listing)
{
	const struct variation_profile *profile = listing->profile;
	const struct variation_path **order = listing->order;

	for (size_t i = 0; i < profile->count; i++)
		order[i] = &profile->paths[i];
	if (profile->count > 0)
		qsort(order, profile->count, sizeof(*order), by_number);
	for (size_t i = 0; i < profile->count; i++)
		listing->sums.sums[i] = (struct paths_sum){
			.procedure = order[i]->procedure,
			.number = order[i]->number,
			.count = order[i]->count,
			.metric = order[i]->total,
			.timed = order[i]->count,
		};
}

/* @recorded: NULL: derive the blocks of a path from the map. */
static int variation_listing_do_make(struct variation_listing *ret, const struct paths_map *map,
				     const struct variation_profile *profile,
				     const struct variation_recorded *recorded, bool all)
{
	struct variation_listing listing = {
		.map = map,
		.profile = profile,
		.sums = {.sums = calloc(profile->count + 1, sizeof(struct paths_sum)),
			 .sum_count = profile->count},
		.order = calloc(profile->count + 1, sizeof(*listing.order)),
		.rows = calloc(profile->count + 1, sizeof(*listing.rows)),
	};
	const struct paths_sum *first =
		recorded != NULL ? recorded->paths.profile.sums : listing.sums.sums;
	int r = -ENOMEM;

	if (listing.sums.sums != NULL && listing.rows != NULL && listing.order != NULL) {
		add_sums(&listing);
		r = recorded != NULL
			    ? paths_listing_make_recorded(&listing.paths, &recorded->paths, 0)
			    : paths_listing_make(&listing.paths, map, &listing.sums, 0);
	}
	if (r < 0) {
		variation_listing_deinit(&listing);
		return r;
	}
	for (size_t i = 0; i < listing.paths.path_count; i++) {
		const struct paths_row *path = &listing.paths.paths[i];
		size_t place = (size_t)(path->sum - first);

		variation_listing_add_row(
			&listing, path,
			recorded != NULL ? &profile->paths[place] : listing.order[place], all);
	}
	rank(&listing);
	*ret = listing;
	if (recorded == NULL)
		ret->paths.profile = &ret->sums;
	return 0;
}

int variation_listing_make(struct variation_listing *ret, const struct paths_map *map,
			   const struct variation_profile *profile, bool all)
{
	return variation_listing_do_make(ret, map, profile, NULL, all);
}

int variation_listing_make_recorded(struct variation_listing *ret,
				    const struct variation_recorded *recorded, bool all)
{
	return variation_listing_do_make(ret, &recorded->paths.map, &recorded->profile, recorded,
					 all);
}

void variation_listing_deinit(struct variation_listing *listing)
{
	paths_listing_deinit(&listing->paths);
	free(listing->sums.sums);
	free(listing->order);
	free(listing->rows);
	*listing = (struct variation_listing){0};
}

void variation_listing_steps(const struct variation_row *row, uint64_t samples[VARIATION_STEPS])
{
	for (size_t i = 0; i < VARIATION_STEPS; i++)
		samples[i] = 0;
	for (uint32_t i = 0; i < VARIATION_BUCKETS; i++) {
		uint64_t start = variation_bucket_start(i), end = variation_bucket_start(i + 1);
		uint64_t middle = start + (end - start) / 2, above;
		size_t step = 0;

		above = middle > row->times->least ? middle - row->times->least : 0;
		while (step + 1 < VARIATION_STEPS && above >= variation_listing_step(step + 1))
			step++;
		samples[step] += row->times->buckets[i];
	}
}

/* --- two runs ------------------------------------------------------------- */

/* A path that was measured in both runs. */
struct pair {
	double net[2];
	double rank[2];
};

static int by_path_of_rows(const void *a, const void *b)
{
	return variation_listing_by_path(a, b);
}

static int by_first(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->net[0] > y->net[0]) - (x->net[0] < y->net[0]);
}

static int by_second(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->net[1] > y->net[1]) - (x->net[1] < y->net[1]);
}

/* Equal values share the mean of their ranks. */
static void rank_pairs(struct pair *pairs, size_t count, size_t run)
{
	qsort(pairs, count, sizeof(*pairs), run == 0 ? by_first : by_second);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && pairs[end].net[run] <= pairs[i].net[run]; end++)
			;
		for (size_t k = i; k < end; k++)
			pairs[k].rank[run] = (double)(i + end - 1) / 2;
	}
}

static double correlate(struct pair *pairs, size_t count)
{
	double mean = ((double)count - 1) / 2, both = 0, squares[2] = {0, 0};

	if (count < 2)
		return __builtin_nan("");
	rank_pairs(pairs, count, 0);
	rank_pairs(pairs, count, 1);
	for (size_t i = 0; i < count; i++) {
		double x = pairs[i].rank[0] - mean, y = pairs[i].rank[1] - mean;

		both += x * y;
		squares[0] += x * x;
		squares[1] += y * y;
	}
	if (squares[0] <= 0 || squares[1] <= 0)
		return __builtin_nan("");
	return both / __builtin_sqrt(squares[0] * squares[1]);
}

static void variation_listing_add_pair(struct variation_stability *ret,
				       const struct variation_listing *first,
				       const struct variation_listing *second,
				       const struct variation_row *x, const struct variation_row *y)
{
	if (x->rank <= ret->count && y->rank <= ret->count)
		ret->common++;
	if (x->rank <= ret->count)
		ret->other[1] += variation_listing_share(second, y->net);
	if (y->rank <= ret->count)
		ret->other[0] += variation_listing_share(first, x->net);
}

/* Both listings are sorted by path. */
static void variation_listing_compare(struct variation_stability *ret,
				      const struct variation_listing *first,
				      const struct variation_listing *second,
				      const struct variation_row *x, const struct variation_row *y,
				      struct pair *pairs)
{
	size_t i = 0, k = 0;

	while (i < first->row_count && k < second->row_count) {
		int order = variation_listing_by_path(&x[i], &y[k]);

		if (order == 0) {
			variation_listing_add_pair(ret, first, second, &x[i], &y[k]);
			pairs[ret->both++] =
				(struct pair){.net = {(double)x[i].net, (double)y[k].net}};
		}
		i += order <= 0;
		k += order >= 0;
	}
}

static struct variation_row *sorted(const struct variation_listing *listing)
{
	struct variation_row *rows = calloc(listing->row_count + 1, sizeof(*rows));

	if (rows == NULL)
		return NULL;
	for (size_t i = 0; i < listing->row_count; i++)
		rows[i] = listing->rows[i];
	if (listing->row_count > 0)
		qsort(rows, listing->row_count, sizeof(*rows), by_path_of_rows);
	return rows;
}

int variation_stability_find(struct variation_stability *ret, const struct variation_listing *first,
			     const struct variation_listing *second)
{
	struct variation_row *x = sorted(first), *y = sorted(second);
	struct pair *pairs =
		calloc(least_of(first->row_count, second->row_count) + 1, sizeof(*pairs));
	int r = -ENOMEM;

	*ret = (struct variation_stability){
		.count = least_of(VARIATION_TOP, least_of(first->row_count, second->row_count))};
	if (x != NULL && y != NULL && pairs != NULL) {
		variation_listing_compare(ret, first, second, x, y, pairs);
		for (size_t i = 0; i < ret->count; i++) {
			ret->own[0] += variation_listing_share(first, first->rows[i].net);
			ret->own[1] += variation_listing_share(second, second->rows[i].net);
		}
		ret->correlation = correlate(pairs, ret->both);
		r = 0;
	}
	free(x);
	free(y);
	free(pairs);
	return r;
}
