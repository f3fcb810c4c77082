// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/culprit_rule.h"

#include <math.h>

const struct culprit_rule culprit_rules[CULPRIT_CAUSES] = {
	[CULPRIT_ICACHE] = {"I-cache (not ITB)", "icache", 'i', culprit_icache_bound},
	[CULPRIT_ITB] = {"ITB/I-cache miss", "itb", 'I', culprit_itb_bound},
	[CULPRIT_DCACHE] = {"D-cache miss", "dcache", 'd', culprit_dcache_bound},
	[CULPRIT_DTB] = {"DTB miss", "dtb", 'D', culprit_dtb_bound},
	[CULPRIT_WRITE_BUFFER] = {"Write buffer", "write_buffer", 'w', culprit_write_buffer_bound},
	[CULPRIT_SYNCHRONIZATION] = {"Synchronization", "synchronization", 'y', culprit_sync_bound},
	[CULPRIT_BRANCH] = {"Branch mispredict", "branch", 'p', culprit_branch_bound},
	[CULPRIT_IMUL] = {"IMUL busy", "imul", 'm', culprit_imul_bound},
	[CULPRIT_FDIV] = {"FDIV busy", "fdiv", 'f', culprit_fdiv_bound},
	[CULPRIT_INTERRUPTS] = {"Interrupts disabled", "interrupts", 'x', culprit_interrupts_bound,
				.precise = true},
	[CULPRIT_STORE_FORWARD] = {"Store forwarding", "store_forward", 'F',
				   culprit_store_forward_bound},
	[CULPRIT_SHARING] = {"Sharing", "sharing", 'S', culprit_sharing_bound},
	[CULPRIT_PAGE_FAULT] = {"Page fault", "page_fault", 'P', culprit_page_fault_bound},
	[CULPRIT_LATENCY] = {"Operand latency", "latency", 'L', culprit_latency_bound},
	[CULPRIT_OTHER] = {"Other", "other", 'o', culprit_other_bound},
};

const char *culprit_name(enum culprit_cause cause)
{
	return cause < CULPRIT_CAUSES ? culprit_rules[cause].name : "Unexplained stall";
}

const char *culprit_key(enum culprit_cause cause)
{
	return cause < CULPRIT_CAUSES ? culprit_rules[cause].key : "unexplained";
}

char culprit_letter(enum culprit_cause cause)
{
	if (cause < CULPRIT_CAUSES)
		return culprit_rules[cause].letter;
	return '?';
}

/* Multipliers are pipelined there, and the FP divider also computes square roots. */
const char *culprit_modern_name(enum culprit_cause cause)
{
	switch (cause) {
	case CULPRIT_IMUL:
		return "Divider busy";
	case CULPRIT_FDIV:
		return "FP divide, sqrt busy";
	default:
		return culprit_name(cause);
	}
}

bool culprit_is_modern(enum culprit_cause cause)
{
	return cause >= CULPRIT_STORE_FORWARD && cause <= CULPRIT_LATENCY;
}

static bool edge_is_known(const struct culprit_input *input, uint32_t edge)
{
	return input->frequency->edges[edge].origin != FREQUENCY_NONE;
}

double culprit_edge_most(const struct culprit_input *input, uint32_t edge)
{
	const struct cfg_edge *e = &input->cfg->edges[edge];
	double most = INFINITY;

	if (edge_is_known(input, edge))
		return fmax(input->frequency->edges[edge].high,
			    input->frequency->edges[edge].value);
	if (e->from < input->cfg->block_count)
		most = fmin(most, input->frequency->blocks[e->from].value);
	if (e->to < input->cfg->block_count)
		most = fmin(most, input->frequency->blocks[e->to].value);
	return isinf(most) ? 0 : most;
}

double culprit_edge_share(const struct culprit_input *input, uint32_t edge)
{
	const struct cfg *cfg = input->cfg;
	uint32_t to = cfg->edges[edge].to;
	const struct cfg_block *block = &cfg->blocks[to];
	double known = 0, unknown = 0, rest = 0;

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t other = cfg->in_edges[block->in + i];

		if (edge_is_known(input, other))
			known += input->frequency->edges[other].value;
		else
			unknown += culprit_edge_most(input, other);
	}
	if (unknown > 0)
		rest = fmax(input->frequency->blocks[to].value - known, 0);
	if (known + rest <= 0)
		return 1.0 / block->in_count;
	if (edge_is_known(input, edge))
		return input->frequency->edges[edge].value / (known + rest);
	return unknown > 0 ? culprit_edge_most(input, edge) / unknown * rest / (known + rest) : 0;
}

double culprit_event_bound(const struct culprit_stall *stall, enum profile_event_role role,
			   uint32_t first, uint32_t last, double cycles)
{
	const struct procedure_profile *profile = stall->input->profile;
	const struct profile_role_samples *events = &profile->roles[role];
	double samples = 0, executions = stall->frequency * profile->period_cycles;

	if (events->samples == NULL)
		return INFINITY;
	for (uint32_t i = first; i <= last; i++)
		samples += events->samples[i];
	/* Upper confidence bound of the number of events; three without any sample. */
	samples += CULPRIT_NOISE_SIGMAS * sqrt(samples) + 3;
	return samples * events->period / executions * cycles;
}
