/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory as an interpreted piece of program sees it (private to interpret_*.c):
 * a window of its code, and its own stores in front of what can be read.
 *
 * A store whose value is not known hides what was there; one whose address is
 * not known hides all memory. The oldest store to be pushed out of its slot
 * hides all memory as well.
 */
#ifndef DCPI_INTERPRET_MEMORY_H
#define DCPI_INTERPRET_MEMORY_H

#include "interpret.h"

#define INTERPRET_SLOTS 6
#define INTERPRET_CODE_BYTES 64

/** struct interpret_slot - bytes stored; those of more than 8 are never known. */
struct interpret_slot {
	u64 address;
	u64 value;
	u32 bytes;
	bool known;
};

/**
 * struct interpret_memory - fields are private
 * @hidden: what can be read is not to be relied on any more; slots are
 */
struct interpret_memory {
	interpret_read_fn read;
	void *context;
	u64 code_start;
	u32 code_bytes;
	u32 slots;
	bool hidden;
	u8 code[INTERPRET_CODE_BYTES];
	struct interpret_slot slot[INTERPRET_SLOTS];
};

static inline u64 low_bytes(u64 value, u32 bytes)
{
	return bytes >= 8 ? value : value & ((1ULL << 8 * bytes) - 1);
}

/** interpret_memory_init() - nothing read or stored yet; much is left unwritten. */
void interpret_memory_init(struct interpret_memory *memory, interpret_read_fn read, void *context);

/**
 * interpret_memory_code() - look at code
 * @wanted: bytes, at most 16
 * @bytes:  out: bytes there, fewer than @wanted only where memory ends
 *
 * Return: the code, until the next call; NULL if there is none.
 */
const u8 *interpret_memory_code(struct interpret_memory *memory, u64 pc, u32 wanted, u32 *bytes);

/**
 * interpret_memory_load() - read data, little endian
 * @bytes: 1, 2, 4 or 8
 *
 * Return: whether the value is known; else *@value is 0.
 */
bool interpret_memory_load(struct interpret_memory *memory, u64 address, u32 bytes, u64 *value);

/** interpret_memory_store() - remember a store of 1, 2, 4 or 8 bytes */
void interpret_memory_store(struct interpret_memory *memory, u64 address, u32 bytes, u64 value);

/** interpret_memory_smear() - remember a store of any number of unknown bytes */
void interpret_memory_smear(struct interpret_memory *memory, u64 address, u32 bytes);

/** interpret_memory_hide() - something may have been stored anywhere */
void interpret_memory_hide(struct interpret_memory *memory);

#endif
