/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistical weight of probes of a branch.
 *
 * A probe sees all executions of a branch for a few milliseconds, and a program's behaviour within
 * such a window is correlated. A thousand executions in one window may carry less information than
 * ten in different windows. The variation between the windows of a branch, relative to that of
 * independent executions, measures this loss. It can also be a gain, for example for loops that end
 * after the same number of iterations each time.
 */
#ifndef DCPI_PROBE_WORTH_H
#define DCPI_PROBE_WORTH_H

#include <stddef.h>

#include "analysis/frequency/procedure_profile.h"

/**
 * probe_worth() - return the number of independent executions that one probed execution is worth
 * @branches: all counts of one branch (with the same from)
 *
 * The result is derived from the variance of one direction's share. For a branch with two
 * directions that is the variance of a ratio of sums over windows. As there may be a single window
 * only, a typical variance is added as a prior worth a few windows. For other branches the result
 * is the prior alone.
 *
 * Return: > 0. A window counts as few executions, so each may be worth more than one.
 */
double probe_worth(const struct branch_count *branches, size_t count);

#endif
