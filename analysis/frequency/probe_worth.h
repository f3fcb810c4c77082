/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What probes of a branch are worth.
 *
 * A probe sees all executions of a branch for a few milliseconds, and what a program does in
 * such a time is alike: a thousand executions of one window may tell less than ten of
 * different ones. How much less, the windows of a branch say: by how much more than chance
 * they differ from each other.
 */
#ifndef DCPI_PROBE_WORTH_H
#define DCPI_PROBE_WORTH_H

#include <stddef.h>

#include "analysis/frequency/procedure_profile.h"

/**
 * probe_worth() - as many independent executions an execution in a window is worth
 * @branches: all that is known of one branch (the same from)
 *
 * Of two ways: the variance of a ratio of sums over windows, with that of PROBE_ALIKE as if
 * from a few more windows, of which there may be but one. Of other branches that alone.
 *
 * Return: in (0, 1].
 */
double probe_worth(const struct branch_count *branches, size_t count);

#endif
