// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy simulator: replay traces against the shipped store and alternatives (DCPI section
 * 5.4), and print the results as Markdown.
 *
 * policy_simulator TRACE...
 *
 * Exit status 1: the store does not behave like its model, or its hash function is not fit. Also if
 * another order and hash function with the same memory and ways cost less per sample by more than
 * SLACK.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"
#include "tests/policy_cost.h"
#include "tests/policy_pattern.h"
#include "tests/policy_run.h"
#include "tests/policy_steps.h"

/* As a share of the system's cost of a sample: policies that differ by less are equally good. */
#define SLACK 0.01
/* A flush every 30 s at 5,200 samples per second, the daemon's defaults. */
#define FLUSH_EVERY 156000
#define TRACES_MAX 64

static struct policy_trace traces[TRACES_MAX];
static size_t trace_count;
static struct policy_steps steps;
static struct policy_cost cost;

/* Statistics of a policy over traces of equal weight; rates are per sample. */
struct figures {
	struct policy policy;
	double misses;
	double evictions;
	double places; /* tags compared by a hit */
	double handler;
	double system;
};

static const struct policy shipped = {
	.entries = DCPI_TABLE_ENTRIES_DEFAULT,
	.ways = SAMPLE_WAYS,
	.order = POLICY_SHIPPED_ORDER,
	.hash = &policy_hashes[0],
};

static void out_of_memory(void)
{
	fprintf(stderr, "policy_simulator: out of memory\n");
	exit(2);
}

static void trace_add(struct figures *figures, const struct policy_counts *counts)
{
	double hits = (double)policy_hits(counts), samples = hits + (double)counts->misses;
	double places = 0;
	unsigned int i;

	for (i = 0; i < POLICY_WAYS_MAX; i++)
		places += (double)counts->hits[i] * (i + 1);
	figures->misses += (double)counts->misses / samples / (double)trace_count;
	figures->evictions += (double)counts->evictions / samples / (double)trace_count;
	figures->places += places / (hits > 0 ? hits : 1) / (double)trace_count;
	figures->handler +=
		policy_cost_handler(&cost, &figures->policy, counts) / (double)trace_count;
	figures->system +=
		policy_cost_system(&cost, &figures->policy, counts) / (double)trace_count;
}

static struct policy_counts counts_of(const struct policy_trace *trace, const struct policy *policy)
{
	struct policy_counts counts = {.misses = 0};

	if (policy_run(trace, policy, FLUSH_EVERY, &counts) < 0)
		out_of_memory();
	return counts;
}

static struct figures figures_of(const struct policy *policy)
{
	struct figures figures = {.policy = *policy};
	struct policy_counts counts;
	size_t i;

	for (i = 0; i < trace_count; i++) {
		counts = counts_of(&traces[i], policy);
		trace_add(&figures, &counts);
	}
	return figures;
}

/* The cheapest policy so far among those that could be shipped, and the shipped one. */
static struct figures best, now;

static double percent(double value, double of)
{
	return 100 * (value / of - 1);
}

/* Return the cost including the interrupt. */
static double whole(const struct figures *f)
{
	return POLICY_FLOOR_COST + f->system;
}

static void row_print(const char *label, const struct figures *f)
{
	printf("| %s | %.2f | %.4f | %.2f | %.1f | %.1f | %+.1f | %+.1f | %+.1f |\n", label,
	       100 * f->misses, f->evictions, f->places, f->handler, f->system,
	       percent(f->handler, now.handler), percent(f->system, now.system),
	       percent(whole(f), whole(&now)));
}

static void head_print(const char *label)
{
	printf("\n| %s | misses, %% | evictions a sample | compared by a hit | handler | system | "
	       "handler, %% | system, %% | whole, %% "
	       "|\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
	       label);
}

static void rule_print(void)
{
	printf("\n## The rule\n\nFour ways are given: they are specified, and fill one line of the "
	       "cache with entries of 16 bytes.\nSearched is, jointly, every order with every hash "
	       "function, in four ways and %u entries. A\nfunction is fit if it spreads regular "
	       "keys: of a table half full, no pattern may have more than\n%.0f%% in excess of "
	       "their sets, nor all on average more than %.0f%% (a random function: %.1f%%). "
	       "The\nfit pair with the lowest cost of the system wins; what is shipped stays if "
	       "that "
	       "saves the system\nless than %.0f%%. Other numbers of ways and entries are only "
	       "looked "
	       "at.\n",
	       shipped.entries, 100 * POLICY_EXCESS_MAX, 100 * POLICY_EXCESS_MEAN,
	       100 * POLICY_EXCESS_RANDOM, 100 * SLACK);
}

