/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * A snapshot: the state of a thread in user mode at an interrupt. It is the same record from
 * dcpi.ko (DCPI_IOC_SNAPSHOTS), from the BPF programs (daemon/source/bpf/branch_snapshot.bpf.c) and
 * from a record of perf (daemon/source/perf_registers.h), on each architecture. Everything that
 * needs more of a sample than its count is derived from snapshots.
 *
 * Each sample is counted, one in several is examined. With BPF and perf, an examined sample leaves
 * an EXAMINED snapshot, with the memory that its registers point to. Soon after it, a sample leaves
 * a FIRST snapshot. A later sample of the same thread, in the same activation of a procedure,
 * leaves a SECOND one (kmod/core/sample_pairing.h). Both have the same CPU, event and series. A
 * FIRST one may have no SECOND one.
 *
 * Registers may contain secrets, and reveal the layout of memory. Raw values must stay in the
 * memory of the reader.
 */
#ifndef DCPI_SNAPSHOT_H
#define DCPI_SNAPSHOT_H

#include <linux/types.h>

enum dcpi_snapshot_kind {
	DCPI_SNAPSHOT_EXAMINED,
	DCPI_SNAPSHOT_FIRST,
	DCPI_SNAPSHOT_SECOND,
	DCPI_SNAPSHOT_PROBE, /* not a sample: a probe at @pc was hit */
};

#define DCPI_SNAPSHOT_REGISTERS 32
/* The numbers of the stack pointer, and of the frame pointer by convention. */
#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#define DCPI_SNAPSHOT_SP 4
#define DCPI_SNAPSHOT_FP 5
#else
#define DCPI_SNAPSHOT_SP 31
#define DCPI_SNAPSHOT_FP 29
#endif

/**
 * struct dcpi_snapshot - state of a thread
 * @pid, @tid:   process and thread, in the initial PID namespace
 * @generation:  exec count of the process; in records of dcpi.ko the low ten bits
 * @cpu:         CPU of the interrupt
 * @event:       number of the sampled event
 * @kind:        enum dcpi_snapshot_kind
 * @series:      number of the pair, on this CPU and of this event
 * @samples:     SECOND: samples of this event that struck the thread since the FIRST one, this one
 *               included. This is the CPU time of the thread between the two in sampling periods:
 *               samples of other threads in between are not included
 * @time_ns:     CLOCK_MONOTONIC
 * @migrations:  number of times that the thread has moved to another CPU since it started. If this
 *               number differs between FIRST and SECOND, @samples lacks those on the other CPU
 * @pc:          program counter
 * @flags:       condition flags
 * @flags_known: mask of the valid bits of @flags
 * @known:       mask of the valid @registers
 * @pieces:      number of pieces of memory (struct dcpi_piece) after this structure
 * @registers:   general registers, by the number in their encoding; on x86-64 also the base of fs,
 *               as register 16
 */
struct dcpi_snapshot {
	__u32 pid;
	__u32 tid;
	__u32 generation;
	__u32 cpu;
	__u32 event;
	__u32 kind;
	__u32 series;
	__u32 samples;
	__u64 time_ns;
	__u64 migrations;
	__u64 pc;
	__u64 flags;
	__u64 flags_known;
	__u32 known;
	__u32 pieces;
	__u64 registers[DCPI_SNAPSHOT_REGISTERS];
};

#define DCPI_PIECE_BYTES 128

/** struct dcpi_piece - an aligned piece of memory at a snapshot; @address 0: none */
struct dcpi_piece {
	__u64 address;
	__u8 bytes[DCPI_PIECE_BYTES];
};

#endif
