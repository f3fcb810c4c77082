/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data that the BPF program for counting samples (sample_count.bpf.c) shares with its reader
 * (daemon/source/bpf_store.c): per CPU one struct bpf_cpu, a table of buckets and two overflow
 * buffers, all in arrays that the reader has mapped.
 *
 * The algorithm is that of kmod/core/sample_store.h, which uses pointers into one block and
 * therefore cannot pass the verifier. Hash function, ways, swaps, and insertion at the front are
 * identical, so that the same samples hit, miss and evict. Edges (daemon/source/perf_edges.h),
 * retiring and refused samples do not exist here.
 *
 * The writer is the program, on its CPU and never nested: the kernel does not run a BPF program in
 * an interrupt of another one. It uses an atomic operation only when a buffer becomes full. The
 * reader cannot run code on that CPU. Instead it waits until every program that was running has
 * ended ("grace period" below), which is also a barrier on all CPUs:
 *
 * - full buffer: The program sets @cursor to the other buffer, then @ready by an exchange (a
 *   barrier in BPF). The buffer is the reader's until it clears @ready.
 * - unfinished buffer: The reader saves @cursor, waits for a grace period, and may then read up to
 *   that position. It remembers how far it has read.
 * - table: The reader sets @flushing, waits for a grace period, reads and clears the table, waits
 *   for another, and clears @flushing. Meanwhile samples go directly to the buffer.
 */
#ifndef DCPI_BPF_SAMPLE_COUNT_H
#define DCPI_BPF_SAMPLE_COUNT_H

#include "kmod/core/sample_pairing.h"
#include "kmod/uapi/dcpi_uapi.h"

#define BPF_WAYS 4
#define BPF_CURSOR_ACTIVE 0x80000000U

/** enum bpf_follower - programs that follow the counting program at some samples */
enum bpf_follower {
	BPF_FOLLOWER_EXAMINED, /* at an examined sample */
	BPF_FOLLOWER_FIRST,    /* at the first sample of a pair */
	BPF_FOLLOWER_SECOND,   /* at the second sample of a pair */
	BPF_FOLLOWERS
};

/** struct bpf_bucket - entries of one cache line */
struct bpf_bucket {
	struct dcpi_sample way[BPF_WAYS];
};

/**
 * struct bpf_cpu - the state of one CPU, three cache lines
 * @cursor:      bit 31: active buffer; other bits: its fill level
 * @flushing:    the reader owns the table
 * @ready:       number of entries in a full buffer; 0: the program owns it
 * @hits:        samples whose entry was in the table; @misses: whose entry was not
 * @direct:      samples written directly to a buffer
 * @lost:        samples not counted, because the reader had not released either buffer
 * @follow_wait: user-space samples until the next one that is examined: passed to the follower
 * @pair_event:  number of the event whose samples @pairing waits for
 * @pairing:     armed by examined samples
 * @series:      number of the last pair
 * @begun:       pairs begun
 * @outcomes:    ends of pairings, by enum sample_pairing_outcome
 * @missed:      pairs that matched without a call of the follower
 *
 * The program is the only writer of all fields except @flushing and @ready.
 */
struct bpf_cpu {
	__u32 cursor;
	__u32 flushing;
	__u64 hits;
	__u64 misses;
	__u64 evictions;
	__u64 direct;
	__u64 flips;
	__u64 lost;
	__u64 ready[2];
	__u32 follow_wait;
	__u32 pair_event;
	struct sample_pairing pairing;
	__u32 series;
	__u32 unused;
	__u64 begun;
	__u64 outcomes[SAMPLE_PAIRING_OUTCOMES];
	__u64 missed;
	__u64 reserved[1];
};

_Static_assert(sizeof(struct bpf_bucket) == 64, "a bucket is one cache line");
_Static_assert(sizeof(struct bpf_cpu) == 192, "no two CPUs share a line");

#endif
