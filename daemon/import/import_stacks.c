// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/import_stacks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "daemon/collect/stack_unwinder.h"
#include "daemon/image/image_table.h"
#include "daemon/import/import_images.h"
#include "daemon/import/perfdata_header.h"
#include "daemon/import/perfdata_stack.h"
#include "daemon/source/perf_registers.h"
#include "daemon/source/source_stack.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Four times the tree of dcpid's epochs: the import ends, and then frees it. */
#define NODES_MAX (4 * STACK_STORE_NODES_MAX)
/* Maximum time that a stack waits for the contents of files that other users could write. */
#define FILES_WAIT_NS (2 * NS_PER_SECOND)
/* One more than an unwinder accepts: a longer chain ends with that reason. */
#define CHAIN_MAX (UNWIND_FRAMES_MAX + 1)
#define REGISTERS_MAX 64
#define CONTEXT_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define CONTEXT_USER ((uint64_t)PERF_CONTEXT_USER)
#define CONTEXT_MAX ((uint64_t)PERF_CONTEXT_MAX)
/* PERF_CONTEXT_USER_DEFERRED: the next number is a cookie, and the chain is in a later record. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

/*
 * @registers_ours: registers in the recording are those of this architecture
 * @sample:         of the current stack
 * @kernel, @chain: of the current stack, innermost first
 */
struct import_stacks {
	struct stack_unwinder *unwinder;
	const struct perfdata_header *header;
	struct import_images *images;
	bool registers_ours;
	const struct perfdata_sample *sample;
	uint64_t kernel[CHAIN_MAX];
	uint64_t chain[CHAIN_MAX];
};

/* A stack is unwound before later records are processed, so its process is that of the sample. */
static struct image_place code_place(void *context, uint64_t tag, uint64_t pc)
{
	const struct import_stacks *stacks = context;
	struct perfdata_sample sample = *stacks->sample;

	(void)tag;
	sample.ip = pc;
	return import_images_place(stacks->images, &sample);
}

static uint32_t nobody(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
	return 0;
}

static bool is_our_machine(const struct perfdata_header *header)
{
	struct utsname name;

	return header->arch[0] == '\0' ||
	       (uname(&name) == 0 && strcmp(name.machine, header->arch) == 0);
}

int import_stacks_create(struct import_stacks **ret, const struct perfdata_header *header,
			 struct import_images *images, struct error *err)
{
	struct import_stacks *stacks = calloc(1, sizeof(*stacks));
	const struct stack_unwinder_code code = {
		.place = code_place,
		.uid = nobody,
		.context = stacks,
		.images = import_images_table(images),
		.table_bytes = STACK_UNWINDER_TABLE_BYTES_ONE,
		.held_bytes = STACK_UNWINDER_HELD_BYTES_ONE,
		.vdso_here = import_images_kernel_here(images),
	};

