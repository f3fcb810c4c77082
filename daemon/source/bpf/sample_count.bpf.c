// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts samples in the kernel: runs at each overflow of a perf event. It passes one in several
 * samples on to follower programs, and also pairs of samples (kmod/core/sample_pairing.h). An
 * iterator program returns the exec generation of a process.
 *
 * The few kernel types are declared by hand: libbpf relocates them (CO-RE).
 */
#include <linux/bpf.h>

#include "daemon/source/bpf/sample_count.h"
#include "daemon/source/bpf/snapshot_pairing.h"

#ifdef __bpf__ /* the unit test defines its own */
#include <bpf/bpf_helpers.h>

#define kernel_type __attribute__((preserve_access_index))

/*
 * An atomic exchange is a barrier on every CPU; an atomic addition whose result is unused is not.
 */
#define hand_over(at, entries) ((void)__sync_lock_test_and_set(at, entries))

/* Constant to the verifier: these are read-only when it checks the program. */
const volatile __u32 buckets_per_cpu = 1;
const volatile __u32 entries_per_buffer = 1;
/* One in @follow_every of a CPU's user-space samples is examined; 0: none. */
const volatile __u32 follow_every = 0;
#endif

const char program_license[] SEC("license") = "GPL";

struct task_struct {
	int pid;
	int tgid;
	__u32 self_exec_id;
} kernel_type;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} kernel_type;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} kernel_type;

/* struct bpf_perf_event_data up to the last register used; part of the user-space ABI. */
#if defined(__TARGET_ARCH_x86)
struct sample_context {
	__u64 registers[16];
	__u64 pc, cs, flags, sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct sample_context {
	__u64 registers[31];
	__u64 sp, pc;
};
#else
#error "where is the program counter on this architecture?"
#endif

/* max_entries of the arrays is set when the program is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_bucket);
} table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dcpi_sample);
} buffers SEC(".maps");

/*
 * The contents are not used. An update of a map of maps returns after all programs that might have
 * seen the old value have ended, which serves as a grace period.
 */
struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} inner SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct inner);
} grace SEC(".maps") = {.values = {&inner}};

/* The followers, by enum bpf_follower. A follower replaces the rest of this program. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, BPF_FOLLOWERS);
	__type(key, __u32);
	__type(value, __u32);
} follower SEC(".maps");

/* If there are followers, this is their map. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct snapshot_pairing);
} pairings SEC(".maps");

#define writer_inline static inline __attribute__((always_inline))
#define writer_barrier() __asm__ __volatile__("" ::: "memory")

writer_inline struct bpf_bucket *bucket_at(__u32 index)
{
	return bpf_map_lookup_elem(&table, &index);
}

writer_inline struct dcpi_sample *entry_at(__u32 index)
{
	return bpf_map_lookup_elem(&buffers, &index);
}

/*
 * Switch to the other buffer, if it is free, and then hand over the full one. The order matters: a
 * reader that has taken the full buffer must not find the cursor in it any more.
 * @wake, here and below: set to 1 if the reader should be woken.
 */
writer_inline int buffer_flip(struct bpf_cpu *cpu, __u32 active, int *wake)
{
	if (*(volatile __u64 *)&cpu->ready[(active ^ 1) & 1] != 0)
		return 0;
	cpu->cursor = active != 0 ? 0 : BPF_CURSOR_ACTIVE;
	hand_over(&cpu->ready[active & 1], entries_per_buffer);
	cpu->flips++;
	*wake = 1;
	return 1;
}

/*
 * Append an entry. While the reader still has the other buffer, the cursor of a full one stays at
 * its end.
 */
