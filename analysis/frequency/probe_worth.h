/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What probes of a branch are worth.
 *
 * A probe sees all executions of a branch for a few milliseconds, and what a program does in
 * such a time is alike: a thousand executions of one window may tell less than ten of
 * different ones. How much less, the windows of a branch say: by how much more than chance
 * they differ from each other. Or by how much less: loops that end after the same number of
 * iterations each time.
 */
#ifndef DCPI_PROBE_WORTH_H
#define DCPI_PROBE_WORTH_H

#include <stddef.h>

#include "analysis/frequency/procedure_profile.h"

/**
 * probe_worth() - as many independent executions each of branch_count.probes is worth
 * @branches: all that is known of one branch (the same from)
 *
 * By the variance of one way's share. Of two ways: that of a ratio of sums over windows, and as
 * if from some more windows, for there may be but one, what is usual. Of other branches the
 * latter alone.
 *
 * Return: > 0. A window counts as few executions, so they may be worth more than one each.
 */
double probe_worth(const struct branch_count *branches, size_t count);

#endif
