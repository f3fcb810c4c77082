// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare the accuracy and speed of the estimators on generated procedures. The authoritative
 * comparison is with the simulator (make accuracy); this program takes seconds and needs no other
 * files.
 */
#include <stdio.h>
#include <string.h>

#include "tests/eval/bench/bench.h"
#include "tests/fixtures/profile_generator.h"

#define ROUNDS 500

static void report(const struct frequency_estimator *estimator, const char *recipe,
		   const struct profile_score *s)
{
	static const char *const names[] = {"within5", "within10", "within15", "within45"};
	char subject[64];

	snprintf(subject, sizeof(subject), "frequency_%s", estimator->name);
	for (int k = 0; k < 4; k++)
		bench_report(names[k], subject, recipe, 100 * s->within[k] / s->samples, "%");
	bench_report("edges_within10", subject, recipe, 100 * s->edges_within[1] / s->executions,
		     "%");
	bench_report("interval_covers", subject, recipe, 100 * s->covered / s->samples, "%");
	bench_report("edge_interval_covers", subject, recipe,
		     100 * s->edges_covered / s->executions, "%");
	bench_report("far_flagged", subject, recipe, 100 * s->far_flagged / s->far, "%");
	bench_report("confident", subject, recipe, 100 * s->confident / s->samples, "%");
}

static void bench(const char *name, const struct profile_recipe *recipe)
{
	for (const struct frequency_estimator *const *e = frequency_estimator_list(); *e; e++) {
		struct profile_score score = {0};
		double ns = 0, blocks = 0;
		uint64_t seed = 7;

		for (int round = 0; round < ROUNDS; round++) {
			struct generated_profile generated;
			struct frequency frequency;
			double start;

			profile_generate(&generated, recipe, &seed);
			start = bench_now_ns();
			if (frequency_estimate(&frequency, *e, &generated.input) < 0)
				return;
			ns += bench_now_ns() - start;
			blocks += generated.cfg->block_count;
			profile_score_add(&score, &generated, &frequency);
			frequency_deinit(&frequency);
			generated_profile_deinit(&generated);
		}
		report(*e, name, &score);
		bench_report("us_per_block", (*e)->name, name, ns / blocks / 1000, "us");
	}
}

int main(void)
{
	static const struct {
		const char *name;
		struct profile_recipe recipe;
	} recipes[] = {
		{"10000_samples", {4, 1e4, false, 0.1, 0.02}},
		{"100000_samples", {4, 1e5, false, 0.1, 0.02}},
		{"1000000_samples", {4, 1e6, false, 0.1, 0.02}},
		{"100000_samples_with_edges", {4, 1e5, true, 0.1, 0.02}},
		{"100000_samples_big", {6, 1e5, false, 0.1, 0.02}},
	};

	for (size_t k = 0; k < sizeof(recipes) / sizeof(recipes[0]); k++)
		bench(recipes[k].name, &recipes[k].recipe);
	return 0;
}
