// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/caller_clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/loop_clock.h"
#include "analysis/graph/cfg_create.h"
#include "analysis/graph/frequency_class.h"
#include "analysis/graph/induction.h"
#include "analysis/graph/loop_nest.h"
#include "analysis/graph/stack_height.h"
#include "analysis/insn/insn_effect.h"
#include "db/profile.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* Fewer pairs are no clock. */
#define PAIRS_MIN 4
/* Graphs of larger callers take too long to build again for each procedure that they call. */
#define CALLER_BYTES_MAX 65536
/*
 * Relative deviation of the number of calls, per share of time without a pair. Pairs in one long
 * activation of the procedure do not change the caller's registers, and so are not recorded: that
 * time may be without calls. If there are other calls, outside of the loop, that time may have many
 * more calls than the rest. With a greater share, the number is not known.
 */
#define UNPAIRED_DEVIATION 1.0
#define OTHER_CALLS_DEVIATION 2.0
#define UNPAIRED_MAX 0.25

/* Calls of the procedure in one iteration of the loop. */
#define SITES_MAX 8

/*
 * struct caller - the procedure that calls
 * @sites:   the calls in a loop; indices of cfg.calls, @site_count
 * @others:  number of calls outside of loops
 * @foreign: upper bound of the share of the executions that other procedures cause
 */
struct caller {
	size_t index;
	struct cfg *cfg;
	struct loop_nest nest;
	struct frequency_classes classes;
	struct procedure_profile profile;
	uint32_t sites[SITES_MAX];
	uint32_t site_count;
	uint32_t others;
	double foreign;
};

/*
 * struct view - where pairs of the procedure show the caller's registers
 * @left:    registers that have the caller's values everywhere in the procedure
 * @saved:   of each register: offset of its saved value from the stack pointer on entry; 0: not
 *           saved
 * @heights: before each instruction (stack_height.h)
 */
struct view {
	uint32_t left;
	int64_t saved[INDUCTION_REGISTERS];
	int64_t *heights;
};

static void caller_deinit(struct caller *caller)
{
	procedure_profile_deinit(&caller->profile);
	frequency_classes_deinit(&caller->classes);
	loop_nest_deinit(&caller->nest);
	cfg_destroy(caller->cfg);
}

/* Return: the registers that have the caller's values everywhere in the procedure. */
static uint32_t registers_left(const struct cfg *cfg)
{
	uint32_t left = UINT32_MAX;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		for (unsigned int reg = 0; reg < INDUCTION_REGISTERS; reg++) {
			if (insn_regs_has(&cfg->insns[i].writes, reg))
				left &= ~(UINT32_C(1) << reg);
		}
	}
	for (uint8_t reg = 0; cfg->call_count > 0 && reg < INDUCTION_REGISTERS; reg++) {
		if (!insn_effect_is_saved(cfg->decoder, reg))
			left &= ~(UINT32_C(1) << reg);
	}
	return left;
}

/* Return: the offset of the stack slot that an instruction saves a register in; 0: none. */
static int64_t slot_of(const struct view *view, const struct cfg *cfg, uint32_t i)
{
	const struct insn_memory *memory = &cfg->insns[i].memory;
	int64_t delta = 0, offset;

	if (view->heights[i] == STACK_HEIGHT_UNKNOWN)
		return 0;
	if (!insn_effect_stack(cfg->decoder, &cfg->insns[i], &delta)) {
		if (memory->base != cfg->decoder->stack_pointer || memory->index != INSN_REG_NONE)
			return 0;
		delta = memory->displacement;
	}
	offset = insn_sum(view->heights[i], delta);
	return offset < 0 ? offset : 0;
}

/* Return: the register that an instruction stores or pushes, or INSN_REG_NONE. */
static uint8_t register_stored(const struct cfg *cfg, uint32_t i)
{
	const struct insn *insn = &cfg->insns[i];
	struct insn_effect effect;

	if (insn->memory.pushes && (insn->flags & INSN_READS_MEMORY) == 0)
		return insn->sources[0];
	effect = insn_effect_get(cfg->decoder, insn);
	return effect.kind == INSN_EFFECT_STORE && effect.bytes == 8 ? effect.base : INSN_REG_NONE;
}

/* Compilers save a register before they use it, and place the code that saves it first. */
static void saved_find(struct view *view, const struct cfg *cfg)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		uint8_t reg = register_stored(cfg, i);

		if (reg < INDUCTION_REGISTERS && (used & UINT32_C(1) << reg) == 0 &&
		    insn_effect_is_saved(cfg->decoder, reg)) {
			view->saved[reg] = slot_of(view, cfg, i);
			used |= UINT32_C(1) << reg;
		}
		used |= (uint32_t)cfg->insns[i].writes.words[0];
	}
}

