/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that holds the breakpoints of one link, so that they go away without our help.
 *
 * A breakpoint slows the profiled program down as long as it is in the code, and only the end of
 * its link removes it. So the link belongs to a process of its own, which the kernel kills at a
 * deadline: a POSIX timer (CLOCK_MONOTONIC) that sends SIGKILL. The process arms it before it
 * attaches, and postpones it every millisecond of a measurement. The timer expires if the holder is
 * stopped (SIGSTOP, a debugger, a frozen control group of version 2), or if its idea of time is
 * wrong. Then the kernel kills the process, closes its descriptors and removes the breakpoints. The
 * holder also dies with the daemon.
 *
 * The value that the BPF program returns is no substitute. Linux 6.6, which brought these links, up
 * to 6.11 removes a breakpoint that returns 1. Linux 6.13 and stable releases of 6.12 ignore the
 * value.
 *
 * The times below are upper bounds, from the last sign of life to SIGKILL. The removal itself waits
 * for an RCU grace period. On 6.18 with two CPUs it took mostly less than 1 ms, at most 15 ms on an
 * idle machine and at most 63 ms with 40 busy processes. PROBE_GONE_MAX_NS is the sum that is
 * guaranteed; probe_guarantee.h tests that it holds on this machine.
 */
#ifndef DCPI_PROBE_HOLDER_H
#define DCPI_PROBE_HOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/branch_probe.h"
#include "daemon/source/probe_measurement.h"

/* A breakpoint is gone after so long without a sign of life of the holder. */
#define PROBE_GONE_MAX_NS 100000000ULL
/* Attaching waits for a grace period before the first breakpoint is there. */
#define PROBE_ATTACH_MS 40
#define PROBE_STEP_MS 20
/* Closing waits for others after the last breakpoint has gone. */
#define PROBE_CLOSE_MS 60

struct error;

/**
 * struct probe_holder - zero-initialised: not running; fields are private
 * @pid: 0: not running
 * @fd:  socket
 */
struct probe_holder {
	pid_t pid;
	int fd;
};

/** struct probe_request - @stall: stop after attaching (SIGSTOP): a test of the deadline */
struct probe_request {
	struct branch_probe_sites sites;
	struct probe_limits limits;
	bool stall;
};

/**
 * probe_holder_start() - start the process
 * @link: its program runs at hits, its windows are measured
 *
 * Return: 0; -EPERM it cannot get a priority at which its end is not delayed; else -errno of
 * fork(2), timer_create(2). It is not running then.
 * Context: the calling thread: the process dies with it.
 */
int probe_holder_start(struct probe_holder *holder, const struct branch_probe_link *link,
		       struct error *err);

/** probe_holder_send() - let it attach probes, measure and detach. Return: 0; -errno */
int probe_holder_send(const struct probe_holder *holder, const struct probe_request *request);

/**
 * probe_holder_receive() - wait for the measurement
 *
 * Return: 0; -ETIMEDOUT the process has been killed; else as branch_probe_attach().
 */
int probe_holder_receive(const struct probe_holder *holder, struct probe_measurement *ret);

/**
 * probe_holder_wait() - after a measurement, wait until the probes are removed
 *
 * Return: 0; -ETIMEDOUT as above.
 */
int probe_holder_wait(const struct probe_holder *holder);

/** probe_holder_stop() - kill it, and wait until its probes are removed. */
void probe_holder_stop(struct probe_holder *holder);

/**
 * probe_priority_raise() - run before all processes of usual priorities
 *
 * Return: 0; -errno where neither SCHED_FIFO nor a nice value of -20 is permitted.
 */
int probe_priority_raise(void);

#endif
