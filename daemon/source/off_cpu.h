/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Off-CPU time: how long threads wait, with the stacks at which they wait. BPF programs at context
 * switches measure it (bpf/off_cpu.h), independently of the source of samples.
 *
 * The time that the programs and the reader take has a limit. The length below which intervals are
 * sampled follows from it: 10 us to 1 s. If context switches alone take more than the limit, the
 * programs are detached for a while. Intervals that begin or end in a pause are not measured, nor
 * is any time in it. The length of all pauses is the counter off_cpu_paused_ms.
 *
 * Threads that are not on a CPU are recorded at each flush, so that all of their time up to then is
 * known. Their stacks are read while they sleep.
 */
#ifndef DCPI_OFF_CPU_H
#define DCPI_OFF_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/source.h"

struct error;
struct off_cpu;

/**
 * struct off_cpu_config - what to measure
 * @permille:   limit of the time, in 1/1000 of the time of all CPUs, 1..1000
 * @target_pid: 0; or only this thread and those that it and its children create later
 * @only_pid:   0; or only this process
 * @user_only:  leave out frames of the kernel
 * @generation: NULL: the generations of processes are those of the kernel; see source.h
 * @sync:       see source.h
 * @context:    argument of both
 */
struct off_cpu_config {
	uint32_t permille;
	uint32_t target_pid;
	uint32_t only_pid;
	bool user_only;
	source_generation_fn generation;
	source_sync_fn sync;
	void *context;
};

/**
 * off_cpu_open() - load the programs; nothing is measured yet
 *
 * Return: 0; -EPERM: BPF is not permitted; -EOPNOTSUPP: the kernel lacks something; -ENOMEM; the
 * kernel's error.
 */
int off_cpu_open(struct off_cpu **ret, const struct off_cpu_config *config, struct error *err);

/** off_cpu_close() - end; @off_cpu may be NULL */
void off_cpu_close(struct off_cpu *off_cpu);

/** off_cpu_start() - begin to measure. Threads that sleep now are measured from now on. */
int off_cpu_start(struct off_cpu *off_cpu, struct error *err);

/** off_cpu_fd() - return a descriptor that is readable when a drain is due */
int off_cpu_fd(const struct off_cpu *off_cpu);

/**
 * off_cpu_drain() - pass on all records as stacks with times
 * @all:  also record the threads that are not on a CPU
 * @last: end after that
 */
void off_cpu_drain(struct off_cpu *off_cpu, bool all, bool last, const struct source_sink *sink);

/** off_cpu_threshold_ns() - return the longest interval that was sampled since the start */
uint64_t off_cpu_threshold_ns(const struct off_cpu *off_cpu);

/** off_cpu_report() - visit the counters, as source_ops.counters */
void off_cpu_report(const struct off_cpu *off_cpu, source_counter_fn visit, void *context);

#endif