static int view_find(struct view *view, const struct cfg *cfg)
{
	int r = stack_height_insns(&view->heights, cfg);

	if (r < 0)
		return r;
	view->left = registers_left(cfg);
	saved_find(view, cfg);
	return 0;
}

static void view_deinit(struct view *view)
{
	free(view->heights);
}

/* Return: the caller's register that a change of a pair shows, or INSN_REG_NONE. */
static uint8_t register_seen(const struct view *view, const struct profile_pair *pair,
			     const struct register_change *change)
{
	int64_t height = view->heights[pair->insns[0]], offset;

	if (!pair->words)
		return change->reg < INDUCTION_REGISTERS &&
				       (view->left & UINT32_C(1) << change->reg) != 0
			       ? change->reg
			       : INSN_REG_NONE;
	if (height == STACK_HEIGHT_UNKNOWN || change->reg >= PROFILE_WORD_FRAME)
		return INSN_REG_NONE;
	offset = height - PROFILE_WORD_STACK_BELOW +
		 (int64_t)(change->reg - PROFILE_WORD_STACK) * PROFILE_WORD_BYTES;
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		if (view->saved[reg] != 0 && view->saved[reg] == offset)
			return reg;
	}
	return INSN_REG_NONE;
}

/* Return: the registers of the caller that pairs show changes of. */
static uint32_t registers_changed(const struct procedure_profile *profile, const struct view *view)
{
	uint32_t changed = 0;

	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *pair = &profile->pairs[i];

		for (size_t j = 0; j < pair->change_count; j++) {
			uint8_t reg = register_seen(view, pair, &pair->changes[j]);

			if (reg < INDUCTION_REGISTERS)
				changed |= UINT32_C(1) << reg;
		}
	}
	return changed;
}

/* --- the caller ------------------------------------------------------------------ */

/* Return: the procedure of an address, not its part; -ENOENT */
static long caller_procedure(const struct image_code *code, uint64_t address)
{
	struct image_range parts[PROCEDURE_PARTS_MAX];
	long index = image_code_find(code, address);
	size_t parent = 0;

	if (index >= 0 && image_code_parts(code, (size_t)index, parts, &parent) == 0)
		index = (long)parent;
	return index;
}

/*
 * Add up the observed returns from the procedure.
 * @other: out: those to other procedures than @caller
 *
 * Return: those to @caller.
 */
static double returns_count(double *other, const struct caller *caller, const struct cfg *cfg,
			    const struct image_code *code, const struct image_samples *samples,
			    const struct image_range *procedure)
{
	double own = 0;

	*other = 0;
	for (size_t i = image_samples_branch(samples, procedure->start);
	     i < samples->branch_count && samples->branches[i].from < procedure->end; i++) {
		const struct branch_count *branch = &samples->branches[i];
		long insn = cfg_find_insn(cfg, branch->from);

		if (insn < 0 || cfg->insns[insn].flow != INSN_FLOW_RETURN)
			continue;
		if (branch->to != UINT64_MAX &&
		    caller_procedure(code, branch->to) == (long)caller->index)
			own += branch->count + branch->probes;
		else
			*other += branch->count + branch->probes;
	}
	return own;
}

/* Choose the procedure with the most returns. Return: true if any was observed. */
static bool caller_choose(struct caller *caller, const struct code_reference *sites, size_t count,
			  const struct cfg *cfg, const struct image_code *code,
			  const struct image_samples *samples, const struct image_range *procedure)
{
	double most = 0, all = 0;
	struct caller tried = *caller;

	for (size_t i = 0; i < count; i++) {
		double own, other;

		tried.index = (size_t)caller_procedure(code, sites[i].from);
		own = returns_count(&other, &tried, cfg, code, samples, procedure);
		if (own <= most)
			continue;
		most = own;
		all = own + other;
		caller->index = tried.index;
	}
	caller->foreign = (all - most + 1) / (all + 2);
	return most > 0;
}

/*
 * Find the caller. If there are several, returns show which of them calls.
 *
 * Return: 1; 0: there are several, or they are not all known; -ENOMEM.
 */
static int caller_find(struct caller *caller, const struct code_reference **sites, size_t *count,
		       const struct cfg *cfg, struct image_code *code,
		       const struct image_samples *samples, const struct image_range *procedure)
{
	int r = image_code_callers(code, procedure, sites, count);
	bool several = false;

	for (size_t i = 0; r > 0 && i < *count; i++) {
		const struct code_reference *site = &(*sites)[i];
		long index = caller_procedure(code, site->from);

		if (index < 0 || site->target != procedure->start ||
		    (site->from >= procedure->start && site->from < procedure->end))
			return 0;
		several |= i > 0 && caller->index != (size_t)index;
		caller->index = (size_t)index;
	}
	if (r > 0 && several)
		return caller_choose(caller, *sites, *count, cfg, code, samples, procedure);
	return r;
}

