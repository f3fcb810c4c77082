// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharing: another thread accessed the same line at about the same time, and at least one of both
 * instructions stores. The line then moves between the caches of two CPUs.
 */
#include "analysis/culprit/culprit_data.h"

/* If a smaller share of the accesses was to shared lines, they do not explain a stall. */
#define SHARED_MIN 0.1

static bool stores(const struct insn *insn)
{
	return (insn->flags & INSN_WRITES_MEMORY) != 0;
}

/* Return true if the instruction at an address of the procedure stores. */
static bool stores_at(const struct cfg *cfg, uint64_t address)
{
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		if (cfg->insns[i].address == address)
			return stores(&cfg->insns[i]);
	return false;
}

bool culprit_shares(const struct culprit_input *input, uint32_t insn)
{
	const struct data_footprint *data =
		input->profile->footprints != NULL ? input->profile->footprints[insn] : NULL;

	if (data == NULL || data->shared < SHARED_MIN)
		return false;
	return stores(&input->cfg->insns[insn]) || stores_at(input->cfg, data->partner);
}

bool culprit_sharing_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	(void)ret;
	return !stall->input->model->in_order && culprit_shares(stall->input, stall->insn);
}
