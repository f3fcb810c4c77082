// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/probe_worth.h"

#include <math.h>

/*
 * How alike two executions in one window are (their correlation), as a rule, and how many
 * windows that is worth. Both fitted on programs of tests/accuracy/x86_programs.txt.
 */
#define PROBE_ALIKE 0.02
#define RULE_WINDOWS 2.0
#define WORTH_MIN 1e-6
/* Ways that are hardly ever taken: chance says how they vary, not what was seen. */
#define RARE 0.5

/* struct windows - sums over a branch's windows */
struct windows {
	double count;
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
		} else if (branch->moment > 0) {
			if (windows.ways < 2) {
				windows.way[windows.ways] = branch->probes;
				windows.square[windows.ways] = branch->moment;
			}
			windows.ways++;
		}
	}
	return windows;
}

/* Of the share of the first way: by windows, and what it would be by chance. */
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
	double by_chance, rule, share, variance;

	if (windows.executions <= 0 || windows.count <= 0)
		return 1;
	rule = 1 + PROBE_ALIKE * fmax(windows.executions / windows.count - 1, 0);
	if (windows.count < 2 || windows.ways > 2 || windows.square[0] <= 0)
		return fmax(1 / rule, WORTH_MIN);
	share = (windows.way[0] + RARE) / (windows.executions + 2 * RARE);
	by_chance = share * (1 - share) / windows.executions;
	variance = (variance_seen(&windows, share) * (windows.count - 1) +
		    rule * by_chance * RULE_WINDOWS) /
		   (windows.count - 1 + RULE_WINDOWS);
	return fmax(fmin(by_chance / variance, 1), WORTH_MIN);
}