static uint64_t ranges_bytes(const struct image_range *parts, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += parts[i].end - parts[i].start;
	return bytes;
}

/* Return: 0; -ENODATA: the caller has no graph; -ENOMEM. */
static int caller_graph(struct caller *caller, struct image_code *code,
			const struct image_samples *samples)
{
	struct image_range parts[PROCEDURE_PARTS_MAX];
	size_t parent, count = image_samples_parts(code, caller->index, parts, &parent);
	struct image_evidence evidence;
	struct error err;
	int r;

	if (count == 0 || ranges_bytes(parts, count) > CALLER_BYTES_MAX)
		return -ENODATA;
	r = image_evidence_init(&evidence, samples, parts, count);
	if (r < 0)
		return r;
	r = cfg_create(&caller->cfg, code, caller->index, &evidence.evidence, &err);
	image_evidence_deinit(&evidence);
	if (r == 0 && caller->cfg->missing)
		return -ENODATA;
	if (r == 0)
		r = loop_nest_create(&caller->nest, caller->cfg);
	if (r == 0)
		r = frequency_classes_find(&caller->classes, caller->cfg);
	if (r == 0)
		r = image_samples_profile(&caller->profile, caller->cfg, samples, parts, count);
	return r;
}

static uint32_t loop_of(const struct caller *caller, const struct cfg_call *call)
{
	return caller->nest.of_block[caller->cfg->block_of[call->insn]];
}

/*
 * Find the calls in a loop. Return: false if no call is in a loop, or if several loops call.
 * @sites: all calls; those of other procedures are left out
 */
static bool calls_find(struct caller *caller, const struct code_reference *sites, size_t count,
		       const struct image_code *code)
{
	const struct cfg *cfg = caller->cfg;

	for (size_t i = 0; i < count; i++) {
		long insn = cfg_find_insn(cfg, sites[i].from);
		long call = insn >= 0 ? cfg_find_call(cfg, (uint32_t)insn) : -1;

		if (call < 0 && caller_procedure(code, sites[i].from) != (long)caller->index)
			continue;
		if (call < 0)
			return false;
		if (loop_of(caller, &cfg->calls[call]) == LOOP_NEST_NONE) {
			caller->others++;
			continue;
		}
		if (caller->site_count == SITES_MAX || cfg->calls[call].tail)
			return false;
		caller->sites[caller->site_count++] = (uint32_t)call;
		if (loop_of(caller, &cfg->calls[call]) !=
		    loop_of(caller, &cfg->calls[caller->sites[0]]))
			return false;
	}
	return caller->site_count > 0;
}

static bool is_site(const struct caller *caller, uint32_t call)
{
	for (uint32_t i = 0; i < caller->site_count; i++) {
		if (caller->sites[i] == call)
			return true;
	}
	return false;
}

/* Return: true if the loop calls no other procedure. */
static bool are_only_calls(const struct caller *caller)
{
	const struct cfg *cfg = caller->cfg;
	uint32_t loop = loop_of(caller, &cfg->calls[caller->sites[0]]);

	for (uint32_t i = 0; i < cfg->call_count; i++) {
		if (!is_site(caller, i) &&
		    loop_nest_contains(&caller->nest, cfg, loop, cfg->block_of[cfg->calls[i].insn]))
			return false;
	}
	return true;
}

/* Keep the changes of the caller's registers. @changes: room for all. Return: their number. */
static size_t changes_take(struct profile_pair *pair, struct register_change *changes,
			   const struct profile_pair *from, const struct view *view)
{
	size_t count = 0;

	for (size_t i = 0; i < from->change_count; i++) {
		uint8_t reg = register_seen(view, from, &from->changes[i]);

		if (reg < INDUCTION_REGISTERS)
			changes[count++] = (struct register_change){reg, from->changes[i].delta};
	}
	pair->changes = changes;
	pair->change_count = count;
	return count;
}

