/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF program that counts samples (sample_count.bpf.c) shares with its
 * reader (daemon/source/bpf_store.c): per CPU one struct bpf_cpu, a table of buckets
 * and two overflow buffers, all in arrays that the reader has mapped.
 *
 * The algorithm is that of kmod/core/sample_store.h, which is pointers into one
 * block and cannot pass the verifier: the same hash function, ways, swaps, and
 * insertion at the front, so that the same samples hit, miss and evict the same;
 * but edges (daemon/source/perf_edges.h), retiring, and samples refused are not known here. The
 * writer is the program, on its CPU and never nested: the kernel runs no BPF program in another
 * one's interrupt. It uses no atomic operation but when a buffer becomes full. The reader has no
 * way to run anything on that CPU; instead it waits until every program that was running has ended
 * ("grace period" below), which is also a barrier on all CPUs:
 *
 *   full buffer  @cursor is set to the other one, then @ready by an exchange (a
 *                barrier in BPF), which the reader clears; between them the buffer
 *                is the reader's
 *   unfinished   the reader notes @cursor, waits for a grace period, and may
 *   buffer       then read up to there; it remembers how far it has read
 *   table        the reader sets @flushing, waits for a grace period, reads and
 *                clears the table, waits for another, and clears @flushing;
 *                meanwhile samples go straight to the buffer
 */
#ifndef DCPI_BPF_SAMPLE_COUNT_H
#define DCPI_BPF_SAMPLE_COUNT_H

#include "kmod/uapi/dcpi_uapi.h"

#define BPF_WAYS 4
#define BPF_CURSOR_ACTIVE 0x80000000U

/** struct bpf_bucket - one cache line of entries */
struct bpf_bucket {
	struct dcpi_sample way[BPF_WAYS];
};

/**
 * struct bpf_cpu - the state of one CPU, two cache lines
 * @cursor:   bit 31: active buffer; rest: its fill
 * @flushing: the table is the reader's
 * @ready:    entries waiting in a full buffer; 0: it is the program's
 * @hits:     samples whose entry was in the table; @misses: was not
 * @direct:   samples written straight to a buffer
 * @lost:     samples not counted: both buffers waited for the reader
 * @follow_wait: samples of user space up to the next that is followed
 *
 * All but @flushing and @ready are written by the program alone.
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
	__u32 unused;
	__u64 reserved[6];
};

_Static_assert(sizeof(struct bpf_bucket) == 64, "a bucket is one cache line");
_Static_assert(sizeof(struct bpf_cpu) == 128, "no two CPUs share a line");

#endif
