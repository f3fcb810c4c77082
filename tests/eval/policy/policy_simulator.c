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
#include "tests/eval/policy/policy_cost.h"
#include "tests/eval/policy/policy_pattern.h"
#include "tests/eval/policy/policy_run.h"
#include "tests/eval/policy/policy_steps.h"

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
	printf("\n"
	       "| %s | misses, %% | evictions per sample | tags compared per hit | handler | "
	       "system | handler, %% | system, %% | total, %% |\n"
	       "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
	       label);
}

static void rule_print(void)
{
	printf("\n"
	       "## Selection rule\n"
	       "\n"
	       "The table has four ways, as specified: four entries of 16 bytes fill one cache "
	       "line. Each\n"
	       "replacement is combined with each hash function, with four ways and %u entries. A "
	       "function is\n"
	       "fit if it spreads regular keys over the sets. In a half-full table, no pattern may "
	       "have more than\n"
	       "%.0f%% of its keys in excess of the places of their sets. The mean of all patterns "
	       "may not exceed %.0f%%\n"
	       "(a random function: %.1f%%). The fit combination with the lowest cost of the "
	       "system wins, but the\n"
	       "shipped one stays if the system would save less than %.0f%%. Other numbers of ways "
	       "and entries are\n"
	       "simulated for comparison only.\n",
	       shipped.entries, 100 * POLICY_EXCESS_MAX, 100 * POLICY_EXCESS_MEAN,
	       100 * POLICY_EXCESS_RANDOM, 100 * SLACK);
}

static void traces_print(void)
{
	size_t i;

	printf("\n"
	       "## Traces\n"
	       "\n"
	       "| workload | samples | CPUs | distinct keys | samples per key |\n"
	       "|---|---:|---:|---:|---:|\n");
	for (i = 0; i < trace_count; i++)
		printf("| %s | %llu | %zu | %llu | %.1f |\n", traces[i].name,
		       (unsigned long long)traces[i].samples, traces[i].count,
		       (unsigned long long)traces[i].keys,
		       (double)traces[i].samples / (double)traces[i].keys);
}

