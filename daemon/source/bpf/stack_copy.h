/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data that the BPF program of call stacks (stack_copy.bpf.c) shares with its reader
 * (daemon/source/bpf_stacks.c): the registers of user space, a copy of its stack, and the call
 * chain in the kernel.
 */
#ifndef DCPI_BPF_STACK_COPY_H
#define DCPI_BPF_STACK_COPY_H

#include <linux/types.h>

#define STACK_COPY_KERNEL 128
#define STACK_COPY_NAME_BYTES 16
/* The stack is copied page by page, as far as it is in memory. */
#define STACK_COPY_PAGE 4096
#define STACK_COPY_PAGES 15
#define STACK_COPY_BYTES (STACK_COPY_PAGES * STACK_COPY_PAGE)

/* Words of struct pt_regs up to the last one used, which are part of the user-space ABI. */
#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#define STACK_COPY_WORDS 20
#define STACK_COPY_SP 19
#else
#define STACK_COPY_WORDS 34
#define STACK_COPY_SP 31
#endif

/**
 * struct stack_copy_record - a record of the ring buffer, which ends after @stack_bytes of @stack
 * @time_ns:      CLOCK_MONOTONIC
 * @generation:   exec count of the process
 * @kernel_count: of addresses in @kernel, innermost first; 0: the sample is in user space
 * @is_user:      the thread has user-space registers, in @words
 * @is_cut:       the stack has more pages than the copy
 * @name:         of the thread, with its NUL
 * @words:        struct pt_regs
 */
struct stack_copy_record {
	__u64 time_ns;
	__u32 pid;
	__u32 tid;
	__u32 generation;
	__u32 cpu;
	__u32 kernel_count;
	__u32 stack_bytes;
	__u32 is_user;
	__u32 is_cut;
	char name[STACK_COPY_NAME_BYTES];
	__u64 words[STACK_COPY_WORDS];
	__u64 kernel[STACK_COPY_KERNEL];
	__u8 stack[STACK_COPY_BYTES + STACK_COPY_PAGE];
};

#endif