static void traces_print(void)
{
	size_t i;

	printf("\n## Traces\n\n| workload | samples | CPUs | different keys | samples a key |\n"
	       "|---|---:|---:|---:|---:|\n");
	for (i = 0; i < trace_count; i++)
		printf("| %s | %llu | %zu | %llu | %.1f |\n", traces[i].name,
		       (unsigned long long)traces[i].samples, traces[i].count,
		       (unsigned long long)traces[i].keys,
		       (double)traces[i].samples / (double)traces[i].keys);
}

static void costs_print(void)
{
	printf("\n## Prices\n\nInstructions of `sample_store_count()`, stepped through on this "
	       "machine:\n\n| place | 1 | 2 | 3 | 4 |\n|---|---:|---:|---:|---:|\n"
	       "| hit | %u | %u | %u | %u |\n| miss, free | %u | %u | %u | %u |\n"
	       "| miss, evicts | %u | | | |\n",
	       steps.hit[0], steps.hit[1], steps.hit[2], steps.hit[3], steps.free[0], steps.free[1],
	       steps.free[2], steps.free[3], steps.evict);
	printf("\nFrom these, without the hash (%u): a hit at the front %.0f; elsewhere, with the "
	       "swap, %.0f more, and\n%.1f for each place beyond the second; a miss %.0f and %.1f "
	       "for each place, %.0f less if it evicts\nnothing. Each entry moved %d. For other "
	       "policies: a hit that moves nothing %d for each further place,\nlooking for a free "
	       "place %d a place, the counter of mod %d, a random number %d, the lowest count "
	       "%d\na "
	       "place, a second line of the cache %d. \"System\" adds %d for each entry "
	       "that\nleaves the table by "
	       "eviction or flush: what the daemon does with it.\n",
	       policy_hashes[0].instructions, cost.hit, cost.away, cost.place, cost.miss,
	       cost.place, cost.free, POLICY_SHIFT_COST, POLICY_PLACE_COST, POLICY_LOOK_COST,
	       POLICY_TURN_COST, POLICY_RANDOM_COST, POLICY_FEWEST_COST, POLICY_LINE_COST,
	       POLICY_DELIVERY_COST);
}

/* Check that the store and its model agree on every count, including evictions. */
static int store_check(void)
{
	static const uint32_t sizes[] = {64, 1024, DCPI_TABLE_ENTRIES_DEFAULT, 65536};
	struct policy policy = shipped;
	size_t i, j, differ = 0;

	for (i = 0; i < trace_count; i++) {
		for (j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			struct policy_counts real = {.misses = 0}, model;

			policy.entries = sizes[j];
			model = counts_of(&traces[i], &policy);
			if (policy_store_run(&traces[i], sizes[j], FLUSH_EVERY, &real) < 0 ||
			    real.hits[0] != policy_hits(&model) || real.misses != model.misses ||
			    real.evictions != model.evictions || real.flushed != model.flushed)
				differ++;
		}
	}
	printf("\n## The model against the store\n\n`kmod/core/sample_store.c` was given the same "
	       "%zu traces, with tables of 64, 1K, 16K and 64K\nentries: hits, misses, evictions "
	       "and flushed entries %s.\n",
	       trace_count, differ == 0 ? "are the model's, all of them, exactly" : "DIFFER");
	if (differ != 0)
		fprintf(stderr, "policy_simulator: the model is not a model of the store\n");
	return differ == 0 ? 0 : 1;
}

static void orders_print(void)
{
	static const uint32_t ways[] = {1, 2, 4, 6, 8};
	struct policy policy = shipped;
	char label[64];
	size_t i;
	int order;

	printf("\n## Associativity and replacement\n\n%u entries, the store's hash. Means over all "
	       "traces, which weigh the same; percentages are\nrelative to what is shipped.\n",
	       shipped.entries);
	head_print("ways, replacement");
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (order = 0; order < (ways[i] == 1 ? 1 : POLICY_ORDERS); order++) {
			struct figures figures;

			policy.ways = ways[i];
			policy.order = (enum policy_order)order;
			figures = figures_of(&policy);
			snprintf(label, sizeof(label), "%u %s", policy.ways,
				 ways[i] == 1 ? "" : policy_order_name(policy.order));
			row_print(label, &figures);
		}
	}
}

