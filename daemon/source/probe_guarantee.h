/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does this machine remove breakpoints in time if the process that holds them is stopped
 * (probe_holder.h)? If it does not, no probe is placed.
 */
#ifndef DCPI_PROBE_GUARANTEE_H
#define DCPI_PROBE_GUARANTEE_H

struct branch_probe_link;
struct error;

/**
 * probe_guarantee_check() - find out by a test
 * @link: not in use
 *
 * A holder attaches a probe to a process of the test and stops itself. The process sees when its
 * code is as it was. Three attempts, for the machine may have been stalled as a whole. A control
 * group of version 1 can freeze processes so that not even SIGKILL ends them: where ours could be
 * frozen so, the test is not made. Takes some 50 ms.
 *
 * Return: 0; -EBUSY the breakpoint stayed for too long; -ENOTSUP such a control group;
 * -EOPNOTSUPP the kernel has no links of uprobes; else as probe_holder_start().
 */
int probe_guarantee_check(const struct branch_probe_link *link, struct error *err);

#endif
