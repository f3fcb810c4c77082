// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/mman.h>

#include "instrument/runtime/runtime.h"

static uint64_t *memories_of(struct profile_layout_state *state)
{
	return (uint64_t *)((char *)state + state->memories);
}

static int is_error(long result)
{
	return result < 0 && result > -4096;
}

/* The block of a thread that has ended serves another one. */
static uint32_t find_abandoned(struct profile_layout_header *header, uint32_t blocks,
			       uint32_t thread)
{
	uint32_t process = header->process;

	for (uint32_t i = 0; i < blocks; i++) {
		uint32_t owner = header->owners[i];

		if (owner != 0 && CALL3(SYS_tgkill, process, owner, 0) == -ESRCH &&
		    __atomic_compare_exchange_n(&header->owners[i], &owner, thread, 0,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return i;
	}
	return blocks;
}

/* Return: its number; @state->region_blocks: there is none left. */
static uint32_t take_block(struct profile_layout_state *state)
{
	struct profile_layout_header *header = (struct profile_layout_header *)state->region;
	uint32_t thread = (uint32_t)CALL1(SYS_gettid, 0);
	uint32_t limit = (uint32_t)state->region_blocks, block;

	if (__atomic_load_n(&header->blocks, __ATOMIC_RELAXED) < limit)
		block = __atomic_fetch_add(&header->blocks, 1, __ATOMIC_RELAXED);
	else
		block = find_abandoned(header, limit, thread);
	if (block >= limit) {
		__atomic_fetch_add(&header->shared, 1, __ATOMIC_RELAXED);
		return limit;
	}
	__atomic_store_n(&header->owners[block], thread, __ATOMIC_RELAXED);
	return block;
}

static uint64_t address_of(const struct profile_layout_state *state, uint32_t block)
{
	return state->region + PROFILE_LAYOUT_PAGE + block * state->block_bytes;
}

/* Private memory, all zero. @at: where; 0: anywhere. Return: 0: there is none. */
static uint64_t map_private(uint64_t at, uint64_t bytes)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != 0 ? MAP_FIXED : 0);
	long mapped = system_call6(SYS_mmap, (long)at, (long)bytes, PROT_READ_WRITE, flags, -1, 0);

	return is_error(mapped) ? 0 : (uint64_t)mapped;
}

/*
 * The block is mapped a second time, behind the private memory. A thread without a block
 * has memory there that nobody reads; so has one whose block cannot be mapped.
 */
static uint64_t make_memory(struct profile_layout_state *state, uint32_t block, uint64_t was)
{
	uint64_t bytes = state->head_bytes + state->block_bytes, memory = was;
	int has_block = block < state->region_blocks;

	if (memory == 0 && has_block) /* of a thread that has ended */
		memory = map_private(memories_of(state)[block],
				     memories_of(state)[block] != 0 ? state->head_bytes : bytes);
	else if (memory == 0)
		memory = map_private(0, bytes);
	else if (map_private(memory + state->head_bytes, state->block_bytes) == 0)
		return memory;
	if (memory == 0 || !has_block)
		return memory;
	system_call6(SYS_mremap, (long)address_of(state, block), 0, (long)state->block_bytes,
		     MREMAP_MAYMOVE | MREMAP_FIXED, (long)(memory + state->head_bytes), 0);
	memories_of(state)[block] = memory;
	return memory;
}

static uint64_t find_private(struct profile_layout_state *state, uint64_t was)
{
	uint32_t block = state->region != 0 ? take_block(state) : 0;
	uint64_t at = make_memory(state, block, was);
	struct runtime_memory memory;

	if (at == 0)
		at = (uint64_t)state + (uint64_t)state->spare;
	((struct profile_layout_thread *)at)->self = at;
	memory = runtime_memory_at(state, at);
	runtime_mode_begin(state, &memory, was != 0 ? RUNTIME_FORK : RUNTIME_THREAD);
	return at;
}

uint64_t thread_block_find(struct profile_layout_state *state, uint64_t was)
{
	uint64_t spare = (uint64_t)state + (uint64_t)state->spare;
	uint32_t block;

	if (state->head_bytes > 0)
		return find_private(state, was != spare ? was : 0);
	if (state->region == 0)
		return spare;
	block = take_block(state);
	return address_of(state, block < state->region_blocks ? block : block - 1);
}

void thread_block_forget(struct profile_layout_state *state, uint64_t own)
{
	uint64_t *memories = memories_of(state);

	for (uint32_t i = 0; state->head_bytes > 0 && i < PROFILE_LAYOUT_BLOCKS; i++) {
		if (memories[i] != 0 && memories[i] != own)
			CALL2(SYS_munmap, memories[i], state->head_bytes + state->block_bytes);
		memories[i] = 0;
	}
}