static void hashes_print(void)
{
	struct policy policy = shipped;
	char label[128];
	size_t i;

	printf("\n## Hash functions\n\nOtherwise what is shipped.\n");
	head_print("function");
	for (i = 0; i < policy_hash_count; i++) {
		struct figures figures;

		policy.hash = &policy_hashes[i];
		figures = figures_of(&policy);
		snprintf(label, sizeof(label), "%s (%u): %s", policy.hash->name,
			 policy.hash->instructions, policy.hash->what);
		row_print(label, &figures);
	}
}

/* Print the excess of regular keys, like those of programs and processes, for each function. */
static void patterns_print(void)
{
	size_t i, pattern;

	printf("\n## Regular keys\n\nPercent of %u keys in excess of the %d places of their "
	       "sets, and what that says of the function.\n\n| function",
	       shipped.entries / 2, SAMPLE_WAYS);
	for (pattern = 0; pattern < policy_pattern_count; pattern++)
		printf(" | %s", policy_patterns[pattern].name);
	printf(" | |\n|---");
	for (pattern = 0; pattern < policy_pattern_count; pattern++)
		printf("|---:");
	printf("|---|\n");
	for (i = 0; i < policy_hash_count; i++) {
		printf("| %s", policy_hashes[i].name);
		for (pattern = 0; pattern < policy_pattern_count; pattern++)
			printf(" | %.1f", 100 * policy_excess(&policy_hashes[i], shipped.entries,
							      &policy_patterns[pattern]));
		printf(" | %s |\n",
		       policy_hash_fit(&policy_hashes[i], shipped.entries) ? "fit" : "not fit");
	}
}

/* Print each order with each function: cost of the system, relative to the shipped policy. */
static void joint_print(void)
{
	struct policy policy = shipped;
	struct figures figures;
	size_t i;
	int order;

	printf("\n## Orders and hash functions jointly\n\nFour ways; the cost of the system, in "
	       "percent relative to what is shipped. In brackets:\nfunctions that are not "
	       "fit.\n\n| function");
	for (order = 0; order < POLICY_ORDERS; order++)
		printf(" | %s", policy_order_name((enum policy_order)order));
	printf(" |\n|---");
	for (order = 0; order < POLICY_ORDERS; order++)
		printf("|---:");
	printf("|\n");
	for (i = 0; i < policy_hash_count; i++) {
		bool fit = policy_hash_fit(&policy_hashes[i], shipped.entries);

		printf("| %s", policy_hashes[i].name);
		policy.hash = &policy_hashes[i];
		for (order = 0; order < POLICY_ORDERS; order++) {
			policy.order = (enum policy_order)order;
			figures = figures_of(&policy);
			if (fit && figures.system < best.system)
				best = figures;
			printf(fit ? " | %+.1f" : " | (%+.1f)",
			       percent(figures.system, now.system));
		}
		printf(" |\n");
	}
}

static void sizes_print(void)
{
	struct policy policy = shipped;
	char label[64];
	uint32_t entries;

	printf("\n## Size\n\nOtherwise what is shipped. More memory is not free: a larger table "
	       "takes more of the caches\nfrom what is profiled, which instructions don't "
	       "show.\n");
	head_print("entries");
	for (entries = 1024; entries <= 65536; entries *= 2) {
		struct figures figures;

		policy.entries = entries;
		figures = figures_of(&policy);
		snprintf(label, sizeof(label), "%uK, %u KiB", entries / 1024, entries / 64);
		row_print(label, &figures);
	}
}

/* Print one workload per row and one policy per column: misses and the system's cost. */
static void workloads_print(void)
{
	static const struct {
		uint32_t ways;
		enum policy_order order;
	} columns[] = {{4, POLICY_MOD},	   {4, POLICY_SWAP},	  {4, POLICY_LRU},
		       {4, POLICY_FEWEST}, {4, POLICY_FRONT_MOD}, {6, POLICY_SWAP}};
	const size_t count = sizeof(columns) / sizeof(columns[0]);
	struct policy policy = shipped;
	struct policy_counts counts;
	size_t i, j;

	printf("\n## By workload\n\nMisses in percent / system, instructions a sample.\n\n|");
	for (j = 0; j < count; j++)
		printf(" | %u %s", columns[j].ways, policy_order_name(columns[j].order));
	printf(" |\n|---");
	for (j = 0; j < count; j++)
		printf("|---:");
	for (i = 0; i < trace_count; i++) {
		printf("|\n| %s", traces[i].name);
		for (j = 0; j < count; j++) {
			policy.ways = columns[j].ways;
			policy.order = columns[j].order;
			counts = counts_of(&traces[i], &policy);
			printf(" | %.2f / %.1f",
			       100.0 * (double)counts.misses / (double)traces[i].samples,
			       policy_cost_system(&cost, &policy, &counts));
		}
	}
	printf(" |\n");
}

