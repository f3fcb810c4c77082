// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit.h"

#include "analysis/culprit_path.h"
#include "analysis/culprit_rule.h"
#include "lib/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Standard deviations that are noise. */
#define NOISE_SIGMAS 2

/* Causes of less than this share of a stall are listed only where others don't suffice. */
#define MINOR_SHARE 0.05

/* Instructions that a late sample may belong to, at most. */
#define SITES_MAX 8

static const struct culprit_rule rules[CULPRIT_CAUSES] = {
	[CULPRIT_ICACHE] = {"I-cache (not ITB)", "icache", 'i', culprit_icache_bound},
	[CULPRIT_ITB] = {"ITB/I-cache miss", "itb", 'I', culprit_itb_bound},
	[CULPRIT_DCACHE] = {"D-cache miss", "dcache", 'd', culprit_dcache_bound},
	[CULPRIT_DTB] = {"DTB miss", "dtb", 'D', culprit_dtb_bound},
	[CULPRIT_WRITE_BUFFER] = {"Write buffer", "write_buffer", 'w', culprit_write_buffer_bound},
	[CULPRIT_SYNCHRONIZATION] = {"Synchronization", "synchronization", 'y', culprit_sync_bound},
	[CULPRIT_BRANCH] = {"Branch mispredict", "branch", 'p', culprit_branch_bound},
	[CULPRIT_IMUL] = {"IMUL busy", "imul", 'm', culprit_imul_bound},
	[CULPRIT_FDIV] = {"FDIV busy", "fdiv", 'f', culprit_fdiv_bound},
	[CULPRIT_OTHER] = {"Other", "other", 'o', culprit_other_bound},
};

const char *culprit_name(enum culprit_cause cause)
{
	return cause < CULPRIT_CAUSES ? rules[cause].name : "Unexplained stall";
}

const char *culprit_key(enum culprit_cause cause)
{
	return cause < CULPRIT_CAUSES ? rules[cause].key : "unexplained";
}

char culprit_letter(enum culprit_cause cause)
{
	return cause < CULPRIT_CAUSES ? rules[cause].letter : '?';
}

double culprit_edge_share(const struct culprit_input *input, uint32_t edge)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_block *block = &cfg->blocks[cfg->edges[edge].to];
	double sum = 0;

	for (uint32_t i = 0; i < block->in_count; i++)
		sum += input->frequency->edges[cfg->in_edges[block->in + i]].value;
	if (sum <= 0)
		return 1.0 / block->in_count;
	return input->frequency->edges[edge].value / sum;
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
	/* What so few samples may stand for; three where there are none. */
	samples += NOISE_SIGMAS * sqrt(samples) + 3;
	return samples * events->period / executions * cycles;
}

static void measure_insn(struct instruction_cpi *ret, const struct schedule_insn *schedule,
			 double samples, const struct frequency_estimate *frequency)
{
	double stalls = 0, expected, noise;

	for (unsigned int i = 0; i < schedule->stall_count; i++)
		stalls += schedule->stalls[i].cycles;
	ret->static_cycles = fmin(stalls, schedule->min_cycles);
	ret->execution = schedule->min_cycles - ret->static_cycles;
	if (!(frequency->value > 0)) {
		ret->cpi = ret->low = ret->high = NAN;
		return;
	}
	ret->cpi = samples / frequency->value;
	ret->low = samples / fmax(frequency->high, frequency->value);
	ret->high =
		frequency->low > 0 ? samples / fmin(frequency->low, frequency->value) : INFINITY;
	if (samples == 0)
		ret->high = 0;
	ret->dynamic_cycles = ret->cpi - schedule->min_cycles;
	expected = schedule->min_cycles * (ret->dynamic_cycles > 0
						   ? fmax(frequency->high, frequency->value)
						   : fmin(frequency->low, frequency->value));
	noise = NOISE_SIGMAS * sqrt(expected + 1);
	ret->significant =
		ret->dynamic_cycles > 0 ? samples > expected + noise : samples < expected - noise;
}

static void measure_insns(struct culprits *culprits, const struct culprit_input *input)
{
	const struct cfg *cfg = input->cfg;

	for (uint32_t i = 0; i < cfg->insn_count; i++)
		measure_insn(&culprits->insns[i], &input->schedule->insns[i],
			     input->profile->samples[i],
			     &input->frequency->blocks[cfg->block_of[i]]);
}

/* struct sites - instructions that a stall seen at one may really be at. */
struct sites {
	uint32_t insns[SITES_MAX];
	double shares[SITES_MAX];
	unsigned int count;
	unsigned int skid;
};

static bool add_site(void *ctx, struct culprit_path *path, uint32_t insn)
{
	struct sites *sites = ctx;

	if (path->count >= sites->skid || sites->count == SITES_MAX)
		return false;
	path->count++;
	sites->insns[sites->count] = insn;
	sites->shares[sites->count++] = path->share;
	return true;
}

static void ignore_end(void *ctx, const struct culprit_path *path, enum culprit_path_end end)
{
	(void)ctx, (void)path, (void)end;
}

static void find_sites(struct sites *sites, const struct culprit_stall *stall)
{
	struct culprit_walk walk = {INFINITY, add_site, ignore_end, sites};
	struct culprit_path start = {.count = 0};

	*sites = (struct sites){.insns = {stall->insn}, .shares = {1}, .count = 1};
	sites->skid = stall->input->model->skid_insns;
	if (sites->skid > 0)
		culprit_path_walk(stall, &walk, &start);
}

