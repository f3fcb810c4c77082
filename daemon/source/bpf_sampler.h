/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads the BPF programs of daemon/source/bpf/sample_count.bpf.c. */
#ifndef DCPI_BPF_SAMPLER_H
#define DCPI_BPF_SAMPLER_H

#include <stdint.h>

#include "daemon/source/bpf/sample_count.h"

struct bpf_sampler;
struct bpf_store_config;
struct error;

/**
 * struct bpf_followers - programs that run at some samples, after they were counted
 * @program:  by enum bpf_follower, of type "perf_event"; they must return 0
 * @pairings: map of struct snapshot_pairing that the programs read
 * @every:    one in this number of user-space samples of a CPU is examined; > 0
 *
 * All descriptors remain owned by the caller.
 */
struct bpf_followers {
	int program[BPF_FOLLOWERS];
	int pairings;
	uint32_t every;
};

/**
 * bpf_sampler_open() - load the programs and map their memory
 * @ret:            out; freed by bpf_sampler_close()
 * @cpu_count:      number of CPUs
 * @table_entries:  of each CPU, a power of two in DCPI_ENTRIES_MIN .. _MAX
 * @buffer_entries: of each of the two buffers, with the same limits
 * @followers:      NULL: none
 *
 * Return: 0; -EINVAL invalid geometry; -EPERM without CAP_BPF and CAP_PERFMON; -EOPNOTSUPP if the
 * kernel has no BTF, has no task iterators (before 6.1), or this is not the initial PID namespace;
 * or another error.
 */
int bpf_sampler_open(struct bpf_sampler **ret, uint32_t cpu_count, uint32_t table_entries,
		     uint32_t buffer_entries, const struct bpf_followers *followers,
		     struct error *err);

/** bpf_sampler_close() - unload the programs. @sampler may be NULL. */
void bpf_sampler_close(struct bpf_sampler *sampler);

/** bpf_sampler_fd() - return the program that counts samples; owned by the sampler. */
int bpf_sampler_fd(const struct bpf_sampler *sampler);

/** bpf_sampler_memory() - fill in memory, geometry and the grace period function. */
void bpf_sampler_memory(const struct bpf_sampler *sampler, struct bpf_store_config *config);

/**
 * bpf_sampler_generation() - return a process's current exec count; -ESRCH if there is no such
 * process.
 */
int bpf_sampler_generation(const struct bpf_sampler *sampler, uint32_t pid, uint32_t *generation);

#endif
