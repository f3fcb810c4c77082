// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF programs that run at overflows of a perf event, either in addition to the event's own record
 * or after sample_count.bpf.c, the program that counts samples. They write a snapshot
 * (branch_snapshot.h) of some samples of user code to a ring buffer. Another program runs at
 * uprobes of branches.
 */
#include <linux/bpf.h>

#include "daemon/source/bpf/branch_snapshot.h"
#include "daemon/source/bpf/snapshot_pairing.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define kernel_type __attribute__((preserve_access_index))

volatile __u32 branch_every = 1;

const char program_license[] SEC("license") = "GPL";

/* max_entries is set when the program is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} snapshots SEC(".maps");

/* Written by sample_count.bpf.c before it calls a follower. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct snapshot_pairing);
} pairings SEC(".maps");

/* Number of snapshots that did not fit into the ring buffer; and of these, second ones of pairs. */
__u64 missed = 0;
__u64 missed_second = 0;
/* Total time spent on snapshots of samples. */
__u64 spent_ns = 0;

struct branch_window windows[BRANCH_LINKS * BRANCH_WINDOWS] = {};
struct reference_counts references[BRANCH_LINKS] = {};

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
} kernel_type;
#endif

struct sched_info {
	unsigned long long run_delay;
} kernel_type;

struct sched_entity {
	unsigned long long nr_migrations;
} kernel_type;

struct task_struct {
	__u32 self_exec_id;
	struct sched_entity se;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct sched_info sched_info;
#if defined(__TARGET_ARCH_x86)
	struct thread_struct thread;
#endif
} kernel_type;

#if defined(__TARGET_ARCH_x86)

/* struct bpf_perf_event_data; part of the user-space ABI */
struct sample_context {
	__u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax,
		rip, cs, flags, rsp, ss;
};

#define REGISTERS 17
#define CS_USER_64 0x33
/* perf: the PC was not sampled at the same time as the other registers (IBS) */
#define FLAG_EXACT 8

static inline __attribute__((always_inline)) int is_user(const struct sample_context *context)
{
	return context->cs == CS_USER_64 && (context->flags & FLAG_EXACT) == 0;
}

/*
 * Return true if a conditional jump is taken with these flags. Bit 0 of the condition code negates
 * it.
 */
static inline __attribute__((always_inline)) int is_taken(const struct sample_context *context,
							  __u32 condition)
{
	int carry = context->flags & 1, parity = context->flags >> 2 & 1,
	    zero = context->flags >> 6 & 1, sign = context->flags >> 7 & 1,
	    overflow = context->flags >> 11 & 1;
	int holds;

	switch (condition >> 1) {
	case 0:
		holds = overflow;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = zero;
		break;
	case 3:
		holds = carry | zero;
		break;
	case 4:
		holds = sign;
		break;
	case 5:
		holds = parity;
		break;
	case 6:
		holds = sign ^ overflow;
		break;
	default:
		holds = (sign ^ overflow) | zero;
	}
	return (holds ^ condition) & 1;
}

/*
 * The base of fs is the value that the process set by a system call, or had when it was last
 * scheduled on this CPU. Changes by the instruction wrfsbase are not seen.
 */
static inline __attribute__((always_inline)) void
take_registers(struct dcpi_snapshot *snapshot, const struct sample_context *context,
	       const struct task_struct *task)
{
	snapshot->registers[0] = context->rax;
	snapshot->registers[1] = context->rcx;
	snapshot->registers[2] = context->rdx;
	snapshot->registers[3] = context->rbx;
	snapshot->registers[4] = context->rsp;
	snapshot->registers[5] = context->rbp;
	snapshot->registers[6] = context->rsi;
	snapshot->registers[7] = context->rdi;
	snapshot->registers[8] = context->r8;
	snapshot->registers[9] = context->r9;
	snapshot->registers[10] = context->r10;
	snapshot->registers[11] = context->r11;
	snapshot->registers[12] = context->r12;
	snapshot->registers[13] = context->r13;
	snapshot->registers[14] = context->r14;
	snapshot->registers[15] = context->r15;
	snapshot->registers[16] = task->thread.fsbase;
	snapshot->known = (1U << REGISTERS) - 1;
	snapshot->pc = context->rip;
	snapshot->flags = context->flags;
}

#elif defined(__TARGET_ARCH_arm64)

