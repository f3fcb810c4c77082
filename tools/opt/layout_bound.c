// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/layout_bound.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "tools/annotate/calc_procedure.h"

/* Return: the upper end of an edge's executions; those of its block if the edge's are unknown. */
static double edge_executions(const struct calc_procedure *procedure, const struct cfg_edge *edge,
			      uint32_t index)
{
	const struct frequency *frequency = &procedure->analysis->frequency;
	double low, high;

	calc_procedure_executions(procedure, &frequency->edges[index], &low, &high);
	if (!isfinite(high) && edge->from < procedure->analysis->cfg->block_count)
		calc_procedure_executions(procedure, &frequency->blocks[edge->from], &low, &high);
	return isfinite(high) ? high : 0;
}

static bool is_taken(const struct cfg_edge *edge)
{
	return edge->kind == CFG_EDGE_TAKEN || edge->kind == CFG_EDGE_JUMP;
}

/*
 * A block can be followed by only one of its successors, and preceded by only one of its
 * predecessors. So of the taken branches into a block only the most frequent one can become a
 * fall-through.
 */
int layout_bound_add(struct layout_bound *bound, struct image_code *code,
		     const struct procedure_analysis *analysis)
{
	const struct calc_procedure procedure = {.code = code, .analysis = analysis};
	const struct culprit_input input = procedure_analysis_input(analysis);
	const struct cfg *cfg = analysis->cfg;
	_cleanup_free_ double *most = calloc((size_t)cfg->block_count + 1, sizeof(*most));

	if (most == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct cfg_edge *edge = &cfg->edges[i];
		double count;

		if (!is_taken(edge) || edge->to >= cfg->block_count)
			continue;
		count = edge_executions(&procedure, edge, i);
		bound->taken += count;
		most[edge->to] = fmax(most[edge->to], count);
	}
	for (uint32_t i = 0; i < cfg->block_count; i++)
		bound->removable += most[i];
	stall_summary_add(&bound->sum, &input, &analysis->culprits);
	return 0;
}

double layout_bound_samples(const struct layout_bound *bound, double samples, double period)
{
	const struct stall_summary *sum = &bound->sum;
	double stalls = sum->high[CULPRIT_ICACHE] + sum->high[CULPRIT_ITB] +
			sum->high[CULPRIT_BRANCH] + sum->high[CULPRIT_UNEXPLAINED];
	double dynamic = fmax(0, sum->dynamic) + fabs(sum->sampling_error);
	double taken = period > 0 ? bound->removable * LAYOUT_BOUND_TAKEN_CYCLES / period : samples;
	double unknown = fmax(0, samples - sum->tallied);

	return fmin(samples, fmin(stalls, dynamic) + fabs(sum->sampling_error) + taken + unknown);
}