	if (stacks == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	stacks->header = header;
	stacks->images = images;
	stacks->registers_ours = is_our_machine(header);
	stacks->unwinder = stack_unwinder_create(&code, NODES_MAX);
	if (stacks->unwinder == NULL) {
		free(stacks);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	*ret = stacks;
	return 0;
}

void import_stacks_destroy(struct import_stacks *stacks)
{
	if (stacks == NULL)
		return;
	stack_unwinder_destroy(stacks->unwinder);
	free(stacks);
}

static void address_add(uint64_t *addresses, size_t *count, uint64_t address)
{
	if (*count < CHAIN_MAX)
		addresses[(*count)++] = address;
}

/* Divide a chain at its markers. Return: true: it has a part in user space, perhaps empty. */
static bool chain_divide(struct import_stacks *stacks, const struct perfdata_words *chain,
			 size_t *kernel_count, size_t *user_count)
{
	bool has_user = false;
	uint64_t part = 0;

	for (size_t i = 0; i < chain->count; i++) {
		uint64_t word = perfdata_word(chain, i);

		if (word >= CONTEXT_MAX) {
			part = word;
			has_user |= part == CONTEXT_USER || part == CONTEXT_USER_DEFERRED;
		} else if (part == CONTEXT_KERNEL) {
			address_add(stacks->kernel, kernel_count, word);
		} else if (part == CONTEXT_USER) {
			address_add(stacks->chain, user_count, word);
		}
	}
	return has_user;
}

/* The innermost frame is the sample's address, also if the recording has no chain of that part. */
static void sample_put(uint64_t *addresses, size_t *count, uint64_t ip)
{
	if (*count == 0)
		*count = 1;
	addresses[0] = ip;
}

/* Calls in branch records, the last first; the PC in user space precedes them. */
static void branches_add(struct import_stacks *stacks, const struct perfdata_words *branches,
			 size_t *count)
{
	if (branches->count > 0 && *count == 0)
		address_add(stacks->chain, count, perfdata_word(branches, 1));
	if (*count > 1)
		*count = 1;
	for (size_t i = 0; i + PERFDATA_BRANCH_WORDS <= branches->count; i += PERFDATA_BRANCH_WORDS)
		address_add(stacks->chain, count, perfdata_word(branches, i));
}

static void copy_take(const struct import_stacks *stacks, const struct perfdata_event *event,
		      const struct perfdata_stack *recorded, struct source_stack *ret)
{
	uint64_t registers[REGISTERS_MAX];

	if (recorded->abi != PERF_SAMPLE_REGS_ABI_64 || !stacks->registers_ours)
		return;
	for (size_t i = 0; i < recorded->registers.count && i < REGISTERS_MAX; i++)
		registers[i] = perfdata_word(&recorded->registers, i);
	perf_registers_unwind(&ret->registers, event->user_registers, registers);
	ret->stack = recorded->stack;
	ret->stack_bytes = recorded->stack_bytes;
	ret->cut = recorded->stack_bytes == recorded->stack_room;
}

static void stack_take(struct import_stacks *stacks, const struct perfdata_event *event,
		       const struct perfdata_stack *recorded, struct source_stack *ret)
{
	const uint64_t copied = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	bool in_kernel = stacks->sample->ip >> 63 != 0;
	bool has_user =
		chain_divide(stacks, &recorded->chain, &ret->kernel_count, &ret->chain_count);

	ret->has_chain = (event->sample_type & copied) != copied;
	ret->chain_full = ret->kernel_count + ret->chain_count >= event->chain_max;
	if (in_kernel)
		sample_put(stacks->kernel, &ret->kernel_count, stacks->sample->ip);
	else
		sample_put(stacks->chain, &ret->chain_count, stacks->sample->ip);
	if (!ret->has_chain) {
		ret->chain_count = 0;
		ret->user_allowed = recorded->abi != PERF_SAMPLE_REGS_ABI_NONE || !in_kernel;
		copy_take(stacks, event, recorded, ret);
		return;
	}
	/* The chain of a kernel thread has no part in user space. */
	ret->user_allowed = has_user || !in_kernel || ret->chain_full || event->chain_no_user;
	if (perfdata_stack_is_branches(event)) {
		ret->chain_calls = true;
		branches_add(stacks, &recorded->branches, &ret->chain_count);
		ret->user_allowed |= recorded->branches.count > 0;
	}
}

void import_stacks_add(struct import_stacks *stacks, const struct perfdata_sample *sample,
		       const struct perfdata_stack *recorded)
{
	const struct perfdata_event *event = &stacks->header->events.event[sample->event];
	struct source_stack stack = {.kernel = stacks->kernel, .chain = stacks->chain};

	stacks->sample = sample;
	if (recorded != NULL) {
		stack_take(stacks, event, recorded, &stack);
	} else {
		stack.damaged = stack.has_chain = stack.user_allowed = true;
		if (sample->ip >> 63 != 0)
			sample_put(stacks->kernel, &stack.kernel_count, sample->ip);
		else
			sample_put(stacks->chain, &stack.chain_count, sample->ip);
	}
	stack_unwinder_add(stacks->unwinder, &stack);
	if (!stack_unwinder_holds(stacks->unwinder))
		return;
	image_table_settle(import_images_table(stacks->images), FILES_WAIT_NS);
	stack_unwinder_finish(stacks->unwinder, true);
}

const struct stack_store *import_stacks_store(const struct import_stacks *stacks)
{
	return stack_unwinder_store(stacks->unwinder);
}

void import_stacks_counters(const struct import_stacks *stacks, struct counter_set *tally)
{
	stack_unwinder_counters(stacks->unwinder, tally);
}
