// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF programs that record the time in which threads are not on a CPU (off_cpu.h), with their
 * stacks.
 *
 * The length of an interval must be known before its stack is copied, because most intervals are
 * not recorded. The kernel's chain is read at the context switch that ends the interval: the thread
 * does not run yet. Its memory can be read only after the switch. There the kernel has the
 * tracepoint sched_exit_tp since Linux 6.16; in earlier ones a kprobe is necessary. Both run on the
 * CPU of the switch, before anything else can use the CPU's scratch record.
 *
 * An iterator over all threads records those that are still not on a CPU. It and the context switch
 * take the time of a thread by an atomic exchange, so no time is recorded twice.
 */
#include <linux/bpf.h>

#include "daemon/source/bpf/off_cpu.h"
#include "daemon/source/bpf/stack_copy_program.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define kernel_type __attribute__((preserve_access_index))
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
/* Bits of task_struct.__state */
#define TASK_UNINTERRUPTIBLE 2
#define TASK_DEAD_BITS 0xb0 /* EXIT_DEAD, EXIT_ZOMBIE and TASK_DEAD */
#define TASK_NOLOAD 0x400
/* The iterator and a context switch may add to the counts of a CPU at the same time. */
#define COUNT(member, number)                                                                      \
	do {                                                                                       \
		__u32 key_ = 0;                                                                    \
		struct off_cpu_counts *counts_ = bpf_map_lookup_elem(&counts, &key_);              \
                                                                                                   \
		if (counts_ != 0)                                                                  \
			__sync_fetch_and_add(&counts_->member, number);                            \
	} while (0)

const char program_license[] SEC("license") = "GPL";

/* 0: all processes; otherwise this one */
const volatile __u32 only_pid = 0;
/* Only threads that are marked, and those that they create. */
const volatile __u32 only_wanted = 0;

/* Set while the programs run. */
volatile __u64 threshold_ns = 1000000;
/* Intervals that began in an earlier round are not measured: the programs were not attached. */
volatile __u32 off_cpu_round = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct off_cpu_counts);
} counts SEC(".maps");

/* max_entries of both is set when the programs are loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

/* The record of each CPU under construction, and that of the iterator. */
struct off_cpu_scratch {
	__u32 tid; /* 0: none */
	__u32 unused;
	struct off_cpu_record record;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct off_cpu_scratch);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct off_cpu_thread);
} threads SEC(".maps");

struct sched_info {
	unsigned long long run_delay;
} kernel_type;

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int pid;
	int tgid;
	__u32 self_exec_id;
	struct sched_info sched_info;
	unsigned int in_iowait : 1;
	char comm[STACK_COPY_NAME_BYTES];
} kernel_type;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} kernel_type;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} kernel_type;

#if defined(__TARGET_ARCH_x86)
#define WORD_SYSCALL 15 /* orig_rax */
#define NR_FUTEX 202
#define NR_FUTEX_WAIT 455
#define NR_FUTEX_WAITV 449
#elif defined(__TARGET_ARCH_arm64)
#define WORD_SYSCALL 35 /* syscallno, after the registers of the ABI and orig_x0 */
#define NR_FUTEX 98
#define NR_FUTEX_WAIT 455
#define NR_FUTEX_WAITV 449
#else
#error "where does this architecture store the number of a system call?"
#endif

/* Return the number of the system call of a thread; -1: it is in none. */
copy_inline int system_call(struct task_struct *task)
{
	const __u64 *words = (const __u64 *)bpf_task_pt_regs(task);
	int number = -1;

	if ((task->flags & PF_KTHREAD) != 0 ||
	    bpf_probe_read_kernel(&number, sizeof(number), words + WORD_SYSCALL) != 0)
		return -1;
	return number;
}

copy_inline int is_futex(int call)
{
	return call == NR_FUTEX || call == NR_FUTEX_WAIT || call == NR_FUTEX_WAITV;
}

/* @state: task_struct.__state at the switch. Return: state_refine() has the other states. */
copy_inline __u32 state_of(__u32 state)
{
	if (state == 0)
		return OFF_CPU_RUNNABLE;
	if ((state & TASK_UNINTERRUPTIBLE) != 0 && (state & TASK_NOLOAD) == 0)
		return OFF_CPU_BLOCKED;
	return OFF_CPU_SLEEP;
}

/* The thread has not run since it left its CPU: it is still in the same system call. */
copy_inline __u32 state_refine(struct task_struct *task, __u32 state)
{
	if (state == OFF_CPU_SLEEP && is_futex(system_call(task)))
		return OFF_CPU_LOCK;
	if (state == OFF_CPU_BLOCKED && BPF_CORE_READ_BITFIELD(task, in_iowait))
		return OFF_CPU_IO;
	return state;
}

