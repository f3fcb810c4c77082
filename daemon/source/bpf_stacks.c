// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/bpf_stacks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/source/bpf/stack_copy.h"
#include "daemon/source/bpf_slot.h"
#include "daemon/source/kernel_types.h"
#include "daemon/source/source_stack.h"
#include "daemon/source/stack_copy_read.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Warnings in bpftool's generated code. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "daemon/source/bpf/stack_copy.skel.h"
#pragma GCC diagnostic pop

/* A new period is drawn after this number of stacks of a CPU, as in perf_stack.c. */
#define PERIOD_SAMPLES 64

/* @slots, @counts: by CPU; @counts: stacks since the last new period */
struct bpf_stacks {
	struct source_config config;
	struct source_event event;
	struct stack_copy *skeleton;
	struct ring_buffer *ring;
	struct bpf_slot *slots;
	uint32_t *counts;
	uint32_t cpus;
	const struct source_sink *sink;
	uint64_t synced_ns;
	uint64_t malformed;
};

static const struct kernel_struct kernel_structs[] = {
	{"task_struct", {"flags", "self_exec_id"}},
};

/* Image events up to the time of the stack must have been processed before it is unwound. */
static int copy_take(void *context, void *data, size_t bytes)
{
	struct bpf_stacks *stacks = context;
	const struct stack_copy_record *copy = data;
	struct source_stack stack;

	if (!stack_copy_read(&stack, copy, bytes) || copy->cpu >= stacks->cpus) {
		stacks->malformed++;
		return 0;
	}
	if (copy->time_ns >= stacks->synced_ns) {
		stacks->synced_ns = clock_monotonic_ns();
		stacks->config.sync(stacks->config.context);
	}
	stacks->counts[copy->cpu]++;
	stacks->sink->stack(stacks->sink->context, &stack);
	return 0;
}

/* @types_fd: the kernel types that the program uses; -1: libbpf reads all of them */
static int skeleton_load_with(struct bpf_stacks *stacks, int types_fd)
{
	char path[32];
	struct bpf_object_open_opts options = {.sz = sizeof(options)};
	struct stack_copy *skeleton;
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types_fd);
	if (types_fd >= 0)
		options.btf_custom_path = path;
	skeleton = stack_copy__open_opts(&options);
	if (skeleton == NULL)
		return -errno;
	bpf_map__set_max_entries(skeleton->maps.copies, stack_copy_ring_bytes(stacks->cpus));
	bpf_map__set_max_entries(skeleton->maps.scratch, stacks->cpus);
	r = stack_copy__load(skeleton);
	if (r < 0)
		stack_copy__destroy(skeleton);
	else
		stacks->skeleton = skeleton;
	return r;
}

