/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers and memory at samples: a BPF program at perf events writes them to a ring buffer
 * (daemon/source/bpf/branch_snapshot.h).
 */
#ifndef DCPI_BRANCH_SNAPSHOTS_H
#define DCPI_BRANCH_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/branch_probe.h"

struct bpf_followers;
struct branch_snapshots;
struct error;

/**
 * branch_snapshots_open() - load the program and create the ring buffer
 * @ret:   out; freed by branch_snapshots_close()
 * @every: one in this number of user-space samples gets a snapshot; > 0
 *
 * Return: 0; -EPERM without CAP_BPF and CAP_PERFMON; -EOPNOTSUPP if this is not the initial PID
 * namespace, whose ids snapshots contain; otherwise the kernel's error.
 */
int branch_snapshots_open(struct branch_snapshots **ret, uint32_t every, struct error *err);

/** branch_snapshots_set_every() - change @every from now on; at least the one at the beginning */
void branch_snapshots_set_every(struct branch_snapshots *snapshots, uint32_t every);

/** branch_snapshots_close() - unload the program. @snapshots may be NULL. */
void branch_snapshots_close(struct branch_snapshots *snapshots);

/**
 * branch_snapshots_program() - return the program for PERF_EVENT_IOC_SET_BPF; owned by @snapshots.
 */
int branch_snapshots_program(const struct branch_snapshots *snapshots);

/** branch_snapshots_followers() - fill in the programs and the map; owned by @snapshots */
void branch_snapshots_followers(const struct branch_snapshots *snapshots,
				struct bpf_followers *ret);

/** branch_snapshots_probe() - return the program that runs at probes; owned by @snapshots */
struct branch_probe_program branch_snapshots_probe(const struct branch_snapshots *snapshots);

/**
 * branch_snapshots_fd() - return a descriptor that is readable when the ring is half full; owned by
 * @snapshots.
 */
int branch_snapshots_fd(const struct branch_snapshots *snapshots);

/**
 * Called with a snapshot, valid during the call. Return: true if it was accepted; false ends the
 * drain, and the next one begins with this snapshot.
 */
typedef bool (*branch_snapshots_fn)(void *context, const struct dcpi_snapshot *snapshot);

/** branch_snapshots_drain() - visit all snapshots in chronological order. */
void branch_snapshots_drain(struct branch_snapshots *snapshots, branch_snapshots_fn visit,
			    void *context);

/**
 * branch_snapshots_missed() - return the number of snapshots dropped since branch_snapshots_open().
 */
uint64_t branch_snapshots_missed(const struct branch_snapshots *snapshots);

/** branch_snapshots_missed_second() - the number of them that were of second samples of pairs */
uint64_t branch_snapshots_missed_second(const struct branch_snapshots *snapshots);

/** branch_snapshots_spent_ns() - return the time that programs spent on snapshots of samples */
uint64_t branch_snapshots_spent_ns(const struct branch_snapshots *snapshots);

#endif
