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

bool interpret_memory_load(struct interpret_memory *memory, u64 address, u32 bytes, u64 *value)
{
	u32 i;

	*value = 0;
	for (i = memory->slots; i-- > 0;) {
		if (overlaps(&memory->slot[i], address, bytes))
			return slot_load(&memory->slot[i], address, bytes, value);
	}
	if (memory->hidden)
		return false;
	if (memory->read(memory->context, address, value, bytes))
		return true;
	*value = 0;
	return false;
}

static struct interpret_slot *slot_new(struct interpret_memory *memory)
{
	if (memory->slots == INTERPRET_SLOTS) {
		memory->hidden = true;
		memory->slots--;
		memmove(memory->slot, memory->slot + 1, memory->slots * sizeof(memory->slot[0]));
	}
	return &memory->slot[memory->slots++];
}

void interpret_memory_store(struct interpret_memory *memory, u64 address, u32 bytes, u64 value)
{
	struct interpret_slot *slot = slot_new(memory);

	slot->address = address;
	slot->bytes = bytes;
	slot->value = value;
	slot->known = true;
}

void interpret_memory_smear(struct interpret_memory *memory, u64 address, u32 bytes)
{
	struct interpret_slot *slot = slot_new(memory);

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
