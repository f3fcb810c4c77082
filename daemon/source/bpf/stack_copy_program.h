/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parts of the BPF programs that fill a struct stack_copy_record. The task is the current one.
 */
#ifndef DCPI_BPF_STACK_COPY_PROGRAM_H
#define DCPI_BPF_STACK_COPY_PROGRAM_H

#include <linux/bpf.h>

#include "daemon/source/bpf/stack_copy.h"

#include <bpf/bpf_helpers.h>

#define copy_inline static inline __attribute__((always_inline))

/*
 * Copy the pages of the stack in user space that are in memory.
 * @READ: expression that reads @bytes at @from to @to, and is 0 if this succeeds
 */
#define STACK_COPY_TAKE(copy, READ)                                                                \
	do {                                                                                       \
		__u64 sp_ = (copy)->words[STACK_COPY_SP];                                          \
		__u32 filled_ = 0, bytes = STACK_COPY_PAGE - (sp_ & (STACK_COPY_PAGE - 1));        \
                                                                                                   \
		(copy)->is_cut = 1;                                                                \
		_Pragma("unroll") for (int i_ = 0; i_ < STACK_COPY_PAGES; i_++)                    \
		{                                                                                  \
			void *to = &(copy)->stack[filled_];                                        \
			const void *from = (const void *)(sp_ + filled_);                          \
                                                                                                   \
			if ((READ) != 0) {                                                         \
				(copy)->is_cut = 0;                                                \
				break;                                                             \
			}                                                                          \
			filled_ += bytes;                                                          \
			bytes = STACK_COPY_PAGE;                                                   \
		}                                                                                  \
		(copy)->stack_bytes = filled_;                                                     \
	} while (0)

/* Wake the reader if the ring buffer is half full. */
copy_inline __u64 stack_copy_wake(void *ring)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) * 2 >
			       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE)
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

#endif