/* Move the samples and pairs of the procedure to the first call. */
static int samples_move(struct caller *caller, struct register_change **changes,
			const struct procedure_profile *callee, const struct view *view)
{
	struct procedure_profile *profile = &caller->profile;
	uint32_t insn = caller->cfg->calls[caller->sites[0]].insn;
	size_t total = 0, next = 0;

	for (size_t i = 0; i < callee->pair_count; i++)
		total += callee->pairs[i].change_count;
	*changes = calloc(total + 1, sizeof(**changes));
	free(profile->pairs);
	profile->pairs = calloc(callee->pair_count + 1, sizeof(*profile->pairs));
	profile->pair_count = 0;
	if (*changes == NULL || profile->pairs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < callee->pair_count; i++) {
		struct profile_pair *pair = &profile->pairs[profile->pair_count];
		const struct profile_pair *from = &callee->pairs[i];
		size_t count;

		*pair = *from;
		pair->insns[0] = pair->insns[1] = insn;
		count = changes_take(pair, *changes + next, from, view);
		next += count;
		/* Other words of memory are those of the procedure itself. */
		if (count > 0 || !from->words)
			profile->pair_count++;
	}
	profile->samples[insn] += callee->total;
	return 0;
}

/* Return: true if each step of the clock executes each call once. */
static bool counts_calls(const struct caller *caller, const struct loop_clock *clock)
{
	const struct cfg *cfg = caller->cfg;
	const uint32_t *classes = caller->classes.of_block;

	for (uint32_t i = 0; i < caller->site_count; i++) {
		uint32_t block = cfg->block_of[cfg->calls[caller->sites[i]].insn];

		if (classes[clock->block] != classes[block])
			return false;
	}
	return true;
}

/* Return: 1; 0: no clock counts the call; -ENOMEM. */
static int call_clock(struct loop_clock *ret, const struct caller *caller, uint32_t registers)
{
	const struct cfg *cfg = caller->cfg;
	uint32_t loop = loop_of(caller, &cfg->calls[caller->sites[0]]);
	int r = loop_clock_read(ret, cfg, &caller->nest, loop, &caller->profile);

	if (r < 0 || (r > 0 && counts_calls(caller, ret)))
		return r;
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		if ((registers & UINT32_C(1) << reg) == 0)
			continue;
		r = loop_counter_read(ret, cfg, &caller->nest, loop, reg, &caller->profile);
		if (r < 0 || (r > 0 && counts_calls(caller, ret)))
			return r;
	}
	return 0;
}

/* Return: the share of the loop's samples without a pair that was used. */
static double unpaired_share(const struct loop_clock *clock, const struct caller *caller)
{
	double weight = 0, pairs = clock->pairs;

	for (size_t i = 0; i < caller->profile.pair_count; i++) {
		const struct profile_pair *pair = &caller->profile.pairs[i];

		if (pair->words == clock->words)
			weight += pair->weight * (pair->words ? pair->samples : 1);
	}
	weight *= pairs / (pairs + clock->disagreed + clock->outliers + clock->silent);
	return fmax(0, 1 - weight / clock->all);
}

static void calls_take(struct procedure_profile *profile, const struct loop_clock *clock,
		       const struct caller *caller)
{
	double unpaired = unpaired_share(clock, caller) + caller->foreign;
	double deviation = caller->others > 0 || caller->foreign > 0 ? OTHER_CALLS_DEVIATION
								     : UNPAIRED_DEVIATION;

	if (unpaired > UNPAIRED_MAX)
		return;
	profile->calls_in = caller->site_count * clock->iterations / clock->samples * clock->all /
			    profile->period_cycles;
	profile->calls_in_weight = 1 / (clock->variance + pow(deviation * unpaired, 2));
	profile->calls_measured = true;
}

static int clock_take(struct procedure_profile *profile, struct caller *caller,
		      const struct view *view, uint32_t registers)
{
	_cleanup_free_ struct register_change *changes = NULL;
	struct loop_clock clock;
	int r = samples_move(caller, &changes, profile, view);

	if (r == 0)
		r = call_clock(&clock, caller, registers);
	if (r > 0)
		calls_take(profile, &clock, caller);
	return r < 0 ? r : 0;
}

int caller_clock_take(struct procedure_profile *profile, const struct cfg *cfg,
		      struct image_code *code, const struct image_samples *samples,
		      const struct image_range *parts, size_t count)
{
	_cleanup_(caller_deinit) struct caller caller = {.cfg = NULL};
	_cleanup_(view_deinit) struct view view = {.left = 0};
	const struct code_reference *sites;
	size_t site_count;
	uint32_t registers;
	int r;

	if (profile->pair_count < PAIRS_MIN || profile->exact != NULL || count != 1)
		return 0;
	r = view_find(&view, cfg);
	if (r < 0)
		return r;
	registers = registers_changed(profile, &view);
	if (registers == 0)
		return 0;
	r = caller_find(&caller, &sites, &site_count, cfg, code, samples, &parts[0]);
	if (r <= 0)
		return r;
	r = caller_graph(&caller, code, samples);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (!calls_find(&caller, sites, site_count, code) || !are_only_calls(&caller))
		return 0;
	return clock_take(profile, &caller, &view, registers);
}
