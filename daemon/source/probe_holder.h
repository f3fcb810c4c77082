/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that holds the breakpoints of one measurement, so that they are removed even if the
 * daemon stops.
 *
 * A breakpoint slows the profiled program down as long as it is in the code, and only the end of
 * its link removes it. So a separate process (the holder) has the link, and its death removes the
 * breakpoints. It kills itself at the end of the measurement. A POSIX timer (CLOCK_MONOTONIC) kills
 * it earlier if it does not run: if it is stopped (SIGSTOP, a debugger, a frozen control group of
 * version 2), or if it measures time wrongly. The holder arms the timer before it attaches, and
 * postpones it every millisecond of the measurement. One process per link (the parent of holders)
 * forks them, since the daemon may be large. The holders also end with the daemon.
 *
 * The return value of the BPF program is no substitute. Linux 6.6, which introduced these links, up
 * to 6.11 removes a breakpoint that returns 1. Linux 6.13 and stable releases of 6.12 ignore the
 * value.
 *
 * The link is never closed in another way. While a fatal signal is pending, close(2) does not
 * remove breakpoints: the kernel cannot access the program's memory, leaves them in the code
 * forever and logs "failed to unregister, leaking uprobe". In a process that is already dying no
 * signal is pending. The same happens to a process that is killed while it attaches. In that case
 * the parent attaches the same breakpoints again, and the kernel can remove them.
 *
 * The times below are upper bounds, from the last sign of life to SIGKILL. The removal itself waits
 * for an RCU grace period, unless one has just ended. On Linux 6.18 with two CPUs the removal took
 * mostly less than 1 ms, at most 15 ms on an idle machine and at most 63 ms with 40 busy processes.
 * PROBE_GONE_MAX_NS is the guaranteed sum; probe_guarantee.h tests it.
 */
#ifndef DCPI_PROBE_HOLDER_H
#define DCPI_PROBE_HOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/branch_probe.h"
#include "daemon/source/probe_measurement.h"

/* A breakpoint is removed at most this time after the holder's last sign of life. */
#define PROBE_GONE_MAX_NS 100000000ULL
#define PROBE_ATTACH_MS 60
#define PROBE_STEP_MS 20

struct error;

/**
 * struct probe_holder - a parent of holders; zero-initialised: not running; fields are private
 * @pid:    0: not running
 * @fd:     socket
 * @cpu_ns: CPU time of it and its holders, as of the last probe_holder_wait(); may be read
 */
struct probe_holder {
	pid_t pid;
	int fd;
	uint64_t cpu_ns;
};

/**
 * struct probe_request - a measurement; @stall: stop after attaching (SIGSTOP), to test the
 * deadline
 */
struct probe_request {
	struct branch_probe_sites sites;
	struct probe_limits limits;
	bool stall;
};

/**
 * probe_holder_start() - start the process
 * @link: its program runs at hits, and its windows are measured
 *
 * Return: 0; -EPERM or -EACCES if the process cannot get a priority at which its end is not
 * delayed; otherwise -errno of fork(2). After an error the process is not running.
 */
int probe_holder_start(struct probe_holder *holder, const struct branch_probe_link *link,
		       struct error *err);

/** probe_holder_send() - request to attach probes, measure and detach. Return: 0; -errno */
int probe_holder_send(const struct probe_holder *holder, const struct probe_request *request);

/**
 * probe_holder_receive() - wait for the measurement
 *
 * Return: 0; -ETIMEDOUT if the holder has been killed; -EPIPE if its parent has been killed as
 * well; otherwise as branch_probe_attach(). After an error no probe is in place.
 */
int probe_holder_receive(const struct probe_holder *holder, struct probe_measurement *ret);

/**
 * probe_holder_wait() - after a measurement, wait until the probes are removed
 *
 * Return: 0; -EPIPE as above.
 */
int probe_holder_wait(struct probe_holder *holder);

/** probe_holder_interrupt() - end the current measurement soon, and the process. */
void probe_holder_interrupt(const struct probe_holder *holder);

/** probe_holder_stop() - interrupt the process, and wait until its probes are removed. */
void probe_holder_stop(struct probe_holder *holder);

/**
 * probe_priority_raise() - run with precedence over all processes of normal priorities
 *
 * Return: 0; -errno if neither SCHED_FIFO nor a nice value of -20 is permitted.
 */
int probe_priority_raise(void);

#endif
