// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/procedure_profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/probe_worth.h"
#include "db/profile.h"
#include "lib/array.h"
#include "lib/partition_point.h"

/*
 * Usual variance of a single reference iteration; standard deviation due to executions that were
 * not observed.
 */
#define REFERENCE_VARIANCE 0.06
#define REFERENCE_SPREAD 0.02

double profile_reference_variance(const struct profile_reference *reference)
{
	return REFERENCE_VARIANCE / fmin(reference->executions[0], reference->executions[1]) +
	       REFERENCE_SPREAD * REFERENCE_SPREAD;
}

/* Return true if an address is within an instruction. */
static bool procedure_profile_is_inside(const struct cfg *cfg, uint64_t address)
{
	uint32_t low = partition_point(0, cfg->insn_count, i, cfg->insns[i].address <= address);

	return low > 0 && address - cfg->insns[low - 1].address < cfg->insns[low - 1].bytes;
}

/* Add counts to instructions. Return: the counts at addresses inside of instructions. */
static double lay_over(double *values, const struct cfg *cfg, const struct address_count *counts,
		       size_t count, double *total)
{
	double unmatched = 0;

	for (size_t i = 0; i < count; i++) {
		long insn = cfg_find_insn(cfg, counts[i].address);

		if (insn >= 0) {
			values[insn] += counts[i].count;
			*total += counts[i].count;
		} else if (procedure_profile_is_inside(cfg, counts[i].address)) {
			unmatched += counts[i].count;
		}
	}
	return unmatched;
}

int procedure_profile_create(struct procedure_profile *ret, const struct cfg *cfg,
			     const struct address_count *samples, size_t count,
			     double period_cycles)
{
	struct procedure_profile profile = {.period_cycles = period_cycles, .calls_in = -1};

	profile.samples = calloc((size_t)cfg->insn_count + 1, sizeof(*profile.samples));
	if (profile.samples == NULL)
		return -ENOMEM;
	profile.unmatched = lay_over(profile.samples, cfg, samples, count, &profile.total);
	*ret = profile;
	return 0;
}

int procedure_profile_add_role(struct procedure_profile *profile, const struct cfg *cfg,
			       enum profile_event_role role, const struct address_count *samples,
			       size_t count, double period)
{
	struct profile_role_samples *slot = &profile->roles[role];
	double total = 0;

	if (slot->samples == NULL)
		slot->samples = calloc((size_t)cfg->insn_count + 1, sizeof(*slot->samples));
	if (slot->samples == NULL)
		return -ENOMEM;
	slot->period = period;
	lay_over(slot->samples, cfg, samples, count, &total);
	return 0;
}

/* Return true if control that follows an edge is observed to go to @target. */
static bool edge_leads_to(const struct cfg *cfg, const struct cfg_edge *edge, uint64_t target)
{
	if (edge->target != 0)
		return edge->target == target;
	/* Leaves the procedure with an unknown target. */
	return (edge->kind == CFG_EDGE_TAIL || edge->kind == CFG_EDGE_RETURN) &&
	       cfg_find_insn(cfg, target) < 0;
}

long procedure_profile_edge(const struct cfg *cfg, uint32_t insn, uint64_t target)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[insn]];

	for (uint32_t i = 0; insn == block->first + block->count - 1 && i < block->out_count; i++) {
		if (edge_leads_to(cfg, &cfg->edges[block->out + i], target))
			return (long)block->out + (long)i;
	}
	return -1;
}

static void add_branch(struct procedure_profile *profile, const struct cfg *cfg, uint32_t insn,
		       const struct branch_count *branch, double worth)
{
	long edge = procedure_profile_edge(cfg, insn, branch->to);

	profile->branch_total[insn] += branch->count;
	if (edge >= 0) {
		profile->edge_samples[edge] += branch->count;
		profile->edge_probes[edge] += branch->probes * worth;
	}
}

