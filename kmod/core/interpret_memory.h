/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory as the interpreted code sees it (private to interpret_*.c): a window of its code, and its
 * own stores, which take precedence over the memory read.
 *
 * A store of an unknown value hides the previous contents; a store to an unknown address hides all
 * memory. When the oldest store is evicted from its slot, it hides all memory, too. Exception: if
 * the stack was protected (interpret_memory_protect()), only evicted stores to it hide it.
 */
#ifndef DCPI_INTERPRET_MEMORY_H
#define DCPI_INTERPRET_MEMORY_H

#include "interpret.h"

#define INTERPRET_SLOTS 6
#define INTERPRET_CODE_BYTES 64
#define INTERPRET_STACK_BYTES 65536

/** struct interpret_slot - stored bytes; more than 8 are never known */
struct interpret_slot {
	u64 address;
	u64 value;
	u32 bytes;
	bool known;
};

/**
 * struct interpret_memory - fields are private
 * @hidden: memory that is read can no longer be relied on; the slots can
 * @stack, @stack_bytes: this memory can, nevertheless
 */
struct interpret_memory {
	interpret_read_fn read;
	void *context;
	u64 code_start;
	u32 code_bytes;
	u32 slots;
	bool hidden;
	u64 stack;
	u64 stack_bytes;
	u8 code[INTERPRET_CODE_BYTES];
	struct interpret_slot slot[INTERPRET_SLOTS];
};

static inline u64 low_bytes(u64 value, u32 bytes)
{
	return bytes >= 8 ? value : value & ((1ULL << 8 * bytes) - 1);
}

/** interpret_memory_init() - start without code or stores; most fields are left uninitialized */
void interpret_memory_init(struct interpret_memory *memory, interpret_read_fn read, void *context);

/**
 * interpret_memory_code() - return code at an address
 * @wanted: bytes, at most 16
 * @bytes:  out: bytes available, fewer than @wanted only where memory ends
 *
 * Return: the code, valid until the next call; NULL if there is none.
 */
const u8 *interpret_memory_code(struct interpret_memory *memory, u64 pc, u32 wanted, u32 *bytes);

/**
 * interpret_memory_load() - read data, little endian
 * @bytes: 1, 2, 4 or 8
 *
 * Return: true if the value is known; otherwise *@value is 0.
 */
bool interpret_memory_load(struct interpret_memory *memory, u64 address, u32 bytes, u64 *value);

/** interpret_memory_store() - remember a store of 1, 2, 4 or 8 bytes */
void interpret_memory_store(struct interpret_memory *memory, u64 address, u32 bytes, u64 value);

/** interpret_memory_smear() - remember a store of any number of bytes of unknown value */
void interpret_memory_smear(struct interpret_memory *memory, u64 address, u32 bytes);

/**
 * interpret_memory_protect() - assume that stores to unknown addresses do not change the stack
 * @stack: the stack pointer; at most the INTERPRET_STACK_BYTES above it are the stack
 */
void interpret_memory_protect(struct interpret_memory *memory, u64 stack);

/** interpret_memory_skip() - record that the stores so far were repeated, to other addresses */
void interpret_memory_skip(struct interpret_memory *memory);

/** interpret_memory_hide() - record that any memory may have been overwritten */
void interpret_memory_hide(struct interpret_memory *memory);

#endif
