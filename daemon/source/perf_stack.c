// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/perf_stack.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/source/perf_registers.h"
#include "daemon/source/perf_slot.h"
#include "daemon/source/source_stack.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/perf/perf_ring.h"
#include "loader-hook/perf/ring_reader.h"

/*
 * Without privileges, a user may lock 129 pages for each CPU. Samples need 64 of them, and the side
 * band some.
 */
#define PAGES_PRIVILEGED 128
#define PAGES_LIMITED 32
/* A ring holds this number of records. */
#define RECORDS 8
/* The size of a record is a 16-bit number; the rest of the record needs less than 3 KB. */
#define STACK_BYTES_MAX 62464
#define CONTEXT_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define KERNEL_DEPTH 128
/*
 * A new period is drawn after this number of samples. It restarts the event, so the time since the
 * last sample is not sampled, which is up to the interval of drains.
 */
#define PERIOD_SAMPLES 64

/*
 * @event:  the first event of the source, with longer periods
 * @slots:  by CPU
 * @failed: a record was not understood
 */
struct perf_stacks {
	struct source_config config;
	struct source_event event;
	struct perf_slot *slots;
	uint32_t cpus;
	uint32_t pages;
	uint32_t stack_bytes;
	struct ring_reader *reader;
	uint64_t failed;
	uint64_t kernel[KERNEL_DEPTH];
};

static bool locks_any_memory(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[0].effective & 1U << CAP_IPC_LOCK) != 0;
}

int perf_stacks_open(struct perf_stacks **ret, const struct source_config *config, uint32_t cpus,
		     struct error *err)
{
	struct perf_stacks *stacks = calloc(1, sizeof(*stacks));
	int r;

