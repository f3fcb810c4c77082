// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/probe_worth.h"

#include <math.h>

/*
 * Typical variation between windows. RULE_VARIANCE is the variance of the logarithm of the odds.
 * RULE_ALIKE is the correlation of two executions in a window, and RULE_ONE_WAY that correlation if
 * no window saw both directions: then whole windows of the other direction may have been missed.
 * This prior counts as RULE_WINDOWS windows. Fitted on programs of
 * tests/eval/accuracy/x86_programs.txt.
 */
#define RULE_VARIANCE 0.1
#define RULE_ALIKE 0.01
#define RULE_ONE_WAY 0.5
#define RULE_WINDOWS 2.0
#define WORTH_MIN 1e-6
#define WORTH_MAX 1e6
/*
 * Prior count of each direction: the variation of rare directions follows from chance, not from the
 * few observations.
 */
#define RARE 0.5

/* struct windows - sums over a branch's windows; @executions: weighted */
struct windows {
	double count;
	double hits;
	double executions;
	double way[2];
	double square[2];
	double product;
	size_t ways;
};

static struct windows windows_of(const struct branch_count *branches, size_t count)
{
	struct windows windows = {.count = 0};

	for (size_t i = 0; i < count; i++) {
		const struct branch_count *branch = &branches[i];

		windows.executions += branch->probes;
		if (branch->to == branch->from) {
			windows.count = branch->beside;
			windows.product = branch->moment;
			windows.hits = branch->hits;
		} else if (branch->moment > 0) {
			if (windows.ways < 2) {
				windows.way[windows.ways] = branch->probes;
				windows.square[windows.ways] = branch->moment;
			}
			windows.ways++;
		}
	}
	windows.hits = fmax(windows.hits, windows.executions);
	return windows;
}

/* Variance of the first direction's share between windows. */
static double variance_seen(const struct windows *windows, double share)
{
	double sum = (1 - share) * (1 - share) * windows->square[0] +
		     share * share * windows->square[1] -
		     2 * share * (1 - share) * windows->product;

	return fmax(sum, 0) / (windows->executions * windows->executions) * windows->count /
	       (windows->count - 1);
}

double probe_worth(const struct branch_count *branches, size_t count)
{
	struct windows windows = windows_of(branches, count);
	double spread, rule, share, variance, free, alike = RULE_ALIKE;

	if (windows.executions <= 0 || windows.count <= 0)
		return 1;
	share = 0.5;
	if (windows.ways > 0 && windows.ways <= 2)
		share = (windows.way[0] + RARE) / (windows.executions + 2 * RARE);
	spread = share * (1 - share);
	if (windows.ways > 0 && windows.product <= 0)
		alike = RULE_ONE_WAY;
	rule = spread / windows.hits + spread * (alike + RULE_VARIANCE * spread) / windows.count;
	variance = rule;
	free = windows.count - 1;
	if (free > 0 && windows.ways <= 2 && windows.square[0] > 0)
		variance = (variance_seen(&windows, share) * free + rule * RULE_WINDOWS) /
			   (free + RULE_WINDOWS);
	return fmin(fmax(spread / variance / windows.executions, WORTH_MIN), WORTH_MAX);
}