copy_inline __u64 delay_of(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* Return: NULL: the thread is not wanted, or there is no memory. The idle thread has number 0. */
copy_inline struct off_cpu_thread *thread_of(struct task_struct *task, __u64 flags)
{
	struct off_cpu_thread *thread;

	if (task->pid == 0 || (only_pid != 0 && (__u32)task->tgid != only_pid))
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, only_wanted != 0 ? 0 : flags);
	if (thread == 0 && only_wanted == 0 && flags != 0)
		COUNT(untracked, 1);
	return thread;
}

copy_inline void leave(struct task_struct *task, __u64 now_ns, __u32 state)
{
	struct off_cpu_thread *thread;

	if ((state & TASK_DEAD_BITS) != 0)
		return;
	thread = thread_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (thread == 0)
		return;
	thread->delay_ns = delay_of(task);
	thread->state = state_of(state);
	thread->round = off_cpu_round;
	__sync_lock_test_and_set(&thread->since_ns, now_ns);
}

copy_inline void record_begin(struct off_cpu_record *record, struct task_struct *task,
			      const struct off_cpu_thread *thread, __u64 now_ns, __u64 since_ns)
{
	struct stack_copy_record *copy = &record->copy;
	long bytes;

	record->length_ns = now_ns - since_ns;
	record->state = state_refine(task, thread->state);
	record->ready_ns = thread->delay_ns;
	record->sleeps = 0;
	copy->time_ns = now_ns;
	copy->pid = task->tgid;
	copy->tid = task->pid;
	copy->generation = task->self_exec_id;
	BPF_CORE_READ_STR_INTO(&copy->name, task, comm);
	copy->cpu = 0;
	copy->stack_bytes = 0;
	copy->is_cut = 0;
	copy->is_user = (task->flags & PF_KTHREAD) == 0;
	bytes = bpf_get_task_stack(task, copy->kernel, sizeof(copy->kernel), 0);
	copy->kernel_count = bytes > 0 ? (__u32)bytes / sizeof(copy->kernel[0]) : 0;
}

/* @delay_ns: of the thread at the end of the interval; record_begin() has set that at its begin */
copy_inline void ready_set(struct off_cpu_record *record, __u64 delay_ns)
{
	__u64 ready_ns = delay_ns - record->ready_ns;

	if (record->state == OFF_CPU_RUNNABLE || ready_ns > record->length_ns)
		ready_ns = record->length_ns;
	record->ready_ns = ready_ns;
}

copy_inline void record_lose(const struct off_cpu_record *record)
{
	COUNT(lost, 1);
	COUNT(lost_ns, record->sample_ns);
}

copy_inline void record_write(struct off_cpu_record *record, __u64 began_ns)
{
	__u64 bytes =
		__builtin_offsetof(struct off_cpu_record, copy.stack) + record->copy.stack_bytes;

	if (bytes > sizeof(*record))
		return;
	if (bpf_ringbuf_output(&records, record, bytes, stack_copy_wake(&records)) != 0)
		record_lose(record);
	COUNT(spent_ns, bpf_ktime_get_ns() - began_ns);
}

/* Return the time that an interval stands for; 0: it is not recorded. */
copy_inline __u64 sample_of(__u64 length_ns)
{
	__u64 threshold = threshold_ns;

	if (length_ns >= threshold)
		return length_ns;
	/* 32 random bits resolve a threshold of 4 s to 1 ns. */
	return bpf_get_prandom_u32() % threshold < length_ns ? threshold : 0;
}

copy_inline void arrive(struct task_struct *task, __u64 now_ns)
{
	struct off_cpu_thread *thread = thread_of(task, 0);
	struct off_cpu_scratch *at;
	__u64 since_ns, sample_ns;
	__u32 cpu;

	if (thread == 0)
		return;
	since_ns = __sync_lock_test_and_set(&thread->since_ns, 0);
	if (since_ns == 0 || since_ns >= now_ns || thread->round != off_cpu_round)
		return;
	COUNT(intervals, 1);
	sample_ns = sample_of(now_ns - since_ns);
	cpu = bpf_get_smp_processor_id();
	at = bpf_map_lookup_elem(&scratch, &cpu);
	if (sample_ns == 0 || at == 0) {
		COUNT(below, 1);
		return;
	}
	if (at->tid != 0)
		record_lose(&at->record);
	record_begin(&at->record, task, thread, now_ns, since_ns);
	at->record.sample_ns = sample_ns;
	at->tid = task->pid;
}

