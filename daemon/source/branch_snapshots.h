/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers and memory as samples found them: a BPF program beside perf events puts them
 * into a ring (daemon/source/bpf/branch_snapshot.h).
 */
#ifndef DCPI_BRANCH_SNAPSHOTS_H
#define DCPI_BRANCH_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/branch_probe.h"

struct branch_snapshots;
struct error;

/**
 * branch_snapshots_open() - load the program, with room for some snapshots
 * @ret:   out; freed by branch_snapshots_close()
 * @every: of samples in user space, one in so many; > 0
 *
 * Return: 0; -EPERM without CAP_BPF and CAP_PERFMON; -EOPNOTSUPP another PID namespace than
 * the initial one, whose ids snapshots have; else the kernel's error.
 */
int branch_snapshots_open(struct branch_snapshots **ret, uint32_t every, struct error *err);

/** branch_snapshots_close() - unload. NULL is fine. */
void branch_snapshots_close(struct branch_snapshots *snapshots);

/** branch_snapshots_program() - for PERF_EVENT_IOC_SET_BPF; stays the object's. */
int branch_snapshots_program(const struct branch_snapshots *snapshots);

/** branch_snapshots_follower() - for bpf_sampler_follow(), whatever @every was; as above. */
int branch_snapshots_follower(const struct branch_snapshots *snapshots);

/** branch_snapshots_probe() - what probes run; stays the object's */
struct branch_probe_program branch_snapshots_probe(const struct branch_snapshots *snapshots);

/** branch_snapshots_fd() - to poll for a ring that is half full; stays the object's. */
int branch_snapshots_fd(const struct branch_snapshots *snapshots);

/**
 * A snapshot; valid during the call. Return: whether it was taken; else it is the first that the
 * next drain has, and this one ends.
 */
typedef bool (*branch_snapshots_fn)(void *context, const struct branch_snapshot *snapshot);

/** branch_snapshots_drain() - take all there are, in the order of their making. */
void branch_snapshots_drain(struct branch_snapshots *snapshots, branch_snapshots_fn visit,
			    void *context);

/** branch_snapshots_missed() - snapshots that there was no room for, since it was opened. */
uint64_t branch_snapshots_missed(const struct branch_snapshots *snapshots);

/** branch_snapshots_spent_ns() - time that programs took for snapshots of samples */
uint64_t branch_snapshots_spent_ns(const struct branch_snapshots *snapshots);

#endif