struct sample_context {
	__u64 registers[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

#define REGISTERS 32
#define PSTATE_MODE 0x1f /* 0: user mode, 64-bit */

static inline __attribute__((always_inline)) int is_user(const struct sample_context *context)
{
	return (context->pstate & PSTATE_MODE) == 0;
}

/* Not called: no conditional branches are probed on arm64. */
static inline __attribute__((always_inline)) int is_taken(const struct sample_context *context,
							  __u32 condition)
{
	(void)context;
	(void)condition;
	return 0;
}

static inline __attribute__((always_inline)) void
take_registers(struct dcpi_snapshot *snapshot, const struct sample_context *context,
	       const struct task_struct *task)
{
	(void)task;
#pragma unroll
	for (int i = 0; i < 31; i++)
		snapshot->registers[i] = context->registers[i];
	snapshot->registers[31] = context->sp;
	snapshot->known = 0xffffffff;
	snapshot->pc = context->pc;
	snapshot->flags = context->pstate;
}

#else
#error "which registers does this architecture have?"
#endif

static inline __attribute__((always_inline)) void take_piece(struct dcpi_piece *piece,
							     __u64 address)
{
	address &= ~(__u64)(DCPI_PIECE_BYTES - 1);
	/* Skip values that cannot be pointers: reading there would fault. */
	if (address < 65536 || address >> 48 != 0 ||
	    bpf_probe_read_user(piece->bytes, DCPI_PIECE_BYTES, (const void *)address) != 0)
		address = 0;
	piece->address = address;
}

static inline __attribute__((always_inline)) void take_memory(struct branch_snapshot *snapshot)
{
	__u32 n = 0;

#pragma unroll
	for (int i = 0; i < REGISTERS; i++) {
		__u64 start = snapshot->head.registers[i] - SNAPSHOT_BELOW;

		take_piece(&snapshot->piece[n++], start);
		take_piece(&snapshot->piece[n++], start + DCPI_PIECE_BYTES);
	}
#pragma unroll
	for (int i = 0; i < SNAPSHOT_STACK_PIECES; i++) {
		__u64 start = snapshot->head.registers[DCPI_SNAPSHOT_SP] - SNAPSHOT_BELOW;

		take_piece(&snapshot->piece[n++], start + (2 + i) * DCPI_PIECE_BYTES);
	}
	snapshot->head.pieces = n;
}

/* Everything except the kind and the memory. @pairing: NULL: not known */
static inline __attribute__((always_inline)) void take_head(struct dcpi_snapshot *snapshot,
							    struct sample_context *context,
							    const struct snapshot_pairing *pairing)
{
	const struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	__u64 ids = bpf_get_current_pid_tgid();

	snapshot->pid = ids >> 32;
	snapshot->tid = (__u32)ids;
	snapshot->generation = task->self_exec_id;
	snapshot->cpu = bpf_get_smp_processor_id();
	snapshot->event = pairing != 0 ? pairing->event : 0;
	snapshot->series = pairing != 0 ? pairing->series : 0;
	snapshot->samples = pairing != 0 ? pairing->samples : 0;
	snapshot->migrations = task->se.nr_migrations;
	snapshot->flags_known = ~0ULL;
	snapshot->pieces = 0;
	take_registers(snapshot, context, task);
}

/* Wake the reader if the ring buffer is half full. */
static inline __attribute__((always_inline)) __u64 wake_up(void)
{
	return bpf_ringbuf_query(&snapshots, BPF_RB_AVAIL_DATA) * 2 >
			       bpf_ringbuf_query(&snapshots, BPF_RB_RING_SIZE)
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

static __attribute__((noinline)) void dcpi_take(struct sample_context *context, __u32 kind)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct branch_snapshot *snapshot;

	snapshot = bpf_ringbuf_reserve(&snapshots, sizeof(*snapshot), 0);
	if (snapshot == 0) {
		__sync_fetch_and_add(&missed, 1);
		return;
	}
	snapshot->head.kind = kind;
	snapshot->head.time_ns = now_ns;
	take_head(&snapshot->head, context, 0);
	take_memory(snapshot);
	bpf_ringbuf_submit(snapshot, wake_up());
	if (kind == DCPI_SNAPSHOT_EXAMINED)
		__sync_fetch_and_add(&spent_ns, bpf_ktime_get_ns() - now_ns);
}

/* The samples of a pair need no memory. */
static __attribute__((noinline)) void dcpi_take_pair(struct sample_context *context, __u32 kind)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 key = 0;
	struct snapshot_pairing *pairing = bpf_map_lookup_elem(&pairings, &key);
	struct dcpi_snapshot *snapshot = bpf_ringbuf_reserve(&snapshots, sizeof(*snapshot), 0);

	if (snapshot == 0) {
		__sync_fetch_and_add(&missed, 1);
		if (kind == DCPI_SNAPSHOT_SECOND)
			__sync_fetch_and_add(&missed_second, 1);
		return;
	}
	snapshot->kind = kind;
	snapshot->time_ns = now_ns;
	take_head(snapshot, context, pairing);
	bpf_ringbuf_submit(snapshot, wake_up());
	__sync_fetch_and_add(&spent_ns, bpf_ktime_get_ns() - now_ns);
}

/* Runs at samples. Return: 1: the kernel continues with the event's record. */
SEC("perf_event")
int dcpi_branch_snapshot(struct sample_context *context)
{
	__u32 every = branch_every;

	if (is_user(context) && (every <= 1 || bpf_get_prandom_u32() % every == 0))
		dcpi_take(context, DCPI_SNAPSHOT_EXAMINED);
	return 1;
}

/* These run after the program that has counted the sample. Return: 0: the kernel makes no record.
 */
SEC("perf_event")
int dcpi_branch_follower(struct sample_context *context)
{
	if (is_user(context))
		dcpi_take(context, DCPI_SNAPSHOT_EXAMINED);
	return 0;
}

SEC("perf_event")
int dcpi_first_follower(struct sample_context *context)
{
	if (is_user(context))
		dcpi_take_pair(context, DCPI_SNAPSHOT_FIRST);
	return 0;
}

SEC("perf_event")
int dcpi_second_follower(struct sample_context *context)
{
	if (is_user(context))
		dcpi_take_pair(context, DCPI_SNAPSHOT_SECOND);
	else
		__sync_fetch_and_add(&missed_second, 1);
	return 0;
}

/* Return: the time that the thread waited for a CPU; 0 if the kernel does not record it. */
static inline __attribute__((always_inline)) __u64 waited(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* If the kernel does not record waiting times, count preemptions as sleeps, too. */
static inline __attribute__((always_inline)) __u64 sleeps(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->nvcsw
								 : task->nvcsw + task->nivcsw;
}

/* Update the times since the previous execution. */
static inline __attribute__((always_inline)) void take_time(struct branch_window *window)
{
	const struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns(), waited_ns = waited(task);
	__s64 gap_ns;
	__u32 thread = bpf_get_current_pid_tgid();

	gap_ns = now_ns - window->last_ns - (waited_ns - window->waited_ns);
	if (window->first_ns == 0) {
		window->first_ns = now_ns;
		window->waited_first_ns = waited_ns;
		window->sleeps = sleeps(task);
		window->thread = thread;
		window->generation = task->self_exec_id;
	} else if (window->thread != thread || window->sleeps != sleeps(task)) {
		window->disturbed = 1;
	} else {
		window->gaps++;
		if (gap_ns > (__s64)window->longest_ns)
			window->longest_ns = gap_ns;
	}
	window->last_ns = now_ns;
	window->waited_ns = waited_ns;
}

/* Runs at a reference branch, before its own execution is counted. */
static inline __attribute__((always_inline)) void count_iteration(__u64 link)
{
	struct reference_counts *reference = &references[link];
	__u64 number = ++*(volatile __u64 *)&reference->begun;

	for (int i = 0; i < BRANCH_WINDOWS; i++) {
		const struct branch_window *window = &windows[link * BRANCH_WINDOWS + i];
		__u64 executions = window->counts[0] + window->counts[1];
		__u64 more = executions - reference->last[i];

		if (number == 1)
			reference->first[i] = executions;
		else
			reference->squares[i] += more * more;
		reference->last[i] = executions;
	}
	*(volatile __u64 *)&reference->done = number;
}

/*
 * Runs at a probed branch; the cookie is the index of its struct branch_window. Return: 0: the
 * kernel makes no record.
 */
SEC("uprobe")
int dcpi_branch_probe(struct sample_context *context)
{
	__u64 number = bpf_get_attach_cookie(context);
	struct branch_window *window;

	if (number >= BRANCH_LINKS * BRANCH_WINDOWS)
		return 0;
	window = &windows[number];
	take_time(window);
	if (window->is_reference != 0)
		count_iteration(number / BRANCH_WINDOWS);
	if (window->condition < WINDOW_SNAPSHOTS)
		__sync_fetch_and_add(&window->counts[is_taken(context, window->condition)], 1);
	else if (__sync_fetch_and_add(&window->counts[0], 1) < WINDOW_SNAPSHOTS_MAX)
		dcpi_take(context, DCPI_SNAPSHOT_PROBE);
	return 0;
}
