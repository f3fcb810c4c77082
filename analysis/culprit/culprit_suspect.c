// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/culprit_suspect.h"

#include "analysis/culprit/culprit_path.h"

#include <limits.h>
#include <math.h>

/* Limit on the instructions that a late sample may belong to. */
#define SITES_MAX 8

/* struct sites - instructions at which a stall observed at one of them may have occurred. */
struct sites {
	uint32_t insns[SITES_MAX];
	double shares[SITES_MAX];
	unsigned int count;
	unsigned int skid;
};

static bool culprit_suspect_add_site(void *ctx, struct culprit_path *path, uint32_t insn)
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

static struct sites find_sites(const struct culprit_stall *stall)
{
	struct sites sites = {.insns = {stall->insn},
			      .shares = {1},
			      .count = 1,
			      .skid = stall->input->model->skid_insns};
	struct culprit_walk walk = {INFINITY, culprit_suspect_add_site, ignore_end, &sites};
	struct culprit_path start = {.count = 0};

	if (sites.skid > 0)
		culprit_path_walk(stall, &walk, &start);
	return sites;
}

/*
 * Bound a cause over all instructions that may be the stalled one. Return: false if it is
 * impossible.
 */
static bool bound_at_sites(struct culprit_bound *ret, const struct culprit_stall *stall,
			   const struct sites *sites, enum culprit_cause cause)
{
	bool possible = false;

	*ret = (struct culprit_bound){.rank = INT_MAX};
	for (unsigned int i = 0; i < sites->count; i++) {
		struct culprit_bound bound = {.high = INFINITY, .from = UINT32_MAX};
		struct culprit_stall site = *stall;

		if (i > 0 && culprit_rules[cause].precise)
			break;
		site.insn = sites->insns[i];
		site.block = stall->input->cfg->block_of[site.insn];
		if (!culprit_rules[cause].bound(&site, &bound))
			continue;
		if (bound.from == UINT32_MAX && site.insn != stall->insn)
			bound.from = site.insn;
		if (bound.rank < ret->rank) {
			ret->from = bound.from;
			ret->rank = bound.rank;
		}
		possible = true;
		ret->high = fmax(ret->high, bound.high * sites->shares[i]);
		if (bound.certain * sites->shares[i] > ret->certain) {
			ret->certain = bound.certain * sites->shares[i];
			ret->from = bound.from;
		}
	}
	ret->high = fmin(ret->high, stall->cycles);
	return possible && ret->high > 0;
}

void culprit_suspects_find(struct culprit_suspects *suspects, const struct culprit_stall *stall)
{
	const struct sites sites = find_sites(stall);

	*suspects = (struct culprit_suspects){.high = 0};
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		suspects->listed[c] = bound_at_sites(&suspects->bounds[c], stall, &sites, c);
		if (suspects->listed[c])
			suspects->high += suspects->bounds[c].high;
	}
}

void culprit_suspects_keep_certain(struct culprit_suspects *suspects)
{
	double certain = 0;

	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++)
		certain += suspects->listed[c] ? suspects->bounds[c].certain : 0;
	if (certain < 1 - CULPRIT_MINOR_SHARE)
		return;
	suspects->high = 0;
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		/* A likely misprediction before a miss shows at the same instruction. */
		bool likely = c == CULPRIT_BRANCH && suspects->bounds[c].rank == 0;

		suspects->listed[c] =
			suspects->listed[c] && (suspects->bounds[c].certain > 0 || likely);
		suspects->high += suspects->listed[c] ? suspects->bounds[c].high : 0;
	}
}

bool culprit_suspects_are_many(const struct culprit_suspects *suspects)
{
	unsigned int count = 0;

	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++)
		count += suspects->listed[c];
	return count > 1;
}

/*
 * Keep the causes with less than @rank and at least @least cycles, if they account for the stall.
 */
static bool keep_likely(struct culprit_suspects *suspects, double stall, int rank, double least)
{
	bool keep[CULPRIT_CAUSES];
	double high = 0;

	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		const struct culprit_bound *bound = &suspects->bounds[c];

		keep[c] = suspects->listed[c] && bound->rank < rank && bound->high >= least;
		if (keep[c])
			high += bound->high;
	}
	if (high < stall * (1 - CULPRIT_MINOR_SHARE))
		return false;
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++)
		suspects->listed[c] = keep[c];
	suspects->high = high;
	return true;
}

void culprit_suspects_drop_unlikely(struct culprit_suspects *suspects, double stall)
{
	for (int rank = CULPRIT_RANK_FIRST + 1; rank <= CULPRIT_RANK_MAX; rank++)
		if (keep_likely(suspects, stall, rank, 0))
			break;
	keep_likely(suspects, stall, INT_MAX, CULPRIT_MINOR_SHARE * stall);
}
