// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/shared_code.h"

#include "instrument/clone/candidate.h"

static bool shared_code_is_inside(uint64_t address, const struct old_patch *patch)
{
	uint64_t bytes =
		patch->label == OLD_PATCH_SHORT ? OLD_CODE_SHORT_BYTES : OLD_CODE_JUMP_BYTES;

	return address > patch->address && address < patch->address + bytes;
}

static bool is_site(const struct procedure_clone *clone, uint64_t address)
{
	for (size_t i = 0; i < clone->site_count; i++) {
		if (clone->sites[i].address == address)
			return true;
	}
	return false;
}

/* Return true if original code works from an address on: it reaches patches only at their start. */
static bool is_executable_from(const struct candidate *candidate, uint64_t from)
{
	const struct cfg *cfg = candidate->cfg;

	for (size_t i = 0; i < candidate->old.count; i++) {
		const struct old_patch *patch = &candidate->old.patches[i];

		if (shared_code_is_inside(from, patch) ||
		    !is_site(&candidate->clone, patch->address))
			return false;
		for (uint32_t b = 0; b < cfg->block_count; b++) {
			if (shared_code_is_inside(cfg->insns[cfg->blocks[b].first].address, patch))
				return false;
		}
	}
	return true;
}

/* Return the cloned procedure that contains the target in its middle, if it is not the procedure of
 * @from; or NULL. */
static struct candidate *procedure_jumped_into(struct candidates *candidates,
					       const struct insn *from)
{
	long index = image_code_find(candidates->code, from->target);
	struct candidate *candidate;

	if (index < 0 || candidates->of[index] < 0 ||
	    image_code_find(candidates->code, from->address) == index)
		return NULL;
	candidate = &candidates->all[candidates->of[index]];
	return candidate->kept || candidate->procedure->address == from->target ? NULL : candidate;
}

static bool keep_targets(struct candidates *candidates, const struct candidate *stays)
{
	const struct cfg *cfg = stays->cfg;
	bool changed = false;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		const struct insn *insn = &cfg->insns[i];
		struct candidate *other;

		if (insn->target == 0 ||
		    insn->target - stays->procedure->address < stays->procedure->bytes)
			continue;
		other = procedure_jumped_into(candidates, insn);
		if (other != NULL && !is_executable_from(other, insn->target)) {
			candidate_keep(other, "jumps into it from other procedures");
			changed = true;
		}
	}
	return changed;
}

void shared_code_keep(struct candidates *candidates)
{
	bool changed;

	do {
		changed = false;
		for (size_t c = 0; c < candidates->count; c++) {
			const struct candidate *candidate = &candidates->all[c];

			if (candidate->kept && candidate->cfg != NULL)
				changed |= keep_targets(candidates, candidate);
		}
	} while (changed);
}