SEC("tp_btf/sched_switch")
int dcpi_off_cpu_switch(__u64 *context)
{
	struct task_struct *previous = (struct task_struct *)context[1];
	struct task_struct *next = (struct task_struct *)context[2];
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 key = 0;
	struct off_cpu_counts *mine = bpf_map_lookup_elem(&counts, &key);

	if (mine == 0)
		return 0;
	/* A preempted thread has not gone to sleep, also if its state says so. */
	leave(previous, now_ns, context[0] != 0 ? 0 : (__u32)context[3]);
	arrive(next, now_ns);
	/* Only this program changes this member. */
	if (++mine->switches % OFF_CPU_MEASURED == 0)
		COUNT(spent_ns, (bpf_ktime_get_ns() - now_ns) * OFF_CPU_MEASURED);
	return 0;
}

copy_inline void finish(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct off_cpu_scratch *at = bpf_map_lookup_elem(&scratch, &cpu);
	struct task_struct *task;
	struct stack_copy_record *copy;
	__u64 now_ns;

	if (at == 0 || at->tid == 0)
		return;
	task = (struct task_struct *)bpf_get_current_task_btf();
	if (at->tid != (__u32)task->pid)
		return;
	now_ns = bpf_ktime_get_ns();
	at->tid = 0;
	ready_set(&at->record, delay_of(task));
	copy = &at->record.copy;
	if (copy->is_user != 0 && bpf_probe_read_kernel(copy->words, sizeof(copy->words),
							(const void *)bpf_task_pt_regs(task)) == 0)
		STACK_COPY_TAKE(copy, bpf_probe_read_user(to, bytes, from));
	else
		copy->is_user = 0;
	/* The memory of a thread that ends may be gone, and no user code follows. */
	if (copy->stack_bytes == 0 && (task->flags & PF_EXITING) != 0)
		copy->is_user = 0;
	record_write(&at->record, now_ns);
}

SEC("tp_btf/sched_exit_tp")
int dcpi_off_cpu_exit(__u64 *context)
{
	if (context[0] != 0)
		finish();
	return 0;
}

SEC("kprobe")
int dcpi_off_cpu_finish(void *context)
{
	(void)context;
	finish();
	return 0;
}

/* Children of wanted threads are wanted. */
SEC("tp_btf/sched_process_fork")
int dcpi_off_cpu_fork(__u64 *context)
{
	struct task_struct *parent = (struct task_struct *)context[0];
	struct task_struct *child = (struct task_struct *)context[1];
	struct off_cpu_thread initial = {.round = off_cpu_round};

	if (bpf_task_storage_get(&threads, parent, 0, 0) == 0)
		return 0;
	if (bpf_task_storage_get(&threads, child, &initial, BPF_LOCAL_STORAGE_GET_F_CREATE) == 0)
		COUNT(untracked, 1);
	return 0;
}

/* Set before the iterator runs: enum off_cpu_step */
volatile __u32 step = OFF_CPU_BEGIN;
/* The iterator uses the scratch record that follows those of all CPUs. */
const volatile __u32 iterator_scratch = 1;

copy_inline void sleeper_record(struct task_struct *task, struct off_cpu_thread *thread,
				struct off_cpu_record *record, __u64 since_ns)
{
	struct stack_copy_record *copy = &record->copy;
	__u64 now_ns = bpf_ktime_get_ns();

	record_begin(record, task, thread, now_ns, since_ns);
	record->sample_ns = record->length_ns;
	record->sleeps = 1;
	ready_set(record, delay_of(task));
	if (copy->is_user != 0 && bpf_probe_read_kernel(copy->words, sizeof(copy->words),
							(const void *)bpf_task_pt_regs(task)) == 0)
		STACK_COPY_TAKE(copy, bpf_copy_from_user_task(to, bytes, from, task, 0));
	else
		copy->is_user = 0;
	/* The stack is that of the interval if the thread has not been on a CPU meanwhile. */
	if (__sync_val_compare_and_swap(&thread->since_ns, since_ns, now_ns) == since_ns)
		record_write(record, now_ns);
}

/* A byte of output for each record: the reader empties the ring in between. */
SEC("iter.s/task")
int dcpi_off_cpu_sleepers(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct off_cpu_thread *thread;
	struct off_cpu_scratch *at;
	__u32 number = iterator_scratch;
	__u64 since_ns;
	int is_measured;

	if (task == 0 || task->on_cpu != 0)
		return 0;
	thread = thread_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	at = bpf_map_lookup_elem(&scratch, &number);
	if (thread == 0 || at == 0)
		return 0;
	since_ns = thread->since_ns;
	is_measured = since_ns != 0 && thread->round == off_cpu_round;
	if (step == OFF_CPU_RECORD && is_measured) {
		sleeper_record(task, thread, &at->record, since_ns);
		bpf_seq_write(context->meta->seq, "", 1);
	} else if (step == OFF_CPU_BEGIN && !is_measured) {
		thread->delay_ns = delay_of(task);
		thread->state = state_of(task->__state);
		thread->round = off_cpu_round;
		__sync_val_compare_and_swap(&thread->since_ns, since_ns, bpf_ktime_get_ns());
	}
	return 0;
}
