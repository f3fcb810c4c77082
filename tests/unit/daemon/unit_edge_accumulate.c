// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/edge_accumulate.h"

enum {
	IMAGES = 4,
	PLACES = 20,
};

/* Counts that were added and not dropped yet, in plain arrays. */
static uint64_t model[IMAGES][IMAGES][PROFILE_EDGE_KINDS][PLACES][PLACES];

/* Choose places such that many pairs of places have equal hash values, for any hash function. */
static uint64_t place(size_t i)
{
	return i < PLACES / 2 ? i << 32 | i : (i - PLACES / 2 + 1) * 4;
}

static size_t place_index(uint64_t offset)
{
	size_t i = 0;

	while (place(i) != offset)
		assert_true(++i < PLACES);
	return i;
}

static bool ascending(const struct profile_edge *a, const struct profile_edge *b)
{
	return a->from < b->from || (a->from == b->from && a->to < b->to);
}

/* Compare a bin with the model and remove it from the model; return its edges. */
static uint64_t bin_check(const struct edge_bin *bin, struct edge_run *run)
{
	struct edge_key key = edge_accumulate_bin_key(bin);
	uint64_t(*want)[PLACES] = model[key.image][key.to_image][key.kind], sum = 0;
	size_t i, expected = 0;

	assert_int_equal(edge_accumulate_bin_edges(bin, run), 0);
	for (i = 0; i < run->count; i++) {
		const struct profile_edge *edge = &run->edges[i];

		assert_true(i == 0 || ascending(edge - 1, edge));
		assert_true(edge->count > 0);
		assert_int_equal(edge->count, want[place_index(edge->from)][place_index(edge->to)]);
		sum += profile_edge_is_edge(key.kind) ? edge->count : 0;
	}
	for (i = 0; i < (size_t)PLACES * PLACES; i++)
		expected += want[i / PLACES][i % PLACES] != 0;
	assert_int_equal(run->count, expected);
	assert_int_equal(sum, edge_accumulate_bin_held(bin));
	memset(want, 0, sizeof(model[0][0][0]));
	return sum;
}

static uint64_t first_check(struct edge_accumulate *accumulate, struct edge_run *run)
{
	uint64_t sum = bin_check(edge_accumulate_first(accumulate), run);

	edge_accumulate_drop(accumulate, 1);
	return sum;
}

static void follows_model(void **state)
{
	struct edge_run run = {.count = 0};
	struct edge_accumulate *accumulate;
	uint64_t seed = 1, added = 0, dropped = 0;
	int step;

	(void)state;
	assert_int_equal(edge_accumulate_create(&accumulate, 1 << 30, NULL), 0);
	for (step = 0; step < 200000; step++) {
		struct edge_key key = {
			.image = (uint32_t)(unit_random(&seed) % IMAGES),
			.to_image = (uint32_t)(unit_random(&seed) % IMAGES),
			.kind = (enum profile_edge_kind)(unit_random(&seed) % PROFILE_EDGE_KINDS),
		};
		size_t from = unit_random(&seed) % PLACES, to = unit_random(&seed) % PLACES;
		uint32_t count = 1 + (uint32_t)(unit_random(&seed) % 1000);

		if (unit_random(&seed) % 256 == 0 && edge_accumulate_bins(accumulate) > 0)
			dropped += first_check(accumulate, &run);
		assert_int_equal(
			edge_accumulate_add(accumulate, &key, place(from), place(to), count), 0);
		model[key.image][key.to_image][key.kind][from][to] += count;
		added += profile_edge_is_edge(key.kind) ? count : 0;
		assert_int_equal(edge_accumulate_held(accumulate), added - dropped);
	}
	while (edge_accumulate_bins(accumulate) > 0)
		dropped += first_check(accumulate, &run);
	assert_int_equal(added, dropped);
	assert_int_equal(edge_accumulate_held(accumulate), 0);
	assert_int_equal(edge_accumulate_bytes(accumulate), 0);
	assert_null(edge_accumulate_first(accumulate));
	free(run.edges);
	edge_accumulate_destroy(accumulate);
}

static void memory_is_bounded_and_losses_counted(void **state)
{
	static const size_t limit = 64 << 10;
	struct edge_accumulate *accumulate;
	struct edge_run run = {.count = 0};
	uint64_t seed = 2, added = 0, refused;
	struct edge_key key;
	int step;

	(void)state;
	assert_int_equal(edge_accumulate_create(&accumulate, limit, NULL), 0);
	for (step = 0; step < 100000; step++) {
		uint32_t count = 1 + (uint32_t)(unit_random(&seed) % 9);

		key = (struct edge_key){.image = (uint32_t)(unit_random(&seed) % 20)};
		edge_accumulate_add(accumulate, &key, unit_random(&seed), unit_random(&seed),
				    count);
		added += profile_edge_is_edge(key.kind) ? count : 0;
		assert_int_equal(added, edge_accumulate_held(accumulate) +
						edge_accumulate_refused(accumulate));
		/* At most one bin exceeds the limit, by its own size, here a twentieth. */
		assert_true(edge_accumulate_bytes(accumulate) < limit + limit / 4);
	}
	refused = edge_accumulate_refused(accumulate);
	assert_true(refused > 0 && edge_accumulate_held(accumulate) > 0);
	/* Known edges are still counted, and dropping bins frees memory. */
	key = edge_accumulate_bin_key(edge_accumulate_first(accumulate));
	assert_int_equal(edge_accumulate_bin_edges(edge_accumulate_first(accumulate), &run), 0);
	assert_int_equal(
		edge_accumulate_add(accumulate, &key, run.edges[0].from, run.edges[0].to, 5), 0);
	assert_int_equal(edge_accumulate_add(accumulate, &key, 1, 2, 5), -ENOMEM);
	assert_int_equal(edge_accumulate_refused(accumulate), refused + 5);
	edge_accumulate_drop(accumulate, 10);
	assert_int_equal(edge_accumulate_add(accumulate, &key, 1, 2, 5), 0);
	free(run.edges);
	edge_accumulate_destroy(accumulate);
}

static void bins_are_in_order_of_age(void **state)
{
	struct edge_accumulate *accumulate;
	const struct edge_bin *bin;
	uint32_t i;

	(void)state;
	assert_int_equal(edge_accumulate_create(&accumulate, 1 << 20, NULL), 0);
	for (i = 0; i < 600; i++) {
		struct edge_key key = {.image = i % 300 * 7 % 300, .to_image = 131071};

		assert_int_equal(edge_accumulate_add(accumulate, &key, i, 0, 1), 0);
	}
	assert_int_equal(edge_accumulate_bins(accumulate), 300);
	i = 0;
	for (bin = edge_accumulate_first(accumulate); bin != NULL;
	     bin = edge_accumulate_next(bin), i++) {
		assert_int_equal(edge_accumulate_bin_key(bin).image, i * 7 % 300);
		assert_int_equal(edge_accumulate_bin_key(bin).to_image, 131071);
		assert_int_equal(edge_accumulate_bin_held(bin), 2);
	}
	assert_int_equal(i, 300);
	edge_accumulate_destroy(accumulate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_model),
		cmocka_unit_test(memory_is_bounded_and_losses_counted),
		cmocka_unit_test(bins_are_in_order_of_age),
	};

	return cmocka_run_group_tests_name("edge_accumulate", tests, NULL, NULL);
}
