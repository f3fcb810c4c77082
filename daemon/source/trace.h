/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace: every sample by itself, in the order in which its CPU took them,
 * before the sample store has counted them together. For tests and for the
 * policy simulator (tests/policy_simulator.c), which asks what other stores
 * would have made of the same samples (DCPI section 5.4).
 *
 * A file is a header, blocks, and an end:
 *
 *	header	8 bytes TRACE_MAGIC, u32 TRACE_VERSION, u32 zero
 *	block	u64 checksum: XXH3 of what follows, seeded with the block's number
 *		(0, 1, ...), so that none can be left out, doubled or moved
 *		u32 bytes of samples, u32 samples, u32 cpu, the samples
 *	end	a block of no samples, CPU 0, that holds their sum as a varint
 *
 * Numbers are little endian, varints LEB128. Blocks stand by themselves: no
 * sample refers to another block. Within a block the last program counter and
 * the last tag are kept twice, for kernel addresses (the upper half) and for
 * user addresses. A sample is
 *
 *	u8	TRACE_UPPER: a kernel address; TRACE_TAG: another tag than the
 *		last one of its half (at first: zero)
 *	varints	with TRACE_TAG: event, process, generation
 *	varint	pc less the last one of its half (at first: zero), zigzag
 *
 * so that there is one encoding of any samples.
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
 * @count:  samples, 0 .. TRACE_BLOCK_SAMPLES; 0: the end
 * @total:  of the end: samples in the trace; else 0
 * @sample: their counts are zero
 */
struct trace_block {
	uint32_t cpu;
	uint32_t count;
	uint64_t total;
	struct dcpi_sample sample[TRACE_BLOCK_SAMPLES];
};

/** trace_header_encode() - what a trace begins with. */
void trace_header_encode(uint8_t out[TRACE_HEADER_BYTES]);

/** trace_header_check() - Return: 0; -EBADMSG no trace; -EPROTO another version. */
int trace_header_check(const uint8_t header[TRACE_HEADER_BYTES]);

/**
 * trace_block_encode() - @block as bytes
 * @out:    room for TRACE_BLOCK_BYTES_MAX
 * @number: of the block in its trace
 *
 * Return: bytes written.
 */
size_t trace_block_encode(uint8_t *out, const struct trace_block *block, uint64_t number);

/**
 * trace_block_bytes() - how long a block is, header included
 *
 * Return: TRACE_BLOCK_HEADER_BYTES .. TRACE_BLOCK_BYTES_MAX; 0: no block is as
 * its header says. (Otherwise the header is still not to be trusted.)
 */
size_t trace_block_bytes(const uint8_t header[TRACE_BLOCK_HEADER_BYTES]);

/**
 * trace_block_decode() - the inverse of trace_block_encode()
 * @data, @bytes: the whole block; may be anything
 *
 * Return: 0; -EBADMSG this is not block @number of a trace (@block is undefined).
 */
int trace_block_decode(struct trace_block *block, const uint8_t *data, size_t bytes,
		       uint64_t number);

#endif
