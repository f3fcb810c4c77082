/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader's side of a BPF ring buffer, for one consumer.
 *
 * libbpf's reader continues for as long as the kernel writes. This one stops at the position that
 * the kernel had reached when the reader began, and reports if it got there.
 */
#ifndef DCPI_HOOK_RING_H
#define DCPI_HOOK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/** struct hook_ring - fields are private */
struct hook_ring {
	uint64_t *consumer;
	uint64_t *producer;
	uint8_t *data;
	size_t bytes;
	uint64_t malformed;
};

/**
 * hook_ring_map() - map a ring buffer
 * @fd:    a map of type BPF_MAP_TYPE_RINGBUF
 * @bytes: size of its data
 */
int hook_ring_map(struct hook_ring *ring, int fd, size_t bytes, struct error *err);

void hook_ring_unmap(struct hook_ring *ring);

/** hook_ring_fn - handle a record, which is aligned to eight bytes and valid during the call */
typedef void (*hook_ring_fn)(void *context, const void *record, size_t bytes);

/**
 * hook_ring_read() - pass the records that the kernel has published to @handle
 * @until: result of hook_ring_end()
 *
 * Return: true if all records before @until were passed; false if the kernel was still writing one
 * of them.
 */
bool hook_ring_read(struct hook_ring *ring, uint64_t until, hook_ring_fn handle, void *context);

/** hook_ring_malformed() - number of times that a malformed length caused the rest to be dropped */
uint64_t hook_ring_malformed(const struct hook_ring *ring);

/** hook_ring_end() - return the position at which the kernel will write next */
uint64_t hook_ring_end(const struct hook_ring *ring);

#endif
