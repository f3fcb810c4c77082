/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stack samples of the bpf source: an event per CPU, in addition to those that count samples. See
 * daemon/source/perf_stack.h. A BPF program copies registers, the chain in the kernel, and the
 * pages of the stack that are in memory. Only the valid part of a copy is in the ring buffer.
 */
#ifndef DCPI_BPF_STACKS_H
#define DCPI_BPF_STACKS_H

#include <stdint.h>

#include "daemon/source/source.h"

struct bpf_stacks;
struct error;

/**
 * bpf_stacks_open() - load the program
 * @config: copied, with stack_every; its @sync is called in bpf_stacks_drain()
 *
 * Return: 0; -ENOMEM; the kernel's error.
 */
int bpf_stacks_open(struct bpf_stacks **ret, const struct source_config *config, uint32_t cpus,
		    struct error *err);

/** bpf_stacks_fd() - return a descriptor that is readable when the ring is half full */
int bpf_stacks_fd(const struct bpf_stacks *stacks);

/** bpf_stacks_close() - close all events; @stacks may be NULL, as in all functions below */
void bpf_stacks_close(struct bpf_stacks *stacks);

/** bpf_stacks_cpu_open() - open the event of a CPU. A CPU without one has no stacks. */
void bpf_stacks_cpu_open(struct bpf_stacks *stacks, uint32_t cpu);
void bpf_stacks_cpu_close(struct bpf_stacks *stacks, uint32_t cpu);

/** bpf_stacks_enable() - begin sampling on a CPU, if its event is open */
void bpf_stacks_enable(struct bpf_stacks *stacks, uint32_t cpu);

/** bpf_stacks_disable() - end sampling on all CPUs */
void bpf_stacks_disable(struct bpf_stacks *stacks);

/** bpf_stacks_set_period() - derive the periods from those of the first event */
void bpf_stacks_set_period(struct bpf_stacks *stacks, const struct source_event *event);

/** bpf_stacks_drain() - pass on all stacks, as source_ops.drain */
void bpf_stacks_drain(struct bpf_stacks *stacks, const struct source_sink *sink);

/** bpf_stacks_report() - visit its counters, as source_ops.counters */
void bpf_stacks_report(const struct bpf_stacks *stacks, source_counter_fn visit, void *context);

#endif
