/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace: individual samples, in the order in which each CPU took them, before the sample store
 * aggregates them. Used by tests and by the policy simulator
 *(tests/eval/policy/policy_simulator.c), which evaluates other stores on the same samples (DCPI
 * section 5.4).
 *
 * A file consists of a header, blocks, and an end.
 *
 *	header	8 bytes TRACE_MAGIC, u32 TRACE_VERSION, u32 zero.
 *	block	u64 checksum: XXH3 of the rest of the block, seeded with the block's number
 *		(0, 1, ...), so that omitted, duplicated or moved blocks are detected.
 *		Then u32 bytes of samples, u32 samples, u32 cpu, the samples.
 *	end	A block of no samples, CPU 0, that holds their total number as a varint.
 *
 * Numbers are little endian, varints LEB128. Blocks are independent: no sample refers to another
 * block. Within a block the previous program counter and tag are kept separately for kernel
 * addresses (the upper half) and user addresses. The encoding of a sample is unique:
 *
 *	u8	TRACE_UPPER: a kernel address. TRACE_TAG: the tag differs from the
 *		previous one of its half (initially zero).
 *	varints	With TRACE_TAG: event, process, generation.
 *	varint	pc minus the previous one of its half (initially zero), zigzag.
 */
#ifndef DCPI_TRACE_H
#define DCPI_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "kmod/uapi/dcpi_uapi.h"

#define TRACE_MAGIC "DCPItrc\n"
#define TRACE_VERSION 1
#define TRACE_HEADER_BYTES 16

#define TRACE_UPPER 1
#define TRACE_TAG 2

#define TRACE_CPU_MAX 8191
#define TRACE_BLOCK_SAMPLES 4096
#define TRACE_BLOCK_HEADER_BYTES 20
/* Flags, event, process, generation, distance. */
#define TRACE_SAMPLE_BYTES_MAX (1 + 2 + 4 + 2 + 10)
#define TRACE_BLOCK_BYTES_MAX                                                                      \
	(TRACE_BLOCK_HEADER_BYTES + TRACE_BLOCK_SAMPLES * TRACE_SAMPLE_BYTES_MAX)

/**
 * struct trace_block - samples of one CPU, oldest first
 * @cpu:    its number, 0 .. TRACE_CPU_MAX
 * @count:  number of samples, 0 .. TRACE_BLOCK_SAMPLES; 0: the end
 * @total:  of the end: number of samples in the trace; otherwise 0
 * @sample: their counts are zero
 */
struct trace_block {
	uint32_t cpu;
	uint32_t count;
	uint64_t total;
	struct dcpi_sample sample[TRACE_BLOCK_SAMPLES];
};

/** trace_header_encode() - write the header of a trace. */
void trace_header_encode(uint8_t out[TRACE_HEADER_BYTES]);

/**
 * trace_header_check() - check a header. Return: 0; -EBADMSG not a trace; -EPROTO another version.
 */
int trace_header_check(const uint8_t header[TRACE_HEADER_BYTES]);

/**
 * trace_block_encode() - encode a block
 * @out:    room for TRACE_BLOCK_BYTES_MAX
 * @number: of the block in its trace
 *
 * Return: number of bytes written.
 */
size_t trace_block_encode(uint8_t *out, const struct trace_block *block, uint64_t number);

/**
 * trace_block_bytes() - return the size of a block, including its header
 *
 * Return: TRACE_BLOCK_HEADER_BYTES .. TRACE_BLOCK_BYTES_MAX; 0 if the header is invalid. (The
 * header remains untrusted otherwise.)
 */
size_t trace_block_bytes(const uint8_t header[TRACE_BLOCK_HEADER_BYTES]);

/**
 * trace_block_decode() - the inverse of trace_block_encode()
 * @data, @bytes: the whole block; untrusted
 *
 * Return: 0; -EBADMSG if this is not block @number of a trace (@block is undefined).
 */
int trace_block_decode(struct trace_block *block, const uint8_t *data, size_t bytes,
		       uint64_t number);

#endif
