// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF program that runs at overflows of a perf event and writes a copy of the call stack
 * (stack_copy.h) to a ring buffer. The reader unwinds it.
 */
#include <linux/bpf.h>

#include "daemon/source/bpf/stack_copy_program.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define kernel_type __attribute__((preserve_access_index))
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

const char program_license[] SEC("license") = "GPL";

/* max_entries of both is set when the program is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} copies SEC(".maps");

/* The record of each CPU under construction. A per-CPU array has no room for it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_copy_record);
} scratch SEC(".maps");

/* Number of stacks that did not fit into the ring buffer. */
__u64 missed = 0;
/* Total time spent. */
__u64 spent_ns = 0;

struct task_struct {
	unsigned int flags;
	__u32 self_exec_id;
} kernel_type;

struct sample_context {
	__u64 words[STACK_COPY_WORDS];
};

#if defined(__TARGET_ARCH_x86)
/* The code segment of user space has privilege level 3. */
static inline __attribute__((always_inline)) int is_user(const struct sample_context *context)
{
	return (context->words[17] & 3) == 3;
}
#elif defined(__TARGET_ARCH_arm64)
static inline __attribute__((always_inline)) int is_user(const struct sample_context *context)
{
	return (context->words[33] & 15) == 0;
}
#else
#error "how are samples of user space recognized on this architecture?"
#endif

static inline __attribute__((always_inline)) void take_stack(struct stack_copy_record *copy)
{
	STACK_COPY_TAKE(copy, bpf_probe_read_user(to, bytes, from));
}

static inline __attribute__((always_inline)) void take_kernel(struct stack_copy_record *copy,
							      struct sample_context *context)
{
	long bytes = bpf_get_stack(context, copy->kernel, sizeof(copy->kernel), 0);

	copy->kernel_count = bytes > 0 ? (__u32)bytes / sizeof(copy->kernel[0]) : 0;
}

/* Registers of user space: those of the sample, or those saved when the kernel was entered. */
static inline __attribute__((always_inline)) void take_registers(struct stack_copy_record *copy,
								 struct sample_context *context,
								 struct task_struct *task)
{
	copy->is_user = 1;
	if (is_user(context)) {
#pragma unroll
		for (int i = 0; i < STACK_COPY_WORDS; i++)
			copy->words[i] = context->words[i];
		return;
	}
	if ((task->flags & PF_KTHREAD) != 0 ||
	    bpf_probe_read_kernel(copy->words, sizeof(copy->words),
				  (const void *)bpf_task_pt_regs(task)) != 0)
		copy->is_user = 0;
}

/* Return: 0: the kernel makes no record. */
SEC("perf_event")
int dcpi_stack_copy(struct sample_context *context)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct stack_copy_record *copy = bpf_map_lookup_elem(&scratch, &cpu);
	__u64 ids = bpf_get_current_pid_tgid(), bytes;

	if (copy == 0)
		return 0;
	copy->time_ns = bpf_ktime_get_ns();
	copy->pid = ids >> 32;
	copy->tid = (__u32)ids;
	copy->generation = task->self_exec_id;
	copy->cpu = cpu;
	bpf_get_current_comm(copy->name, sizeof(copy->name));
	copy->kernel_count = 0;
	copy->stack_bytes = 0;
	copy->is_cut = 0;
	if (!is_user(context))
		take_kernel(copy, context);
	take_registers(copy, context, task);
	if (copy->is_user != 0)
		take_stack(copy);
	/* The memory of a thread that ends may be gone, and no user code follows. */
	if (copy->stack_bytes == 0 && (task->flags & PF_EXITING) != 0)
		copy->is_user = 0;
	bytes = __builtin_offsetof(struct stack_copy_record, stack) + copy->stack_bytes;
	if (bytes > sizeof(*copy))
		return 0;
	if (bpf_ringbuf_output(&copies, copy, bytes, stack_copy_wake(&copies)) != 0)
		__sync_fetch_and_add(&missed, 1);
	__sync_fetch_and_add(&spent_ns, bpf_ktime_get_ns() - copy->time_ns);
	return 0;
}