/* What a cause may be guilty of wherever the stall really is. Return: false: of nothing. */
static bool bound_at_sites(struct culprit_bound *ret, const struct culprit_stall *stall,
			   const struct sites *sites, enum culprit_cause cause)
{
	bool possible = false;

	*ret = (struct culprit_bound){.unlikely = true};
	for (unsigned int i = 0; i < sites->count; i++) {
		struct culprit_bound bound = {.high = INFINITY, .from = UINT32_MAX};
		struct culprit_stall there = *stall;

		there.insn = sites->insns[i];
		there.block = stall->input->cfg->block_of[there.insn];
		if (!rules[cause].bound(&there, &bound))
			continue;
		if (bound.from == UINT32_MAX && there.insn != stall->insn)
			bound.from = there.insn;
		if (!possible || (ret->unlikely && !bound.unlikely))
			ret->from = bound.from;
		possible = true;
		ret->unlikely &= bound.unlikely;
		ret->high = fmax(ret->high, bound.high * sites->shares[i]);
	}
	ret->high = fmin(ret->high, stall->cycles);
	return possible && ret->high > 0;
}

/* struct suspects - causes that are left; @high: the sum of theirs */
struct suspects {
	struct culprit_bound bounds[CULPRIT_CAUSES];
	bool listed[CULPRIT_CAUSES];
	double high;
};

/* Strikes off the minor or unlikely ones if the rest can account for the whole stall. */
static void acquit(struct suspects *suspects, double stall, bool unlikely)
{
	bool keep[CULPRIT_CAUSES];
	double high = 0;

	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		const struct culprit_bound *bound = &suspects->bounds[c];

		keep[c] = suspects->listed[c] &&
			  !(unlikely ? bound->unlikely : bound->high < MINOR_SHARE * stall);
		if (keep[c])
			high += bound->high;
	}
	if (high < stall * (1 - MINOR_SHARE))
		return;
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++)
		suspects->listed[c] = keep[c];
	suspects->high = high;
}

static void find_suspects(struct suspects *suspects, const struct culprit_stall *stall)
{
	struct sites sites;

	*suspects = (struct suspects){.high = 0};
	find_sites(&sites, stall);
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		suspects->listed[c] = bound_at_sites(&suspects->bounds[c], stall, &sites, c);
		if (suspects->listed[c])
			suspects->high += suspects->bounds[c].high;
	}
	if (stall->input->thorough)
		return;
	acquit(suspects, stall->cycles, true);
	acquit(suspects, stall->cycles, false);
}

static int compare_culprits(const void *a, const void *b)
{
	const struct culprit *x = a, *y = b;

	if (x->cycles_high != y->cycles_high)
		return x->cycles_high > y->cycles_high ? -1 : 1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

struct culprit_list {
	struct culprits *culprits;
	size_t capacity;
};

static int explain(struct culprit_list *list, const struct culprit_stall *stall)
{
	struct culprits *culprits = list->culprits;
	struct instruction_cpi *insn = &culprits->insns[stall->insn];
	struct suspects suspects;

	if (array_reserve(&culprits->list, &list->capacity, culprits->count + CULPRIT_CAUSES,
			  sizeof(*culprits->list)) != 0)
		return -ENOMEM;
	find_suspects(&suspects, stall);
	insn->first = (uint32_t)culprits->count;
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		const struct culprit_bound *bound = &suspects.bounds[c];
		double rest = stall->cycles - (suspects.high - bound->high);

		if (suspects.listed[c])
			culprits->list[culprits->count++] = (struct culprit){
				.cause = c,
				.cycles_low = fmin(fmax(rest, 0), bound->high),
				.cycles_high = bound->high,
				.from = bound->from,
			};
	}
	insn->count = (uint32_t)culprits->count - insn->first;
	qsort(culprits->list + insn->first, insn->count, sizeof(*culprits->list), compare_culprits);
	return 0;
}

static int explain_all(struct culprits *culprits, const struct culprit_input *input)
{
	struct culprit_list list = {.culprits = culprits};
	struct culprit_regions regions = {0};
	int rc = culprit_regions_find(&regions, input->cfg, input->frequency);

	for (uint32_t i = 0; rc == 0 && i < input->cfg->insn_count; i++) {
		const struct instruction_cpi *insn = &culprits->insns[i];
		uint32_t block = input->cfg->block_of[i];
		struct culprit_stall stall = {
			.input = input,
			.insns = culprits->insns,
			.regions = &regions,
			.insn = i,
			.block = block,
			.cycles = insn->dynamic_cycles,
			.frequency = input->frequency->blocks[block].value,
		};

		if (insn->significant && insn->dynamic_cycles > 0)
			rc = explain(&list, &stall);
	}
	culprit_regions_deinit(&regions);
	return rc;
}

int culprits_find(struct culprits *ret, const struct culprit_input *input)
{
	struct culprits culprits = {0};
	int rc;

	culprits.insns = calloc((size_t)input->cfg->insn_count + 1, sizeof(*culprits.insns));
	if (culprits.insns == NULL)
		return -ENOMEM;
	measure_insns(&culprits, input);
	rc = explain_all(&culprits, input);
	if (rc != 0)
		culprits_deinit(&culprits);
	else
		*ret = culprits;
	return rc;
}

void culprits_deinit(struct culprits *culprits)
{
	free(culprits->insns);
	free(culprits->list);
	*culprits = (struct culprits){0};
}

double culprits_unexplained(const struct culprits *culprits, uint32_t insn)
{
	const struct instruction_cpi *stalled = &culprits->insns[insn];
	double left = stalled->dynamic_cycles;

	if (!stalled->significant || !(left > 0))
		return 0;
	for (uint32_t i = 0; i < stalled->count; i++)
		left -= culprits->list[stalled->first + i].cycles_high;
	return fmax(left, 0);
}