static int add_gaps(struct procedure_profile *profile, const struct cfg *cfg, uint32_t insn,
		    const struct branch_count *branch)
{
	if (branch->gaps <= 0 || profile->clock_ns <= 0)
		return 0;
	if (profile->gaps == NULL)
		profile->gaps = calloc((size_t)cfg->insn_count + 1, sizeof(*profile->gaps));
	if (profile->gap_samples == NULL)
		profile->gap_samples =
			calloc((size_t)cfg->insn_count + 1, sizeof(*profile->gap_samples));
	if (profile->gap_variance == NULL)
		profile->gap_variance =
			calloc((size_t)cfg->insn_count + 1, sizeof(*profile->gap_variance));
	if (profile->gaps == NULL || profile->gap_samples == NULL || profile->gap_variance == NULL)
		return -ENOMEM;
	profile->gaps[insn] += branch->gaps;
	profile->gap_samples[insn] += branch->gap_ns / profile->clock_ns;
	profile->gap_variance[insn] += branch->gap_variance;
	return 0;
}

/* Find the counts of a branch relative to another one. Return: NULL if none exist. */
static const struct branch_count *find_branch(const struct branch_count *branches, size_t count,
					      uint64_t from, uint64_t to)
{
	size_t low = partition_point(0, count, i,
				     branches[i].from < from ||
					     (branches[i].from == from && branches[i].to < to));

	return low < count && branches[low].from == from && branches[low].to == to ? &branches[low]
										   : NULL;
}

/* Add each pair of branches once. */
static int add_references(struct procedure_profile *profile, const struct cfg *cfg,
			  const struct branch_count *branches, size_t count)
{
	size_t capacity = 0;

	for (size_t i = 0; i < count; i++) {
		const struct branch_count *one = &branches[i], *other;
		long insn, other_insn;

		if (one->reference_executions <= 0 || one->from >= one->to)
			continue;
		other = find_branch(branches, count, one->to, one->from);
		insn = cfg_find_insn(cfg, one->from);
		other_insn = cfg_find_insn(cfg, one->to);
		if (other == NULL || other->reference_executions <= 0 || insn < 0 || other_insn < 0)
			continue;
		if (array_reserve(&profile->references, &capacity, profile->reference_count + 1,
				  sizeof(*profile->references)) < 0)
			return -ENOMEM;
		profile->references[profile->reference_count++] = (struct profile_reference){
			.insns = {(uint32_t)insn, (uint32_t)other_insn},
			.executions = {one->reference_executions, other->reference_executions},
		};
	}
	return 0;
}

static int add_remaining(struct procedure_profile *profile, const struct cfg *cfg,
			 const struct branch_count *branches, size_t count)
{
	size_t capacity = 0;

	for (size_t i = 0; i < count; i++) {
		const struct branch_count *branch = &branches[i];
		long insn;

		if (branch->remaining <= 0 || branch->to < branch->from ||
		    branch->to - branch->from >= PROFILE_REMAINING_CLASSES)
			continue;
		insn = cfg_find_insn(cfg, branch->from);
		if (insn < 0)
			continue;
		if (array_reserve(&profile->remaining, &capacity, profile->remaining_count + 1,
				  sizeof(*profile->remaining)) < 0)
			return -ENOMEM;
		profile->remaining[profile->remaining_count++] = (struct profile_remaining){
			.insn = (uint32_t)insn,
			.class = (uint32_t)(branch->to - branch->from),
			.count = branch->remaining,
		};
	}
	return 0;
}

/* Return the probability that two executions of a branch have different targets (Simpson). */
static double varied(const struct branch_count *branches, size_t count)
{
	double total = 0, pairs = 0;

	for (size_t i = 0; i < count; i++) {
		total += branches[i].count;
		pairs += branches[i].count * fmax(branches[i].count - 1, 0);
	}
	return total > 1 ? 1 - pairs / (total * (total - 1)) : 0;
}