writer_inline int buffer_append(struct bpf_cpu *cpu, __u32 number, __u64 pc, __u64 tag, int *wake)
{
	__u32 active = cpu->cursor >> 31, fill = cpu->cursor & ~BPF_CURSOR_ACTIVE;
	struct dcpi_sample *entry;

	if (fill >= entries_per_buffer) {
		if (!buffer_flip(cpu, active, wake))
			return 0;
		active ^= 1;
		fill = 0;
	}
	entry = entry_at((number * 2 + active) * entries_per_buffer + fill);
	if (entry == 0)
		return 0;
	entry->pc = pc;
	entry->tag = tag;
	writer_barrier();
	cpu->cursor++;
	if (fill + 1 == entries_per_buffer)
		buffer_flip(cpu, active, wake);
	return 1;
}

/* Insert a new key at the front. The other entries move back by one and the last one is evicted. */
writer_inline int count_missing(struct bpf_cpu *cpu, __u32 number, struct bpf_bucket *bucket,
				__u64 pc, __u64 tag)
{
	struct dcpi_sample *way = bucket->way;
	int wake = 0;

	if (dcpi_tag_count(way[BPF_WAYS - 1].tag) != 0) {
		if (!buffer_append(cpu, number, way[BPF_WAYS - 1].pc, way[BPF_WAYS - 1].tag,
				   &wake)) {
			cpu->lost++;
			return 0;
		}
		cpu->evictions++;
	}
	way[3] = way[2];
	way[2] = way[1];
	way[1] = way[0];
	way[0].pc = pc;
	way[0].tag = tag + 1;
	cpu->misses++;
	return wake;
}

/* Swap the entry that hit with the front entry. */
writer_inline struct dcpi_sample *to_front(struct bpf_bucket *bucket, int way)
{
	struct dcpi_sample *front = &bucket->way[0], *entry = &bucket->way[way];
	__u64 pc = entry->pc, tag = entry->tag;

	entry->pc = front->pc;
	entry->tag = front->tag;
	front->pc = pc;
	front->tag = tag;
	return front;
}

/* An entry whose count has reached the maximum is evicted to the buffer and starts again. */
writer_inline int count_hit(struct bpf_cpu *cpu, __u32 number, struct dcpi_sample *entry, __u64 tag)
{
	int wake = 0;

	if (dcpi_tag_count(entry->tag) != DCPI_COUNT_MAX) {
		entry->tag++;
	} else if (buffer_append(cpu, number, entry->pc, entry->tag, &wake)) {
		cpu->evictions++;
		entry->tag = tag + 1;
	} else {
		cpu->lost++;
		return 0;
	}
	cpu->hits++;
	return wake;
}

writer_inline int count_direct(struct bpf_cpu *cpu, __u32 number, __u64 pc, __u64 tag)
{
	int wake = 0;

	if (buffer_append(cpu, number, pc, tag + 1, &wake))
		cpu->direct++;
	else
		cpu->lost++;
	return wake;
}

/* Count one sample of the current CPU. @tag: with a count of zero. */
writer_inline int count(struct bpf_cpu *cpu, __u32 number, __u64 pc, __u64 tag)
{
	__u64 hash = (pc ^ tag >> 11) * 0x4f1bbcdd;
	struct bpf_bucket *bucket;
	int way;

	if (*(volatile __u32 *)&cpu->flushing)
		return count_direct(cpu, number, pc, tag);
	bucket =
		bucket_at(number * buckets_per_cpu + ((__u32)(hash >> 32) & (buckets_per_cpu - 1)));
	if (bucket == 0)
		return count_direct(cpu, number, pc, tag);
#pragma GCC unroll 4
	for (way = 0; way < BPF_WAYS; way++) {
		struct dcpi_sample *entry = &bucket->way[way];

		/*
		 * The keys are equal, with any count except 0, if the tags differ only below the
		 * key bits.
		 */
		if (entry->pc == pc && (entry->tag ^ tag) >> DCPI_COUNT_BITS == 0 &&
		    dcpi_tag_count(entry->tag) != 0)
			return count_hit(cpu, number, to_front(bucket, way), tag);
	}
	return count_missing(cpu, number, bucket, pc, tag);
}

