/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF programs of daemon/source/bpf/sample_count.bpf.c, loaded. */
#ifndef DCPI_BPF_SAMPLER_H
#define DCPI_BPF_SAMPLER_H

#include <stdint.h>

struct bpf_sampler;
struct bpf_store_config;
struct error;

/**
 * bpf_sampler_open() - load the programs and map their memory
 * @ret:       out; freed by bpf_sampler_close()
 * @cpu_count: CPUs, by number
 * @table_entries:  of each CPU, a power of two in DCPI_ENTRIES_MIN .. _MAX
 * @buffer_entries: likewise, of each of two buffers
 * @follow_every:   of a CPU's samples in user space, one in so many is followed; 0: none
 *
 * Return: 0; -EINVAL bad geometry; -EPERM without CAP_BPF and CAP_PERFMON;
 * -EOPNOTSUPP a kernel without BTF, without task iterators (before 6.1), or of
 * another PID namespace than ours; else the kernel's error.
 */
int bpf_sampler_open(struct bpf_sampler **ret, uint32_t cpu_count, uint32_t table_entries,
		     uint32_t buffer_entries, uint32_t follow_every, struct error *err);

/** bpf_sampler_close() - unload. NULL is fine. */
void bpf_sampler_close(struct bpf_sampler *sampler);

/** bpf_sampler_fd() - the program that counts samples; stays the sampler's. */
int bpf_sampler_fd(const struct bpf_sampler *sampler);

/**
 * bpf_sampler_follow() - what samples are followed by, which stays the caller's
 * @program_fd: of the type "perf_event"; it returns 0
 *
 * Return: 0, or the kernel's error.
 */
int bpf_sampler_follow(const struct bpf_sampler *sampler, int program_fd);

/** bpf_sampler_memory() - fill in memory, geometry and how to wait for a grace period. */
void bpf_sampler_memory(const struct bpf_sampler *sampler, struct bpf_store_config *config);

/** bpf_sampler_generation() - a process' present exec count; -ESRCH none. */
int bpf_sampler_generation(const struct bpf_sampler *sampler, uint32_t pid, uint32_t *generation);

#endif