int procedure_profile_add_branches(struct procedure_profile *profile, const struct cfg *cfg,
				   const struct branch_count *branches, size_t count)
{
	int rc = 0;

	if (profile->edge_samples == NULL)
		profile->edge_samples =
			calloc((size_t)cfg->edge_count + 1, sizeof(*profile->edge_samples));
	if (profile->edge_probes == NULL)
		profile->edge_probes =
			calloc((size_t)cfg->edge_count + 1, sizeof(*profile->edge_probes));
	if (profile->branch_total == NULL)
		profile->branch_total =
			calloc((size_t)cfg->insn_count + 1, sizeof(*profile->branch_total));
	if (profile->branch_varied == NULL)
		profile->branch_varied =
			calloc((size_t)cfg->insn_count + 1, sizeof(*profile->branch_varied));
	if (profile->edge_samples == NULL || profile->edge_probes == NULL ||
	    profile->branch_total == NULL || profile->branch_varied == NULL)
		return -ENOMEM;
	for (size_t first = 0, end; first < count && rc == 0; first = end) {
		long insn = cfg_find_insn(cfg, branches[first].from);
		double worth;

		for (end = first; end < count && branches[end].from == branches[first].from;)
			end++;
		worth = probe_worth(&branches[first], end - first);
		if (insn >= 0)
			profile->branch_varied[insn] = varied(&branches[first], end - first);
		for (size_t i = first; i < end && insn >= 0 && rc == 0; i++) {
			add_branch(profile, cfg, (uint32_t)insn, &branches[i], worth);
			rc = add_gaps(profile, cfg, (uint32_t)insn, &branches[i]);
		}
	}
	if (rc == 0)
		rc = add_references(profile, cfg, branches, count);
	return rc == 0 ? add_remaining(profile, cfg, branches, count) : rc;
}

/*
 * Variance of the logarithm of the odds of recorded directions, which does not shrink with their
 * number: the code after one direction may be slower, so that its records are caught more often.
 * Their weights correct most of it.
 */
#define RECORD_BIAS 0.006

int procedure_profile_add_records(struct procedure_profile *profile, const struct cfg *cfg,
				  const struct record_range *ranges, size_t range_count,
				  const struct branch_count *branches, size_t branch_count)
{
	int r = branch_records_create(&profile->records, cfg, ranges, range_count, branches,
				      branch_count);

	if (r < 0 || profile->records == NULL)
		return r;
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		const double *edges = &profile->records->edges[block->out];
		double total = 0, even = 0;

		for (uint32_t e = 0; e < block->out_count; e++)
			total += edges[e];
		for (uint32_t e = 0; e < block->out_count && total > 0; e++)
			even += edges[e] * (1 - edges[e] / total);
		for (uint32_t e = 0; e < block->out_count; e++)
			profile->edge_probes[block->out + e] += edges[e] / (1 + RECORD_BIAS * even);
	}
	return 0;
}

int procedure_profile_add_footprints(struct procedure_profile *profile, const struct cfg *cfg,
				     const struct data_footprint *footprints, size_t count)
{
	if (profile->footprints == NULL)
		profile->footprints =
			calloc((size_t)cfg->insn_count + 1, sizeof(*profile->footprints));
	if (profile->footprints == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		long insn = cfg_find_insn(cfg, footprints[i].address);

		if (insn >= 0)
			profile->footprints[insn] = &footprints[i];
	}
	return 0;
}

int procedure_profile_add_call(struct procedure_profile *profile, const struct cfg *cfg,
			       uint64_t return_address, double stacks)
{
	long next = cfg_find_insn(cfg, return_address);
	const struct insn *call;

	if (next <= 0)
		return 0;
	call = &cfg->insns[next - 1];
	if (!insn_is_call(call) || call->address + call->bytes != return_address)
		return 0;
	if (profile->call_stacks == NULL)
		profile->call_stacks =
			calloc((size_t)cfg->insn_count + 1, sizeof(*profile->call_stacks));
	if (profile->call_stacks == NULL)
		return -ENOMEM;
	profile->call_stacks[next - 1] += stacks;
	return 0;
}