/* Print the paper's comparisons, repeated on these traces. */
static void paper_print(void)
{
	struct policy policy = shipped;
	struct figures mod, swap, six;

	policy.order = POLICY_MOD;
	mod = figures_of(&policy);
	policy.order = POLICY_SWAP;
	swap = figures_of(&policy);
	policy.ways = 6;
	six = figures_of(&policy);
	printf("\n## Conclusions\n\n"
	       "- The paper expects 10-20%% of the whole cost from six ways for four, in the same "
	       "line of "
	       "the cache,\n  with swaps and insertion at the front. Here, against four ways and "
	       "mod, swaps "
	       "and insertion at\n  the front change the handler by %+.1f%%, the system by %+.1f%% "
	       "and the "
	       "whole by %+.1f%%. Six ways, which\n  take a second line with entries of 16 bytes, "
	       "change the "
	       "system by %+.1f%%.\n"
	       "- What changes: a hit compares %.2f tags for %.2f; misses go from %.2f%% to "
	       "%.2f%%; as free places are\n  always the last ones, a miss need not look for one, "
	       "but moves three entries; hits that are not at the\n  front move two. The "
	       "interrupt, "
	       "%d instructions before any handler begins, and the daemon's work\n  for misses "
	       "that "
	       "no policy avoids leave little of all this.\n",
	       percent(swap.handler, mod.handler), percent(swap.system, mod.system),
	       percent(whole(&swap), whole(&mod)), percent(six.system, mod.system), swap.places,
	       mod.places, 100 * mod.misses, 100 * swap.misses, POLICY_FLOOR_COST);
}

static int verdict_print(void)
{
	bool stays = 1 - best.system / now.system <= SLACK &&
		     policy_hash_fit(shipped.hash, shipped.entries);

	printf("- Shipped: %u ways, %s, %s: %.1f instructions a sample in the\n  handler, %.1f in "
	       "the system, %.4f evictions. The cheapest fit pair in four ways: %s, %s:\n  %.1f, "
	       "%.1f, %.4f; for the system %+.2f%%, for the whole, with %d for the interrupt, "
	       "%+.2f%%.\n",
	       shipped.ways, policy_order_name(shipped.order), shipped.hash->name, now.handler,
	       now.system, now.evictions, policy_order_name(best.policy.order),
	       best.policy.hash->name, best.handler, best.system, best.evictions,
	       percent(best.system, now.system), POLICY_FLOOR_COST,
	       percent(whole(&best), whole(&now)));
	printf("- **The shipped policy %s.**\n", stays ? "stays" : "does not win");
	if (!stays)
		fprintf(stderr, "policy_simulator: the shipped policy does not win\n");
	return stays ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct error err;
	int i, status;

	if (argc < 2 || argc > TRACES_MAX) {
		fprintf(stderr, "usage: policy_simulator TRACE...\n");
		return 2;
	}
	for (i = 1; i < argc; i++) {
		if (policy_trace_read(&traces[trace_count++], argv[i], &err) < 0) {
			fprintf(stderr, "policy_simulator: %s\n", err.message);
			return 2;
		}
	}
	if (policy_steps_measure(&steps) < 0) {
		fprintf(stderr, "policy_simulator: the store cannot be stepped through\n");
		return 2;
	}
	policy_cost_init(&cost, &steps);
	now = best = figures_of(&shipped);
	rule_print();
	traces_print();
	costs_print();
	status = store_check();
	orders_print();
	hashes_print();
	patterns_print();
	joint_print();
	sizes_print();
	workloads_print();
	paper_print();
	status |= verdict_print();
	for (i = 0; i < argc - 1; i++)
		policy_trace_deinit(&traces[i]);
	return status;
}
