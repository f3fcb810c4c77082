// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/procedure_profile.h"

#include <errno.h>
#include <stdlib.h>

/* Whether an address is in the middle of an instruction, at least. */
static bool is_inside(const struct cfg *cfg, uint64_t address)
{
	uint32_t low = 0, high = cfg->insn_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cfg->insns[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address - cfg->insns[low - 1].address < cfg->insns[low - 1].bytes;
}

/* Spreads counts over instructions. Return: what was at addresses between them. */
static double lay_over(double *values, const struct cfg *cfg, const struct address_count *counts,
		       size_t count, double *total)
{
	double unmatched = 0;

	for (size_t i = 0; i < count; i++) {
		long insn = cfg_find_insn(cfg, counts[i].address);

		if (insn >= 0) {
			values[insn] += counts[i].count;
			*total += counts[i].count;
		} else if (is_inside(cfg, counts[i].address)) {
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

/* Whether control that goes along an edge is seen to go to @target. */
static bool edge_leads_to(const struct cfg *cfg, const struct cfg_edge *edge, uint64_t target)
{
	if (edge->target != 0)
		return edge->target == target;
	/* Out of the procedure, not known where to. */
	return (edge->kind == CFG_EDGE_TAIL || edge->kind == CFG_EDGE_RETURN) &&
	       cfg_find_insn(cfg, target) < 0;
}

static void add_branch(struct procedure_profile *profile, const struct cfg *cfg, uint32_t insn,
		       const struct branch_count *branch)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[insn]];

	profile->branch_total[insn] += branch->count;
	if (insn != block->first + block->count - 1)
		return;
	for (uint32_t i = 0; i < block->out_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[block->out + i];

		if (!edge_leads_to(cfg, edge, branch->to))
			continue;
		profile->edge_samples[block->out + i] += branch->count;
		return;
	}
}

int procedure_profile_add_branches(struct procedure_profile *profile, const struct cfg *cfg,
				   const struct branch_count *branches, size_t count)
{
	if (profile->edge_samples == NULL)
		profile->edge_samples =
			calloc((size_t)cfg->edge_count + 1, sizeof(*profile->edge_samples));
	if (profile->branch_total == NULL)
		profile->branch_total =
			calloc((size_t)cfg->insn_count + 1, sizeof(*profile->branch_total));
	if (profile->edge_samples == NULL || profile->branch_total == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		long insn = cfg_find_insn(cfg, branches[i].from);

		if (insn >= 0)
			add_branch(profile, cfg, (uint32_t)insn, &branches[i]);
	}
	return 0;
}

void procedure_profile_deinit(struct procedure_profile *profile)
{
	free(profile->samples);
	free(profile->edge_samples);
	free(profile->branch_total);
	for (size_t i = 0; i < PROFILE_ROLES; i++)
		free(profile->roles[i].samples);
	free(profile->exact);
	*profile = (struct procedure_profile){0};
}
