// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/policy/policy_hash.h"

#define GOLDEN 0x9e3779b97f4a7c15ULL

/* Return the tag without its count: process, generation, event. */
static uint64_t who(uint64_t tag)
{
	return tag >> 24;
}

/*
 * As in kmod/core/sample_store.h; policy_store_run() detects a difference. The multiplier has 31
 * bits, which x86-64 encodes in the multiplication and arm64 loads with two instructions.
 */
static uint32_t shipped(uint64_t pc, uint64_t tag)
{
	return (uint32_t)((pc ^ tag >> 11) * 0x4f1bbcdd >> 32);
}

static uint32_t multiply_twice(uint64_t pc, uint64_t tag)
{
	return (uint32_t)((pc ^ who(tag) * GOLDEN) * 0xd6e8feb86659fd93ULL >> 32);
}

static uint32_t low_pc(uint64_t pc, uint64_t tag)
{
	(void)tag;
	return (uint32_t)pc;
}

static uint32_t low_pc_process(uint64_t pc, uint64_t tag)
{
	return (uint32_t)(pc ^ tag >> 42);
}

static uint32_t fold(uint64_t pc, uint64_t tag)
{
	uint64_t x = pc ^ tag >> 42 ^ who(tag) << 10;

	return (uint32_t)(x ^ x >> 12 ^ x >> 24);
}

/* The multiplier has 16 bits, which arm64 loads with one instruction. */
static uint32_t multiply_16(uint64_t pc, uint64_t tag)
{
	return (uint32_t)((pc ^ who(tag)) * 0x9e37 >> 16);
}

static uint32_t multiply(uint64_t pc, uint64_t tag)
{
	return (uint32_t)((pc ^ who(tag)) * GOLDEN >> 32);
}

static uint32_t multiply_rotated(uint64_t pc, uint64_t tag)
{
	uint64_t w = tag << 22 | tag >> 42;

	return (uint32_t)((pc ^ w) * GOLDEN >> 32);
}

static uint32_t multiply_sum(uint64_t pc, uint64_t tag)
{
	return (uint32_t)((pc + tag) * GOLDEN >> 40);
}

/* Bit by bit, as the processor's instruction defines it, over both words. */
static uint32_t crc32c(uint64_t pc, uint64_t tag)
{
	static uint32_t table[256];
	uint64_t words[2] = {pc, who(tag)};
	uint32_t crc = 0, i, bit;

	if (table[1] == 0) {
		for (i = 0; i < 256; i++) {
			table[i] = i;
			for (bit = 0; bit < 8; bit++)
				table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0);
		}
	}
	for (i = 0; i < 16; i++)
		crc = crc >> 8 ^ table[(crc ^ (uint8_t)(words[i / 8] >> 8 * (i % 8))) & 0xff];
	return crc;
}

static uint32_t murmur(uint64_t pc, uint64_t tag)
{
	uint64_t h = pc ^ (who(tag) << 32 | who(tag) >> 32);

	h = (h ^ h >> 33) * 0xff51afd7ed558ccdULL;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return (uint32_t)(h ^ h >> 33);
}

const struct policy_hash policy_hashes[] = {
	{"31-bit multiplication",
	 "(pc ^ tag >> 11) * A, A of 31 bits, upper half; used by the store", 4, shipped},
	{"two multiplications", "(pc ^ id * A) * B, upper half", 8, multiply_twice},
	{"low pc", "low bits of the pc", 1, low_pc},
	{"low pc ^ process", "low bits of both", 3, low_pc_process},
	{"fold", "x ^ x >> 12 ^ x >> 24 of pc ^ id; typical when the paper was written", 12, fold},
	{"64-bit multiplication", "(pc ^ id) * A, upper half", 6, multiply},
	{"16-bit multiplication", "(pc ^ id) * A, A of 16 bits, bits 16 and up", 4, multiply_16},
	{"multiplication, rotated tag", "(pc ^ tag rotated by 22) * A, upper half", 6,
	 multiply_rotated},
	{"multiplication of the sum", "(pc + tag) * A, bits 40 and up", 4, multiply_sum},
	{"crc32c", "of pc and id", 6, crc32c},
	{"murmur", "finalizer of MurmurHash3", 19, murmur},
};

const size_t policy_hash_count = sizeof(policy_hashes) / sizeof(policy_hashes[0]);
