/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader's side of a BPF ring buffer, for one consumer.
 *
 * libbpf's reads for as long as the kernel writes; this one stops where the
 * kernel was when it began, and says whether it got there.
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

/** hook_ring_map() - @fd: a map of type BPF_MAP_TYPE_RINGBUF, @bytes large */
int hook_ring_map(struct hook_ring *ring, int fd, size_t bytes, struct error *err);

void hook_ring_unmap(struct hook_ring *ring);

/** Called for each record; @record is aligned to eight bytes, and valid meanwhile. */
typedef void (*hook_ring_fn)(void *context, const void *record, size_t bytes);

/**
 * hook_ring_read() - hand over what the kernel has published
 * @until: as hook_ring_end() said
 *
 * Return: whether everything before @until was handed over; if not, a record
 * was still being written.
 */
bool hook_ring_read(struct hook_ring *ring, uint64_t until, hook_ring_fn handle, void *context);

/** hook_ring_malformed() - times that the rest was dropped: a length made no sense. */
uint64_t hook_ring_malformed(const struct hook_ring *ring);

/** hook_ring_end() - where the kernel will write next. */
uint64_t hook_ring_end(const struct hook_ring *ring);

#endif