static void costs_print(void)
{
	printf("\n"
	       "## Costs in instructions\n"
	       "\n"
	       "Instructions of `sample_store_count()`, counted on this machine by "
	       "single-stepping:\n"
	       "\n"
	       "| place | 1 | 2 | 3 | 4 |\n"
	       "|---|---:|---:|---:|---:|\n"
	       "| hit | %u | %u | %u | %u |\n"
	       "| miss, free place | %u | %u | %u | %u |\n"
	       "| miss, eviction | %u | | | |\n",
	       steps.hit[0], steps.hit[1], steps.hit[2], steps.hit[3], steps.free[0], steps.free[1],
	       steps.free[2], steps.free[3], steps.evict);
	printf("\n"
	       "The model derives its costs from these, without the hash (%u). A hit at the front "
	       "costs %.0f. A hit at\n"
	       "another place costs %.0f more, including the swap, and %.1f for each place after "
	       "the second. A miss\n"
	       "costs %.0f, and %.1f for each place, but %.0f less if it evicts no entry. Each "
	       "moved entry costs %d.\n"
	       "\n"
	       "The costs of other replacements are:\n"
	       "\n"
	       "- a hit that moves no entry: %d for each place after the first\n"
	       "- the search for a free place: %d per place\n"
	       "- the rotating counter of *mod*: %d\n"
	       "- a random number: %d\n"
	       "- the search for the lowest count: %d per place\n"
	       "- a second cache line: %d\n"
	       "\n"
	       "The cost of the system includes %d for each entry that leaves the table by "
	       "eviction or flush. This\n"
	       "is the daemon's work for the entry.\n",
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
	printf("\n"
	       "## Verification of the model\n"
	       "\n"
	       "`kmod/core/sample_store.c` counted the same %zu traces, with tables of 64, 1K, 16K "
	       "and 64K entries.\n"
	       "Its hits, misses, evictions and flushed entries %s.\n",
	       trace_count,
	       differ == 0 ? "are exactly those of the model" : "DIFFER from those of the model");
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

	printf("\n"
	       "## Associativity and replacement\n"
	       "\n"
	       "Tables of %u entries with the hash function of the store. The figures are means "
	       "over all\n"
	       "traces, with equal weights. *Handler* and *system* are instructions per sample, "
	       "and *total* also\n"
	       "includes the interrupt. Percentages are relative to the shipped policy.\n"
	       "\n"
	       "The replacements are:\n"
	       "\n"
	       "- *mod*: evict the next entry in rotation if no place is free. This is DCPI's "
	       "policy.\n"
	       "- *mod, blind*: the same, without searching for free places\n"
	       "- *front*: insert at the front, move the other entries back by one, and evict the "
	       "last\n"
	       "- *front + swap*: the same, and a hit swaps its entry with that at the front. "
	       "DCPI's authors propose\n"
	       "  this policy.\n"
	       "- *front, mod + swap*: insert at the front, and move the entry there to a free "
	       "place, or to that of\n"
	       "  the next entry in rotation, which is evicted. A hit swaps its entry with that at "
	       "the front.\n"
	       "- *LRU*: evict the least recently used entry\n"
	       "- *random*: evict a random entry\n"
	       "- *fewest*: evict the entry with the lowest count\n"
	       "- *front, mod*: as *front, mod + swap*, but hits do not move entries\n",
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

	printf("\n"
	       "## Hash functions\n"
	       "\n"
	       "The other parameters are those of the shipped policy. The number in parentheses is "
	       "the number of\n"
	       "instructions. `tag` holds the process, the image generation, the event and a "
	       "count; `id` is the tag\n"
	       "without the count. A and B are constants.\n");
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

	printf("\n"
	       "## Regular keys\n"
	       "\n"
	       "The share of %u keys that exceed the %d places of their sets, in percent, for each "
	       "pattern. The\n"
	       "last column shows if the function is fit.\n"
	       "\n"
	       "| function",
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

	printf("\n"
	       "## Replacements combined with hash functions\n"
	       "\n"
	       "Four ways. The cost of the system, in percent relative to the shipped policy. "
	       "Functions in\n"
	       "parentheses are not fit.\n"
	       "\n"
	       "| function");
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

	printf("\n"
	       "## Size\n"
	       "\n"
	       "The other parameters are those of the shipped policy. The number of instructions "
	       "does not include\n"
	       "the effect on caches: a larger table leaves less of them to the profiled "
	       "programs.\n");
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

	printf("\n"
	       "## Workloads\n"
	       "\n"
	       "Misses in percent / cost of the system in instructions per sample.\n"
	       "\n"
	       "|");
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
	printf("\n"
	       "## Conclusions\n"
	       "\n"
	       "- The paper expects a reduction of the total cost by 10-20%% from six ways instead "
	       "of four, in the\n"
	       "  same cache line, with swaps and insertion at the front. Here, compared with four "
	       "ways and *mod*,\n"
	       "  swaps and insertion at the front change the handler by %+.1f%%, the system by "
	       "%+.1f%% and the\n"
	       "  total by %+.1f%%. Six ways, which need a second cache line with entries of 16 "
	       "bytes, change the\n"
	       "  system by %+.1f%%.\n"
	       "- A hit compares %.2f tags instead of %.2f, and misses go from %.2f%% to %.2f%%. "
	       "Free places are\n"
	       "  always the last ones, so a miss does not search for one, but it moves three "
	       "entries. A hit that is\n"
	       "  not at the front moves two. These differences are small compared with the "
	       "interrupt, which takes\n"
	       "  %d instructions before any handler begins, and with the daemon's work for misses "
	       "that no policy\n"
	       "  avoids.\n",
	       percent(swap.handler, mod.handler), percent(swap.system, mod.system),
	       percent(whole(&swap), whole(&mod)), percent(six.system, mod.system), swap.places,
	       mod.places, 100 * mod.misses, 100 * swap.misses, POLICY_FLOOR_COST);
}

static int verdict_print(void)
{
	bool stays = 1 - best.system / now.system <= SLACK &&
		     policy_hash_fit(shipped.hash, shipped.entries);

	printf("- Shipped: %u ways, *%s*, %s: %.1f instructions per sample in the\n"
	       "  handler, %.1f in the system, and %.4f evictions per sample.\n"
	       "- The cheapest fit combination with four ways: *%s*, %s: %.1f, %.1f and\n"
	       "  %.4f. It changes the system by %+.2f%%, and the total, including %d for the "
	       "interrupt, by\n"
	       "  %+.2f%%.\n",
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
