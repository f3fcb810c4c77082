// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

#include "lib/bounded_reader.h"

/* The previous sample in each half of the address space. */
struct trace_last {
	struct dcpi_sample half[2];
};

static uint8_t *trace_put(uint8_t *out, uint64_t value, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> 8 * i);
	return out + bytes;
}

void trace_header_encode(uint8_t out[TRACE_HEADER_BYTES])
{
	/*
	 * NOLINTNEXTLINE(bugprone-not-null-terminated-result): eight bytes of a file, not a string
	 */
	memcpy(out, TRACE_MAGIC, 8);
	trace_put(trace_put(out + 8, TRACE_VERSION, 4), 0, 4);
}

int trace_header_check(const uint8_t header[TRACE_HEADER_BYTES])
{
	uint8_t expected[TRACE_HEADER_BYTES];

	if (memcmp(header, TRACE_MAGIC, 8) != 0)
		return -EBADMSG;
	trace_header_encode(expected);
	return memcmp(header, expected, TRACE_HEADER_BYTES) == 0 ? 0 : -EPROTO;
}

static uint8_t *sample_encode(uint8_t *out, struct trace_last *last,
			      const struct dcpi_sample *sample)
{
	uint32_t upper = (uint32_t)(sample->pc >> 63);
	struct dcpi_sample *before = &last->half[upper];
	uint64_t distance = sample->pc - before->pc;
	bool tagged = sample->tag != before->tag;

	*out++ = (uint8_t)((upper ? TRACE_UPPER : 0) | (tagged ? TRACE_TAG : 0));
	if (tagged) {
		out += varint_write(out, dcpi_tag_event(sample->tag));
		out += varint_write(out, dcpi_tag_pid(sample->tag));
		out += varint_write(out, dcpi_tag_generation(sample->tag));
	}
	out += varint_write(out, distance << 1 ^ (distance >> 63 ? UINT64_MAX : 0));
	*before = *sample;
	return out;
}

size_t trace_block_encode(uint8_t *out, const struct trace_block *block, uint64_t number)
{
	struct trace_last last = {0};
	uint8_t *end = out + TRACE_BLOCK_HEADER_BYTES, *header = out + 8;
	uint32_t i;

	if (block->count == 0)
		end += varint_write(end, block->total);
	for (i = 0; i < block->count; i++)
		end = sample_encode(end, &last, &block->sample[i]);
	header = trace_put(header, (uint64_t)(end - out) - TRACE_BLOCK_HEADER_BYTES, 4);
	header = trace_put(header, block->count, 4);
	trace_put(header, block->cpu, 4);
	trace_put(out, XXH3_64bits_withSeed(out + 8, (size_t)(end - out) - 8, number), 8);
	return (size_t)(end - out);
}

size_t trace_block_bytes(const uint8_t header[TRACE_BLOCK_HEADER_BYTES])
{
	struct bounded_reader reader;
	uint32_t bytes;

	bounded_reader_init(&reader, header + 8, 4);
	bytes = bounded_reader_u32(&reader);
	if (bytes > TRACE_BLOCK_BYTES_MAX - TRACE_BLOCK_HEADER_BYTES)
		return 0;
	return TRACE_BLOCK_HEADER_BYTES + bytes;
}

/* Reject encodings that sample_encode() would not have written. */
static bool sample_decode(struct dcpi_sample *sample, struct trace_last *last,
			  struct bounded_reader *reader)
{
	uint8_t flags = bounded_reader_u8(reader);
	struct dcpi_sample *before = &last->half[flags & TRACE_UPPER];
	uint64_t event, pid, generation, zigzag;

	if (flags & ~(TRACE_UPPER | TRACE_TAG))
		return false;
	sample->tag = before->tag;
	if (flags & TRACE_TAG) {
		event = bounded_reader_varint(reader);
		pid = bounded_reader_varint(reader);
		generation = bounded_reader_varint(reader);
		if (event >= 1U << DCPI_EVENT_BITS || pid > DCPI_PID_MAX ||
		    generation > DCPI_GENERATION_MAX)
			return false;
		sample->tag = dcpi_tag((uint32_t)pid, (uint32_t)generation, (uint32_t)event);
		if (sample->tag == before->tag)
			return false;
	}
	zigzag = bounded_reader_varint(reader);
	sample->pc = before->pc + (zigzag >> 1 ^ (zigzag & 1 ? UINT64_MAX : 0));
	*before = *sample;
	return sample->pc >> 63 == (flags & TRACE_UPPER);
}

static bool samples_decode(struct trace_block *block, struct bounded_reader *reader)
{
	struct trace_last last = {0};
	uint32_t i;

	if (block->cpu > TRACE_CPU_MAX || block->count > TRACE_BLOCK_SAMPLES)
		return false;
	block->total = 0;
	if (block->count == 0) {
		block->total = bounded_reader_varint(reader);
		return block->cpu == 0;
	}
	for (i = 0; i < block->count; i++) {
		if (!sample_decode(&block->sample[i], &last, reader))
			return false;
	}
	return true;
}

int trace_block_decode(struct trace_block *block, const uint8_t *data, size_t bytes,
		       uint64_t number)
{
	struct bounded_reader reader;
	uint64_t checksum;

	bounded_reader_init(&reader, data, bytes);
	checksum = bounded_reader_u64(&reader);
	if (bytes < TRACE_BLOCK_HEADER_BYTES ||
	    bounded_reader_u32(&reader) != bytes - TRACE_BLOCK_HEADER_BYTES)
		return -EBADMSG;
	block->count = bounded_reader_u32(&reader);
	block->cpu = bounded_reader_u32(&reader);
	if (checksum != XXH3_64bits_withSeed(data + 8, bytes - 8, number) ||
	    !samples_decode(block, &reader) || bounded_reader_failed(&reader) ||
	    bounded_reader_left(&reader) != 0)
		return -EBADMSG;
	return 0;
}
