/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests that this machine removes breakpoints in time if the process that holds them is stopped
 * (probe_holder.h). If it does not, no probe is placed.
 */
#ifndef DCPI_PROBE_GUARANTEE_H
#define DCPI_PROBE_GUARANTEE_H

struct branch_probe_link;
struct error;

/**
 * probe_guarantee_check() - test the removal of breakpoints
 * @link: not in use
 *
 * A holder attaches a probe to a test process and stops itself. The test process polls its own code
 * until the breakpoint is gone. There are three attempts, because the whole machine may have been
 * stalled. A control group of version 1 can freeze processes so that not even SIGKILL ends them. If
 * this process could be frozen in such a way, the test is not made. Takes some 50 ms.
 *
 * Return: 0; -EBUSY if the breakpoint stayed for too long; -ENOTSUP if there is such a control
 * group; -EOPNOTSUPP if the kernel has no uprobe links; otherwise as probe_holder_start().
 */
int probe_guarantee_check(const struct branch_probe_link *link, struct error *err);

#endif
