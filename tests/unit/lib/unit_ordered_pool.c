// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lib/error.h"
#include "lib/ordered_pool.h"

#define NEVER SIZE_MAX
#define RUN_FAILED (-7)
#define DELIVERY_FAILED 42

/* @results: results made and not discarded yet; @unclean: a result was not zero-initialised */
struct scene {
	size_t fail_run;
	size_t fail_delivery;
	size_t delivered;
	atomic_int results;
	atomic_int most_results;
	atomic_size_t run;
	atomic_bool unclean;
};

struct result {
	size_t square;
	char *memory;
};

static int run(void *ctx, size_t job, void *result)
{
	struct scene *scene = ctx;
	struct result *r = result;
	int results = atomic_fetch_add(&scene->results, 1) + 1;
	int most = atomic_load(&scene->most_results);

	if (r->memory != NULL || r->square != 0)
		atomic_store(&scene->unclean, true);
	while (most < results &&
	       !atomic_compare_exchange_weak(&scene->most_results, &most, results))
		;
	for (uint64_t i = job * 0x9e3779b97f4a7c15ULL >> 61; i > 0; i--)
		sched_yield();
	r->memory = malloc(1 + job % 100);
	r->square = job * job;
	atomic_fetch_add(&scene->run, 1);
	return job == scene->fail_run ? RUN_FAILED : 0;
}

static int deliver(void *ctx, size_t job, void *result)
{
	struct scene *scene = ctx;
	const struct result *r = result;

	assert_true(job == scene->delivered);
	assert_true(r->square == job * job);
	scene->delivered++;
	return job == scene->fail_delivery ? DELIVERY_FAILED : 0;
}

static void discard(void *ctx, void *result)
{
	struct scene *scene = ctx;
	struct result *r = result;

	assert_non_null(r->memory);
	free(r->memory);
	r->memory = NULL;
	atomic_fetch_sub(&scene->results, 1);
}

static int work(struct scene *scene, size_t jobs, unsigned int threads, size_t fail_run,
		size_t fail_delivery)
{
	struct ordered_pool work = {.jobs = jobs,
				    .threads = threads,
				    .result_bytes = sizeof(struct result),
				    .run = run,
				    .deliver = deliver,
				    .discard = discard};
	struct error err;
	int rc;

	*scene = (struct scene){.fail_run = fail_run, .fail_delivery = fail_delivery};
	work.ctx = scene;
	rc = ordered_pool_run(&work, &err);
	assert_int_equal(atomic_load(&scene->results), 0);
	assert_false(atomic_load(&scene->unclean));
	assert_true(atomic_load(&scene->most_results) <= 1 + 16 * (int)threads);
	return rc;
}

static const unsigned int thread_counts[] = {0, 1, 2, 7};
static const size_t job_counts[] = {0, 1, 2, 500};

static void test_delivers_in_order(void **state)
{
	struct scene scene;

	(void)state;
	for (unsigned int t = 0; t < 4; t++) {
		for (unsigned int j = 0; j < 4; j++) {
			assert_int_equal(
				work(&scene, job_counts[j], thread_counts[t], NEVER, NEVER), 0);
			assert_true(scene.delivered == job_counts[j]);
			assert_true(atomic_load(&scene.run) == job_counts[j]);
		}
	}
}

static void test_stops_at_failure(void **state)
{
	struct scene scene;

	(void)state;
	for (unsigned int t = 0; t < 4; t++) {
		assert_int_equal(work(&scene, 500, thread_counts[t], 30, NEVER), RUN_FAILED);
		assert_true(scene.delivered == 30);
		assert_int_equal(work(&scene, 500, thread_counts[t], NEVER, 30), DELIVERY_FAILED);
		assert_true(scene.delivered == 31);
		assert_true(atomic_load(&scene.run) < 500);
		/* The first failure in order counts, not the first in time. */
		assert_int_equal(work(&scene, 500, thread_counts[t], 31, 30), DELIVERY_FAILED);
		assert_int_equal(work(&scene, 500, thread_counts[t], 30, 31), RUN_FAILED);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delivers_in_order),
		cmocka_unit_test(test_stops_at_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
