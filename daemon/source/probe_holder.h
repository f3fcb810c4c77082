/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that holds the breakpoints of one measurement, so that they go away without our help.
 *
 * A breakpoint slows the profiled program down as long as it is in the code, and only the end of
 * its link removes it. So a process of its own (the holder) has the link, and its death removes the
 * breakpoints. It kills itself at the end of the measurement. A POSIX timer (CLOCK_MONOTONIC)
 * kills it before, if it does not run: if it is stopped (SIGSTOP, a debugger, a frozen control
 * group of version 2), or if its idea of time is wrong. The holder arms the timer before it
 * attaches, and postpones it every millisecond of the measurement. A process for each link (the
 * parent of holders) forks them, since the daemon may be large. They also end with the daemon.
 *
 * The value that the BPF program returns is no substitute. Linux 6.6, which brought these links, up
 * to 6.11 removes a breakpoint that returns 1. Linux 6.13 and stable releases of 6.12 ignore the
 * value.
 *
 * The link is never closed otherwise. While a fatal signal is pending, close(2) does not remove
 * breakpoints: the kernel cannot access the program's memory, leaves them in the code for ever and
 * logs "failed to unregister, leaking uprobe". In a process that is already dying no signal
 * is pending. The same happens to a process that is killed while it attaches. Then the parent
 * attaches the same breakpoints again, which lets the kernel remove them.
 *
 * The times below are upper bounds, from the last sign of life to SIGKILL. The removal itself waits
 * for an RCU grace period, if none was awaited shortly before. On 6.18 with two CPUs it took mostly
 * less than 1 ms, at most 15 ms on an idle machine and at most 63 ms with 40 busy processes.
 * PROBE_GONE_MAX_NS is the sum that is guaranteed; probe_guarantee.h tests that it holds.
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
#define PROBE_ATTACH_MS 60
#define PROBE_STEP_MS 20

struct error;

/**
 * struct probe_holder - a parent of holders; zero-initialised: not running; fields are private
 * @pid: 0: not running
 * @fd:  socket
 * @cpu_ns: CPU time of it and its holders, by the last probe_holder_wait(); may be read
 */
struct probe_holder {
	pid_t pid;
	int fd;
	uint64_t cpu_ns;
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
 * Return: 0; -EPERM or -EACCES it cannot get a priority at which its end is not delayed; else
 * -errno of fork(2). It is not running then.
 */
int probe_holder_start(struct probe_holder *holder, const struct branch_probe_link *link,
		       struct error *err);

/** probe_holder_send() - let it attach probes, measure and detach. Return: 0; -errno */
int probe_holder_send(const struct probe_holder *holder, const struct probe_request *request);

/**
 * probe_holder_receive() - wait for the measurement
 *
 * Return: 0; -ETIMEDOUT the holder has been killed; -EPIPE its parent as well; else as
 * branch_probe_attach(). After an error no probe is in place.
 */
int probe_holder_receive(const struct probe_holder *holder, struct probe_measurement *ret);

/**
 * probe_holder_wait() - after a measurement, wait until the probes are removed
 *
 * Return: 0; -EPIPE as above.
 */
int probe_holder_wait(struct probe_holder *holder);

/** probe_holder_interrupt() - end a measurement soon, and the process. */
void probe_holder_interrupt(const struct probe_holder *holder);

/** probe_holder_stop() - interrupt it, and wait until its probes are removed. */
void probe_holder_stop(struct probe_holder *holder);

/**
 * probe_priority_raise() - run before all processes of usual priorities
 *
 * Return: 0; -errno where neither SCHED_FIFO nor a nice value of -20 is permitted.
 */
int probe_priority_raise(void);

#endif
