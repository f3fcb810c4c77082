// SPDX-License-Identifier: GPL-2.0-only
#include "interpret_memory.h"

#define PAGE_BYTES_MIN 4096

void interpret_memory_init(struct interpret_memory *memory, interpret_read_fn read, void *context)
{
	memory->read = read;
	memory->context = context;
	memory->code_start = 0;
	memory->code_bytes = 0;
	memory->slots = 0;
	memory->hidden = false;
	memory->stack = 0;
	memory->stack_bytes = 0;
}

/* Read code up to the end of the page, and beyond only if an instruction could need it. */
static void code_fill(struct interpret_memory *memory, u64 pc, u32 wanted)
{
	u32 first = PAGE_BYTES_MIN - (u32)(pc % PAGE_BYTES_MIN);

	if (first > INTERPRET_CODE_BYTES)
		first = INTERPRET_CODE_BYTES;
	memory->code_start = pc;
	memory->code_bytes = 0;
	if (!memory->read(memory->context, pc, memory->code, first))
		return;
	memory->code_bytes = first;
	if (first < wanted && memory->read(memory->context, pc + first, memory->code + first,
					   INTERPRET_CODE_BYTES - first))
		memory->code_bytes = INTERPRET_CODE_BYTES;
}

const u8 *interpret_memory_code(struct interpret_memory *memory, u64 pc, u32 wanted, u32 *bytes)
{
	u64 offset = pc - memory->code_start;

	if (offset >= memory->code_bytes || memory->code_bytes - offset < wanted) {
		code_fill(memory, pc, wanted);
		offset = 0;
	}
	*bytes = memory->code_bytes - (u32)offset;
	return *bytes > 0 ? memory->code + offset : NULL;
}

static bool overlaps(const struct interpret_slot *slot, u64 address, u32 bytes)
{
	return address - slot->address < slot->bytes || slot->address - address < bytes;
}

/*
 * The newest store that overlaps the bytes decides: the value is known only if that store covers
 * all of them.
 */
static bool slot_load(const struct interpret_slot *slot, u64 address, u32 bytes, u64 *value)
{
	u64 offset = address - slot->address;

	if (!slot->known || offset >= slot->bytes || slot->bytes - offset < bytes)
		return false;
	*value = low_bytes(slot->value >> 8 * offset, bytes);
	return true;
}

static bool in_stack(const struct interpret_memory *memory, u64 address)
{
	return address - memory->stack < memory->stack_bytes;
}

bool interpret_memory_load(struct interpret_memory *memory, u64 address, u32 bytes, u64 *value)
{
	u32 i;

	*value = 0;
	for (i = memory->slots; i-- > 0;) {
		if (overlaps(&memory->slot[i], address, bytes))
			return slot_load(&memory->slot[i], address, bytes, value);
	}
	if (memory->hidden && !in_stack(memory, address))
		return false;
	if (memory->read(memory->context, address, value, bytes))
		return true;
	*value = 0;
	return false;
}

static void slot_remove(struct interpret_memory *memory, u32 number)
{
	memory->slots--;
	memmove(&memory->slot[number], &memory->slot[number + 1],
		(memory->slots - number) * sizeof(memory->slot[0]));
}

/* A store to the same bytes replaces an older one. */
static struct interpret_slot *slot_new(struct interpret_memory *memory, u64 address, u32 bytes)
{
	u32 i;

	for (i = 0; i < memory->slots; i++) {
		if (memory->slot[i].address == address && memory->slot[i].bytes == bytes) {
			slot_remove(memory, i);
			break;
		}
	}
	if (memory->slots == INTERPRET_SLOTS) {
		memory->hidden = true;
		if (in_stack(memory, memory->slot[0].address))
			memory->stack_bytes = 0;
		slot_remove(memory, 0);
	}
	return &memory->slot[memory->slots++];
}

void interpret_memory_store(struct interpret_memory *memory, u64 address, u32 bytes, u64 value)
{
	struct interpret_slot *slot = slot_new(memory, address, bytes);

	slot->address = address;
	slot->bytes = bytes;
	slot->value = value;
	slot->known = true;
}

void interpret_memory_smear(struct interpret_memory *memory, u64 address, u32 bytes)
{
	struct interpret_slot *slot = slot_new(memory, address, bytes);

	slot->address = address;
	slot->bytes = bytes;
	slot->value = 0;
	slot->known = false;
}

void interpret_memory_hide(struct interpret_memory *memory)
{
	memory->slots = 0;
	memory->hidden = true;
}

void interpret_memory_protect(struct interpret_memory *memory, u64 stack)
{
	memory->stack = stack;
	memory->stack_bytes = INTERPRET_STACK_BYTES;
}

void interpret_memory_skip(struct interpret_memory *memory)
{
	u32 i, kept = 0;

	memory->hidden |= memory->slots > 0;
	for (i = 0; i < memory->slots; i++) {
		if (!in_stack(memory, memory->slot[i].address))
			continue;
		memory->slot[kept] = memory->slot[i];
		memory->slot[kept++].known = false;
	}
	memory->slots = kept;
}