int procedure_profile_add_faults(struct procedure_profile *profile, const struct cfg *cfg,
				 const struct image_fault *faults, size_t count)
{
	if (profile->faults == NULL)
		profile->faults = calloc((size_t)cfg->insn_count + 1, sizeof(*profile->faults));
	if (profile->faults == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		long insn = cfg_find_insn(cfg, faults[i].address);

		if (insn >= 0)
			profile->faults[insn] = &faults[i];
	}
	return 0;
}

int procedure_profile_add_pairs(struct procedure_profile *profile, const struct cfg *cfg,
				const struct image_pair *pairs, size_t count)
{
	size_t capacity = profile->pair_count;

	if (array_reserve(&profile->pairs, &capacity, profile->pair_count + count + 1,
			  sizeof(*profile->pairs)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		long from = cfg_find_insn(cfg, pairs[i].from), to = cfg_find_insn(cfg, pairs[i].to);

		if (from < 0 || to < 0)
			continue;
		profile->pairs[profile->pair_count++] = (struct profile_pair){
			.insns = {(uint32_t)from, (uint32_t)to},
			.samples = pairs[i].samples,
			.weight = pairs[i].weight,
			.changes = pairs[i].changes,
			.change_count = pairs[i].change_count,
			.words = pairs[i].change_count > 0 &&
				 pairs[i].changes[0].reg >= PROFILE_WORD_STACK,
		};
	}
	return 0;
}

double exact_counts_of(const struct exact_counts *exact, uint64_t address)
{
	size_t low = partition_point(0, exact->range_count, i, exact->ranges[i].end <= address);

	if (low == exact->range_count || exact->ranges[low].start > address)
		return 0;
	return exact->ranges[low].count;
}

int procedure_profile_add_exact(struct procedure_profile *profile, const struct cfg *cfg,
				const struct exact_counts *exact)
{
	profile->exact = calloc((size_t)cfg->insn_count + 1, sizeof(*profile->exact));
	profile->exact_edges = calloc((size_t)cfg->edge_count + 1, sizeof(*profile->exact_edges));
	if (profile->exact == NULL || profile->exact_edges == NULL)
		return -ENOMEM;
	profile->exact_low = exact->scale_low / exact->scale;
	profile->exact_high = exact->scale_high / exact->scale;
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		profile->exact[i] = exact->scale * exact_counts_of(exact, cfg->insns[i].address);
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		profile->exact_edges[e] = NAN;
	for (size_t i = 0; i < exact->edge_count; i++) {
		long insn = cfg_find_insn(cfg, exact->edges[i].from);
		long edge =
			insn < 0 ? -1
				 : procedure_profile_edge(cfg, (uint32_t)insn, exact->edges[i].to);

		if (edge >= 0)
			profile->exact_edges[edge] = exact->scale * exact->edges[i].count;
	}
	return 0;
}

void procedure_profile_deinit(struct procedure_profile *profile)
{
	free(profile->samples);
	free(profile->taken);
	free(profile->unsure);
	free(profile->edge_samples);
	free(profile->edge_probes);
	branch_records_destroy(profile->records);
	free(profile->gaps);
	free(profile->gap_samples);
	free(profile->gap_variance);
	free(profile->references);
	free(profile->pairs);
	free(profile->footprints);
	free(profile->faults);
	free(profile->call_stacks);
	free(profile->remaining);
	free(profile->derived);
	free(profile->branch_total);
	free(profile->branch_varied);
	for (size_t i = 0; i < PROFILE_ROLES; i++)
		free(profile->roles[i].samples);
	free(profile->exact);
	free(profile->exact_edges);
	*profile = (struct procedure_profile){0};
}
