/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data from the BPF program that counts samples (sample_count.bpf.c) for the programs that write
 * snapshots of them (branch_snapshot.bpf.c), in a per-CPU array of one element that both have.
 */
#ifndef DCPI_BPF_SNAPSHOT_PAIRING_H
#define DCPI_BPF_SNAPSHOT_PAIRING_H

#include <linux/types.h>

/** struct snapshot_pairing - members of struct dcpi_snapshot */
struct snapshot_pairing {
	__u32 event;
	__u32 series;
	__u32 samples;
	__u32 unused;
};

#endif