static int skeleton_load(struct bpf_stacks *stacks, struct error *err)
{
	_cleanup_close_ int types_fd =
		kernel_types_open(KERNEL_TYPES_PATH, kernel_structs,
				  sizeof(kernel_structs) / sizeof(*kernel_structs));
	int r = types_fd >= 0 ? skeleton_load_with(stacks, types_fd) : -ENOENT;

	/* EPERM: it would be refused again. */
	if (r < 0 && r != -EPERM) {
		r = skeleton_load_with(stacks, -1);
		/* libbpf has read all kernel types, and freed them again. */
		malloc_trim(0);
	}
	if (r < 0)
		return error_set(err, -r, "the kernel rejects the BPF program of call stacks");
	stacks->ring = ring_buffer__new(bpf_map__fd(stacks->skeleton->maps.copies), copy_take,
					stacks, NULL);
	return stacks->ring == NULL ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

int bpf_stacks_open(struct bpf_stacks **ret, const struct source_config *config, uint32_t cpus,
		    struct error *err)
{
	struct bpf_stacks *stacks = calloc(1, sizeof(*stacks));
	int r;

	if (stacks == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	stacks->config = *config;
	stacks->cpus = cpus;
	bpf_stacks_set_period(stacks, &config->events[0]);
	stacks->slots = calloc(cpus, sizeof(*stacks->slots));
	stacks->counts = calloc(cpus, sizeof(*stacks->counts));
	r = stacks->slots == NULL || stacks->counts == NULL
		    ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
		    : skeleton_load(stacks, err);
	if (r < 0) {
		bpf_stacks_close(stacks);
		return r;
	}
	*ret = stacks;
	return 0;
}

void bpf_stacks_close(struct bpf_stacks *stacks)
{
	if (stacks == NULL)
		return;
	for (uint32_t cpu = 0; stacks->slots != NULL && cpu < stacks->cpus; cpu++)
		bpf_stacks_cpu_close(stacks, cpu);
	ring_buffer__free(stacks->ring);
	stack_copy__destroy(stacks->skeleton);
	free(stacks->counts);
	free(stacks->slots);
	free(stacks);
}

int bpf_stacks_fd(const struct bpf_stacks *stacks)
{
	return ring_buffer__epoll_fd(stacks->ring);
}

void bpf_stacks_cpu_open(struct bpf_stacks *stacks, uint32_t cpu)
{
	struct bpf_slot_config config;

	if (stacks == NULL)
		return;
	config = (struct bpf_slot_config){
		.event = &stacks->event,
		.number = DCPI_EVENTS_MAX,
		.cpu = cpu,
		.program_fd = bpf_program__fd(stacks->skeleton->progs.dcpi_stack_copy),
		.user_only = stacks->config.user_only,
	};
	bpf_slot_open(&stacks->slots[cpu], &config, NULL);
}

void bpf_stacks_cpu_close(struct bpf_stacks *stacks, uint32_t cpu)
{
	if (stacks != NULL)
		bpf_slot_close(&stacks->slots[cpu]);
}

void bpf_stacks_enable(struct bpf_stacks *stacks, uint32_t cpu)
{
	if (stacks != NULL)
		event_ring_enable(&stacks->slots[cpu].event);
}

void bpf_stacks_disable(struct bpf_stacks *stacks)
{
	for (uint32_t cpu = 0; stacks != NULL && cpu < stacks->cpus; cpu++)
		event_ring_disable(&stacks->slots[cpu].event);
}

void bpf_stacks_set_period(struct bpf_stacks *stacks, const struct source_event *event)
{
	if (stacks == NULL)
		return;
	event_ring_stretch(&stacks->event, event, stacks->config.stack_every);
	for (uint32_t cpu = 0; stacks->slots != NULL && cpu < stacks->cpus; cpu++)
		event_ring_set_window(&stacks->slots[cpu].event, &stacks->event);
}

void bpf_stacks_drain(struct bpf_stacks *stacks, const struct source_sink *sink)
{
	if (stacks == NULL || sink->stack == NULL)
		return;
	stacks->sink = sink;
	ring_buffer__consume(stacks->ring);
	for (uint32_t cpu = 0; cpu < stacks->cpus; cpu++) {
		bpf_slot_read_ring(&stacks->slots[cpu]);
		if (stacks->counts[cpu] < PERIOD_SAMPLES)
			continue;
		event_ring_new_period(&stacks->slots[cpu].event);
		stacks->counts[cpu] = 0;
	}
}

void bpf_stacks_report(const struct bpf_stacks *stacks, source_counter_fn visit, void *context)
{
	if (stacks == NULL)
		return;
	visit(context, "stat", "stacks_lost",
	      __atomic_load_n(&stacks->skeleton->bss->missed, __ATOMIC_RELAXED));
	visit(context, "stat", "stacks_malformed", stacks->malformed);
	visit(context, "stat", "stacks_spent_us",
	      __atomic_load_n(&stacks->skeleton->bss->spent_ns, __ATOMIC_RELAXED) / NS_PER_US);
}
