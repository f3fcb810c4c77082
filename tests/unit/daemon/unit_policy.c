// SPDX-License-Identifier: GPL-2.0-only
/* The policy simulator's models, compared with the store and among themselves. */
#include "tests/fixtures/trace_fixture.h"

#include "tests/eval/policy/policy_pattern.h"
#include "tests/eval/policy/policy_run.h"

static const uint32_t ways[] = {1, 2, 4, 6, 8};

static void trace_make(struct policy_trace *trace, uint64_t seed, uint32_t samples)
{
	char path[64];

	trace_fixture_path(path);
	trace_fixture_write(path, seed, samples, 2);
	assert_int_equal(policy_trace_read(trace, path, NULL), 0);
	assert_int_equal(trace->samples, samples);
	unlink(path);
}

/* Check that all counts agree: hits, misses, evictions and flushed entries. */
static void store_compare(const struct policy_trace *trace)
{
	struct policy policy = {
		.ways = SAMPLE_WAYS, .order = POLICY_SHIPPED_ORDER, .hash = &policy_hashes[0]};
	static const uint64_t flushes[] = {0, 777, 5000};
	size_t i;

	for (policy.entries = 64; policy.entries <= 16384; policy.entries *= 4) {
		for (i = 0; i < sizeof(flushes) / sizeof(flushes[0]); i++) {
			struct policy_counts model = {.misses = 0}, real = {.misses = 0};

			assert_int_equal(policy_run(trace, &policy, flushes[i], &model), 0);
			assert_int_equal(policy_store_run(trace, policy.entries, flushes[i], &real),
					 0);
			assert_int_equal(policy_hits(&model), policy_hits(&real));
			assert_int_equal(model.misses, real.misses);
			assert_int_equal(model.evictions, real.evictions);
			assert_int_equal(model.flushed, real.flushed);
		}
	}
}

static void shipped_policy_is_the_stores(void **state)
{
	struct policy_trace trace;

	(void)state;
	trace_make(&trace, 1, 20000);
	store_compare(&trace);
	policy_trace_deinit(&trace);
	assert_int_equal(policy_trace_read(&trace, TRACE_FIXTURE, NULL), 0);
	assert_true(trace.keys > 100 && trace.keys < trace.samples);
	store_compare(&trace);
	policy_trace_deinit(&trace);
}

/* Count the hits of LRU by its definition: the time of the last use. */
static uint64_t lru_hits(const struct policy_stream *stream, const struct policy *policy)
{
	struct {
		uint64_t pc, tag, used;
	} * entries, *set, *oldest;
	uint32_t sets = policy->entries / policy->ways, way;
	uint64_t hits = 0;
	size_t i;

	entries = calloc((size_t)sets * policy->ways, sizeof(*entries));
	assert_non_null(entries);
	for (i = 0; i < stream->count; i++) {
		const struct dcpi_sample *sample = &stream->samples[i];

		set = oldest =
			&entries[(size_t)(policy->hash->hash(sample->pc, sample->tag) % sets) *
				 policy->ways];
		for (way = 0; way < policy->ways; way++) {
			if (set[way].used != 0 && set[way].pc == sample->pc &&
			    set[way].tag == sample->tag)
				break;
			if (set[way].used < oldest->used)
				oldest = &set[way];
		}
		hits += way < policy->ways;
		if (way < policy->ways)
			oldest = &set[way];
		oldest->pc = sample->pc;
		oldest->tag = sample->tag;
		oldest->used = i + 1;
	}
	free(entries);
	return hits;
}

static void lru_is_lru(void **state)
{
	struct policy policy = {.entries = 1024, .order = POLICY_LRU, .hash = &policy_hashes[0]};
	struct policy_trace trace;
	uint64_t expected;
	size_t i, j;

	(void)state;
	trace_make(&trace, 2, 60000);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct policy_counts counts = {.misses = 0};

		policy.ways = ways[i];
		expected = 0;
		for (j = 0; j < trace.count; j++)
			expected += lru_hits(&trace.streams[j], &policy);
		assert_int_equal(policy_run(&trace, &policy, 0, &counts), 0);
		assert_int_equal(policy_hits(&counts), expected);
	}
	policy_trace_deinit(&trace);
}

/* For every policy, no sample is lost and none is counted twice. */
static void every_policy_adds_up(void **state)
{
	struct policy policy = {.entries = 128};
	struct policy_trace trace;
	size_t i, hash;
	int order;

	(void)state;
	trace_make(&trace, 3, 3000);
	for (hash = 0; hash < policy_hash_count; hash++) {
		for (order = 0; order < POLICY_ORDERS; order++) {
			for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
				struct policy_counts counts = {.misses = 0};

				policy.ways = ways[i];
				policy.order = (enum policy_order)order;
				policy.hash = &policy_hashes[hash];
				/*
				 * With a flush after each sample there are no hits and no
				 * evictions.
				 */
				assert_int_equal(policy_run(&trace, &policy, 1, &counts), 0);
				assert_int_equal(counts.misses, trace.samples);
				assert_int_equal(counts.evictions, 0);
				memset(&counts, 0, sizeof(counts));
				assert_int_equal(policy_run(&trace, &policy, 900, &counts), 0);
				assert_int_equal(policy_hits(&counts) + counts.misses,
						 trace.samples);
				assert_true(counts.evictions + counts.flushed <= counts.misses);
				assert_true(counts.misses - counts.evictions - counts.flushed <=
					    trace.count * policy.entries);
				assert_true(counts.misses >= trace.keys);
			}
		}
	}
	policy_trace_deinit(&trace);
}

/* Keys that fit into a set stay there, if the order uses free places. */
static void what_fits_stays(void **state)
{
	struct policy policy = {.ways = 8, .hash = &policy_hashes[0], .entries = 8};
	uint64_t seed = 4;
	int order, i;

	(void)state;
	for (order = 0; order < POLICY_ORDERS; order++) {
		struct policy_model *model;

		policy.order = (enum policy_order)order;
		if (order == POLICY_BLIND)
			continue;
		model = policy_model_create(&policy);
		assert_non_null(model);
		for (i = 0; i < 5000; i++)
			policy_model_count(model, unit_random(&seed) % 8, 0);
		assert_int_equal(policy_model_counts(model)->misses, 8);
		assert_int_equal(policy_model_counts(model)->evictions, 0);
		policy_model_flush(model);
		assert_int_equal(policy_model_counts(model)->flushed, 8);
		policy_model_destroy(model);
	}
}

/* The shipped function is fit for tables of all sizes; a bad function is detected. */
static void shipped_hash_spreads(void **state)
{
	uint32_t entries;

	(void)state;
	for (entries = 1024; entries <= 65536; entries *= 2)
		assert_true(policy_hash_fit(&policy_hashes[0], entries));
	assert_false(policy_hash_fit(&policy_hashes[2], 16384));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped_policy_is_the_stores), cmocka_unit_test(lru_is_lru),
		cmocka_unit_test(every_policy_adds_up),		cmocka_unit_test(what_fits_stays),
		cmocka_unit_test(shipped_hash_spreads),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
