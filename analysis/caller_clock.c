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
#include "analysis/insn/insn_effect.h"
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

/*
 * struct caller - the only procedure that calls
 * @call:   the call in a loop; cfg.calls[@call]
 * @others: number of calls outside of loops
 */
struct caller {
	size_t index;
	struct cfg *cfg;
	struct loop_nest nest;
	struct frequency_classes classes;
	struct procedure_profile profile;
	uint32_t call;
	uint32_t others;
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

/* Return: the registers of pairs that have the caller's values. */
static uint32_t registers_changed(const struct procedure_profile *profile, const struct cfg *cfg)
{
	uint32_t changed = 0;

	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *pair = &profile->pairs[i];

		for (size_t j = 0; j < pair->change_count; j++) {
			if (pair->changes[j].reg < INDUCTION_REGISTERS)
				changed |= UINT32_C(1) << pair->changes[j].reg;
		}
	}
	return changed != 0 ? changed & registers_left(cfg) : 0;
}

/* Find the caller. Return: 1; 0: there are several, or they are not all known; -ENOMEM. */
static int caller_find(struct caller *caller, const struct code_reference **sites, size_t *count,
		       struct image_code *code, const struct image_range *procedure)
{
	int r = image_code_callers(code, procedure, sites, count);

	for (size_t i = 0; r > 0 && i < *count; i++) {
		const struct code_reference *site = &(*sites)[i];
		struct image_range parts[PROCEDURE_PARTS_MAX];
		long index = image_code_find(code, site->from);
		size_t parent = 0;

		if (index < 0 || site->target != procedure->start ||
		    (site->from >= procedure->start && site->from < procedure->end))
			return 0;
		if (image_code_parts(code, (size_t)index, parts, &parent) == 0)
			index = (long)parent;
		if (i > 0 && caller->index != (size_t)index)
			return 0;
		caller->index = (size_t)index;
	}
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

/* Find the call in a loop. Return: false if there is none, or more than one. */
static bool call_find(struct caller *caller, const struct code_reference *sites, size_t count)
{
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		long insn = cfg_find_insn(caller->cfg, sites[i].from);
		long call = insn >= 0 ? cfg_find_call(caller->cfg, (uint32_t)insn) : -1;

		if (call < 0)
			return false;
		if (loop_of(caller, &caller->cfg->calls[call]) == LOOP_NEST_NONE) {
			caller->others++;
			continue;
		}
		if (found || caller->cfg->calls[call].tail)
			return false;
		caller->call = (uint32_t)call;
		found = true;
	}
	return found;
}

/* Return: true if the call is the only one in its loop. */
static bool is_only_call(const struct caller *caller)
{
	const struct cfg *cfg = caller->cfg;
	uint32_t loop = loop_of(caller, &cfg->calls[caller->call]);

	for (uint32_t i = 0; i < cfg->call_count; i++) {
		if (i != caller->call &&
		    loop_nest_contains(&caller->nest, cfg, loop, cfg->block_of[cfg->calls[i].insn]))
			return false;
	}
	return true;
}

/* Keep the changes of some registers. @changes: room for all. Return: their number. */
static size_t changes_take(struct profile_pair *pair, struct register_change *changes,
			   const struct profile_pair *from, uint32_t registers)
{
	size_t count = 0;

	for (size_t i = 0; i < from->change_count; i++) {
		uint8_t reg = from->changes[i].reg;

		if (reg < INDUCTION_REGISTERS && (registers & UINT32_C(1) << reg) != 0)
			changes[count++] = from->changes[i];
	}
	pair->changes = changes;
	pair->change_count = count;
	return count;
}

/* Move the samples and pairs of the procedure to the call. */
static int samples_move(struct caller *caller, struct register_change **changes,
			const struct procedure_profile *callee, uint32_t registers)
{
	struct procedure_profile *profile = &caller->profile;
	uint32_t insn = caller->cfg->calls[caller->call].insn;
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

		/* Words of memory are those of the procedure's own frame. */
		if (from->change_count > 0 && from->changes[0].reg >= INDUCTION_REGISTERS)
			continue;
		*pair = *from;
		pair->insns[0] = pair->insns[1] = insn;
		next += changes_take(pair, *changes + next, from, registers);
		profile->pair_count++;
	}
	profile->samples[insn] += callee->total;
	return 0;
}

/* Return: true if each step of the clock executes the call once. */
static bool counts_call(const struct caller *caller, const struct loop_clock *clock)
{
	const struct cfg *cfg = caller->cfg;
	uint32_t block = cfg->block_of[cfg->calls[caller->call].insn];

	return caller->classes.of_block[clock->block] == caller->classes.of_block[block];
}

/* Return: 1; 0: no clock counts the call; -ENOMEM. */
static int call_clock(struct loop_clock *ret, const struct caller *caller, uint32_t registers)
{
	const struct cfg *cfg = caller->cfg;
	uint32_t loop = loop_of(caller, &cfg->calls[caller->call]);
	int r = loop_clock_read(ret, cfg, &caller->nest, loop, &caller->profile);

	if (r < 0 || (r > 0 && counts_call(caller, ret)))
		return r;
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS; reg++) {
		if ((registers & UINT32_C(1) << reg) == 0)
			continue;
		r = loop_counter_read(ret, cfg, &caller->nest, loop, reg, &caller->profile);
		if (r < 0 || (r > 0 && counts_call(caller, ret)))
			return r;
	}
	return 0;
}

/* Return: the share of the loop's samples without a pair that was used. */
static double unpaired_share(const struct loop_clock *clock, const struct caller *caller)
{
	double weight = 0, pairs = clock->pairs;

	for (size_t i = 0; i < caller->profile.pair_count; i++)
		weight += caller->profile.pairs[i].weight;
	weight *= pairs / (pairs + clock->disagreed + clock->outliers + clock->silent);
	return fmax(0, 1 - weight / clock->all);
}

static void calls_take(struct procedure_profile *profile, const struct loop_clock *clock,
		       const struct caller *caller)
{
	double unpaired = unpaired_share(clock, caller);
	double deviation = caller->others > 0 ? OTHER_CALLS_DEVIATION : UNPAIRED_DEVIATION;

	if (unpaired > UNPAIRED_MAX)
		return;
	profile->calls_in =
		clock->iterations / clock->samples * clock->all / profile->period_cycles;
	profile->calls_in_weight = 1 / (clock->variance + pow(deviation * unpaired, 2));
	profile->calls_measured = true;
}

static int clock_take(struct procedure_profile *profile, struct caller *caller, uint32_t registers)
{
	_cleanup_free_ struct register_change *changes = NULL;
	struct loop_clock clock;
	int r = samples_move(caller, &changes, profile, registers);

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
	const struct code_reference *sites;
	size_t site_count;
	uint32_t registers;
	int r;

	if (profile->pair_count < PAIRS_MIN || profile->exact != NULL || count != 1)
		return 0;
	registers = registers_changed(profile, cfg);
	if (registers == 0)
		return 0;
	r = caller_find(&caller, &sites, &site_count, code, &parts[0]);
	if (r <= 0)
		return r;
	r = caller_graph(&caller, code, samples);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (!call_find(&caller, sites, site_count) || !is_only_call(&caller))
		return 0;
	return clock_take(profile, &caller, registers);
}