	if (stacks == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	stacks->config = *config;
	stacks->cpus = cpus;
	stacks->pages = locks_any_memory() ? PAGES_PRIVILEGED : PAGES_LIMITED;
	stacks->stack_bytes = stacks->pages * (uint32_t)sysconf(_SC_PAGESIZE) / RECORDS - 2048;
	if (stacks->stack_bytes > STACK_BYTES_MAX)
		stacks->stack_bytes = STACK_BYTES_MAX;
	event_ring_stretch(&stacks->event, &config->events[0], config->stack_every);
	stacks->slots = calloc(cpus, sizeof(*stacks->slots));
	r = stacks->slots == NULL ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
				  : ring_reader_open(&stacks->reader, err);
	if (r < 0) {
		perf_stacks_close(stacks);
		return r;
	}
	*ret = stacks;
	return 0;
}

void perf_stacks_close(struct perf_stacks *stacks)
{
	if (stacks == NULL)
		return;
	for (uint32_t cpu = 0; stacks->slots != NULL && cpu < stacks->cpus; cpu++)
		perf_stacks_cpu_close(stacks, cpu);
	ring_reader_close(stacks->reader);
	free(stacks->slots);
	free(stacks);
}

/*
 * struct parts - of a record
 * @data: the copy of the stack; @copied bytes of it are valid, out of @room
 */
struct parts {
	const uint64_t *chain;
	uint64_t chain_count;
	uint64_t abi;
	const uint64_t *registers;
	uint8_t *data;
	uint64_t room;
	uint64_t *copied;
};

/* Divide a record: call chain, registers, stack. Return: false if it is malformed. */
static bool parts_find(struct parts *parts, struct perf_event_header *record, size_t registers)
{
	uint64_t *word = (uint64_t *)((struct perf_sample *)(void *)record + 1);
	uint64_t words = record->size / sizeof(*word) - sizeof(struct perf_sample) / sizeof(*word);

	if (record->size < sizeof(struct perf_sample) || words < 2 || *word > words - 2)
		return false;
	*parts = (struct parts){.chain = word + 1, .chain_count = *word};
	word += 1 + parts->chain_count;
	words -= 1 + parts->chain_count;
	parts->abi = *word++;
	words--;
	if (parts->abi != PERF_SAMPLE_REGS_ABI_NONE) {
		if (words < registers)
			return false;
		parts->registers = word;
		word += registers;
		words -= registers;
	}
	if (words < 1 || *word % sizeof(*word) != 0 || *word / sizeof(*word) > words - 1)
		return false;
	parts->room = *word;
	if (parts->room == 0)
		return true;
	if (words - 1 < parts->room / sizeof(*word) + 1)
		return false;
	parts->data = (uint8_t *)(word + 1);
	parts->copied = word + 1 + parts->room / sizeof(*word);
	return *parts->copied <= parts->room;
}

static size_t register_count(void)
{
	return (size_t)__builtin_popcountll(perf_registers_mask());
}

/* Remove the part of a record that the kernel did not fill. */
static uint16_t record_shorten(struct perf_event_header *record)
{
	struct parts parts;
	uint64_t copied, room;

	if (record->type != PERF_RECORD_SAMPLE || !parts_find(&parts, record, register_count()) ||
	    parts.room == 0)
		return record->size;
	copied = *parts.copied;
	/* The next multiple of eight, and a word more: less than the room means "not cut". */
	room = (copied + 7) / 8 * 8 + 8;
	if (room >= parts.room)
		return record->size;
	memcpy(parts.data - sizeof(room), &room, sizeof(room));
	memcpy(parts.data + room, &copied, sizeof(copied));
	return (uint16_t)(record->size - (parts.room - room));
}

void perf_stacks_cpu_open(struct perf_stacks *stacks, uint32_t cpu)
{
	struct perf_slot_config config;
	struct perf_slot *slot;

	if (stacks == NULL || perf_registers_mask() == 0)
		return;
	slot = &stacks->slots[cpu];
	config = (struct perf_slot_config){
		.event = &stacks->event,
		.number = DCPI_EVENTS_MAX,
		.cpu = cpu,
		.target_pid = stacks->config.target_pid,
		.user_only = stacks->config.user_only,
		.registers = perf_registers_mask(),
		.stack_bytes = stacks->stack_bytes,
		.ring_pages = stacks->pages,
	};
	if (perf_slot_open(slot, &config, NULL) < 0)
		return;
	perf_ring_shorten(slot->event.ring, record_shorten);
	if (ring_reader_add(stacks->reader, slot->event.ring, NULL) < 0)
		perf_slot_close(slot);
}

void perf_stacks_cpu_close(struct perf_stacks *stacks, uint32_t cpu)
{
	if (stacks == NULL || stacks->slots[cpu].event.ring == NULL)
		return;
	ring_reader_remove(stacks->reader, stacks->slots[cpu].event.ring);
	perf_slot_close(&stacks->slots[cpu]);
}

void perf_stacks_enable(struct perf_stacks *stacks, uint32_t cpu)
{
	if (stacks != NULL)
		event_ring_enable(&stacks->slots[cpu].event);
}

void perf_stacks_disable(struct perf_stacks *stacks)
{
	for (uint32_t cpu = 0; stacks != NULL && cpu < stacks->cpus; cpu++)
		event_ring_disable(&stacks->slots[cpu].event);
}

void perf_stacks_set_period(struct perf_stacks *stacks, const struct source_event *event)
{
	if (stacks == NULL)
		return;
	event_ring_stretch(&stacks->event, event, stacks->config.stack_every);
	for (uint32_t cpu = 0; cpu < stacks->cpus; cpu++)
		event_ring_set_window(&stacks->slots[cpu].event, &stacks->event);
}

static void registers_take(struct unwind_registers *to, const struct perf_sample *sample,
			   const struct parts *parts)
{
	struct dcpi_snapshot state;

	if (perf_registers_take(&state, sample, parts->abi, parts->registers))
		perf_registers_unwind(to, perf_registers_mask(), parts->registers);
}

/* Markers of perf separate the parts of a chain. */
static size_t kernel_take(struct perf_stacks *stacks, const struct parts *parts)
{
	size_t count = 0;

	for (uint64_t i = 0; i < parts->chain_count && count < KERNEL_DEPTH; i++) {
		if (parts->chain[i] < (uint64_t)PERF_CONTEXT_MAX)
			stacks->kernel[count++] = parts->chain[i];
	}
	return count;
}

struct stacks_drain {
	struct perf_stacks *stacks;
	const struct source_sink *sink;
};

static void stack_take(void *context, const struct perf_sample *sample)
{
	const struct stacks_drain *drain = context;
	struct perf_stacks *stacks = drain->stacks;
	const struct source_config *config = &stacks->config;
	struct source_stack stack = {.tag = 0};
	uint32_t generation;
	struct parts parts;

	if (!source_config_wants(config, sample->pid))
		return;
	if (!parts_find(&parts, (struct perf_event_header *)(uintptr_t)&sample->header,
			register_count())) {
		stacks->failed++;
		return;
	}
	generation = config->generation(config->context, sample->pid, sample->time_ns);
	stack.tag = dcpi_tag(sample->pid, generation, 0);
	stack.tid = sample->tid;
	stack.kernel = stacks->kernel;
	stack.kernel_count = kernel_take(stacks, &parts);
	stack.user_allowed = parts.abi != PERF_SAMPLE_REGS_ABI_NONE || stack.kernel_count == 0;
	registers_take(&stack.registers, sample, &parts);
	stack.stack = parts.data;
	stack.stack_bytes = parts.copied != NULL ? *parts.copied : 0;
	stack.cut = stack.stack_bytes == stacks->stack_bytes;
	drain->sink->stack(drain->sink->context, &stack);
}

void perf_stacks_drain(struct perf_stacks *stacks, uint64_t until_ns,
		       const struct source_sink *sink)
{
	struct stacks_drain drain = {stacks, sink};

	for (uint32_t cpu = 0; stacks != NULL && sink->stack != NULL && cpu < stacks->cpus; cpu++) {
		perf_slot_drain(&stacks->slots[cpu], until_ns, stack_take, &drain);
		if (stacks->slots[cpu].drained >= PERIOD_SAMPLES)
			perf_slot_new_period(&stacks->slots[cpu]);
	}
}

void perf_stacks_report(struct perf_stacks *stacks, source_counter_fn visit, void *context)
{
	uint64_t lost = 0;

	if (stacks == NULL)
		return;
	for (uint32_t cpu = 0; cpu < stacks->cpus; cpu++) {
		perf_slot_read(&stacks->slots[cpu]);
		lost += stacks->slots[cpu].lost;
	}
	visit(context, "stat", "stacks_lost", lost);
	visit(context, "stat", "stacks_malformed", stacks->failed);
}