writer_inline int is_user(const struct sample_context *context)
{
	return context->pc >> 63 == 0;
}

/* Pass members of the snapshot to the follower. */
writer_inline void pairing_pass(const struct bpf_cpu *cpu, __u32 event)
{
	__u32 key = 0;
	struct snapshot_pairing *to = bpf_map_lookup_elem(&pairings, &key);

	if (to == 0)
		return;
	to->event = event;
	to->series = cpu->series;
	to->samples = cpu->pairing.samples;
}

/*
 * A sample while a pair is to begin or to end.
 * @wake: here and below: the sample must make a record, so no follower may replace this program
 */
writer_inline void pair_step(struct bpf_cpu *cpu, struct sample_context *context, __u64 thread,
			     __u32 event, int wake)
{
	enum sample_pairing_outcome outcome = sample_pairing_step(
		&cpu->pairing, thread, is_user(context), context->pc, context->sp);

	if (outcome == SAMPLE_PAIRING_BEGINS && wake)
		return; /* the next one begins it */
	cpu->outcomes[outcome % SAMPLE_PAIRING_OUTCOMES]++;
	if (outcome == SAMPLE_PAIRING_BEGINS) {
		cpu->series++;
		cpu->begun++;
		sample_pairing_begin(&cpu->pairing, thread, context->pc, context->sp);
		pairing_pass(cpu, event);
		bpf_tail_call(context, &follower, BPF_FOLLOWER_FIRST);
	} else if (outcome == SAMPLE_PAIRING_MATCHED) {
		pairing_pass(cpu, event);
		if (!wake)
			bpf_tail_call(context, &follower, BPF_FOLLOWER_SECOND);
		cpu->missed++;
	}
}

writer_inline int is_examined(struct bpf_cpu *cpu, const struct sample_context *context)
{
	if (!is_user(context) || cpu->follow_wait-- > 0)
		return 0;
	cpu->follow_wait = follow_every - 1;
	return 1;
}

/* One program can follow. If two should, the examination is postponed to the next sample. */
writer_inline void examine(struct bpf_cpu *cpu, struct sample_context *context, __u64 tag,
			   __u32 tid, int wake)
{
	__u32 event = dcpi_tag_event(tag);
	__u64 thread = sample_pairing_thread(tag & ~(__u64)0xffffffff, tid);

	if (!sample_pairing_is_idle(&cpu->pairing) && cpu->pair_event == event) {
		if (cpu->follow_wait > 0 && is_user(context))
			cpu->follow_wait--;
		pair_step(cpu, context, thread, event, wake);
	} else if (!wake && is_examined(cpu, context)) {
		if (sample_pairing_is_idle(&cpu->pairing)) {
			cpu->pair_event = event;
			sample_pairing_arm(&cpu->pairing);
		}
		pairing_pass(cpu, event);
		bpf_tail_call(context, &follower, BPF_FOLLOWER_EXAMINED);
	}
}

/*
 * The cookie is the event's number. Return: 1: the kernel continues as if there were no program,
 * that is, it writes a record into the event's ring and wakes its poller; 0: it does nothing more.
 */
SEC("perf_event")
int dcpi_sample_count(struct sample_context *context)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	__u32 number = bpf_get_smp_processor_id();
	struct bpf_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
	__u64 tag;
	int wake;

	if (cpu == 0)
		return 0;
	tag = dcpi_tag((__u32)task->tgid, task->self_exec_id,
		       (__u32)bpf_get_attach_cookie(context));
	wake = count(cpu, number, context->pc, tag);
	if (follow_every != 0)
		examine(cpu, context, tag, (__u32)task->pid, wake);
	return wake;
}

/* Returns the exec generation of one task to an iterator. */
SEC("iter/task")
int dcpi_process_generation(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	__u32 generation;

	if (task == 0)
		return 0;
	generation = task->self_exec_id;
	bpf_seq_write(context->meta->seq, &generation, sizeof(generation));
	return 0;
}
